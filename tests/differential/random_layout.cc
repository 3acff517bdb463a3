// See random_layout.h. Tested by every differential run.
#include "tests/differential/random_layout.h"

#include <numeric>

namespace strew::test {
namespace {

enum class DynamicMode : uint8_t { none, all, per_variable, per_use };

Layout random_layout(Rng& rng, size_t rank, bool may_broadcast) {
  Layout layout;
  if (rank == 0) return layout;
  layout.contiguous = false;
  layout.order.resize(rank);
  for (size_t d = 0; d < rank; ++d) layout.order[d] = static_cast<int>(rank - 1 - d);
  if (rng.chance(40)) rng.shuffle(layout.order);
  const bool gaps = rng.chance(60), reverses = rng.chance(40), broadcasts = may_broadcast && rng.chance(35),
             dynamic = rng.chance(50);
  const bool all_dynamic = rng.chance(50);
  for (size_t d = 0; d < rank; ++d) {
    const bool innermost = layout.order[0] == static_cast<int>(d);
    layout.gap.push_back(gaps && rng.chance(innermost ? 20 : 60) ? rng.between(1, 7) : 0);
    layout.reversed.push_back(reverses && rng.chance(innermost ? 20 : 50));
    layout.broadcast.push_back(broadcasts && rng.chance(40));
    layout.dynamic.push_back(dynamic && (all_dynamic || rng.chance(50)));
  }
  return layout;
}

}  // namespace

void choose_dynamic_dims(Rng& rng, Blueprint& b) {
  const DynamicMode mode = rng.chance(45)   ? DynamicMode::none
                           : rng.chance(30) ? DynamicMode::all
                           : rng.chance(55) ? DynamicMode::per_variable
                                            : DynamicMode::per_use;
  std::vector<bool> by_variable;
  for (size_t v = 0; v < b.variables.size(); ++v) by_variable.push_back(rng.chance(50));
  const auto choose = [&](const DimRef& dim) {
    switch (mode) {
      case DynamicMode::none:
        return false;
      case DynamicMode::all:
        return dim.variable >= 0;
      case DynamicMode::per_variable:
        return dim.variable >= 0 && by_variable[static_cast<size_t>(dim.variable)];
      case DynamicMode::per_use:
        return rng.chance(40);
    }
    return false;
  };
  const Scatter* scatter = std::get_if<Scatter>(&b.frame);
  const int64_t vector_dim = dims_of(b.frame).index_vector_dim;
  const auto is_vector_dim = [&](const TensorPlan* t, size_t d) {
    if (t == &b.indices) return static_cast<int64_t>(d) == vector_dim;
    for (size_t l = 0; l < b.lookups.size(); ++l)
      if (t == &b.lookups[l].indices) return static_cast<int64_t>(d) == scatter->lookups[l].gather.dims.index_vector_dim;
    return false;
  };
  for (TensorPlan* t : tensors_of(b))
    for (size_t d = 0; d < t->dims.size(); ++d)
      if (!is_vector_dim(t, d)) t->dims[d].dynamic = choose(t->dims[d]);
  b.dynamic_slice.assign(b.window.size(), false);
  if (scatter == nullptr) {
    for (size_t d = 0; d < b.window.size(); ++d)
      if (b.window[d].variable >= 0) b.dynamic_slice[d] = choose(b.window[d]);
  } else if (scatter->init == InitKind::in_place) {
    for (size_t i = 0; i < b.results.size(); ++i) b.results[i].dims = b.operands[i].dims;
  }
}

void choose_layouts(Rng& rng, Blueprint& b) {
  const bool strided = rng.chance(40);
  const Scatter* scatter = std::get_if<Scatter>(&b.frame);
  for (TensorPlan* t : tensors_of(b)) {
    bool owned = false;
    for (const auto* group : {&b.results, &b.operands})
      for (const TensorPlan& each : *group) owned |= &each == t;
    const int percent = bits(t->dtype) < 8 ? 15 : 55;
    if (strided && rng.chance(percent)) t->layout = random_layout(rng, t->dims.size(), !owned);
  }
  if (scatter != nullptr && scatter->init == InitKind::in_place) b.results = b.operands;
  // The operand of a fill is never bound, so its strides mean nothing.
  if (scatter != nullptr && scatter->init == InitKind::fill)
    for (TensorPlan& t : b.operands) t.layout = {};
}

void repeat_along(TensorPlan& t, const std::vector<int64_t>& dims) {
  Layout& layout = t.layout;
  const size_t rank = t.dims.size();
  if (layout.contiguous) {
    layout.contiguous = false;
    layout.order.resize(rank);
    for (size_t d = 0; d < rank; ++d) layout.order[d] = static_cast<int>(rank - 1 - d);
    layout.gap.assign(rank, 0);
    for (auto* const flags : {&layout.reversed, &layout.broadcast, &layout.dynamic}) flags->assign(rank, false);
  }
  for (const int64_t d : dims) {
    layout.broadcast[static_cast<size_t>(d)] = true;
    layout.dynamic[static_cast<size_t>(d)] = false;
  }
}

}  // namespace strew::test
