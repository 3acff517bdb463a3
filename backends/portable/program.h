// InterpretedKernel: what the entries of this backend (entries.h) interpret. make_program() makes it from a plan in a few microseconds.
//
//  - Numbers are the plan's terms, evaluated once where they are static, and once per call of an entry where they are not. A program refers to
//    them by their place in the list. Strides are in units of places (loops.h): bytes, or elements where those are less than a byte.
//  - Slots are the tensors that a body reads or writes. A Nest has a stride per loop and slot.
//  - A Body says what happens to the elements of rows: steps that evaluate an expression on blocks of elements, and outputs that move or
//    combine the values into the results.
// Tested by tests/differential and tests/unit/backends/portable/portable_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/backend.h"
#include "backends/lower/kernel.h"
#include "backends/portable/loops.h"

namespace strew::inline v0::portable {

using Number = uint32_t;  ///< a place in InterpretedKernel::numbers

/// A tensor of the plan that a body uses.
struct Slot {
  int tensor = 0;
  uint8_t log2_per_byte = 0;  ///< elements of less than a byte: 1 (two in a byte) or 2; else 0
  uint8_t bits = 8;           ///< of an element
  bool is_scratch = false;    ///< entry merge: the private table of result `tensor`
  int source = -1;            ///< of InterpretedKernel::sources: the source that moves it; -1: none
};

/// Loops, outermost first. extents: loops numbers from here on; strides: loops x slots numbers.
struct Nest {
  uint32_t loops = 0;
  Number extents = 0, strides = 0;
};

/// Where a step finds its arguments and puts its value: a column of the block, whose bytes begin at `column` times the block's length.
struct Step {
  StepLoop loop = nullptr;
  RowsLoop load = nullptr;  ///< a step that loads from slot `slot` has this instead of `loop`
  int32_t out = 0, a = -1, b = -1, c = -1;
  int32_t slot = 0;
  int32_t offset = 0;  ///< load: of the part of an element that is loaded, in bytes
  uint8_t bytes = 0;   ///< load: of an element in the column
  const void* extra = nullptr;
};

/// A value that is the same in all elements, which fills its column once.
struct Literal {
  int32_t out = 0;
  uint8_t bytes = 0;
  Scalar value;
};

/// A row-local value, which fills its column once a row.
struct LocalColumn {
  int32_t out = 0;
  uint8_t bytes = 0;
  int number = 0;  ///< of Body::folds
};

/// What is done with a value: it is moved to, or combined with, slot `to`. The value is in slot `from`, or in column `column`, or is the constant
/// `value`.
struct Output {
  RowsLoop loop = nullptr;
  int32_t to = 0, from = -1, column = -1;
  int32_t offset = 0;  ///< of the part of an element that is stored, in bytes
  uint8_t bytes = 0;   ///< of an element in the column, or of the constant
  const void* format = nullptr;
  Scalar value;
};

struct RowFold;

struct Body {
  std::vector<Slot> slots;
  std::vector<RowFold> folds;  ///< the row-local values, in order; bodies of rows that have some are done row by row
  std::vector<Literal> literals;
  std::vector<LocalColumn> locals;
  std::vector<Step> steps;
  std::vector<Output> outputs;
  int64_t column_bytes = 0;  ///< of all columns, per element of the block
  int64_t lanes = 0;         ///< elements of a block; 0: nothing is evaluated
  /// The value depends on what the results hold in a way that no combiner's loop knows: rows of a block must differ in their destinations.
  bool reads_results = false;
  bool once = false;  ///< the outputs have one element per row
};

/// How a row-local value is computed (RowLocal, compiler/plan/plan.h).
struct RowFold {
  Body value;  ///< evaluates elements into the column of its only output
  RowsLoop loop = nullptr;
  const void* format = nullptr;
  Scalar initial;
  int lanes = 1;
};
inline constexpr int kMostLocals = 8, kMostFoldLanes = 64;

/// An index component: where it is read, and its numbers.
struct ComponentNumbers {
  size_t index = 0;  ///< of InterpretedKernel::indices
  int source = 0;    ///< of InterpretedKernel::sources
  DType dtype = DType::i64;
  bool normalize_negative = false;
  Number index_offset = 0, dim = 0, window = 0, strides = 0;  ///< strides: one per slot of the window's body
  PlaceRule rule = PlaceRule::trusted;
};

/// An index source: the components [first, end) of InterpretedKernel::components.
struct SourceComponents {
  size_t first = 0, end = 0;
};

/// What a source takes of a window loop: a part, or all in two segments.
struct WindowBound {
  lowered::Bounds bounds = lowered::Bounds::cut;
  size_t component = 0;  ///< of InterpretedKernel::components
  Number scale = 0;      ///< iterations per step of the component's dim
  int fill = -1;         ///< of InterpretedKernel::fills: what fills the iterations that are cut off; -1: they are left out
  size_t memory = 0;     ///< of segments: the list in CallMemory::walk for the places of the second
};
struct WindowLoop {
  int component = -1;  ///< of the primary source: whose start moves the loop; -1: none
  Number scale = 0;
  std::vector<WindowBound> bounds;  ///< the primary source's first
};

/// A look-up that gives a value where its table has none.
struct LookupFill {
  int source = 0;             ///< of InterpretedKernel::sources
  std::vector<size_t> slots;  ///< of the body: the table, if the expression reads it
  Scalar value;
};

/// The results before the updates: one of them.
struct Init {
  Body body;
  Nest nest;
  bool moves = false;  ///< bytes that may bypass the caches
};

/// The offset of a list of T in the memory that an entry works in.
template <class T>
struct Piece {
  int64_t at = 0;
};

/// The pieces of that memory (entry_call.h). P is InterpretedKernel::positions_per_block; a list per slot has P elements per slot, one slot after the other.
struct CallMemory {
  Piece<int64_t> numbers;      ///< if some depend on the call
  Piece<int64_t> bases;        ///< per slot: the place of the tensor's element [0,...,0]
  Piece<int64_t> row;          ///< per slot: where a row of a nest begins
  Piece<int64_t> coordinates;  ///< of that row, per loop
  Piece<int64_t> places;       ///< per slot: of a block of positions
  Piece<int64_t> values;       ///< per component, P each: the start coordinates of the block's windows
  Piece<int64_t> lo, hi;  ///< per component, P each: the part of the window that is in bounds; hi of wrap: where it starts over
  Piece<uint8_t> inside, whole;     ///< per position: the policy keeps some element; of a gather, all elements
  Piece<uint64_t> filling;          ///< per position, a bit for each look-up that fills: its table has no element
  Piece<int64_t> steps;             ///< per slot: of rows for which some look-ups fill
  Piece<int64_t> rows, fill_rows;   ///< per slot: batches of rows
  Piece<int64_t> walk;              ///< lists per slot: one, one per window loop, and one per WindowBound of segments
  Piece<uint32_t> seen, fill_seen;  ///< see BodyRunner
  Piece<char> columns, fill_columns;
  int64_t bytes = 0;
};

struct InterpretedKernel {
  // Numbers.
  std::vector<int64_t> numbers;
  struct Dynamic {
    Number at = 0;
    int64_t factor = 0;
    std::vector<int> symbols;
  };
  std::vector<Dynamic> dynamic;

