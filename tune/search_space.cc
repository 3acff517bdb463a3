// See search_space.h.
#include "tune/search_space.h"

#include <algorithm>
#include <array>
#include <limits>

#include "schedules/costs/predict.h"
#include "schedules/schedule.h"

namespace strew::inline v0 {
namespace {

constexpr std::array kPrefetches = {0, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};
constexpr std::array kUnrolls = {1, 2, 4, 8};
constexpr std::array kVectorBytes = {16, 32, 64};

/// The strategies for which the limit of scratch memory decides how a call goes.
bool uses_scratch(const Compiled& planned, Strategy strategy) {
  return traits_of(strategy).takes_scratch || !planned.parts.empty();
}

}  // namespace

Expected<SearchSpace> SearchSpace::of(const Compiled& planned, const Compiled& sized) {
  STREW_TRY(planned.scheduled);
  STREW_TRY(planned.chosen);
  SearchSpace space(planned, sized);
  const auto add_backend = [&](const Backend& backend) {
    const Expected<BackendChoice> choice = parse_backend(backend.name());
    if (choice.ok() && !backend.interprets() && !backend.is_precompiled()) space.backends_.push_back(*choice);
  };
  if (planned.backend->interprets() || planned.backend->is_precompiled())
    return unsupported("tune: no backend makes code for this op, expected one that llvm or halide can build");
  add_backend(*planned.backend);
  for (const Candidate& each : planned.backends)
    if (each.status.ok() && each.backend != planned.backend) add_backend(*each.backend);

  const std::vector<Schedule> schedules =
      default_candidates(planned.plan, planned.target, planned_threads(planned.target, planned.threads));
  const Variant standard{space.backends_[0], planned.schedule};
  // Calls of an op with open extents choose among strategies by their shapes; one workload cannot decide that for all.
  const bool is_chosen_at_call = standard.schedule.adapts && has_open_extents(planned.plan);
  space.tries_adapting_ = standard.schedule.adapts && (is_chosen_at_call || traits_of(standard.schedule.strategy).has_owners());
  if (is_chosen_at_call) space.strategies_.push_back(standard.schedule.strategy);
  for (const Schedule& schedule : schedules)
    if (!is_chosen_at_call &&
        std::find(space.strategies_.begin(), space.strategies_.end(), schedule.strategy) == space.strategies_.end())
      space.strategies_.push_back(schedule.strategy);
  for (const BackendChoice backend : space.backends_) {
    for (Schedule schedule : schedules) {
      if (std::find(space.strategies_.begin(), space.strategies_.end(), schedule.strategy) == space.strategies_.end()) continue;
      // A schedule that adapts takes the same calls as one that does not, and more; both are tried where the default adapts to shapes or to
      // threads. The stores of a variant are its own: that is what is measured.
      for (const bool adapts : {false, true}) {
        if (adapts ? !space.tries_adapting_ : is_chosen_at_call) continue;
        schedule.adapts = adapts;
        const Variant variant{backend, schedule};
        if (variant != standard && space.allows(variant)) space.listed_.push_back({variant, space.predict(variant)});
      }
    }
  }
  space.add_proposals(standard);
  const auto time_of = [](const ListedVariant& each) {
    return each.predicted_ns > 0 ? each.predicted_ns : std::numeric_limits<double>::infinity();
  };
  std::stable_sort(space.listed_.begin(), space.listed_.end(),
                   [&](const ListedVariant& a, const ListedVariant& b) { return time_of(a) < time_of(b); });
  space.listed_.insert(space.listed_.begin(), {standard, space.predict(standard)});
  return space;
}

void SearchSpace::add_proposals(const Variant& standard) {
  for (const BackendChoice choice : backends_) {
    const Backend* const backend = find_backend(name(choice));
    // A backend that cannot say anything leaves the space as it is: its proposals only add to the candidates.
    const Expected<std::vector<Schedule>> proposals = backend->propose(planned_->request());
    if (!proposals.ok()) continue;
    for (const Schedule& schedule : *proposals) {
      const Variant variant{choice, schedule};
      const auto is_it = [&](const ListedVariant& each) { return each.variant == variant; };
      if (variant != standard && allows(variant) && std::none_of(listed_.begin(), listed_.end(), is_it))
        listed_.push_back({variant, predict(variant)});
    }
  }
}

bool SearchSpace::allows(const Variant& variant) const {
  return check_schedule(variant.schedule, planned_->plan, planned_->target).ok();
}

double SearchSpace::predict(const Variant& variant) const {
  if (variant.backend != backends_[0]) return 0;
  return strew::predict({workload_of(sized_->plan), variant.schedule, planned_->target,
                         planned_threads(planned_->target, planned_->threads)})
      .total();
}

std::vector<Variant> SearchSpace::neighbours(const Variant& variant) const {
  std::vector<Variant> all;
  const auto add = [&](auto set) {
    Variant changed = variant;
    set(changed);
    if (changed != variant && allows(changed)) all.push_back(changed);
  };
  const ScheduleChoices choices = schedule_choices(planned_->plan, planned_->target);
  for (const Strategy strategy : strategies_) add([&](Variant& v) { v.schedule.strategy = strategy; });
  for (const int distance : kPrefetches) add([&](Variant& v) { v.schedule.prefetch = distance; });
  for (const int unroll : kUnrolls) add([&](Variant& v) { v.schedule.unroll = unroll; });
  for (const int bytes : kVectorBytes) add([&](Variant& v) { v.schedule.vector_bytes = bytes; });
  add([](Variant& v) { v.schedule.nontemporal = !v.schedule.nontemporal; });
  if (tries_adapting_ && strategies_.size() > 1) add([](Variant& v) { v.schedule.adapts = !v.schedule.adapts; });
  if (uses_scratch(*planned_, variant.schedule.strategy))
    for (const KnobChoice& mib : choices.scratch_mib) add([&](Variant& v) { v.schedule.scratch_mib = mib.value; });
  if (traits_of(variant.schedule.strategy).may_group)
    for (const KnobChoice& tables : choices.tables)
      if (tables.legal.ok()) add([&](Variant& v) { v.schedule.tables = tables.value; });
  for (const BackendChoice backend : backends_) add([&](Variant& v) { v.backend = backend; });
  return all;
}

}  // namespace strew::inline v0
