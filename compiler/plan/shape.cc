// See shape.h. If one of the tensors that share an extent has it static, the term is that number.
#include "compiler/plan/shape.h"

#include <algorithm>

namespace strew::inline v0 {

ShapeTerms::ShapeTerms(const Op& op, const AccessDims& dims)
    : access_(dims), gather_(!is_scatter(op)), slices_dims_(dims.slices.size()), window_extents_(dims.operand.size()) {
  list_tensors(op);
  for (size_t d = 0; d < indices_of(op).dims.size(); ++d) indices_dims_.push_back(shared(Role::indices, Role::indices, d));
  name_dims();
  for (const AccessDims::Position& position : dims.positions) position_dims_.push_back(indices_dim(position.indices_dim));
  make_strides();
}

void ShapeTerms::list_tensors(const Op& op) {
  auto add = [&](Role role, int index, const TensorType& type, bool bound = true, ExtraKind extra = ExtraKind::scalar) {
    tensors_.push_back({role, index, type.dtype, extra, bound});
    types_.push_back(&type);
  };
  if (const auto* s = std::get_if<Scatter>(&op)) {
    const auto add_all = [&](Role role, const std::vector<TensorType>& types, bool bound) {
      for (size_t i = 0; i < types.size(); ++i) add(role, static_cast<int>(i), types[i], bound);
    };
    add_all(Role::result, s->results, true);
    add_all(Role::operand, s->operands, s->init == InitKind::copy);
    add(Role::indices, 0, s->indices);
    add_all(Role::updates, s->updates, true);
    for (size_t i = 0; i < s->extras.size(); ++i)
      add(Role::extra, static_cast<int>(i), s->extras[i].type, true, s->extras[i].kind);
    return;
  }
  const auto& g = std::get<Gather>(op);
  add(Role::result, 0, g.result);
  add(Role::operand, 0, g.operand);
  add(Role::indices, 0, g.indices);
  for (size_t i = 0; i < g.extras.size(); ++i) add(Role::extra, static_cast<int>(i), g.extras[i].type, true, g.extras[i].kind);
}

Term ShapeTerms::symbol(Symbol s) {
  auto it = std::find(symbols_.begin(), symbols_.end(), s);
  if (it == symbols_.end()) it = symbols_.insert(symbols_.end(), s);
  return {1, {static_cast<int>(it - symbols_.begin())}};
}

/// Extent of dim d in the tensors of the two roles that know it; kDynamic if none does.
int64_t ShapeTerms::extent(Role role, Role also, size_t d) const {
  for (size_t t = 0; t < tensors_.size(); ++t)
    if ((tensors_[t].role == role || tensors_[t].role == also) && types_[t]->dims[d] != kDynamic) return types_[t]->dims[d];
  return kDynamic;
}

/// That extent; if nobody knows it, the symbol that is read from the first tensor of `role`.
Term ShapeTerms::shared(Role role, Role also, size_t d) {
  const int64_t known = extent(role, also, d);
  return known == kDynamic ? symbol({role, 0, static_cast<int>(d), false}) : constant(known);
}

void ShapeTerms::name_dims() {
  // A scatter's operand may not be bound (init in_place, fill), so a symbol is read from the result.
  const Role indexed = gather_ ? Role::operand : Role::result, slices = gather_ ? Role::result : Role::updates;
  for (size_t d = 0; d < access_.operand.size(); ++d) operand_dims_.push_back(shared(indexed, Role::operand, d));
  for (size_t d = 0; d < slices_dims_.size(); ++d) {
    const auto& [operand_dim, indices_dim] = access_.slices[d];
    if (operand_dim < 0) {  // the slices and the indices share the extent
      Term& term = indices_dims_[static_cast<size_t>(indices_dim)];
      const int64_t known = extent(slices, slices, d);
      if (!term.is_static() && known != kDynamic) term = constant(known);
      slices_dims_[d] = term;
    } else {
      const int64_t window = access_.operand[static_cast<size_t>(operand_dim)].window;
      slices_dims_[d] = window != kDynamic ? constant(window) : shared(slices, slices, d);
      window_extents_[static_cast<size_t>(operand_dim)] = slices_dims_[d];
      window_dims_.push_back(slices_dims_[d]);
    }
  }
}

const std::vector<Term>& ShapeTerms::dims_of(int tensor) const {
  const PlanTensor& t = tensors_[static_cast<size_t>(tensor)];
  switch (t.role) {
    case Role::result:
      return gather_ ? slices_dims_ : operand_dims_;
    case Role::operand:
      return operand_dims_;
    case Role::indices:
      return indices_dims_;
    case Role::updates:
      return slices_dims_;
    case Role::extra:
      break;
  }
  switch (t.extra) {
    case ExtraKind::per_element:
      return slices_dims_;
    case ExtraKind::per_position:
      return position_dims_;
    case ExtraKind::per_window:
      return window_dims_;
    case ExtraKind::scalar:
      break;
  }
  return none_;
}

void ShapeTerms::make_strides() {
  strides_.resize(tensors_.size());
  for (size_t t = 0; t < tensors_.size(); ++t) {
    if (!tensors_[t].bound) continue;
    const std::vector<Term>& dims = dims_of(static_cast<int>(t));
    const TensorType& type = *types_[t];
    strides_[t].resize(dims.size());
    Term run = constant(1);
    for (size_t d = dims.size(); d-- > 0;) {
      if (type.strides.empty())
        strides_[t][d] = run;
      else if (type.strides[d] == kDynamic)
        strides_[t][d] = symbol({tensors_[t].role, tensors_[t].index, static_cast<int>(d), true});
      else
        strides_[t][d] = constant(type.strides[d]);
      run = run * dims[d];
    }
  }
}

bool ShapeTerms::has_slices_shape(int tensor) const {
  const PlanTensor& t = tensors_[static_cast<size_t>(tensor)];
  if (t.role == Role::extra) return t.extra == ExtraKind::per_element;
  return t.role == (gather_ ? Role::result : Role::updates);
}

}  // namespace strew::inline v0
