// Kernel: the handle's accessors, run(), and how the state of a handle is made from an artifact.
//
// run() is Callable::run (runtime/call), except for calls that need the op: of interpreted kernels, with hints to
// check, and every n-th call under STREW_VERIFY, which is replayed. Tested by
// tests/unit/backends/kernel_test.cc.
#include <algorithm>
#include <new>
#include <type_traits>
#include <vector>

#include "backends/reference/hints.h"
#include "backends/reference/index_space.h"
#include "backends/reference/reference.h"
#include "base/fp_environment.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/number.h"
#include "base/strategy_shares.h"
#include "compiler/op/dims.h"
#include "runtime/call/bind.h"
#include "runtime/call/executor/phases.h"
#include "runtime/call/extent.h"
#include "runtime/call/learner.h"
#include "runtime/call/run_many.h"
#include "runtime/call/strategies/partition.h"
#include "runtime/call/strategies/strategy.h"
#include "runtime/call/wide.h"
#include "runtime/kernel_state.h"
#include "runtime/record/recorder.h"
#include "schedules/target.h"

namespace strew::inline v0 {
namespace {

bool has_open_extents(const Op& op) {
  const std::vector<TensorSlot> slots = tensor_slots(op);
  return std::any_of(slots.begin(), slots.end(),
                     [](const TensorSlot& slot) { return !is_static(slot.type->dims) || !is_static(slot.type->strides); });
}

// ---- The descriptor of a kernel with open extents, for calls of one shape -----------------------------------------------------------
//
// A request for an op whose extents are all known may be served by code that takes them from the call (runtime/shape_families.h). Its calls must
// all the same be refused if their tensors have other extents than the op says, with the message that a kernel of its own would give. The
// entries read symbols as before; binding takes them from views that it has compared with the op's extents. Conditions between extents are
// left out, as in the descriptor of any op whose extents are known, because verification has checked them. Tested by
// tests/unit/runtime/tiers_test.cc.

/// It shares ownership of the general descriptor. Its rules refer to the lists of the op.
struct Exact {
  std::shared_ptr<const strew_kernel> general;
  strew_kernel kernel;
  std::vector<strew_tensor_rule> rules;
};

/// `general`, whose tensors have the extents and strides that `op` says, which are all known. The op must outlive it.
std::shared_ptr<const strew_kernel> exact_descriptor(std::shared_ptr<const strew_kernel> general, const VerifiedOp& op) {
  auto exact = std::make_shared<Exact>();
  exact->kernel = *general;
  exact->rules.assign(general->tensors, general->tensors + general->tensor_count);
  exact->general = std::move(general);
  const std::vector<TensorSlot> slots = tensor_slots(op);
  for (size_t t = 0; t < exact->rules.size(); ++t) {
    strew_tensor_rule& rule = exact->rules[t];
    const TensorType& type = *slots[t].type;
    rule.dims = type.dims.data();
    if (rule.strides != nullptr && !type.strides.empty()) rule.strides = type.strides.data();
    const std::span strides(rule.strides, rule.strides != nullptr ? rule.rank : 0);
    rule.is_open = std::find(strides.begin(), strides.end(), STREW_OPEN) != strides.end() ? 1 : 0;
  }
  exact->kernel.tensors = exact->rules.data();
  const bool is_open = std::any_of(exact->rules.begin(), exact->rules.end(), [](const auto& rule) { return rule.is_open != 0; });
  // Of these conditions one is no rule of verification: a scatter into a tensor whose fixed dim is empty applies no update.
  const bool has_empty = std::any_of(
      exact->kernel.constraints, exact->kernel.constraints + exact->kernel.constraint_count,
      [&](const strew_constraint& c) { return c.kind == STREW_NOT_EMPTY && exact->rules[c.tensor].dims[c.dim] == 0; });
  if (!is_open && !has_empty) exact->kernel.constraint_count = 0;
  return {exact, &exact->kernel};
}

// ---- Precompiled kernels ----------------------------------------------------------------------------------------------------------

/// A descriptor whose entries interpret a program, with what it points to.
struct PrecompiledDescriptor {
  std::shared_ptr<const void> program;
  std::vector<std::shared_ptr<const strew_kernel>> parts;
  std::shared_ptr<const strew_kernel> descriptor;
};

/// The descriptor of a kernel that the artifact of `whole` has precompiled, which lives as long as somebody holds it.
std::shared_ptr<const strew_kernel> precompiled_descriptor(const Compiled& kernel, const Artifact& artifact) {
  auto out = std::make_shared<PrecompiledDescriptor>();
  for (const Compiled& part : kernel.parts) out->parts.push_back(precompiled_descriptor(part, artifact));
  const auto resolve = [&](const std::string& symbol) -> const void* {
    for (size_t i = 0; i < kernel.parts.size(); ++i)
      if (symbol == kernel.parts[i].symbol) return out->parts[i].get();
    for (const PrecompiledKernel& each : artifact.precompiled) {
      if (each.symbol != kernel.symbol) continue;
      out->program = each.program;
      const std::string_view suffix = std::string_view(symbol).substr(each.symbol.size());
      if (suffix == kProgramSuffix) return each.program.get();
      for (int kind = 0; kind < STREW_ENTRY_COUNT; ++kind)
        if (suffix.substr(1) == name(static_cast<EntryKind>(kind)))
          return reinterpret_cast<const void*>(each.entry_of(static_cast<EntryKind>(kind)));
    }
    return nullptr;
  };
  out->descriptor = materialise(kernel.descriptor, resolve);
  const strew_kernel* const descriptor = out->descriptor.get();
  return {std::move(out), descriptor};
}

// ---- Memory. Lists are counted by their capacity ----------------------------------------------------------------------------------

int64_t bytes_of(const std::string& text) {
  static const size_t inside = std::string().capacity();
  return text.capacity() <= inside ? 0 : block_bytes(text.capacity() + 1);
}
template <class T>
int64_t bytes_of(const std::vector<T>& list);
int64_t bytes_of(const TensorType& type) { return bytes_of(type.dims) + bytes_of(type.strides); }
int64_t bytes_of(const Extra& extra) { return bytes_of(extra.type); }
int64_t bytes_of(const ExprNode& node) { return bytes_of(node.args); }
int64_t bytes_of(const Expr& graph) { return bytes_of(graph.nodes) + bytes_of(graph.results); }
template <class T>
int64_t bytes_of(const std::vector<T>& list) {
  int64_t bytes = block_bytes(list.capacity() * sizeof(T));
  if constexpr (!std::is_trivially_copyable_v<T>)
    for (const T& each : list) bytes += bytes_of(each);
  return bytes;
}

template <class... Part>
int64_t sum_of(const Part&... parts) {
  return (bytes_of(parts) + ...);
}

/// The memory that the products of the pipeline's stages take, roughly: texts, ops, bytes of the descriptor, and, of plans, a
/// guess.
int64_t size_of(const Compiled& kernel) {
  constexpr size_t kPlan = 3072;
  const auto ops = memory_of(*kernel.op) + memory_of(*kernel.identity) + memory_of(*kernel.canonical);
  size_t bytes = kPlan + static_cast<size_t>(ops) + kernel.op_text.size() + kernel.identity_text.size() + kernel.why.size() +
                 kernel.symbol.size() + kernel.descriptor.bytes.size() + kernel.artifact.object.size();
  for (const PrecompiledKernel& each : kernel.artifact.precompiled) bytes += sizeof(PrecompiledKernel) + each.bytes;
  for (const Compiled& part : kernel.parts) bytes += static_cast<size_t>(size_of(part)) + sizeof(Compiled);
  return static_cast<int64_t>(bytes);
}

int64_t bytes_of(const Callable& callable) {
  int64_t bytes = block_bytes(sizeof(Callable)) + block_bytes(callable.binder.bytes()) +
                  block_bytes(callable.parts.capacity() * sizeof(callable.parts[0])) +
                  (callable.learner != nullptr ? block_bytes(sizeof(Learner)) : 0);
  for (const std::unique_ptr<const Callable>& part : callable.parts)
    if (part != nullptr) bytes += bytes_of(*part);
  return bytes;
}

void log_call(const Kernel::State& state, const char* what) {
  if (logs(LogLevel::dispatch)) log(LogLevel::dispatch, state.built->compiled.symbol + what);
}

/// run() for calls that need the op, for stand-ins, and for empty handles.
[[gnu::noinline]] Status run_watched(const Kernel::State* handle, std::span<const TensorView> tensors,
                                     const CallOptions& options) {
  BadIndex* const bad_index = options.bad_index;
  if (handle == nullptr) return invalid_argument("kernel: an empty handle, expected one from Runtime::get");
  const Kernel::State* const state = &handle->current();
  if (state->is_plain) return state->callable->run(tensors, options);
  STREW_TRY(check_threads(options.threads));
  try {
    Call call;
    STREW_TRY(state->callable->binder.bind(tensors, call));
    state->callable->choose_stores(tensors, call);
    state->callable->use(call, options);
    if (state->records) record_call(process_options().record_dir, *state, tensors, call.threads);
    if (state->checks_hints) STREW_TRY(check_hints(state->op(), tensors));
    if (state->verify_every != 0 && state->calls.fetch_add(1, std::memory_order_relaxed) % state->verify_every == 0) {
      log_call(*state, ": the call is repeated on the reference and compared");
      Status status = run_and_replay(*state, tensors, call, bad_index);
      if (status.code() == Code::internal) log(LogLevel::error, status.message());
      return status;
    }
    return run_bound(*state, tensors, call, bad_index);
  } catch (const std::bad_alloc&) {
    return resource_exhausted("call: out of memory; what the results hold is not specified");
  }
}

// ---- Replay -----------------------------------------------------------------------------------------------------------------------
//
// Results and operands are copied before the call, because a result may share its operand's buffer. After the call, the reference runs on the copies,
// and every element is compared; any two NaNs count as equal (docs/semantics.md section 2). Costs the copies and a slow run.

/// The row-major number of the first element in which two tensors of one layout differ; -1: none.
int64_t first_difference(const TensorView& view, const TensorView& other) {
  const reference::BoundTensor a(view), b(other);
  reference::Coords at(a.dims.size(), 0);
  if (reference::is_empty(a.dims)) return -1;
  do {
    const int64_t offset = reference::dot(at, a.strides);
    if (!same_value(a.load(offset), b.load(offset))) return reference::linear(a.dims, at);
  } while (reference::next(a.dims, at));
  return -1;
}

Status mismatch(const Kernel::State& state, const std::string& what) {
  return internal_error("STREW_VERIFY: backend " + std::string(state.built->compiled.backend->name()) +
                        " and the reference differ: " + what + "; schedule " + print(state.built->compiled.schedule) + "; op " +
                        print(*state.op()));
}

}  // namespace

Status run_bound(const Kernel::State& state, std::span<const TensorView> tensors, const Call& call, BadIndex* bad_index) {
  const Artifact& artifact = state.built->compiled.artifact;
  if (!artifact.interpreted) return run_phases(*state.callable, tensors, call, bad_index);
  log_call(state, ": the call is interpreted");
  const FpEnvironment environment(true);
  if (artifact.interpreter != nullptr) {
    STREW_ASSIGN(const bool ran, artifact.interpreter->run(tensors));
    if (ran) return {};
  }
  return run_reference(state.op(), tensors, bad_index);
}

Status run_and_replay(const Kernel::State& state, std::span<const TensorView> tensors, const Call& call, BadIndex* bad_index) {
  const std::vector<TensorSlot> slots = tensor_slots(state.op());
  std::vector<TensorView> copies(tensors.begin(), tensors.end());
  std::vector<std::vector<std::byte>> memory(tensors.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    const Extent slot = extent_of(state.callable->kernel.tensors[i], tensors[i]);
    if ((slots[i].role != Role::result && slots[i].role != Role::operand) || slot.empty) continue;
    const auto* bytes = static_cast<const std::byte*>(tensors[i].data);
    memory[i].assign(bytes + slot.lo, bytes + slot.hi);
    copies[i].data = memory[i].data() - slot.lo;
  }
  Status actual = run_bound(state, tensors, call, bad_index);
  const Status expected = run_reference(state.op(), copies);
  if (actual.code() != expected.code() || actual.message() != expected.message())
    return mismatch(state, "'" + actual.message() + "' against '" + expected.message() + "'");
  for (size_t i = 0; i < slots.size() && slots[i].role == Role::result; ++i) {
    const int64_t where = first_difference(tensors[i], copies[i]);
    if (where >= 0) return mismatch(state, "result " + std::to_string(i) + " at element " + std::to_string(where));
  }
  return actual;
}

int64_t memory_of(const Op& op) {
  const auto numbers = [](const DimensionNumbers& d) {
    return sum_of(d.window_dims, d.removed_dims, d.operand_batching_dims, d.indices_batching_dims, d.index_map);
  };
  const auto of_gather = [&](const Gather& g) {
    return numbers(g.dims) + sum_of(g.operand, g.indices, g.more_indices, g.extras, g.result, g.slice_sizes, g.expr);
  };
  if (const auto* const g = std::get_if<Gather>(&op)) return of_gather(*g);
  const auto& s = std::get<Scatter>(op);
  int64_t bytes = numbers(s.dims) + sum_of(s.operands, s.indices, s.more_indices, s.updates, s.extras, s.results, s.expr, s.fill);
  if (!s.lookups.empty()) bytes += block_bytes(s.lookups.capacity() * sizeof(Lookup));
  for (const Lookup& lookup : s.lookups) bytes += of_gather(lookup.gather);
  if (!s.row_reductions.empty()) bytes += block_bytes(s.row_reductions.capacity() * sizeof(RowReduction));
  for (const RowReduction& reduction : s.row_reductions) bytes += sum_of(reduction.value);
  return bytes;
}

int64_t memory_of(const KernelOptions& options) {
  return options.target ? sum_of(options.target->arch, options.target->cpu, options.target->features) : 0;
}

int64_t size_without_code(const BuiltKernel& kernel) {
  return static_cast<int64_t>(sizeof(BuiltKernel)) + size_of(kernel.compiled);
}

std::shared_ptr<BuiltKernel> adopt_object(Compiled compiled, std::shared_ptr<const LinkedObject> object) {
  auto kernel = std::make_shared<BuiltKernel>(std::move(compiled));
  kernel->compiled.artifact.object = std::string();  // not needed any more
  kernel->object = std::move(object);
  kernel->descriptor = {kernel->object, static_cast<const strew_kernel*>(kernel->object->addresses[0])};
  kernel->bytes = size_without_code(*kernel) + static_cast<int64_t>(kernel->object->code_bytes);
  return kernel;
}

Expected<std::shared_ptr<BuiltKernel>> link_kernel(Compiled&& compiled) {
  if (!compiled.artifact.interpreted && compiled.artifact.precompiled.empty()) {
    STREW_TRY(machine_can_run(compiled.target));
    STREW_ASSIGN(std::shared_ptr<LinkedObject> object, link_object(compiled.artifact.object, compiled.symbol));
    return adopt_object(std::move(compiled), std::move(object));
  }
  auto kernel = std::make_shared<BuiltKernel>(std::move(compiled));
  if (kernel->compiled.artifact.interpreted)
    kernel->descriptor = materialise(kernel->compiled.descriptor, [](const std::string&) { return nullptr; });
  else
    kernel->descriptor = precompiled_descriptor(kernel->compiled, kernel->compiled.artifact);
  kernel->bytes = size_without_code(*kernel);
  return kernel;
}

int64_t scratch_bytes(const Scatter& scatter, const Compiled& stages) {
  const Schedule& schedule = stages.schedule;
  const int threads = most_threads(stages);
  const int64_t allowed = int64_t{schedule.scratch_mib} << 20;
  if (schedule.strategy == Strategy::radix && scatter.accumulate == Accumulate::native)
    return PartitionLayout::most_scratch_bytes(threads, Bytes(allowed), kDefaultLimits).count();
  if (schedule.strategy != Strategy::private_tables && scatter.accumulate == Accumulate::native) return 0;
  int64_t elements = 1;
  for (int64_t dim : scatter.results[0].dims) {
    if (dim == kDynamic) return kDynamic;
    elements *= dim;
  }
  if (stages.descriptor.bytes.empty()) return 0;
  const auto kernel = materialise(stages.descriptor, [](const std::string&) { return nullptr; });
  // Either accumulators for the whole result, or lists of updates within the limit (runtime/call/wide).
  if (scatter.accumulate != Accumulate::native) return std::max(wide_scratch_bytes(*kernel, elements), allowed);
  // The limit applies to all tables together: their number decides the result's bits, so it does not depend on the
  // threads. Each thread has one at a time.
  const int tables = private_tables(schedule.tables, kernel->regroups != 0, threads);
  if (private_bytes(*kernel, elements, tables) > allowed) return 0;
  return private_bytes(*kernel, elements, std::min(threads, tables - 1));
}

int64_t Kernel::State::bytes() const {
  constexpr size_t kPrepared = sizeof(VerifiedOp) + sizeof(KernelOptions) + sizeof(KernelKey) + 16;  // a shared object of these
  const int64_t exact = shared_bytes<Exact>() + block_bytes(descriptor->tensor_count * sizeof(strew_tensor_rule));
  return shared_bytes<State>() + block_bytes(kPrepared) + memory_of(*op()) + memory_of(prepared.options()) + bytes_of(*callable) +
         (descriptor != built->descriptor ? exact : 0);
}

Expected<std::shared_ptr<Kernel::State>> make_state(std::shared_ptr<const BuiltKernel> built, PreparedOp op, int threads,
                                                    std::shared_ptr<Executor> executor,
                                                    std::shared_ptr<const ExecutionLimits> limits) {
  auto state = std::make_shared<Kernel::State>(std::move(op));
  state->descriptor = built->descriptor;
  // The identity of an op of known extents has known extents, too; only a kernel for several shapes has others than its op.
  if (has_open_extents(*built->compiled.op) && !has_open_extents(*state->op()))
    state->descriptor = exact_descriptor(built->descriptor, state->op());
  STREW_ASSIGN(std::unique_ptr<Callable> callable,
               Callable::make(*state->descriptor, std::move(executor), threads, std::move(limits)));
  state->callable = std::move(callable);
  state->verify_every = process_options().verify_every;
  state->checks_hints = built->compiled.schedule.checked && has_hints(state->op());
  state->records = !process_options().record_dir.empty();
  state->is_plain = !built->compiled.artifact.interpreted && !state->checks_hints && state->verify_every == 0 && !state->records;
  state->built = std::move(built);
  return state;
}

Kernel::Kernel(std::shared_ptr<const State> state)
    : state_(std::move(state)), plain_(state_ != nullptr ? state_->plain() : nullptr) {}

Status Kernel::run(std::span<const TensorView> tensors, BadIndex* bad_index) const {
  return plain_ != nullptr ? plain_->run(tensors, bad_index) : run_watched(state_.get(), tensors, {.bad_index = bad_index});
}

Status Kernel::run(std::span<const TensorView> tensors, const CallOptions& options) const {
  return plain_ != nullptr ? plain_->run(tensors, options) : run_watched(state_.get(), tensors, options);
}

Status Kernel::run_many(std::span<const TensorView> shapes, std::span<void* const> data, const CallOptions& options) const {
  if (plain_ != nullptr) return strew::run_many(*plain_, shapes, data, options);
  if (state_ == nullptr) return run({}, options);
  const State& state = state_->current();
  const Callable& callable = *state.callable;
  if (state.is_plain) return strew::run_many(callable, shapes, data, options);
  const size_t tensors = callable.kernel.tensor_count;
  if (shapes.size() != tensors || data.size() % tensors != 0) return strew::run_many(callable, shapes, data, options);
  std::vector<TensorView> views;
  const std::vector<BatchCall> calls = batch_of(callable, shapes, data, views);
  return run_one_by_one(calls, options, [&](size_t c) { return run(calls[c].tensors, options); });
}

Status run_many(std::span<const KernelCall> calls, const CallOptions& options) {
  std::vector<BatchCall> batch;
  bool is_plain = true;
  for (size_t c = 0; c < calls.size(); ++c) {
    if (!calls[c].kernel)
      return invalid_argument("call " + std::to_string(c) + ": kernel: an empty handle, expected one from Runtime::get");
    const Kernel::State& state = calls[c].kernel.state()->current();
    batch.push_back({state.callable.get(), calls[c].tensors});
    is_plain = is_plain && state.is_plain;
  }
  if (is_plain) return run_batch(batch, options);
  return run_one_by_one(batch, options, [&](size_t c) { return calls[c].kernel.run(calls[c].tensors, options); });
}

Status Kernel::run_by_name(std::span<const NamedTensor> tensors, BadIndex* bad_index) const {
  if (state_ == nullptr) return run({}, bad_index);
  STREW_ASSIGN(const std::vector<TensorView> views, in_binding_order(descriptor(), tensors));
  return run(views, bad_index);
}

const VerifiedOp& Kernel::op() const { return state_->op(); }
std::string Kernel::op_text() const { return print(*op()); }
const Plan& Kernel::plan() const { return state_->current().built->compiled.plan; }
std::string Kernel::plan_text() const { return print(plan()); }
const Schedule& Kernel::schedule() const { return state_->current().built->compiled.schedule; }
int Kernel::threads() const { return state_->current().callable->threads; }
const Target& Kernel::target() const { return state_->current().built->compiled.target; }
std::string_view Kernel::backend() const { return state_->current().built->compiled.backend->name(); }
const std::string& Kernel::symbol() const { return state_->current().built->compiled.symbol; }
int64_t Kernel::compile_nanoseconds() const { return state_->current().built->compile_nanoseconds; }
const strew_kernel& Kernel::descriptor() const { return state_->current().callable->kernel; }
bool Kernel::is_stand_in() const { return &state_->current() == state_.get() && state_->is_stand_in; }

}  // namespace strew::inline v0
