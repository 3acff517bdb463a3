// See cache.h. Kernels that are forgotten are destroyed after the lock has been released, because their destructors take the
// linker's lock.
#include "runtime/cache.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "base/fork_hooks.h"
#include "base/log.h"
#include "runtime/kernel_state.h"
#include "runtime/loaded_kernels.h"

namespace strew::inline v0 {

std::mutex KernelCache::mutex_of_all;

/// no_memory_for_kernel() for callbacks. It is made with the first cache: later there may be no memory for it.
static const Expected<Kernel>& no_memory_answer() {
  static const auto& answer = *new const Expected<Kernel>(no_memory_for_kernel());
  return answer;
}

KernelCache::KernelCache(Build build, const Settings& settings)
    : build_(std::move(build)),
      capacity_(settings.capacity),
      next_check_(settings.capacity),
      threads_(settings.compile_threads, settings.stack_bytes),
      background_(settings.compile_threads, settings.stack_bytes, settings.background_nice) {
  // fork() waits until no thread changes a cache. Builds in progress belong to the parent: see BuildJob::is_lost().
  [[maybe_unused]] static const bool kIsHeld =
      (set_fork_hooks(ForkStage::caches, hooks_that_hold<&mutex_of_all, &LoadedKernels::mutex_of_all>()), true);
  no_memory_answer();
}

/// A change of what is remembered: holds the lock, and destroys what is dropped after it has released it.
struct KernelCache::Change {
  ~Change() {
    if (lock.owns_lock()) lock.unlock();
    dropped.clear();
    epochs::collect_some();
  }
  std::unique_lock<std::mutex> lock{mutex_of_all};
  std::vector<Kernel> dropped;
};

Kernel KernelCache::find(Hash128 key) const {
  const EpochReader reader;
  const KernelTable::Entry* const entry = table_.find(key, reader.record());
  return entry == nullptr ? Kernel() : entry->kernel;
}

/// A job that others can find, from then on to its end: whatever happens to the closure that is to run it, the job is answered and can no longer
/// be found. Its answers exist before they are needed, which may be where there is no memory for them.
struct RunningJob {
  RunningJob(KernelCache& in, std::shared_ptr<BuildJob> given) : cache(in), job(std::move(given)) {}
  RunningJob(const RunningJob&) = delete;
  RunningJob& operator=(const RunningJob&) = delete;
  ~RunningJob() {
    if (!is_answered) finish(std::move(why));
  }

  /// On a compile thread: builds, remembers, and answers all who wait.
  void run() {
    const auto start = std::chrono::steady_clock::now();
    Expected<Kernel> answer = Kernel();
    try {
      answer = build_now();
      if (answer.ok() && !*answer) return;  // parked, and perhaps running elsewhere
      if (!answer.ok()) log_not_built(job->request.op, answer.status());
    } catch (const std::bad_alloc&) {
      answer = std::move(no_memory);
    }
    const auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start);
    cache.nanoseconds_.fetch_add(static_cast<uint64_t>(spent.count()), std::memory_order_relaxed);
    cache.count_failure(answer.status());
    KernelCache::Change change;
    try {
      if (answer.ok() && !job->lacked_memory) cache.remember(job->request.op.key().hash, *answer, change);
    } catch (const std::bad_alloc&) {
      // the kernel is returned but not remembered
    }
    change.lock.unlock();  // those who wait do not wait for what is destroyed
    finish(std::move(answer));
  }

  Expected<Kernel> build_now() {
    if (!CompileThreads::works_after_fork())
      return unsupported(
          "build: this process was forked while a kernel was being compiled, so it cannot compile; kernels that were built "
          "before still run; compile them before the fork, or run another program in the child (exec)");
    try {
      STREW_TRY(job->go_on());
      return cache.build_(*job);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& e) {
      return internal_error(std::string("build: ") + e.what());
    }
  }

  void finish(Expected<Kernel> answer) {
    is_answered = true;
    {
      const std::lock_guard lock(KernelCache::mutex_of_all);
      cache.release(job->request.op.key().hash, *job);
      cache.release(job->claimed, *job);
    }
    job->finish(std::move(answer));
  }

  KernelCache& cache;
  const std::shared_ptr<BuildJob> job;
  Status why = cancelled("kernel: the runtime was drained or destroyed, or the process ends, before it was built");
  Status no_memory = no_memory_for_kernel();
  bool is_answered = false;
};

// ---- Single flight ----------------------------------------------------------------------------------------------------------------

/// The caller holds the lock.
KernelCache::Slot& KernelCache::slot_of(Hash128 name) {
  if (slots_.size() >= next_sweep_) sweep();
  return slots_[name];
}

