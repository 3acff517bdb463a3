// See strew/tuned_kernel.h. Reading the clock twice takes as long as a small kernel, so only one of so many calls is timed that this costs
// less than the regret that is allowed; a timed call stands for those before it.
#include "strew/tuned_kernel.h"

#include <atomic>
#include <cmath>
#include <mutex>
#include <new>
#include <vector>

#include "backends/pipeline.h"
#include "base/log.h"
#include "base/run_queue.h"
#include "runtime/call/online_search.h"
#include "runtime/learned_wisdom.h"
#include "schedules/wisdom/wisdom_file.h"
#include "strew/prepared_op.h"
#include "strew/wisdom.h"
#include "tune/random.h"
#include "tune/search_space.h"

namespace strew::inline v0 {
namespace {

constexpr int kMostCandidates = 1000;

uint64_t hash_of(std::span<const TensorView> tensors) {
  uint64_t hash = 0;
  for (const TensorView& view : tensors)
    for (int32_t d = 0; d < view.rank; ++d) hash = mixed(hash ^ static_cast<uint64_t>(view.dims[d]));
  return hash;
}

Status check_tuning(const KernelOptions& options, const OnlineTuning& tuning) {
  if (!(tuning.regret >= 0 && tuning.regret <= 1))
    return invalid_argument("regret: it is " + std::to_string(tuning.regret) + ", expected 0..1");
  if (tuning.candidates < 0 || tuning.candidates > kMostCandidates)
    return invalid_argument("candidates: it is " + std::to_string(tuning.candidates) + ", expected 0.." +
                            std::to_string(kMostCandidates));
  if (options.schedule != ScheduleOverrides{})
    return invalid_argument("schedule: it is given, expected none: the tuner looks for it");
  if (options.backend != BackendChoice::automatic)
    return invalid_argument("backend: it is " + std::string(name(options.backend)) + ", expected auto: the tuner looks for it");
  return {};
}

}  // namespace

struct TunedKernel::State {
  State(Runtime& on, Op given, KernelOptions wanted, OnlineTuning how, size_t candidates)
      : runtime(&on),
        op(std::move(given)),
        options(std::move(wanted)),
        tuning(std::move(how)),
        search(candidates, tuning.regret) {}

  Runtime* runtime;
  const Op op;
  const KernelOptions options;
  const OnlineTuning tuning;
  std::vector<Variant> variants;  ///< the default, then the candidates
  std::unique_ptr<Compiled> planned;
  const HostWatch host;

  std::mutex mutex;  ///< of what follows; calls that find it locked run the kernel in use
  OnlineSearch search;
  std::vector<std::unique_ptr<Kernel>> kernels;  ///< those that were in use or tried; never dropped, because calls may run them
  PendingKernel pending;
  size_t pending_for = 0;
  const Kernel* trial = nullptr;

  std::atomic<const Kernel*> in_use{nullptr};
  std::atomic<bool> is_settled{false};
  std::atomic<uint32_t> every{1};  ///< one of so many calls is timed
  // What stats() reads, without the mutex: a call that is being timed holds that for as long as it runs.
  std::atomic<uint64_t> trials{0};
  std::atomic<double> total_ns{0}, regret_ns{0}, ratio{1};

