// See callable.h. run() binds the tensors, then runs the phases of the executor, or, for small calls, the entries
// directly. Tested by tests/unit/backends/kernel_test.cc and tests/runtime_only.
#include "runtime/call/callable.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/fp_environment.h"
#include "runtime/call/executor/phases.h"
#include "runtime/call/learner.h"
#include "runtime/call/new_pages.h"
#include "runtime/call/run_many.h"
#include "strew/compiled_kernel.h"

namespace strew::inline v0 {
namespace {

/// The bytes that the call writes; saturates, at what can be doubled.
Bytes moved_bytes(const Callable& callable, const Call& call) {
  constexpr Bytes kMost{int64_t{1} << 61};
  int64_t moved = 0;
  if (__builtin_mul_overflow(call.positions, call.window, &moved) || __builtin_mul_overflow(moved, callable.result_bytes, &moved))
    return kMost;
  return std::min(Bytes(moved), kMost);
}

/// Does the call write more than stays in the caches?
bool moves_past_caches(const Callable& callable, const Call& call) {
  return exceeds_cache(moved_bytes(callable, call), 1, callable.last_level_cache);
}

// The two steps of a small call, which are part of every function that binds: a call costs as little as 20 ns, of which a call of each of them
// would take two.

/// Is the work worth one thread only? The estimate is made of floats, even for kernels that compute none.
[[gnu::noinline]] bool takes_one_thread(const Callable& callable, const Call& call) {
  const FpEnvironment environment(true, true);
  return apply_nanoseconds(callable, call) < callable.alone_nanoseconds;
}

[[gnu::always_inline]] inline bool runs_alone(const Callable& callable, const Call& call) {
  if (call.init != 0 && !call.result_is_operand) return false;
  if (callable.check != nullptr && call.positions > callable.checked_alone) return false;
  if (callable.always_runs_alone) return true;
  if (!callable.small_runs_alone) return false;
  int64_t elements = 0;
  const bool is_small = call.positions <= callable.small_positions &&
                        !__builtin_mul_overflow(call.positions, call.window, &elements) && elements <= callable.small_elements;
  return is_small || takes_one_thread(callable, call);
}

/// Runs the entries of such a call. False if it has an index that policy error refuses, which `found` is then.
[[gnu::always_inline]] inline bool run_entries(const Callable& callable, const Call& call, strew_entry applies,
                                               strew_fault& found) {
  const int64_t positions = call.positions;
  if (positions == 0) return true;
  const FpEnvironment environment(callable.computes_floats);
  const strew_args args = arguments_of(call, callable.program);
  if (callable.check != nullptr && callable.check(&args, 0, positions, &found) != STREW_OK) return false;
  if (!call.moves_nothing()) applies(&args, 0, positions, &found);
  return true;
}

[[gnu::always_inline]] inline Status run_alone(const Callable& callable, std::span<const TensorView> tensors, const Call& call,
                                               BadIndex* bad_index, strew_entry applies) {
  strew_fault found;
  if (run_entries(callable, call, applies, found)) return {};
  return bad_index_error(callable.kernel, tensors, found, bad_index);
}

/// Does a call that runs alone move so little that asking the learner would cost more than 2 % of its time? Where the product wraps around,
/// which takes more memory than there is, either answer will do.
inline bool moves_little(const Callable& callable, const Call& call) {
  constexpr uint64_t kLittle = 2048, kLittleOfOpen = 16384;  // bytes
  return static_cast<uint64_t>(call.positions) * static_cast<uint64_t>(call.window) *
             static_cast<uint64_t>(callable.result_bytes) <
         (callable.is_open ? kLittleOfOpen : kLittle);
}

/// Is it known, without the learner's run(), with which stores a call writes that runs alone? Sets its stores if so.
inline bool knows_stores(const Callable& callable, Call& call) {
  if (callable.learner == nullptr || moves_little(callable, call)) return true;
  Learner::count_call();
  if (callable.is_open || !callable.learner->decides_stores(call, true)) return false;
  callable.keep_off_new_pages(call);
  return true;
}

/// Runs a bound call that run_ready() does not run: it needs phases, or stores can be chosen.
[[gnu::noinline]] Status run_choosing(const Callable& callable, std::span<const TensorView> tensors, Call& call,
                                      const CallOptions& options, bool is_alone) {
  callable.choose_stores(tensors, call);
  if (is_alone && knows_stores(callable, call))
    return run_alone(callable, tensors, call, options.bad_index, callable.applies(call));
  callable.use(call, options);
  if (callable.learner == nullptr) return run_phases(callable, tensors, call, options.bad_index);
  if (!is_alone) Learner::count_call();
  return callable.learner->run(callable, tensors, call, options.bad_index);
}

/// Runs a call that is bound.
[[gnu::always_inline]] inline Status run_ready(const Callable& callable, std::span<const TensorView> tensors, Call& call,
                                               const CallOptions& options) {
  const bool is_alone = runs_alone(callable, call);
  if (is_alone && callable.stream == nullptr) return run_alone(callable, tensors, call, options.bad_index, callable.range);
  return run_choosing(callable, tensors, call, options, is_alone);
}

/// Callable::run() with good options.
[[gnu::always_inline]] inline Status bind_and_run(const Callable& callable, std::span<const TensorView> tensors,
                                                  const CallOptions& options) {
  try {
    Call call;
    STREW_TRY(callable.binder.bind(tensors, call));
    return run_ready(callable, tensors, call, options);
  } catch (const std::bad_alloc&) {
    return resource_exhausted("call: out of memory; what the results hold is not specified");
  }
}

}  // namespace

Callable::Callable(const strew_kernel& descriptor, Binder made) : binder(std::move(made)), kernel(descriptor) {}
Callable::~Callable() = default;

bool Callable::streams_past_caches(std::span<const TensorView> tensors, const Call& call) const {
  return moves_past_caches(*this, call) &&
         (kernel.is_gather != 0 || exceeds_cache(strew::table_bytes(kernel, tensors), 1, last_level_cache));
}

bool Callable::writes_new_pages(const Call& call) const { return has_new_pages(call.data[0], moved_bytes(*this, call)); }

Status Callable::run_bound(std::span<const TensorView> tensors, const Call& call, BadIndex* bad_index) const {
  if (strew::runs_alone(*this, call)) return strew::run_alone(*this, tensors, call, bad_index, applies(call));
  return run_phases(*this, tensors, call, bad_index);
}

bool Callable::runs_alone(const Call& call) const { return strew::runs_alone(*this, call); }
Status Callable::run_alone(std::span<const TensorView> tensors, const Call& call, BadIndex* bad_index) const {
  return strew::run_alone(*this, tensors, call, bad_index, applies(call));
}

Status Callable::run(std::span<const TensorView> tensors, BadIndex* bad_index) const {
  return bind_and_run(*this, tensors, {.bad_index = bad_index});
}

Status Callable::run(std::span<const TensorView> tensors, const CallOptions& options) const {
  STREW_TRY(check_threads(options.threads));
  return bind_and_run(*this, tensors, options);
}

bool Callable::run_if_it_fits(std::span<const TensorView> tensors, BadIndex* bad_index, Status& status) const {
  try {
    Call call;
    if (!binder.bind_fast(tensors, call)) return false;
    if (Status failure = run_ready(*this, tensors, call, {.bad_index = bad_index}); !failure.ok()) status = std::move(failure);
  } catch (const std::bad_alloc&) {
    status = resource_exhausted("call: out of memory; what the results hold is not specified");
  }
  return true;
}

bool Callable::run_addresses(void* const* data, const int64_t* dyn) const {
  if (!takes_addresses) return false;
  Call call;
  if (!binder.bind_addresses(data, dyn, call) || !strew::runs_alone(*this, call)) return false;
  if (stream != nullptr && is_open && moves_past_caches(*this, call)) return false;
  if (stream != nullptr && !is_open) {
    call.streams = streams;
    if (learner != nullptr && !moves_little(*this, call) && !learner->decides_stores(call, false)) return false;
    keep_off_new_pages(call);
  }
  strew_fault found;
  return run_entries(*this, call, applies(call), found);
}

// ---- CompiledKernel is a Callable, which it hides, and the process's executor. Tested by tests/runtime_only and
// tests/unit/runtime/call/compiled_kernel_test.cc.

Expected<CompiledKernel> CompiledKernel::make(const strew_kernel& kernel, int threads, std::shared_ptr<Executor> executor) {
  if (executor == nullptr) executor = process_executor();
  STREW_ASSIGN(std::unique_ptr<const Callable> callable, Callable::make(kernel, std::move(executor), threads));
  return CompiledKernel(std::move(callable));
}

Status CompiledKernel::run(std::span<const TensorView> tensors, BadIndex* bad_index) const {
  return callable_->run(tensors, bad_index);
}

Status CompiledKernel::run(std::span<const TensorView> tensors, const CallOptions& options) const {
  return callable_->run(tensors, options);
}

Status CompiledKernel::run_many(std::span<const TensorView> shapes, std::span<void* const> data,
                                const CallOptions& options) const {
  return strew::run_many(*callable_, shapes, data, options);
}

Status CompiledKernel::run_by_name(std::span<const NamedTensor> tensors, BadIndex* bad_index) const {
  STREW_ASSIGN(const std::vector<TensorView> views, in_binding_order(callable_->kernel, tensors));
  return callable_->run(views, bad_index);
}

const strew_kernel& CompiledKernel::descriptor() const { return callable_->kernel; }

}  // namespace strew::inline v0
