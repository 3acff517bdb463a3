// See npu_data.h. Tested by strew_npu_differential and strew_npu_compiled.
#include "tests/differential/npu/npu_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/reference/reference.h"
#include "strew/tensor.h"
#include "strew/text.h"
#include "tests/differential/compare.h"
#include "tests/differential/op_blueprint.h"
#include "tests/differential/random_indices.h"

namespace strew::test {
namespace {

bool is_relaxed_fold(const Op& op) {
  const Scatter* s = std::get_if<Scatter>(&op);
  return s != nullptr && s->order == Order::relaxed && s->combiner != CombinerKind::assign;
}

bool has_unique_hint(const Op& op) {
  const Scatter* s = std::get_if<Scatter>(&op);
  return s != nullptr && s->unique_indices;
}

/// Fills in the indices of look-ups, of which each has a pattern of its own. False: one that may not be bad is.
bool store_lookups(Rng& rng, const Call& call) {
  const std::vector<Lookup>& lookups = lookups_of(call.op());
  for (size_t l = 0; l < lookups.size(); ++l) {
    const Op gather = lookups[l].gather;
    const Geometry g = geometry_of(gather);
    const std::vector<std::byte*> origins = call.index_origins(l + 1);
    auto pattern = static_cast<Pattern>(rng.below(kPatternCount));
    if (g.oob == OobPolicy::undefined && !is_in_range(pattern)) pattern = Pattern::random;
    store_indices(gather, origins, random_indices(rng, g, pattern, lookups[l].gather.indices_are_sorted));
    if (g.oob == OobPolicy::undefined && touched_by(g, load_indices(gather, origins)).any_bad) return false;
  }
  return true;
}

bool sorted_hint(const Op& op) {
  const Scatter* s = std::get_if<Scatter>(&op);
  return s != nullptr ? s->indices_are_sorted : std::get<Gather>(op).indices_are_sorted;
}

/// The elements of results that are converted from the operands, one by one, before any update: each takes some hundred steps.
int64_t converted_elements(const Op& op) {
  const auto* const scatter = std::get_if<Scatter>(&op);
  if (scatter == nullptr || scatter->init != InitKind::copy) return 0;
  int64_t out = 0;
  for (size_t pair = 0; pair < scatter->operands.size(); ++pair)
    if (scatter->operands[pair].dtype != scatter->results[pair].dtype)
      out += element_count(scatter->results[pair].dims).value_or(0);
  return out;
}

}  // namespace

DrawnData draw_npu_data(GuardedPool& pool, Rng& rng, const Blueprint& blueprint, const VerifiedOp& op,
                        const NpuDataLimits& limits) {
  const bool must_be_unique = has_unique_hint(*op) || is_relaxed_fold(*op);
  Op concrete = instantiate(blueprint, maxima(blueprint));
  // Extents that are open one by one may not fit each other, which a call refuses before it runs anything.
  if (!VerifiedOp::of(concrete).ok()) return {};
  const Geometry g = geometry_of(concrete);
  if (g.position_count() * g.window_count() + converted_elements(concrete) > limits.most_moved) return {nullptr, true};
  const Pattern pattern = must_be_unique ? Pattern::unique : static_cast<Pattern>(rng.below(kPatternCount));
  auto data = std::make_unique<NpuData>(pool, rng, std::move(concrete),
                                        rng.pick<DataMode>({DataMode::ordinary, DataMode::nasty, DataMode::small}));
  const Call& call = data->call;
  store_indices(call.op(), call.index_origins(), random_indices(rng, g, pattern, sorted_hint(*op)));
  const IndexValues indices = load_indices(call.op(), call.index_origins());
  data->touched = touched_by(g, indices);
  if (g.oob == OobPolicy::undefined && data->touched.any_bad) return {};
  if (must_be_unique && data->touched.twice) return {};
  if (!store_lookups(rng, call)) return {};
  if (!g.scatter) data->touched.element.clear();
  data->before = call.results();
  data->text = fmt::format("{}\n  pattern {}", print(call.op()), name(pattern));
  data->refused = !run_reference(op, call.views()).ok();
  if (limits.non_negative && std::ranges::any_of(indices, [](Wide index) { return index < 0; })) {
    data->refused = true;
    data->call.restore(data->before);
  }
  data->expected = call.results();
  return {std::move(data), false};
}

std::optional<std::string> difference_from_reference(const NpuData& data) {
  const Call::Image actual = data.call.results();
  if (auto stray = first_stray_write(data.call, data.before, actual)) return stray;
  return first_difference(data.call, data.expected, actual, data.touched);
}

}  // namespace strew::test
