// Combine: how a program combines updates with the table: by the atomic of mscatter, or by reading the current values,
// computing on tiles, and writing the result back. Tested by tests/golden/pto_program_test.cc,
// tests/error/pto_program_error_test.cc and tests/differential/npu.
#pragma once

#include <string>

#include "backends/pto/frame.h"
#include "compiler/pto/instructions.h"

namespace strew::inline v0::pto {

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

/// Writes the evaluation of the plan's expression graph for `pair`, and returns the tile that holds the result.
Expected<Named> write_combine(Frame& frame, int pair, const CombineTiles& tiles);

/// The same with scalar instructions, element by element, for combiners that Frame::one_by_one() names (scalars.cc).
Expected<Named> combine_scalars(Frame& frame, int pair, const CombineTiles& tiles);

/// Word `w` of an element's bits, as a number of the word's type.
int64_t word_of(const Scalar& value, DType dtype, int64_t w = 0);

}  // namespace strew::inline v0::pto
