// Frame: one call of an entry: its program, its arguments, the numbers of this call, and the memory that the entry works in. Entries allocate
// nothing, so the memory is a piece of the stack, whose size the program knows (Program::frame_bytes). Tested by tests/differential.
#pragma once

#include <cstdint>

#include "backends/portable/program.h"
#include "strew/abi.h"

namespace strew::inline v0::portable {

/// The pieces of a frame's memory. P is Program::positions_per_block; a list per slot has P elements per slot, one slot after the other.
struct FrameMemory {
  int64_t* numbers = nullptr;      ///< if some depend on the call
  int64_t* bases = nullptr;        ///< per slot: the place of the tensor's element [0,...,0]
  int64_t* row = nullptr;          ///< per slot: where a row of a nest begins
  int64_t* coordinates = nullptr;  ///< of that row, per loop
  int64_t* places = nullptr;       ///< per slot: of a block of positions
  int64_t* values = nullptr;       ///< per component, P each: the start coordinates of the block's windows
  int64_t *lo = nullptr,
          *hi = nullptr;  ///< per component, P each: the part of the window that is in bounds; hi of wrap: where it starts over
  uint8_t *inside = nullptr, *whole = nullptr;    ///< per position: the policy keeps some element; all elements
  int64_t *rows = nullptr, *fill_rows = nullptr;  ///< per slot: batches of rows
  int64_t* walk = nullptr;                        ///< per window loop and slot
  uint32_t* seen = nullptr;                       ///< see BodyRunner
  char *columns = nullptr, *fill_columns = nullptr;
  int64_t bytes = 0;
};
/// Lays the pieces out from `memory` on; null: only computes their size.
FrameMemory lay_out(const Program& program, char* memory);
int64_t frame_bytes(const Program& program);
/// Positions of a block, so that the pieces of memory that it takes fit the first-level cache.
int64_t block_positions(const Program& program);

inline constexpr int64_t kSeen = 1024;  ///< elements of FrameMemory::seen

class Frame {
 public:
  /// `memory`: program.frame_bytes bytes.
  Frame(const strew_args& arguments, char* memory);

  const Program& p;
  const strew_args& args;
  const Loops& loops;
  FrameMemory m;

  int64_t at(Number n) const { return numbers_[n]; }
  const int64_t* from(Number n) const { return numbers_ + n; }
  /// The strides of the nest's loop `level`, one per slot.
  const int64_t* strides(const Nest& nest, size_t level, size_t slots) const { return numbers_ + nest.strides + level * slots; }
  int64_t extent(const Nest& nest, size_t level) const { return numbers_[nest.extents + level]; }
  /// The place of element [0,...,0] of a tensor.
  int64_t base(const Slot& slot) const {
    return static_cast<int64_t>(reinterpret_cast<intptr_t>(args.data[slot.tensor])) << slot.log2_per_byte;
  }

 private:
  const int64_t* numbers_;
};

/// The rows of a nest over its iterations [begin, end): each is a range of the innermost loop.
class NestRows {
 public:
  /// `slots`: strides per loop. `bases`: the place of each slot's element 0; `row` and `coordinates`: memory of the frame.
  NestRows(const Frame& frame, const Nest& nest, size_t slots, int64_t begin, int64_t end);

  /// Moves to the next row, of which iterations [lo, hi) are done. False: there is none.
  bool next();
  int64_t lo = 0, hi = 0;
  /// Per slot: the place of iteration 0 of the row. frame.m.row.
  const int64_t* row() const { return frame_.m.row; }
  /// Per slot: the stride of the innermost loop, or null if the nest has no loop.
  const int64_t* inner_strides() const { return inner_strides_; }

 private:
  void advance();

  const Frame& frame_;
  const Nest& nest_;
  size_t slots_;
  int64_t at_, end_, inner_ = 1;
  bool is_first_ = true;
  const int64_t* inner_strides_ = nullptr;
};

}  // namespace strew::inline v0::portable