/// Forgets the names that nobody builds, and whose kernels are gone. What is freed here is memory alone: the kernels were destroyed when their
/// last owner dropped them. The caller holds the lock.
void KernelCache::sweep() {
  std::erase_if(slots_, [](const auto& each) { return each.second.job == nullptr && each.second.kernel.expired(); });
  next_sweep_ = std::max(kFirstSweep, 2 * slots_.size());
}

/// What is there already, as the answer of a job.
PendingKernel KernelCache::answered(Request request, PendingKernel::Callback& done, Kernel known) {
  std::shared_ptr<BuildJob> job = BuildJob::make(std::move(request));
  const size_t waiter = *job->join(done, job->request.deadline);
  job->finish(std::move(known));
  return {std::move(job), waiter};
}

/// Waits for the job of this request, or begins one, unless the kernel has come meanwhile.
PendingKernel KernelCache::join(Request request, PendingKernel::Callback& done, CompileThreads& on, bool takes_stand_in) {
  const Hash128 key = request.op.key().hash;
  if (logs(LogLevel::cache)) log(LogLevel::cache, "miss: op " + print(*request.op.op()));
  std::shared_ptr<RunningJob> running;  // destroyed after the lock has been released: it calls callbacks
  try {
    std::unique_lock lock(mutex_of_all);
    if (Kernel known = find(key); known && (takes_stand_in || !known.state()->is_stand_in)) {
      lock.unlock();
      if (logs(LogLevel::cache)) log(LogLevel::cache, "hit: " + known.symbol() + " was built while the request was on its way");
      return answered(std::move(request), done, std::move(known));
    }
    misses_.fetch_add(1, std::memory_order_relaxed);
    Slot& slot = slot_of(key);
    if (slot.job != nullptr && !slot.job->is_lost())
      if (const auto joined = slot.job->join(done, request.deadline)) return {slot.job, *joined};
    running = std::make_shared<RunningJob>(*this, BuildJob::make(std::move(request)));
    const size_t waiter = *running->job->join(done, running->job->request.deadline);
    running->job->running = running;
    slot.job = running->job;
    lock.unlock();
    on.run([running] { running->run(); });
    return {running->job, waiter};
  } catch (...) {
    if (running != nullptr) running->why = std::move(running->no_memory);
    throw;
  }
}

KernelCache::Built KernelCache::find_built(Hash128 name) const {
  const std::lock_guard lock(mutex_of_all);
  const auto found = slots_.find(name);
  return found == slots_.end() ? nullptr : found->second.kernel.lock();
}

KernelCache::Built KernelCache::share(Hash128 name, Built kernel) {
  const std::lock_guard lock(mutex_of_all);
  Slot& slot = slot_of(name);
  if (Built present = slot.kernel.lock()) return present;
  slot.kernel = kernel;
  return kernel;
}

KernelCache::Claim KernelCache::claim(Hash128 name, BuildJob& job) {
  const std::shared_ptr<RunningJob> running = job.running.lock();
  PendingKernel::Callback again = [this, running](const Expected<Kernel>&) {
    try {
      threads_.run([running] { running->run(); });
    } catch (const std::bad_alloc&) {
      running->why = std::move(running->no_memory);
    }
  };
  const std::lock_guard lock(mutex_of_all);
  release(job.claimed, job);
  Slot& slot = slot_of(name);
  if (Built kernel = slot.kernel.lock()) return {std::move(kernel)};
  if (slot.job != nullptr && !slot.job->is_lost() && slot.job->join(again, kNoDeadline)) return {};
  slot.job = running->job;
  job.claimed = name;
  return {nullptr, true};
}

/// Others no longer find the job under this name. The caller holds the lock.
void KernelCache::release(Hash128 name, const BuildJob& job) {
  const auto found = slots_.find(name);
  if (found == slots_.end() || found->second.job.get() != &job) return;
  found->second.job = nullptr;  // not the last reference: whoever runs the job has one
  if (found->second.kernel.expired()) slots_.erase(found);
}

Expected<Kernel> KernelCache::get(Request request) {
  PendingKernel::Callback nobody;
  return join(std::move(request), nobody, threads_, true).wait();
}

PendingKernel KernelCache::get_async(const Request& request, PendingKernel::Callback done) noexcept {
  try {
    Kernel known = find(request.op.key().hash);
    if (known && !known.state()->is_stand_in) return answered(request, done, std::move(known));
    return join(request, done, threads_, false);
  } catch (const std::bad_alloc&) {
    if (done) done(no_memory_answer());  // not called yet
    return {nullptr, kNoMemoryForJob};
  }
}

void KernelCache::start(Request request, PendingKernel::Callback done) {
  request.deadline = kNoDeadline;
  join(std::move(request), done, background_, false);
}

