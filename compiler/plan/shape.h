// ShapeTerms: every extent and stride of an op's tensors as a Term. Extents that must be equal are the same Term.
//
// Results and operands share their extents; each dim of the slices (updates, or a gather's result) shares the extent of
// a position dim or of a window dim. So planning can prove that two loops are contiguous although their extents are
// dynamic, and a call reads each number once. Tested by tests/golden/plan_test.cc.
#pragma once

#include <vector>

#include "compiler/op/access_dims.h"
#include "compiler/plan/plan.h"

namespace strew::inline v0 {

class ShapeTerms {
 public:
  ShapeTerms(const Op& op, const AccessDims& dims);

  std::vector<PlanTensor> tensors() const { return tensors_; }
  const std::vector<Symbol>& symbols() const { return symbols_; }

  const Term& operand_dim(int64_t d) const { return operand_dims_[static_cast<size_t>(d)]; }
  const Term& indices_dim(int64_t d) const { return indices_dims_[static_cast<size_t>(d)]; }
  /// Extent of the window in operand dim d, which is neither removed nor batching.
  const Term& window_extent(int64_t d) const { return window_extents_[static_cast<size_t>(d)]; }
  /// Stride of a bound tensor in its own dim d.
  const Term& stride(int tensor, int64_t d) const { return strides_[static_cast<size_t>(tensor)][static_cast<size_t>(d)]; }

  bool has_slices_shape(int tensor) const;  ///< does the tensor have the shape of updates (gather: of the result)?
  bool is_per_position(int tensor) const { return has_extra_kind(tensor, ExtraKind::per_position); }
  bool is_per_window(int tensor) const { return has_extra_kind(tensor, ExtraKind::per_window); }

 private:
  bool has_extra_kind(int tensor, ExtraKind kind) const {
    const PlanTensor& t = tensors_[static_cast<size_t>(tensor)];
    return t.role == Role::extra && t.extra == kind;
  }
  void list_tensors(const Op& op);
  void name_dims();
  void make_strides();
  const std::vector<Term>& dims_of(int tensor) const;
  Term symbol(Symbol s);
  int64_t extent(Role role, Role also, size_t d) const;
  Term shared(Role role, Role also, size_t d);

  const AccessDims& access_;
  bool gather_ = false;
  std::vector<PlanTensor> tensors_;
  std::vector<const TensorType*> types_;
  std::vector<Symbol> symbols_;
  std::vector<Term> operand_dims_, indices_dims_, slices_dims_, window_extents_, position_dims_, window_dims_, none_;
  std::vector<std::vector<Term>> strides_;
};

}  // namespace strew::inline v0
