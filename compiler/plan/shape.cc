// See shape.h. If one of the tensors that share an extent has it static, the term is that number.
#include "compiler/plan/shape.h"

#include <algorithm>

namespace strew::inline v0 {

ShapeTerms::ShapeTerms(const Op& op, const AccessDims& dims)
    : access_(dims), gather_(!is_scatter(op)), window_extents_(dims.operand.size()) {
  list_tensors(op);
  for (size_t d = 0; d < indices_of(op).dims.size(); ++d)
    dims_of(Shape::indices).push_back(shared(Role::indices, Role::indices, d));
  name_dims();
  for (const AccessDims::Position& position : dims.positions)
    dims_of(Shape::positions).push_back(indices_dim(position.indices_dim));
  make_strides();
}

void ShapeTerms::list_tensors(const Op& op) {
  const auto add = [&](Role role, int index, const TensorType& type, ExtraKind extra, bool bound) {
    constexpr Shape kOfRoles[] = {Shape::operand, Shape::operand, Shape::indices, Shape::slices},
                    kOfExtras[] = {Shape::slices, Shape::positions, Shape::window, Shape::none};
    const bool is_extra = role == Role::extra, is_slices = role == Role::result && gather_;
    shapes_.push_back(is_slices  ? Shape::slices
                      : is_extra ? kOfExtras[static_cast<size_t>(extra)]
                                 : kOfRoles[static_cast<size_t>(role)]);
    tensors_.push_back({role, index, type.dtype, extra, bound});
    types_.push_back(&type);
  };
  const auto* const scatter = std::get_if<Scatter>(&op);
  const auto& extras = std::visit([](const auto& o) -> const std::vector<Extra>& { return o.extras; }, op);
  const bool lacks_operands = scatter != nullptr && scatter->init != InitKind::copy;  // which have numbers all the same
  for (const TensorSlot& slot : tensor_slots(op)) {
    if (lacks_operands && slot.role == Role::indices)
      for (size_t i = 0; i < scatter->operands.size(); ++i)
        add(Role::operand, static_cast<int>(i), scatter->operands[i], ExtraKind::scalar, /*bound=*/false);
    const bool is_extra = slot.role == Role::extra;
    add(slot.role, slot.index, *slot.type, is_extra ? extras[slot.index].kind : ExtraKind::scalar,
        /*bound=*/true);
  }
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
  for (size_t d = 0; d < access_.operand.size(); ++d) dims_of(Shape::operand).push_back(shared(indexed, Role::operand, d));
  for (size_t d = 0; d < access_.slices.size(); ++d) {
    Term& extent_of_slices = dims_of(Shape::slices).emplace_back();
    const auto& [operand_dim, indices_dim] = access_.slices[d];
    if (operand_dim < 0) {  // the slices and the indices share the extent
      Term& term = dims_of(Shape::indices)[indices_dim];
      const int64_t known = extent(slices, slices, d);
      if (!term.is_static() && known != kDynamic) term = constant(known);
      extent_of_slices = term;
    } else {
      const int64_t window = access_.operand[operand_dim].window;
      extent_of_slices = window != kDynamic ? constant(window) : shared(slices, slices, d);
      window_extents_[operand_dim] = extent_of_slices;
      dims_of(Shape::window).push_back(extent_of_slices);
    }
  }
}

void ShapeTerms::make_strides() {
  strides_.resize(tensors_.size());
  for (size_t t = 0; t < tensors_.size(); ++t) {
    if (!tensors_[t].bound) continue;
    const std::vector<Term>& dims = dims_of(shapes_[t]);
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

}  // namespace strew::inline v0
