// Assembly: how a region gives its results: nothing, elements that lie somewhere, one kernel, or several that each write a part of one result. Tested by
// tests/unit/compiler/program/pieces_test.cc.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "compiler/program/pieces/piece.h"

namespace strew::inline v0 {

/// A result that is put together: each write gives some of its elements, in this order. Every element is written.
struct Assembly {
  struct Write {
    std::variant<Alias, Piece> what;  ///< an alias is copied
    int64_t first = 0;                ///< the element of the result that its own element [0, ..., 0] becomes
  };
  std::vector<int64_t> dims;
  std::vector<Write> writes;
};

using PieceChoice = std::variant<NoPiece, Alias, Piece, Assembly>;

/// `tensor`: the tensor of each of the region's leaves.
PieceChoice choose_pieces(const Program& program, const Region& region, const std::function<const Tensor&(int value)>& tensor);

}  // namespace strew::inline v0
