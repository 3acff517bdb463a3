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

/// Which dims a tensor has: those of the operand, of the indices, of the slices, of the positions or of the window; none: a scalar's; own: dims that
/// no other tensor has, as a look-up's table and indices do.
enum class Shape : uint8_t { operand, indices, slices, positions, window, none, own };

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
  /// Extent of dim d of a tensor.
  const Term& dim(int tensor, int64_t d) const { return dims(static_cast<size_t>(tensor))[static_cast<size_t>(d)]; }
  /// Stride of a bound tensor in its own dim d.
  const Term& stride(int tensor, int64_t d) const { return strides_[static_cast<size_t>(tensor)][static_cast<size_t>(d)]; }

 private:
  void list_tensors(const Op& op);
  void name_dims();
  void name_lookup(const Lookup& lookup, int number);
  void make_strides();
  Term window_dim(size_t slices_dim);
  const std::vector<Term>& dims_of(Shape shape) const { return dims_[static_cast<size_t>(shape)]; }
  std::vector<Term>& dims_of(Shape shape) { return dims_[static_cast<size_t>(shape)]; }
  const std::vector<Term>& dims(size_t tensor) const {
    return shapes_[tensor] == Shape::own ? own_dims_[tensor] : dims_of(shapes_[tensor]);
  }
  size_t find(Role role, int index) const;
  Term symbol(Symbol s);
  int64_t extent(Role role, Role also, size_t d) const;
  Term shared(Role role, Role also, size_t d);

  const AccessDims& access_;
  const Op& op_;
  bool gather_ = false;
  std::vector<PlanTensor> tensors_;
  std::vector<const TensorType*> types_;   ///< as they are bound
  std::vector<const TensorType*> shaped_;  ///< whose dims are those of the shape: a look-up's is what it makes
  std::vector<Shape> shapes_;
  std::vector<Symbol> symbols_;
  std::array<std::vector<Term>, 6> dims_;    ///< of each Shape but own
  std::vector<std::vector<Term>> own_dims_;  ///< per tensor
  std::vector<Term> window_extents_;
  std::vector<std::vector<Term>> strides_;
};

}  // namespace strew::inline v0