  // The positions and their windows. The nest of positions has the body's slots, then `indices`.
  /// fill: of windows, or elements, of a gather that are out of bounds; it has the same slots
  Body body, fill;
  std::vector<LookupFill> fills;
  Nest positions, window;
  std::vector<Slot> indices;  ///< the index tensors
  std::vector<ComponentNumbers> components;
  std::vector<SourceComponents> sources;
  std::vector<WindowLoop> window_loops;
  bool cuts_columns = false;     ///< strategy window: entry range does iterations [w0, w1) of column_loop()
  bool fences = false;           ///< windows of two positions may overlap partly: rows of two positions never share a block
  bool has_cut_windows = false;  ///< policies move the bounds of window loops
  size_t segments = 0;           ///< WindowBounds of segments
  int pairs = 1;
  bool gather = false;
  int64_t ahead = 0;              ///< schedule knob prefetch; negative: of a gather
  bool streams = false;           ///< schedule knob nontemporal, where calls do not choose the entry stream
  std::vector<Number> key_units;  ///< per result: places from one destination to the next

  std::vector<Init> init;   ///< per result
  std::vector<Body> merge;  ///< per result

  int64_t positions_per_block = 0;
  CallMemory memory;

  const Loops* loops = nullptr;
  /// The number of the source's look-up among `fills`; -1: it does not fill.
  int fill_of(int source) const {
    for (size_t i = 0; i < fills.size(); ++i)
      if (fills[i].source == source) return static_cast<int>(i);
    return -1;
  }
  size_t bytes() const;  ///< of memory, roughly
};

/// Ok, or `unsupported` with a sentence that names the dtype or node.
Status portable_can_build(const Plan& plan);
/// `table`: the loops to use.
std::shared_ptr<const InterpretedKernel> make_program(const Plan& plan, const Schedule& schedule, const Loops& table = loops());

}  // namespace strew::inline v0::portable
