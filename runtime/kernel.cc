// Kernel: the handle's accessors, run(), and how an artifact becomes a state.
//
// run() is the callable's (runtime/call) but where a call needs the op: interpreted kernels, hints that are to be checked, and STREW_VERIFY's
// replay of every n-th call (runtime/replay). Tested by tests/unit/kernel_test.cc.
#include "runtime/kernel.h"

#include <map>
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

/// Symbols that the compiled kernel and its parts define, in the order in which they are asked for.
std::vector<std::string> entry_symbols(const Compiled& compiled) {
  std::vector<std::string> symbols;
  for (EntryKind kind : compiled.artifact.entries) symbols.push_back(compiled.symbol + "_" + std::string(name(kind)));
  for (const Compiled& part : compiled.parts)
    for (std::string& symbol : entry_symbols(part)) symbols.push_back(std::move(symbol));
  return symbols;
}

std::vector<std::string> take_objects(Compiled& compiled) {
  std::vector<std::string> objects = std::move(compiled.artifact.objects);
  for (Compiled& part : compiled.parts)
    for (std::string& object : take_objects(part)) objects.push_back(std::move(object));
  return objects;
}

using Addresses = std::map<std::string, const void*>;

/// Puts the descriptors of the kernel and its parts into memory, parts first.
void materialise_all(const Compiled& compiled, Addresses& addresses, Kernel::State& state) {
  for (const Compiled& part : compiled.parts) materialise_all(part, addresses, state);
  state.descriptors.push_back(materialise(compiled.descriptor, [&](const std::string& symbol) { return addresses.at(symbol); }));
  addresses[compiled.symbol] = state.descriptors.back().get();
}

Status link_artifacts(Kernel::State& state) {
  STREW_TRY(machine_can_run(state.compiled.target));
  const std::vector<std::string> symbols = entry_symbols(state.compiled);
  Addresses addresses;
  if (!symbols.empty()) {
    STREW_ASSIGN(const LlvmModule* module, open_llvm_module());
    STREW_ASSIGN(state.object, module->linker()->link(take_objects(state.compiled), symbols));
    for (size_t i = 0; i < symbols.size(); ++i) addresses[symbols[i]] = reinterpret_cast<const void*>(state.object->entries[i]);
  }
  materialise_all(state.compiled, addresses, state);
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
  const int threads = state->compiled.schedule.threads;
  if (state->compiled.artifact.interpreted) {
    Addresses none;
    materialise_all(state->compiled, none, *state);
  } else {
    STREW_TRY(link_artifacts(*state));
  }
  STREW_ASSIGN(std::unique_ptr<Callable> callable,
               Callable::make(*state->descriptors.back(), std::move(executor), threads, std::move(limits)));
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
