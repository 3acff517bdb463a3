// See shape.h. If one of the tensors that share an extent has it static, the term is that number.
#include "compiler/plan/shape.h"

#include <algorithm>

namespace strew::inline v0 {

ShapeTerms::ShapeTerms(const Op& op, const AccessDims& dims)
    : access_(dims), op_(op), gather_(!is_scatter(op)), window_extents_(dims.operand.size()) {
  list_tensors(op);
  own_dims_.resize(tensors_.size());
  for (size_t d = 0; d < indices_of(op).dims.size(); ++d)
    dims_of(Shape::indices).push_back(shared(Role::indices, Role::indices, d));
  name_dims();
  for (const AccessDims::Position& position : dims.positions)
    dims_of(Shape::positions).push_back(indices_dim(position.indices_dim));
  size_t source = 0;
  for (const Lookup& lookup : lookups_of(op)) name_lookup(lookup, first_indices(op, ++source));
  make_strides();
}

void ShapeTerms::list_tensors(const Op& op) {
  const auto add = [&](Role role, int index, const TensorType& type, ExtraKind extra, bool bound) {
    constexpr Shape kOfRoles[] = {Shape::operand, Shape::operand, Shape::indices, Shape::slices},
                    kOfExtras[] = {Shape::slices, Shape::positions, Shape::window, Shape::none};
    const bool is_extra = role == Role::extra, is_slices = role == Role::result && gather_;
    const Lookup* const lookup = lookup_of(op, role, index);
    const bool is_own = lookup != nullptr || (role == Role::indices && index >= first_indices(op, 1));
    shapes_.push_back(is_own      ? Shape::own
                      : is_slices ? Shape::slices
                      : is_extra  ? kOfExtras[static_cast<size_t>(extra)]
                                  : kOfRoles[static_cast<size_t>(role)]);
    tensors_.push_back({role, index, type.dtype, extra, bound});
    types_.push_back(&type);
    shaped_.push_back(lookup != nullptr ? &lookup->gather.result : &type);
  };
  const auto* const scatter = std::get_if<Scatter>(&op);
  const auto& extras = std::visit([](const auto& o) -> const std::vector<Extra>& { return o.extras; }, op);
  const bool lacks_operands = scatter != nullptr && scatter->init != InitKind::copy;  // which have numbers all the same
  for (const TensorSlot& slot : tensor_slots(op)) {
    if (lacks_operands && slot.role == Role::indices && slot.index == 0)
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

size_t ShapeTerms::find(Role role, int index) const {
  size_t t = 0;
  while (tensors_[t].role != role || tensors_[t].index != index) ++t;
  return t;
}

/// Extent of dim d in the tensors of the two roles that know it; kDynamic if none does.
int64_t ShapeTerms::extent(Role role, Role also, size_t d) const {
  for (size_t t = 0; t < tensors_.size(); ++t) {
    const PlanTensor& tensor = tensors_[t];
    const bool is_lookup_index = tensor.role == Role::indices && shapes_[t] == Shape::own;
    if ((tensor.role == role || tensor.role == also) && !is_lookup_index && shaped_[t]->dims[d] != kDynamic)
      return shaped_[t]->dims[d];
  }
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
      extent_of_slices = window != kDynamic ? constant(window) : window_dim(d);
      window_extents_[operand_dim] = extent_of_slices;
      dims_of(Shape::window).push_back(extent_of_slices);
    }
  }
}

/// The extent of a window dim that the op does not say. A call reads it from the first updates that are bound, or from a table: an open window is a
/// whole dim of it.
Term ShapeTerms::window_dim(size_t d) {
  if (gather_) return shared(Role::result, Role::result, d);
  if (const int64_t known = extent(Role::updates, Role::updates, d); known != kDynamic) return constant(known);
  int bound = 0;
  for (const Lookup& lookup : lookups_of(op_))
    if (lookup.of == Role::updates && lookup.index == bound) ++bound;
  if (bound < static_cast<int>(std::get<Scatter>(op_).updates.size()))
    return symbol({Role::updates, bound, static_cast<int>(d), false});
  const AccessDims table(lookup_of(op_, Role::updates, 0)->gather);
  return symbol({Role::updates, 0, static_cast<int>(table.slices[d].operand_dim), false});
}

/// The dims of a look-up's table and indices. `number`: of the first index tensor.
void ShapeTerms::name_lookup(const Lookup& lookup, int number) {
  const AccessDims access(lookup.gather);
  const size_t table = find(lookup.of, lookup.index), indices = find(Role::indices, number);  // the others follow
  for (size_t d = 0; d < access.operand.size(); ++d) {
    const AccessDims::OperandDim& dim = access.operand[d];
    const int64_t known = types_[table]->dims[d];
    const bool is_whole = dim.kind == OperandDimKind::window && dim.window == kDynamic;
    own_dims_[table].push_back(known != kDynamic ? constant(known)
                               : is_whole        ? dims_of(Shape::slices)[static_cast<size_t>(dim.slices_dim)]
                                                 : symbol({lookup.of, lookup.index, static_cast<int>(d), false}));
  }
  for (size_t t = indices; t < indices + index_tensors(lookup.gather).size(); ++t) {
    own_dims_[t].resize(types_[t]->dims.size());
    for (size_t p = 0; p < access.positions.size(); ++p)
      own_dims_[t][static_cast<size_t>(access.positions[p].indices_dim)] = dims_of(Shape::positions)[p];
    if (!access.scalar_indices) {
      const auto d = static_cast<size_t>(access.index_vector_dim);
      own_dims_[t][d] = constant(types_[t]->dims[d]);
    }
  }
}

void ShapeTerms::make_strides() {
  strides_.resize(tensors_.size());
  for (size_t t = 0; t < tensors_.size(); ++t) {
    if (!tensors_[t].bound) continue;
    const std::vector<Term>& extents = dims(t);
    const TensorType& type = *types_[t];
    strides_[t].resize(extents.size());
    Term run = constant(1);
    for (size_t d = extents.size(); d-- > 0;) {
      if (type.strides.empty())
        strides_[t][d] = run;
      else if (type.strides[d] == kDynamic)
        strides_[t][d] = symbol({tensors_[t].role, tensors_[t].index, static_cast<int>(d), true});
      else
        strides_[t][d] = constant(type.strides[d]);
      run = run * extents[d];
    }
  }
}

}  // namespace strew::inline v0
