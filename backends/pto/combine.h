// Combine: how a program folds updates into the table: the instruction's own atomics, or gather, compute, scatter on tiles.
#pragma once

#include <string>

#include "backends/pto/frame.h"
#include "compiler/pto/instructions.h"

namespace strew::inline v0::pto {

enum class CombineWay : uint8_t {
  assign,   ///< updates replace
  atomic,   ///< mscatter's scatterAtomicOp
  compute,  ///< current values are fetched, combined on tiles and written back
};

struct Combine {
  CombineWay way = CombineWay::assign;
  std::string atomic = "none";  ///< add, max, min
  bool any_order = false;       ///< the result does not depend on the order of updates
};

/// Which way, or why none: the op's combiner, element type, order and hints against the chip.
Expected<Combine> choose_combine(const Frame& frame);

/// Tiles of one place: the current values, the updates of each pair, and the per-element extras.
struct CombineTiles {
  Named current, update;
  std::vector<Named> extras;  ///< per extra: a tile, or a number for all of it
  int64_t rows = 0, cols = 0;
  Number valid_rows, valid_cols;
};

/// Elements travel as what they are wherever something is computed with them.
Status check_computes(const Frame& frame, const Combine& combine);

/// ptoas converts between tiles of one physical shape only: where something is converted, rows are made to fit every type.
void align_conversions(Frame& frame, const Combine& combine);

/// Computes the plan's graph for `pair` and returns the tile that holds the result.
Expected<Named> write_combine(Frame& frame, int pair, const CombineTiles& tiles);

/// The same for what the scalar unit computes (Frame::one_by_one), element by element.
Expected<Named> combine_scalars(Frame& frame, int pair, const CombineTiles& tiles);

/// A literal's bits, as wide as its type, in the type that it travels as.
int64_t literal_value(const Frame& frame, const ExprNode& node);

/// Who reads the output.
Reader reader_of(Output output);

}  // namespace strew::inline v0::pto
