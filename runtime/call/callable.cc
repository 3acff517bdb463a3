// See callable.h. run() binds the tensors, then runs the phases of the executor, or, for small calls, the entries
// directly. Tested by tests/unit/kernel_test.cc and tests/runtime_only.
#include "runtime/call/callable.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "base/fp_environment.h"
#include "base/machine.h"
#include "runtime/call/descriptor.h"
#include "runtime/call/executor/phases.h"

namespace strew::inline v0 {

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
  made->range = kernel.entries[STREW_ENTRY_range];
  if (kernel.checks_first != 0) made->check_at_once = kernel.entries[STREW_ENTRY_check];
  made->computes_floats = kernel.computes_floats != 0;
  made->last_level_cache_bytes = machine().l3_bytes;
  made->is_sequential = made->range != nullptr && kernel.strategy == STREW_STRATEGY_sequential;
  made->may_be_alone = made->range != nullptr && (kernel.strategy != STREW_STRATEGY_private_tables || kernel.regroups != 0);
  made->checked_alone = limits->checked_alone;
  made->result_bytes = strew::result_bytes(kernel);
  made->threads = threads == 0 ? executor->threads() : threads;
  made->executor = std::move(executor);
  made->limits = std::move(limits);
  return made;
}

/// May this call use run_at_once()? It may if there is no init to do, the check (if any) is too small for several
/// threads, and one thread applies the updates.
inline bool Callable::is_direct(const Call& call) const {
  if (call.init != 0 && !call.result_is_operand) return false;
  if (check_at_once != nullptr && call.positions > checked_alone) return false;
  return is_sequential || (may_be_alone && apply_nanoseconds(*this, call) < 2 * limits->thread_nanoseconds);
}

/// Does what run_phases() does for such calls, in less time: calls the check entry, if there is one, and the range entry once.
inline Status Callable::run_at_once(std::span<const TensorView> tensors, const Call& call, strew_fault* fault) const {
  const int64_t positions = call.positions;
  if (positions == 0) return {};
  const FpEnvironment environment(computes_floats);
  const strew_args args = arguments_of(call);
  strew_fault found;
  if (check_at_once != nullptr && check_at_once(&args, 0, positions, &found) != STREW_OK)
    return bad_index_error(kernel, tensors, found, fault);
  range(&args, 0, positions, &found);
  return {};
}

Status Callable::run(std::span<const TensorView> tensors, strew_fault* fault) const {
  try {
    Call call;
    STREW_TRY(binder.bind(tensors, call));
    if (is_direct(call)) return run_at_once(tensors, call, fault);
    return run_phases(*this, tensors, call, fault);
  } catch (const std::bad_alloc&) {
    return unsupported("call: out of memory; what the results hold is not specified");
  }
}

bool Callable::run_if_it_fits(std::span<const TensorView> tensors, strew_fault* fault, Status& status) const {
  try {
    Call call;
    if (!binder.binds_plainly(tensors, call)) return false;
    status = is_direct(call) ? run_at_once(tensors, call, fault) : run_phases(*this, tensors, call, fault);
  } catch (const std::bad_alloc&) {
    status = unsupported("call: out of memory; what the results hold is not specified");
  }
  return true;
}

}  // namespace strew::inline v0
