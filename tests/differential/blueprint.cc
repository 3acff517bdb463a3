// See blueprint.h. Makes an Op of a Blueprint by filling in dims and strides. Tested by every differential run, which
// verifies each generated op.
#include "tests/differential/blueprint.h"

#include <algorithm>
#include <cstdlib>

namespace strew::test {
namespace {

std::vector<int64_t> values_of(const std::vector<DimRef>& dims, const std::vector<int64_t>& values) {
  std::vector<int64_t> out;
  for (const DimRef& dim : dims) out.push_back(dim.variable < 0 ? dim.constant : values[static_cast<size_t>(dim.variable)]);
  return out;
}

/// If some stride of the tensor is static, all of its strides are computed from the maxima of the extents. If all are
/// known only at the call, they are computed from the extents of the call, so the tensor may be contiguous.
std::vector<int64_t> concrete_strides(const TensorPlan& tensor, const std::vector<int64_t>& most,
                                      const std::vector<int64_t>& values) {
  const std::vector<bool>& dynamic = tensor.layout.dynamic;
  const bool all = std::all_of(dynamic.begin(), dynamic.end(), [](bool b) { return b; });
  return strides_for(tensor.layout, values_of(tensor.dims, all ? values : most));
}

/// Gives every open stride a value that is larger than all the offsets that the given strides reach.
std::vector<int64_t> around_given(std::vector<int64_t> strides, const std::vector<int64_t>& dims) {
  int64_t reach = 1;
  for (size_t d = 0; d < dims.size(); ++d)
    if (strides[d] != kDynamic) reach += std::abs(strides[d]) * std::max<int64_t>(dims[d] - 1, 0);
  for (size_t d = dims.size(); d-- > 0;) {
    if (strides[d] != kDynamic) continue;
    strides[d] = reach;
    reach *= std::max<int64_t>(dims[d], 1);
  }
  return strides;
}

TensorType type_of(const TensorPlan& tensor, const std::vector<int64_t>& most, const std::vector<int64_t>& values,
                   bool keep_dynamic) {
  TensorType type;
  type.dtype = tensor.dtype;
  type.dims = values_of(tensor.dims, values);
  if (!tensor.layout.contiguous) type.strides = concrete_strides(tensor, most, values);
  if (!keep_dynamic) return type;
  for (size_t d = 0; d < type.dims.size(); ++d) {
    if (tensor.dims[d].dynamic) type.dims[d] = kDynamic;
    if (!tensor.layout.contiguous && tensor.layout.dynamic[d]) type.strides[d] = kDynamic;
  }
  return type;
}

Op build(const Blueprint& b, const std::vector<int64_t>& values, bool keep_dynamic) {
  const std::vector<int64_t> most = maxima(b);
  const auto type = [&](const TensorPlan& tensor) { return type_of(tensor, most, values, keep_dynamic); };
  const auto types = [&](const std::vector<TensorPlan>& tensors) {
    std::vector<TensorType> out;
    for (const TensorPlan& tensor : tensors) out.push_back(type(tensor));
    return out;
  };
  Op op = b.frame;
  if (Scatter* s = std::get_if<Scatter>(&op)) {
    s->operands.clear();
    s->updates.clear();
    s->results.clear();
    for (const TensorPlan& t : b.operands) s->operands.push_back(type(t));
    for (const TensorPlan& t : b.updates) s->updates.push_back(type(t));
    for (const TensorPlan& t : b.results) s->results.push_back(type(t));
    s->indices = type(b.indices);
    s->more_indices = types(b.more_indices);
    for (size_t e = 0; e < b.extras.size(); ++e) s->extras[e].type = type(b.extras[e]);
    for (size_t l = 0; l < b.lookups.size(); ++l) {
      Lookup& lookup = s->lookups[l];
      const auto at = static_cast<size_t>(lookup.index);
      lookup.gather.operand = type(b.lookups[l].table);
      lookup.gather.indices = type(b.lookups[l].indices);
      lookup.gather.more_indices = types(b.lookups[l].more_indices);
      lookup.gather.result = lookup.of == Role::updates ? s->updates[at] : s->extras[at].type;
      lookup.gather.slice_sizes = values_of(b.lookups[l].window, values);
      for (size_t d = 0; keep_dynamic && d < b.lookups[l].window.size(); ++d)
        if (b.lookups[l].window[d].dynamic) lookup.gather.slice_sizes[d] = kDynamic;
    }
  } else {
    Gather& g = std::get<Gather>(op);
    g.operand = type(b.operands[0]);
    g.result = type(b.results[0]);
    g.indices = type(b.indices);
    g.more_indices = types(b.more_indices);
    for (size_t e = 0; e < b.extras.size(); ++e) g.extras[e].type = type(b.extras[e]);
    g.slice_sizes = values_of(b.window, values);
    for (size_t d = 0; keep_dynamic && d < b.dynamic_slice.size(); ++d)
      if (b.dynamic_slice[d]) g.slice_sizes[d] = kDynamic;
  }
  return op;
}

}  // namespace

std::vector<int64_t> strides_for(const Layout& layout, const std::vector<int64_t>& dims) {
  if (!layout.given.empty()) return around_given(layout.given, dims);
  std::vector<int64_t> strides(dims.size(), 0);
  int64_t step = 1;
  for (int dim : layout.order) {
    const auto d = static_cast<size_t>(dim);
    if (layout.broadcast[d]) continue;
    step += layout.gap[d];
    strides[d] = layout.reversed[d] ? -step : step;
    step *= std::max<int64_t>(dims[d], 1);
  }
  return strides;
}

Op make_op(const Blueprint& blueprint) { return build(blueprint, maxima(blueprint), true); }

Op instantiate(const Blueprint& blueprint, const std::vector<int64_t>& values) { return build(blueprint, values, false); }

std::vector<int64_t> maxima(const Blueprint& blueprint) {
  std::vector<int64_t> out;
  for (const Variable& v : blueprint.variables) out.push_back(v.most);
  return out;
}

bool is_free(const Blueprint& blueprint, int v) {
  for (const TensorPlan* tensor : tensors_of(blueprint))
    for (const DimRef& dim : tensor->dims)
      if (dim.variable == v && !dim.dynamic) return false;
  if (std::holds_alternative<Gather>(blueprint.frame)) {
    for (size_t d = 0; d < blueprint.window.size(); ++d)
      if (blueprint.window[d].variable == v && !blueprint.dynamic_slice[d]) return false;
  }
  return true;
}

void drop_lookups(Blueprint& b) {
  b.lookups.clear();
  if (Scatter* s = std::get_if<Scatter>(&b.frame)) s->lookups.clear();
}

std::vector<TensorPlan*> tensors_of(Blueprint& b) {
  std::vector<TensorPlan*> out;
  for (auto* group : {&b.results, &b.operands})
    for (TensorPlan& t : *group) out.push_back(&t);
  out.push_back(&b.indices);
  for (auto* group : {&b.updates, &b.extras, &b.more_indices})
    for (TensorPlan& t : *group) out.push_back(&t);
  for (LookupPlan& lookup : b.lookups) {
    for (TensorPlan* t : {&lookup.table, &lookup.indices}) out.push_back(t);
    for (TensorPlan& t : lookup.more_indices) out.push_back(&t);
  }
  return out;
}

std::vector<const TensorPlan*> tensors_of(const Blueprint& b) {
  std::vector<const TensorPlan*> out;
  for (TensorPlan* t : tensors_of(const_cast<Blueprint&>(b))) out.push_back(t);
  return out;
}

}  // namespace strew::test
