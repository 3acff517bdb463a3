// See shape.h. Static numbers win over symbols wherever any of the tensors that share a dim knows it.
#include "compiler/plan/shape.h"

#include <algorithm>

namespace strew {
namespace {
bool contains(const std::vector<int64_t>& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}
}  // namespace

ShapeTerms::ShapeTerms(const Op& op) : gather_(!is_scatter(op)) {
  list_tensors(op);
  const TensorType& indices = indices_of(op);
  for (int d = 0; d < indices.rank(); ++d) indices_dims_.push_back(dim(indices, Role::indices, 0, d));
  if (gather_)
    gather_dims(std::get<Gather>(op));
  else
    scatter_dims(std::get<Scatter>(op));
  const auto ivd = gather_ ? std::get<Gather>(op).dims.index_vector_dim : std::get<Scatter>(op).dims.index_vector_dim;
  for (int d = 0; d < indices.rank(); ++d)
    if (d != ivd) position_dims_.push_back(indices_dims_[static_cast<size_t>(d)]);
  make_strides(op);
}

void ShapeTerms::list_tensors(const Op& op) {
  auto add = [&](Role role, int index, const TensorType& type, bool bound = true, ExtraKind extra = ExtraKind::scalar) {
    tensors_.push_back({role, index, type.dtype, extra, bound});
    types_.push_back(&type);
  };
  if (const auto* s = std::get_if<Scatter>(&op)) {
    pairs_ = static_cast<int>(s->operands.size());
    for (int i = 0; i < pairs_; ++i) add(Role::result, i, s->results[static_cast<size_t>(i)]);
    for (int i = 0; i < pairs_; ++i) add(Role::operand, i, s->operands[static_cast<size_t>(i)], s->init == InitKind::copy);
    add(Role::indices, 0, s->indices);
    for (int i = 0; i < pairs_; ++i) add(Role::updates, i, s->updates[static_cast<size_t>(i)]);
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

Term ShapeTerms::dim(const TensorType& type, Role role, int index, int d) {
  const int64_t extent = type.dims[static_cast<size_t>(d)];
  return extent == kDynamic ? symbol({role, index, d, false}) : constant(extent);
}

void ShapeTerms::scatter_dims(const Scatter& op) {
  const int rank = op.operands[0].rank();
  for (int d = 0; d < rank; ++d) {
    // The operand may not be bound (in_place, fill); the result always is.
    const TensorType* known = &op.results[0];
    for (const auto* list : {&op.operands, &op.results})
      for (const TensorType& type : *list)
        if (type.dims[static_cast<size_t>(d)] != kDynamic) known = &type;
    operand_dims_.push_back(dim(*known, Role::result, 0, d));
  }
  const TensorType& updates = op.updates[0];
  window_side_dims_.resize(static_cast<size_t>(updates.rank()));
  window_extents_.resize(static_cast<size_t>(rank));
  size_t index_dim = 0;
  int operand_dim = 0;
  for (int d = 0; d < updates.rank(); ++d) {
    Term& term = window_side_dims_[static_cast<size_t>(d)];
    const TensorType* known = &updates;
    for (const TensorType& type : op.updates)
      if (type.dims[static_cast<size_t>(d)] != kDynamic) known = &type;
    if (!contains(op.dims.update_window_dims, d)) {
      if (static_cast<int64_t>(index_dim) == op.dims.index_vector_dim) ++index_dim;
      term = indices_dims_[index_dim++];
      if (!term.is_static() && known->dims[static_cast<size_t>(d)] != kDynamic)
        term = indices_dims_[index_dim - 1] = constant(known->dims[static_cast<size_t>(d)]);
      continue;
    }
    term = dim(*known, Role::updates, 0, d);
    while (contains(op.dims.inserted_window_dims, operand_dim) || contains(op.dims.input_batching_dims, operand_dim))
      ++operand_dim;
    window_extents_[static_cast<size_t>(operand_dim++)] = term;
    window_dims_.push_back(term);
  }
}

void ShapeTerms::gather_dims(const Gather& op) {
  const int rank = op.operand.rank();
  for (int d = 0; d < rank; ++d) operand_dims_.push_back(dim(op.operand, Role::operand, 0, d));
  window_side_dims_.resize(static_cast<size_t>(op.result.rank()));
  window_extents_.resize(static_cast<size_t>(rank));
  size_t index_dim = 0;
  int operand_dim = 0;
  for (int d = 0; d < op.result.rank(); ++d) {
    Term& term = window_side_dims_[static_cast<size_t>(d)];
    const int64_t known = op.result.dims[static_cast<size_t>(d)];
    if (!contains(op.dims.offset_dims, d)) {
      if (static_cast<int64_t>(index_dim) == op.dims.index_vector_dim) ++index_dim;
      if (!indices_dims_[index_dim].is_static() && known != kDynamic) indices_dims_[index_dim] = constant(known);
      term = indices_dims_[index_dim++];
      continue;
    }
    while (contains(op.dims.collapsed_slice_dims, operand_dim) || contains(op.dims.operand_batching_dims, operand_dim))
      ++operand_dim;
    const int64_t slice = op.slice_sizes[static_cast<size_t>(operand_dim)];
    term = slice != kDynamic ? constant(slice) : dim(op.result, Role::result, 0, d);
    window_extents_[static_cast<size_t>(operand_dim++)] = term;
    window_dims_.push_back(term);
  }
}

const std::vector<Term>& ShapeTerms::dims_of(int tensor) const {
  const PlanTensor& t = tensors_[static_cast<size_t>(tensor)];
  switch (t.role) {
    case Role::result:
      return gather_ ? window_side_dims_ : operand_dims_;
    case Role::operand:
      return operand_dims_;
    case Role::indices:
      return indices_dims_;
    case Role::updates:
      return window_side_dims_;
    case Role::extra:
      break;
  }
  switch (t.extra) {
    case ExtraKind::per_element:
      return window_side_dims_;
    case ExtraKind::per_position:
      return position_dims_;
    case ExtraKind::per_window:
      return window_dims_;
    case ExtraKind::scalar:
      break;
  }
  return none_;
}

void ShapeTerms::make_strides(const Op&) {
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

bool ShapeTerms::is_window_side(int tensor) const {
  const PlanTensor& t = tensors_[static_cast<size_t>(tensor)];
  if (t.role == Role::extra) return t.extra == ExtraKind::per_element;
  return t.role == (gather_ ? Role::result : Role::updates);
}

}  // namespace strew
