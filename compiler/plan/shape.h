// ShapeTerms: every extent and stride of an op's tensors as a Term. Extents that must be equal are the same Term.
//
// Results and operands share their extents; each dim of the slices (updates, or a gather's result) shares the extent of
// a position dim or of a window dim. So planning can prove that two loops are contiguous although their extents are
// dynamic, and a call reads each number once. Tested by tests/golden/plan_test.cc.
#pragma once

#include <array>
#include <vector>

#include "compiler/op/access_dims.h"
#include "compiler/plan/plan.h"

namespace strew::inline v0 {

/// Which dims a tensor has: those of the operand, of the indices, of the slices, of the positions or of the window; none: a scalar's.
enum class Shape : uint8_t { operand, indices, slices, positions, window, none };

class ShapeTerms {
 public:
  ShapeTerms(const Op& op, const AccessDims& dims);

  std::vector<PlanTensor> tensors() const { return tensors_; }
  const std::vector<Symbol>& symbols() const { return symbols_; }

  Shape shape(int tensor) const { return shapes_[static_cast<size_t>(tensor)]; }
  const Term& operand_dim(int64_t d) const { return dims_of(Shape::operand)[static_cast<size_t>(d)]; }
  const Term& indices_dim(int64_t d) const { return dims_of(Shape::indices)[static_cast<size_t>(d)]; }
  /// Extent of the window in operand dim d, which is neither removed nor batching.
  const Term& window_extent(int64_t d) const { return window_extents_[static_cast<size_t>(d)]; }
  /// Stride of a bound tensor in its own dim d.
  const Term& stride(int tensor, int64_t d) const { return strides_[static_cast<size_t>(tensor)][static_cast<size_t>(d)]; }

 private:
  void list_tensors(const Op& op);
  void name_dims();
  void make_strides();
  const std::vector<Term>& dims_of(Shape shape) const { return dims_[static_cast<size_t>(shape)]; }
  std::vector<Term>& dims_of(Shape shape) { return dims_[static_cast<size_t>(shape)]; }
  Term symbol(Symbol s);
  int64_t extent(Role role, Role also, size_t d) const;
  Term shared(Role role, Role also, size_t d);

  const AccessDims& access_;
  bool gather_ = false;
  std::vector<PlanTensor> tensors_;
  std::vector<const TensorType*> types_;
  std::vector<Shape> shapes_;
  std::vector<Symbol> symbols_;
  std::array<std::vector<Term>, 6> dims_;  ///< of each Shape
  std::vector<Term> window_extents_;
  std::vector<std::vector<Term>> strides_;
};

}  // namespace strew::inline v0
