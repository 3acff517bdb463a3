// Kernel: the handle's accessors, run(), and how an artifact becomes a state.
//
// run() is the callable's (runtime/call) but where a call needs the op: interpreted kernels, hints that are to be checked, and STREW_VERIFY's
// replay of every n-th call (runtime/replay). Tested by tests/unit/kernel_test.cc.
#include "runtime/kernel.h"

#include <algorithm>
#include <new>

#include "backends/modules.h"
#include "backends/reference/hints.h"
#include "backends/reference/reference.h"
#include "base/fp_environment.h"
#include "base/options.h"
#include "runtime/call/executor/phases.h"
#include "runtime/kernel_state.h"
#include "runtime/replay.h"
#include "schedules/can_run.h"

namespace strew {
namespace {

/// The most threads that any part of the kernel may use.
int threads_of(const Compiled& compiled) {
  int threads = compiled.schedule.threads;
  for (const Compiled& part : compiled.parts) threads = std::max(threads, part.schedule.threads);
  return threads;
}

/// Puts the object into memory, where its descriptor is.
Status link_artifact(Kernel::State& state) {
  STREW_TRY(machine_can_run(state.compiled.target));
  STREW_ASSIGN(const LlvmModule* module, open_llvm_module());
  STREW_ASSIGN(state.object, module->linker()->link({std::move(state.compiled.artifact.object)}, {state.compiled.symbol}));
  state.descriptor = {state.object, static_cast<const strew_kernel*>(state.object->addresses[0])};
  return {};
}

[[gnu::noinline]] Status run_watched(const Kernel::State& state, std::span<const TensorView> tensors, strew_fault* fault) {
  Call call;
  STREW_TRY(state.callable->binder.bind(tensors, call));
  if (state.checks_hints) STREW_TRY(check_hints(state.compiled.op, tensors));
  if (state.verify_every != 0 && state.calls.fetch_add(1, std::memory_order_relaxed) % state.verify_every == 0)
    return run_and_replay(state, tensors, call, fault);
  return run_bound(state, tensors, call, fault);
}

}  // namespace

Status run_bound(const Kernel::State& state, std::span<const TensorView> tensors, const Call& call, strew_fault* fault) {
  if (!state.compiled.artifact.interpreted) return run_phases(*state.callable, tensors, call, fault);
  const FpEnvironment environment(true);
  if (const auto& interpreter = state.compiled.artifact.interpreter; interpreter != nullptr)
    return interpreter->run(state.compiled.op, tensors, fault);
  return run_reference(state.compiled.op, tensors, fault);
}

Expected<std::shared_ptr<Kernel::State>> make_kernel(Compiled compiled, std::shared_ptr<Executor> executor,
                                                     std::shared_ptr<const ExecutionLimits> limits) {
  auto state = std::make_shared<Kernel::State>(std::move(compiled));
  if (state->compiled.artifact.interpreted)
    state->descriptor = materialise(state->compiled.descriptor, [](const std::string&) { return nullptr; });
  else
    STREW_TRY(link_artifact(*state));
  STREW_ASSIGN(std::unique_ptr<Callable> callable,
               Callable::make(*state->descriptor, std::move(executor), threads_of(state->compiled), std::move(limits)));
  state->callable = std::move(callable);
  state->verify_every = process_options().verify_every;
  state->checks_hints = state->compiled.schedule.checked && has_hints(state->compiled.op);
  state->is_plain = !state->compiled.artifact.interpreted && !state->checks_hints && state->verify_every == 0;
  return state;
}

Status Kernel::run(std::span<const TensorView> tensors, strew_fault* fault) const {
  if (!state_) return invalid_argument("kernel: an empty handle, expected one from Runtime::get");
  const State& state = *state_;
  if (state.is_plain) return state.callable->run(tensors, fault);
  try {
    return run_watched(state, tensors, fault);
  } catch (const std::bad_alloc&) {
    return unsupported("call: out of memory; what the results hold is not specified");
  }
}

const VerifiedOp& Kernel::op() const { return state_->compiled.op; }
const std::string& Kernel::op_text() const { return state_->compiled.op_text; }
const Plan& Kernel::plan() const { return state_->compiled.plan; }
const Schedule& Kernel::schedule() const { return state_->compiled.schedule; }
const Target& Kernel::target() const { return state_->compiled.target; }
std::string_view Kernel::backend() const { return state_->compiled.backend->name(); }
const std::string& Kernel::symbol() const { return state_->compiled.symbol; }
int64_t Kernel::compile_nanoseconds() const { return state_->compile_nanoseconds; }
const strew_kernel& Kernel::descriptor() const { return state_->callable->kernel; }

}  // namespace strew
