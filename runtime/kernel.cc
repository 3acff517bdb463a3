// Kernel: the handle's accessors, run(), and how an artifact becomes a state.
//
// run() is bind, then the phases of the executor. STREW_VERIFY's replay (runtime/replay) wraps every n-th call. Tested by
// tests/unit/kernel_test.cc.
#include "runtime/kernel.h"

#include <new>

#include "backends/modules.h"
#include "backends/reference/hints.h"
#include "base/options.h"
#include "runtime/call/executor/phases.h"
#include "runtime/call/wide_touched.h"
#include "runtime/kernel_state.h"
#include "runtime/replay.h"
#include "schedules/machine.h"

namespace strew {
namespace {

bool is_floating(DType dtype) { return is_float(dtype) || is_complex(dtype); }

bool computes_floats(const Compiled& compiled) {
  if (!compiled.planned) return true;
  const Plan& plan = compiled.plan;
  for (const ExprNode& node : plan.combine.nodes)
    if (!plan.pure_move && is_floating(node.dtype)) return true;
  for (int i = 0; i < plan.pairs && plan.init_kind == InitKind::copy; ++i) {
    const DType from = plan.tensors[static_cast<size_t>(plan.operand(i))].dtype;
    const DType to = plan.tensors[static_cast<size_t>(plan.result(i))].dtype;
    if (from != to && (is_floating(from) || is_floating(to))) return true;
  }
  return false;
}

Status link_artifact(Kernel::State& state) {
  const Artifact& artifact = state.compiled.artifact;
  STREW_TRY(machine_can_run(state.compiled.target));
  STREW_ASSIGN(const LlvmModule* module, open_llvm_module());
  std::vector<std::string> symbols;
  for (EntryKind kind : artifact.entries) symbols.push_back(state.compiled.symbol + "_" + std::string(name(kind)));
  STREW_ASSIGN(state.object, module->linker()->link(artifact.objects, symbols));
  for (size_t i = 0; i < artifact.entries.size(); ++i) {
    const strew_entry entry = state.object->entries[i];
    switch (artifact.entries[i]) {
      case EntryKind::range:
        state.range = entry;
        break;
      case EntryKind::check:
        state.check = entry;
        break;
      case EntryKind::init:
        state.init = entry;
        break;
      case EntryKind::keys:
        state.keys = entry;
        break;
      case EntryKind::list:
        state.list = entry;
        break;
      case EntryKind::merge:
        state.merge = entry;
        break;
      case EntryKind::clip:
        state.clip = entry;
        break;
    }
  }
  const Plan& plan = state.compiled.plan;
  const Strategy strategy = state.compiled.schedule.strategy;
  const bool needs_init = !plan.gather && plan.init_kind != InitKind::in_place;
  if (!state.range || (plan.checks_first && !state.check) || (needs_init && !state.init) ||
      (uses_owners(strategy) && (!state.keys || !state.list)) || (strategy == Strategy::runs && !state.keys) ||
      (strategy == Strategy::private_tables && !state.merge) || (strategy == Strategy::clip && !state.clip))
    return internal_error("backend " + std::string(state.compiled.backend->name()) + " left out an entry the plan needs");
  return {};
}

bool widens_touched(const Kernel::State& state) {
  if (state.parts.size() != 2) return false;
  const Kernel::State &fold = *state.parts[0], &narrow = *state.parts[1];
  return fold.keys && fold.list && narrow.range && narrow.compiled.schedule.strategy == Strategy::window &&
         touched_legal(fold.compiled.plan, narrow.compiled.plan);
}

inline Status run_checked(const Kernel::State& state, std::span<const TensorView> tensors, strew_fault* fault) {
  Call call;
  STREW_TRY(state.binder->bind(tensors, call));
  if (state.checks_hints) STREW_TRY(check_hints(state.compiled.op, tensors));
  if (state.verify_every != 0 && state.calls.fetch_add(1, std::memory_order_relaxed) % state.verify_every == 0)
    return run_and_replay(state, tensors, call, fault);
  if (is_direct(state, call)) return run_at_once(state, tensors, call, fault);
  return run_phases(state, tensors, call, fault);
}

}  // namespace

Expected<std::shared_ptr<Kernel::State>> make_kernel(Compiled compiled, std::shared_ptr<Executor> executor,
                                                     std::shared_ptr<const ExecutionLimits> limits) {
  auto state = std::make_shared<Kernel::State>(std::move(compiled));
  for (Compiled& part : state->compiled.parts) {
    STREW_ASSIGN(std::shared_ptr<Kernel::State> made, make_kernel(std::move(part), executor, limits));
    state->parts.emplace_back(std::move(made));
  }
  state->compiled.parts.clear();
  state->widens_touched = widens_touched(*state);
  state->executor = std::move(executor);
  state->limits = std::move(limits);
  state->checked_alone = state->limits->checked_alone;
  state->verify_every = process_options().verify_every;
  state->checks_hints = state->compiled.schedule.checked && has_hints(state->compiled.op);
  state->computes_floats = computes_floats(state->compiled);
  if (state->parts.empty() && !state->compiled.artifact.interpreted) STREW_TRY(link_artifact(*state));
  state->is_direct = state->range != nullptr && state->compiled.schedule.strategy == Strategy::sequential;
  if (state->compiled.plan.checks_first) state->check_at_once = state->check;
  state->compiled.artifact.objects = {};  // the linker has it now
  Expected<Binder> binder = Binder::make(state->compiled.op, state->compiled.plan);
  if (!binder.ok()) return binder.status();
  state->binder.emplace(std::move(binder).value());
  return state;
}

Status Kernel::run(std::span<const TensorView> tensors, strew_fault* fault) const {
  if (!state_) return invalid_argument("kernel: an empty handle, expected one from Runtime::get");
  const State& state = *state_;
  // Calls that find everything as the last one did allocate nothing; others allocate a little.
  try {
    return run_checked(state, tensors, fault);
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
strew_entry Kernel::range_entry() const { return state_->range; }
strew_entry Kernel::check_entry() const { return state_->check; }
strew_entry Kernel::init_entry() const { return state_->init; }
strew_entry Kernel::keys_entry() const { return state_->keys; }
strew_entry Kernel::list_entry() const { return state_->list; }
strew_entry Kernel::merge_entry() const { return state_->merge; }
strew_entry Kernel::clip_entry() const { return state_->clip; }

}  // namespace strew