  void make_ready();
  void learn(bool is_trial, double nanoseconds, uint64_t shape, uint32_t calls);
  void publish();
  void settle();
  void keep();
};

/// Has the next candidate built by the runtime's threads, and takes it when it is there.
void TunedKernel::State::make_ready() {
  const size_t next = search.next();
  if (next == 0 || trial != nullptr) return;
  if (pending_for != next) {
    KernelOptions wanted = options;
    wanted.wisdom = Wisdom::none();
    wanted.backend = variants[next].backend;
    wanted.schedule = overrides_of(variants[next].schedule);
    const Expected<PreparedOp> prepared = PreparedOp::of(op, wanted);
    if (!prepared.ok()) return search.skip();
    pending = runtime->get_async(*prepared);
    pending_for = next;
    return;
  }
  if (!pending.ready()) return;
  const Expected<Kernel> built = pending.wait();
  if (!built.ok()) {
    log(LogLevel::compile, "online tuning: a candidate is left out: " + built.status().message());
    return search.skip();
  }
  kernels.push_back(std::make_unique<Kernel>(*built));
  trial = kernels.back().get();
}

void TunedKernel::State::keep() {
  if (tuning.wisdom_file.empty()) return;
  const auto kernel = [&](size_t at) { return ServiceKernel{name(variants[at].backend), variants[at].schedule}; };
  ServiceOutcome outcome;
  outcome.first = kernel(0);
  outcome.other = kernel(search.best());
  outcome.ratio = search.ratio();
  outcome.rounds = static_cast<int>(search.trials());
  outcome.threads = planned_threads(planned->target, planned->threads);
  outcome.is_busy = host.was_busy();
  if (const Status status = append_wisdom(tuning.wisdom_file, records_in_service(*planned, outcome)); !status.ok())
    log(LogLevel::warn, status.message() + "; what online tuning found is not kept");
}

void TunedKernel::State::publish() {
  trials.store(search.trials(), std::memory_order_relaxed);
  total_ns.store(search.total_ns(), std::memory_order_relaxed);
  regret_ns.store(search.regret_ns(), std::memory_order_relaxed);
  ratio.store(search.ratio().median, std::memory_order_relaxed);
}

void TunedKernel::State::settle() {
  if (!search.is_settled() || is_settled.load(std::memory_order_relaxed)) return;
  keep();
  is_settled.store(true, std::memory_order_release);
}

/// A call took that long. One that was no trial stands for so many calls.
void TunedKernel::State::learn(bool is_trial, double nanoseconds, uint64_t shape, uint32_t calls) {
  if (is_trial) {
    const size_t candidate = search.next();
    search.add_trial(nanoseconds, shape);
    if (search.best() == candidate) in_use.store(trial, std::memory_order_release);
    if (search.next() != candidate) trial = nullptr;
  } else {
    search.add_call(nanoseconds, shape, calls);
    const double share = std::max(tuning.regret, 1e-3) * nanoseconds;
    every.store(static_cast<uint32_t>(std::clamp(std::ceil(kCallClockNanoseconds / share), 1.0, 10'000.0)),
                std::memory_order_relaxed);
  }
  publish();
  settle();
}

Expected<TunedKernel> TunedKernel::make(Runtime& runtime, const Op& op, const KernelOptions& options,
                                        const OnlineTuning& tuning) {
  STREW_TRY(check_tuning(options, tuning));
  STREW_ASSIGN(const Kernel kernel, runtime.get(op, options));
  STREW_ASSIGN(const VerifiedOp verified, VerifiedOp::of(op));
  STREW_ASSIGN(Compiled made, plan_kernel(verified, options));
  auto planned = std::make_unique<Compiled>(std::move(made));
  const Expected<SearchSpace> space = SearchSpace::of(*planned, *planned);
  std::vector<Variant> variants;
  for (size_t i = 0; space.ok() && i < space->listed().size() && i <= static_cast<size_t>(tuning.candidates); ++i)
    variants.push_back(space->listed()[i].variant);
  // Where no backend makes code there is nothing to choose from.
  auto state = std::make_shared<State>(runtime, op, options, tuning, variants.empty() ? 0 : variants.size() - 1);
  state->variants = std::move(variants);
  state->planned = std::move(planned);
  state->kernels.push_back(std::make_unique<Kernel>(kernel));
  state->in_use = state->kernels[0].get();
  state->is_settled = state->search.is_settled();
  state->publish();
  return TunedKernel(std::move(state));
}

Status TunedKernel::run(std::span<const TensorView> tensors, BadIndex* bad_index) const {
  if (!state_->is_settled.load(std::memory_order_acquire)) return run_and_learn(tensors, bad_index);
  return state_->in_use.load(std::memory_order_acquire)->run(tensors, bad_index);
}

TunedKernel::Stats TunedKernel::stats() const {
  return {state_->in_use.load(),   state_->is_settled.load(), state_->trials.load(),
          state_->total_ns.load(), state_->regret_ns.load(),  state_->ratio.load()};
}

Status TunedKernel::run_and_learn(std::span<const TensorView> tensors, BadIndex* bad_index) const {
  State& state = *state_;
  const Kernel& in_use = *state.in_use.load(std::memory_order_acquire);
  thread_local uint32_t calls = 0;
  const uint32_t every = state.every.load(std::memory_order_relaxed);
  if (++calls % every != 0) return in_use.run(tensors, bad_index);
  const std::unique_lock lock(state.mutex, std::try_to_lock);
  if (!lock.owns_lock() || state.search.is_settled()) return in_use.run(tensors, bad_index);
  // Without memory there is nothing to learn; the call itself reports what it lacks.
  try {
    state.make_ready();
  } catch (const std::bad_alloc&) {
    return in_use.run(tensors, bad_index);
  }
  const bool is_trial = state.trial != nullptr && state.search.may_try();
  const double begin = call_clock();
  const Status status = (is_trial ? *state.trial : in_use).run(tensors, bad_index);
  if (!status.ok()) return status;  // a call that fails early says nothing
  try {
    state.learn(is_trial, call_clock() - begin, hash_of(tensors), every);
  } catch (const std::bad_alloc&) {
  }
  return status;
}

}  // namespace strew::inline v0
