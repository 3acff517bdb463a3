// Combine: how a program combines updates with the table: by the atomic of mscatter, or by reading the current values,
// computing on tiles, and writing the result back. And operators.cc: one table of the instructions that compute each
// arithmetic operator of a combiner, and questions about a plan's combiner. Tested by tests/golden/pto_program_test.cc,
// tests/error/pto_program_error_test.cc and tests/differential/npu.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/pto/frame.h"

namespace strew::inline v0::pto {

struct Operator {
  ExprOp op;
  Opcode tile;  ///< the instruction on tiles
  /// On scalars, signed and unsigned; none: scalars lack it, or compute something else
  std::optional<Opcode> number, unsigned_number;
  std::string_view atomic;  ///< the value of scatterAtomicOp; empty: there is no atomic
  bool by_sign = false;     ///< the result's bits depend on whether integers are signed
  /// Do updates of this type combine to the same bits in any order?
  bool reorders(DType dtype) const { return by_sign ? number.has_value() : number.has_value() && is_integer(dtype); }
};

/// The row of an operator, or null.
const Operator* find_operator(ExprOp op);

/// `root` and the nodes that it depends on, in postorder: arguments first, left to right, each node once. It is
/// computed without recursion, because a graph may be as deep as it has nodes.
std::vector<int32_t> evaluation_order(const Expr& graph, int32_t root);

/// The operator of a scatter that combines every pair by the same operator, as `current op update`, where the update is
/// converted if dtypes differ. Null for all other expressions and for gathers.
const Operator* combiner_operator(const Plan& plan);
/// Is the op a scatter whose updates replace the current values, converted if dtypes differ?
bool assigns(const Plan& plan);
/// Have operand, update and result of each pair one dtype?
bool same_types(const Plan& plan);
bool has_extras(const Plan& plan);

enum class CombineWay : uint8_t {
  assign,   ///< updates replace the current values
  atomic,   ///< mscatter combines them: its attribute scatterAtomicOp
  compute,  ///< current values are read, combined with the updates on tiles or scalars, and written back
};

struct Combine {
  CombineWay way = CombineWay::assign;
  std::string atomic = "none";  ///< add, max or min for CombineWay::atomic
  bool any_order = false;       ///< the order of updates does not matter: the result is the same, or the op allows any order
};

/// Chooses the way for the op's combiner, element types, order and hints on this chip. Fails with the reason if there
/// is none.
Expected<Combine> choose_combine(const Frame& frame);

/// The inputs of the combiner for one tile of the table.
struct CombineTiles {
  Named current, update;
  std::vector<Named> extras;  ///< for each extra input: a tile, or a scalar that holds for the whole tile
  int64_t rows = 0, cols = 0;
  Number valid_rows, valid_cols;
};

/// The chosen way for a program that is to be written now; without `atomics` updates are computed with instead. Fails if the
/// combiner computes on elements that the program can only move, as words of another type (frame.h, Words). If the combiner
/// converts, rows of all tiles are made equally long in elements: ptoas converts only between tiles of one physical shape.
Expected<Combine> start_combine(Frame& frame, bool atomics);

/// CombineWay::atomic: the tile that the atomic combines with the table: the update, converted if the combiner converts it.
Expected<Named> write_addend(Frame& frame, int pair, const CombineTiles& tiles);

/// Writes the evaluation of the plan's expression graph for `pair`, and returns the tile that holds the result.
Expected<Named> write_combine(Frame& frame, int pair, const CombineTiles& tiles);

/// The inputs of the combiner for one part of the tables, of all pairs: tiles, or scalars that hold for the whole part.
struct ElementTiles {
  std::vector<Named> currents, updates, extras;
  int64_t rows = 0, cols = 0;
  Number valid_rows, valid_cols;
  /// By the names of tiles of one byte that hold packed elements: the bits below the one that is meant.
  std::map<std::string, Number> shifts;
};
/// Writes what the scalar unit evaluates, the graph for every element, into a tile for each result, which may be one of the tiles that it
/// reads: of an element, everything is computed before anything is written. Tiles hold elements as scalar_words() says, or as floats.
void write_scalars(ProgramBuilder& builder, const lowered::Graph& graph, const ElementTiles& tiles,
                   const std::vector<Named>& into);

/// Word `w` of an element's bits, as a number of the word's type.
int64_t word_of(const Scalar& value, DType dtype, int64_t w = 0);

}  // namespace strew::inline v0::pto
