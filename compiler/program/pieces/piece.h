// Piece: a region as an op, for tensors of known dims. Tested by tests/unit/compiler/program/pieces_test.cc.
#pragma once

#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "compiler/program/pieces/region.h"
#include "strew/tensor.h"
#include "strew/verified.h"

namespace strew::inline v0 {

/// A kernel's op: a scatter without index components, which computes each element of its results, or folds what a reduction folds in row-major order.
struct Piece {
  /// What a tensor of the op reads: a value, or one of `constants`; from element `first` on, with the dims and strides of the op's type.
  struct Read {
    int value = -1, constant = -1;
    int64_t first = 0;
  };
  VerifiedOp op;
  std::vector<Read> reads;  ///< of updates and extras, in the order of tensor_slots
  std::vector<Tensor> constants;
  int64_t elements = 0;  ///< that are computed, or folded
};

/// The result is elements of another value as they lie: no kernel is needed.
struct Alias {
  int value = -1;
  int64_t first = 0;
  std::vector<int64_t> dims;
};

/// The region cannot be a piece.
struct NoPiece {
  int apart = -1;  ///< it can if this value does not join it; -1: it cannot at all
};

/// `tensor`: the tensor of each of the region's leaves.
std::variant<NoPiece, Alias, Piece> make_piece(const Program& program, const Region& region,
                                               const std::function<const Tensor&(int value)>& tensor);

}  // namespace strew::inline v0
