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

/// A kernel's op: a scatter without index components, which computes each element of its results, or folds what a reduction folds in row-major order. Where
/// only the call knows the place of the elements, it has an index component for each dim: of a scatter that writes them, or of a gather that reads them.
struct Piece {
  /// What a tensor of the op reads: a value, or one of `constants`; from element `first` on, with the dims and strides of the op's type.
  struct Read {
    int value = -1, constant = -1;
    int64_t first = 0;
  };
  VerifiedOp op;
  std::vector<Read> reads;  ///< of all tensors but results and indices without components, in the order of tensor_slots
  std::vector<Tensor> constants;
  int64_t elements = 0;  ///< that are computed, or folded
};

/// The result is elements of another value as they lie: no kernel is needed.
struct Alias {
  int value = -1;
  int64_t first = 0;
  std::vector<int64_t> dims;
  int64_t elements() const {
    int64_t count = 1;
    for (const int64_t extent : dims) count *= extent;
    return count;
  }
};

/// The region cannot be a piece.
struct NoPiece {
  int apart = -1;  ///< it can if this value does not join it; -1: it cannot at all
};

/// Where a piece's result lies in a larger tensor.
struct PiecePlace {
  std::vector<int64_t> strides = {};  ///< of the result; empty: row-major
  /// Values of rank 0, one per dim, which say where it begins in a tensor with dims `whole` and these strides. Empty: known.
  std::vector<int> starts = {};
  std::vector<int64_t> whole = {};
  bool is_all() const { return strides.empty() && starts.empty(); }
};

/// The dims of what a region without parts gives; `tensor`: the tensor of each of its leaves. None if an operand does not fit: the interpreter has the message.
std::optional<std::vector<int64_t>> dims_of_piece(const Program& program, const Region& region,
                                                  const std::function<const Tensor&(int value)>& tensor);
/// An alias only where the result is all of its tensor.
std::variant<NoPiece, Alias, Piece> make_piece(const Program& program, const Region& region,
                                               const std::function<const Tensor&(int value)>& tensor,
                                               const PiecePlace& placement);

/// Of computes[number], a slice whose starts are values.
std::variant<NoPiece, Alias, Piece> make_slice(const Program& program, int number,
                                               const std::function<const Tensor&(int value)>& tensor);

}  // namespace strew::inline v0
