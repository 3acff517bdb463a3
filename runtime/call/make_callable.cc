// Callable::make: what every call of a kernel would otherwise find out again.
#include <algorithm>
#include <utility>

#include "base/machine.h"
#include "base/strategy_traits.h"
#include "runtime/call/callable.h"
#include "runtime/call/executor/phases.h"
#include "runtime/call/learner.h"

namespace strew::inline v0 {
namespace {

/// Sets the positions and elements up to which a call is worth one thread without an estimate. Of the time from which on two threads pay, the
/// positions may take half, each with a whole line from the slowest memory, and the elements the other half. CallCosts::of_windows() answers no
/// more than their sum.
void set_small_calls(Callable& callable) {
  const CallCosts& costs = callable.costs;
  const double half = callable.alone_nanoseconds / 2;
  const double line = *std::max_element(costs.line_ns.begin(), costs.line_ns.end()) +
                      *std::max_element(costs.stream_ns.begin(), costs.stream_ns.end());
  callable.small_positions = static_cast<int32_t>(whole(half / (static_cast<double>(costs.position_ns) + line), INT32_MAX)) - 1;
  const double element = static_cast<double>(callable.result_bytes) / static_cast<double>(kLineBytes);
  callable.small_elements = whole(half / (element * (static_cast<double>(costs.vector_ns) + line)), int64_t{1} << 53);
}

}  // namespace

Expected<std::unique_ptr<Callable>> Callable::make(const strew_kernel& kernel, std::shared_ptr<Executor> executor, int threads,
                                                   std::shared_ptr<const ExecutionLimits> limits) {
  STREW_TRY(check_threads(threads));
  STREW_ASSIGN(Binder binder, Binder::make(kernel));
  std::unique_ptr<Callable> made(new Callable(kernel, std::move(binder)));
  for (uint32_t i = 0; i < kernel.part_count; ++i) {
    made->parts.emplace_back();
    if (kernel.parts[i] == nullptr) continue;
    STREW_ASSIGN(made->parts.back(), make(*kernel.parts[i], executor, threads, limits));
  }
  made->range = kernel.entries[STREW_ENTRY_range];
  for (uint32_t s = 0; s < kernel.source_count; ++s)
    if (checks_first(kernel, s)) made->check = kernel.entries[STREW_ENTRY_check];
  made->program = kernel.program;
  made->computes_floats = kernel.computes_floats == STREW_FLOATS;
  made->computes_host_floats = kernel.computes_floats == STREW_HOST_FLOATS;
  made->last_level_cache = Bytes(limits->last_level_cache_bytes != 0 ? limits->last_level_cache_bytes : machine().l3_bytes);
  made->stream = kernel.entries[STREW_ENTRY_stream];
  made->streams = kernel.streams != 0;
  made->is_open = kernel.symbol_count != 0;
  made->always_runs_alone = made->range != nullptr && kernel.strategies == 1U << STREW_STRATEGY_sequential;
  made->small_runs_alone = made->range != nullptr && (!traits_of(kernel.strategy).may_group || kernel.regroups != 0);
  made->takes_addresses = (made->always_runs_alone || made->small_runs_alone) && made->binder.takes_addresses();
  made->costs = limits->costs;
  made->alone_nanoseconds = limits->shares_all ? 0 : 2.0 * to_ns(made->costs.thread_time());
  made->checked_alone = limits->checked_alone >= 0
                            ? limits->checked_alone
                            : static_cast<int32_t>(whole(made->alone_nanoseconds / made->costs.position_ns, INT32_MAX));
  // A call that runs alone checks source 0 (arguments_of); with others to check, none does.
  for (uint32_t s = 1; s < kernel.source_count; ++s)
    if (checks_first(kernel, s)) made->checked_alone = -1;
  made->table_bytes = strew::table_bytes(kernel, kernel.tensors[table_of(kernel)].dims);
  made->result_bytes = strew::result_bytes(kernel);
  set_small_calls(*made);
  made->threads = threads == 0 ? std::max(1, executor->threads()) : threads;
  made->executor = std::move(executor);
  made->limits = std::move(limits);
  made->learner = Learner::make(*made);
  return made;
}

}  // namespace strew::inline v0
