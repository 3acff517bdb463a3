// run() is bind, then the phases of the executor. Tested by tests/unit/kernel_test.cc and tests/runtime_only.
#include "runtime/call/callable.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "base/machine.h"
#include "runtime/call/descriptor.h"
#include "runtime/call/executor/phases.h"

namespace strew {

Expected<std::unique_ptr<Callable>> Callable::make(const strew_kernel& kernel, std::shared_ptr<Executor> executor, int threads,
                                                   std::shared_ptr<const ExecutionLimits> limits) {
  if (threads < 0 || threads > Executor::kMaxThreads)
    return invalid_argument("threads: " + std::to_string(threads) + ", expected 0.." + std::to_string(Executor::kMaxThreads));
  STREW_ASSIGN(Binder binder, Binder::make(kernel));
  std::unique_ptr<Callable> made(new Callable(kernel, std::move(binder)));
  for (uint32_t i = 0; i < kernel.part_count; ++i) {
    STREW_ASSIGN(std::unique_ptr<Callable> part, make(*kernel.parts[i], executor, threads, limits));
    made->parts.emplace_back(std::move(part));
  }
  made->range = entry_of(kernel, STREW_ENTRY_range);
  if (kernel.checks_first != 0) made->check_at_once = entry_of(kernel, STREW_ENTRY_check);
  made->computes_floats = kernel.computes_floats != 0;
  made->last_level_cache_bytes = machine().l3_bytes;
  made->is_sequential = made->range != nullptr && kernel.strategy == STREW_STRATEGY_sequential;
  made->may_be_alone = made->range != nullptr && (kernel.strategy != STREW_STRATEGY_private_tables || kernel.regroups != 0);
  made->checked_alone = limits->checked_alone;
  made->threads = threads == 0 ? executor->threads() : threads;
  made->executor = std::move(executor);
  made->limits = std::move(limits);
  return made;
}

Status Callable::run(std::span<const TensorView> tensors, strew_fault* fault) const {
  try {
    Call call;
    STREW_TRY(binder.bind(tensors, call));
    if (strew::is_direct(*this, call)) return run_at_once(*this, tensors, call, fault);
    return run_phases(*this, tensors, call, fault);
  } catch (const std::bad_alloc&) {
    return unsupported("call: out of memory; what the results hold is not specified");
  }
}

}  // namespace strew
