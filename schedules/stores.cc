// See stores.h.
#include "schedules/stores.h"

#include "base/machine.h"
#include "schedules/costs/workload.h"

namespace strew::inline v0 {

Status legal_nontemporal(const Plan& plan) {
  if (plan.pure_move) return {};
  return invalid_argument("nontemporal=true, legal only where bits are moved; this op computes");
}

bool writes_whole_lines(const Plan& plan) {
  if (plan.window.empty()) return false;
  const auto result = static_cast<size_t>(plan.result(0));
  const Loop& run = plan.window.back();
  if (!run.strides[result].is(1) || !run.extent.is_static()) return false;
  return run.extent.factor * bits(plan.tensors[result].dtype) % (8 * kLineBytes) == 0;
}

bool may_stream(const Plan& plan, Strategy strategy) {
  if (!traits_of(strategy).uses_range() || !legal_nontemporal(plan).ok() || !writes_whole_lines(plan)) return false;
  const Workload work = workload_of(plan);
  const double written = work.gathers ? work.moved_bytes : work.table_bytes;
  return work.is_open || written > static_cast<double>(kNeverStreamed);
}

}  // namespace strew::inline v0