bool KernelCache::drain(Deadline until) {
  const bool quiet = threads_.drain(until);
  return background_.drain(until) && quiet;
}

void KernelCache::count_failure(const Status& status) {
  if (status.ok()) return;
  const bool was_wanted = status.code() != Code::cancelled && status.code() != Code::deadline_exceeded;
  (was_wanted ? failed_ : cancelled_).fetch_add(1, std::memory_order_relaxed);
}

void KernelCache::note_refused(const PreparedOp& op, const Status& why) {
  if (logs(LogLevel::cache)) log(LogLevel::cache, "miss: op " + print(*op.op()));
  misses_.fetch_add(1, std::memory_order_relaxed);
  count_failure(why);
  log_not_built(op, why);
}

// ---- Capacity ---------------------------------------------------------------------------------------------------------------------

/// A kernel takes the place of its stand-in.
void KernelCache::remember(Hash128 key, const Kernel& kernel, Change& change) {
  if (capacity_ == 0) return;
  const Kernel::State& state = *kernel.state();
  const Kernel* const present = table_.peek(key);
  if (present != nullptr && (!present->state()->is_stand_in || state.is_stand_in)) return;
  change.dropped.reserve(change.dropped.size() + 1);
  uint32_t& users = users_[state.built.get()];  // 0 if the insertion fails, and then it does no harm
  if (Kernel before = table_.put(key, kernel)) discount(std::move(before), change);
  bytes_ += state.bytes() + KernelTable::entry_bytes();
  if (users++ == 0) bytes_ += state.built->bytes;
  keep_capacity(change);
}

/// The kernel is no longer in the table.
void KernelCache::discount(Kernel kernel, Change& change) {
  const Kernel::State& state = *kernel.state();
  bytes_ -= state.bytes() + KernelTable::entry_bytes();
  if (const auto users = users_.find(state.built.get()); --users->second == 0) {
    bytes_ -= state.built->bytes;
    users_.erase(users);
  }
  change.dropped.push_back(std::move(kernel));
}

Kernel KernelCache::add(Hash128 key, const Kernel& kernel) {
  Change change;
  if (!kernel.state()->is_stand_in) misses_.fetch_add(1, std::memory_order_relaxed);  // of a stand-in, start() counts it
  remember(key, kernel, change);
  const Kernel* const present = table_.peek(key);
  return present != nullptr ? *present : kernel;
}

void KernelCache::forget(Hash128 key, const Kernel::State* kernel) {
  Change change;
  const Kernel* const present = table_.peek(key);
  if (present == nullptr || present->state().get() != kernel) return;
  change.dropped.reserve(1);
  discount(table_.remove(key), change);
}

/// Forgets kernels until an eighth of the capacity is free, so that the next insertions need not look. If handles refer to
/// too many kernels for that, it looks again when the memory has grown by an eighth.
void KernelCache::keep_capacity(Change& change) {
  if (bytes_ <= next_check_) return;
  const int64_t wanted = capacity_ - capacity_ / 8;
  for (const KernelTable::Entry* entry : table_.by_age()) {
    if (bytes_ <= wanted) break;
    if (entry->kernel.state().use_count() > 1) continue;
    if (logs(LogLevel::cache))
      log(LogLevel::cache, "evicted " + entry->kernel.symbol() + ": the kernels take " + std::to_string(bytes_) +
                               " bytes, and the capacity is " + std::to_string(capacity_));
    discount(table_.remove(entry->key), change);
    evicted_.fetch_add(1, std::memory_order_relaxed);
  }
  next_check_ = std::max(capacity_, bytes_ + bytes_ / 8);
}

void KernelCache::set_capacity(int64_t bytes) {
  {
    Change change;
    capacity_ = next_check_ = std::max<int64_t>(bytes, 0);
    keep_capacity(change);
  }
  epochs::collect();
  const std::lock_guard lock(mutex_of_all);
  sweep();
}

void KernelCache::clear() {
  {
    Change change;
    for (const KernelTable::Entry* entry : table_.by_age()) change.dropped.push_back(entry->kernel);
    table_.clear();
    users_.clear();
    for (auto& [name, slot] : slots_) slot.kernel.reset();
    bytes_ = 0;
    next_check_ = capacity_;
  }
  epochs::collect();
}

Runtime::Stats KernelCache::stats() const {
  const std::lock_guard lock(mutex_of_all);
  return {.hits = table_.hits(),
          .misses = misses_,
          .failed = failed_,
          .cancelled = cancelled_,
          .evicted = evicted_,
          .build_nanoseconds = nanoseconds_,
          .kernels = table_.size(),
          .bytes = bytes_};
}

size_t KernelCache::slots() const {
  const std::lock_guard lock(mutex_of_all);
  return slots_.size();
}

}  // namespace strew::inline v0
