// Grid: a tensor as rows along one loop, so that any other loop's step lands on a row or a column of it.
#pragma once

#include <utility>
#include <vector>

#include "backends/pto/frame.h"

namespace strew::inline v0::pto {

/// A loop's variable and its step in elements of a tensor.
using Step = std::pair<Number, Term>;

/// The quotient of two terms, or false where the second does not divide the first.
bool divide(const Term& a, const Term& b, Term& out);

/// A tensor seen as rows `pitch` elements apart.
class Grid {
 public:
  /// `pitch` is the tensor's stride along the rows of a tile; 0 (no rows): the whole tensor is one row.
  Grid(Frame& frame, int tensor, const std::string& hint, const Term& pitch);
  /// `rows` x `cols` elements from `first_row` along the rows, moved by `steps` and `col` more elements.
  Named part(const std::string& hint, const Number& first_row, const std::vector<Step>& steps, const Number& col,
             const Number& rows, const Number& cols) const;
  /// One row of `count` elements; the pitch must be 0.
  Named line(const std::string& hint, const Number& first, const std::vector<Step>& steps, const Number& count) const;

 private:
  Frame& frame_;
  int tensor_;
  Term pitch_;
  Named view_;
};

}  // namespace strew::inline v0::pto
