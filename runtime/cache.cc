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
#include "runtime/build_log.h"
#include "runtime/built_kernels.h"
#include "runtime/kernel_state.h"
#include "runtime/loaded_kernels.h"

namespace strew::inline v0 {

std::mutex KernelCache::mutex_of_all;

/// fork() waits until no thread changes a cache. Builds in progress belong to the parent: see BuildJob::is_lost().
struct CacheForks {
  static void watch() {
    static const bool once = [] {
      const auto unlock = [] {
        LoadedKernels::mutex_of_all.unlock();
        BuiltKernels::mutex_of_all.unlock();
        KernelCache::mutex_of_all.unlock();
      };
      set_fork_hooks(ForkStage::caches, {[] {
                                           KernelCache::mutex_of_all.lock();
                                           BuiltKernels::mutex_of_all.lock();
                                           LoadedKernels::mutex_of_all.lock();
                                         },
                                         unlock, unlock});
      return true;
    }();
    static_cast<void>(once);
  }
};

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
  CacheForks::watch();
  no_memory_answer();
}

Kernel KernelCache::find(Hash128 key) const {
  const EpochReader reader;
  const KernelTable::Entry* const entry = table_.find(key, reader.record());
  return entry == nullptr ? Kernel() : entry->kernel;
}

Kernel KernelCache::find_compiled(Hash128 key) const {
  Kernel kernel = find(key);
  return kernel && kernel.state()->is_stand_in ? Kernel() : kernel;
}

/// A job that others can find, from then on to its end: whatever happens to the closure that is to run it, the job is answered and can no longer
/// be found. Its answers exist before they are needed, which may be where there is no memory for them.
struct KernelCache::Running {
  Running(KernelCache& in, std::shared_ptr<BuildJob> given) : cache(in), job(std::move(given)) {}
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    if (ran) return;
    cache.end(*job);
    job->finish(std::move(why));
  }

  KernelCache& cache;
  const std::shared_ptr<BuildJob> job;
  Status why = cancelled("kernel: the runtime was drained or destroyed, or the process ends, before it was built");
  Status no_memory = no_memory_for_kernel();
  bool ran = false;
};

/// Waits for the job of this request, or begins one.
KernelCache::Ticket KernelCache::join(const PreparedOp& op, PendingKernel::Callback& done, Deadline deadline, bool was_looked_for,
                                      CompileThreads* on) {
  const Hash128 key = op.key().hash;
  if (logs(LogLevel::cache)) log(LogLevel::cache, "miss: op " + print(*op.op()));
  std::shared_ptr<Running> running;  // destroyed after the lock has been released: it calls callbacks
  size_t waiter = 0;
  try {
    {
      const std::lock_guard lock(mutex_of_all);
      misses_.fetch_add(1, std::memory_order_relaxed);
      if (const auto found = jobs_.find(key); found != jobs_.end() && !found->second->is_lost())
        if (const auto joined = found->second->join(done, deadline)) return {found->second, *joined};
      running = std::make_shared<Running>(*this, BuildJob::make(op, was_looked_for));
      waiter = *running->job->join(done, deadline);
      jobs_.insert_or_assign(key, running->job);
    }
    (on != nullptr ? *on : threads_).run([this, running] {
      running->ran = true;
      run(*running);
    });
  } catch (...) {
    if (running != nullptr) running->why = std::move(running->no_memory);
    throw;
  }
  return {running->job, waiter};
}

/// The job can no longer be found. The caller must not hold the lock.
void KernelCache::end(const BuildJob& job) {
  std::shared_ptr<BuildJob> dropped;
  const std::lock_guard lock(mutex_of_all);
  const auto found = jobs_.find(job.op.key().hash);
  if (found == jobs_.end() || found->second.get() != &job) return;
  dropped = std::move(found->second);
  jobs_.erase(found);
}

Expected<Kernel> KernelCache::get(const PreparedOp& op, Deadline deadline, bool was_looked_for) {
  if (Kernel kernel = find(op.key().hash)) return kernel;
  PendingKernel::Callback nobody;
  const Ticket ticket = join(op, nobody, deadline, was_looked_for);
  return ticket.job->wait(ticket.waiter, kNoDeadline);
}

PendingKernel KernelCache::get_async(const PreparedOp& op, PendingKernel::Callback done, Deadline deadline) noexcept {
  try {
    if (Kernel kernel = find_compiled(op.key().hash)) {
      const auto job = BuildJob::make(op);
      const size_t waiter = *job->join(done, deadline);
      job->finish(std::move(kernel));
      return {job, waiter};
    }
    Ticket ticket = join(op, done, deadline, false);
    return {std::move(ticket.job), ticket.waiter};
  } catch (const std::bad_alloc&) {
    if (done) done(no_memory_answer());  // not called yet
    return {nullptr, kNoMemoryForJob};
  }
}

Expected<Kernel> KernelCache::build_now(BuildJob& job) {
  if (!CompileThreads::works_after_fork())
    return unsupported(
        "build: this process was forked while a kernel was being compiled, so it cannot compile; kernels that were built before "
        "still run; compile them before the fork, or run another program in the child (exec)");
  if (Kernel kernel = find_compiled(job.op.key().hash)) {
    if (logs(LogLevel::cache)) log(LogLevel::cache, "hit: " + kernel.symbol() + " was built while the request was on its way");
    return kernel;
  }
  try {
    STREW_TRY(job.go_on());
    return build_(job);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    return internal_error(std::string("build: ") + e.what());
  }
}

bool KernelCache::drain(Deadline until) {
  const bool quiet = threads_.drain(until);
  return background_.drain(until) && quiet;
}

/// On a compile thread: builds, remembers, and answers all who wait.
void KernelCache::run(Running& running) {
  BuildJob& job = *running.job;
  const auto start = std::chrono::steady_clock::now();
  Expected<Kernel> answer = Kernel();
  try {
    answer = build_now(job);
    if (!answer.ok()) log_not_built(job.op, answer.status());
  } catch (const std::bad_alloc&) {
    answer = std::move(running.no_memory);
  }
  const auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start);
  nanoseconds_.fetch_add(static_cast<uint64_t>(spent.count()), std::memory_order_relaxed);
  const Code code = answer.status().code();
  if (code == Code::cancelled || code == Code::deadline_exceeded)
    cancelled_.fetch_add(1, std::memory_order_relaxed);
  else if (!answer.ok())
    failed_.fetch_add(1, std::memory_order_relaxed);
  std::vector<Kernel> dropped;
  if (answer.ok() && !job.lacked_memory) {
    const std::lock_guard lock(mutex_of_all);
    try {
      remember(job.op.key().hash, *answer, dropped);
    } catch (const std::bad_alloc&) {
      // the kernel is returned but not remembered
    }
  }
  end(job);
  job.finish(std::move(answer));
  dropped.clear();
  epochs::collect_some();
}

// ---- Capacity ---------------------------------------------------------------------------------------------------------------------

/// The caller holds the lock. A kernel takes the place of its stand-in.
void KernelCache::remember(Hash128 key, const Kernel& kernel, std::vector<Kernel>& dropped) {
  if (capacity_ == 0) return;
  const Kernel::State& state = *kernel.state();
  const Kernel* const present = table_.peek(key);
  if (present != nullptr && (!present->state()->is_stand_in || state.is_stand_in)) return;
  dropped.reserve(dropped.size() + 1);
  uint32_t& users = users_[state.built.get()];  // 0 if the insertion fails, and then it does no harm
  if (present == nullptr)
    table_.insert(key, kernel);
  else
    discount(table_.exchange(key, kernel), dropped);
  bytes_ += state.bytes() + KernelTable::entry_bytes();
  if (users++ == 0) bytes_ += state.built->bytes;
  keep_capacity(dropped);
}

/// The caller holds the lock.
void KernelCache::discount(Kernel kernel, std::vector<Kernel>& dropped) {
  const Kernel::State& state = *kernel.state();
  bytes_ -= state.bytes() + KernelTable::entry_bytes();
  if (const auto users = users_.find(state.built.get()); --users->second == 0) {
    bytes_ -= state.built->bytes;
    users_.erase(users);
  }
  dropped.push_back(std::move(kernel));
}

Kernel KernelCache::add(Hash128 key, const Kernel& kernel) {
  Kernel known = kernel;
  std::vector<Kernel> dropped;
  {
    const std::lock_guard lock(mutex_of_all);
    if (!kernel.state()->is_stand_in) misses_.fetch_add(1, std::memory_order_relaxed);  // of a stand-in, start() counts it
    remember(key, kernel, dropped);
    if (const Kernel* const present = table_.peek(key)) known = *present;
  }
  dropped.clear();
  epochs::collect_some();
  return known;
}

void KernelCache::forget(Hash128 key, const Kernel::State* kernel) {
  std::vector<Kernel> dropped;
  {
    const std::lock_guard lock(mutex_of_all);
    const Kernel* const present = table_.peek(key);
    if (present == nullptr || present->state().get() != kernel) return;
    dropped.reserve(1);
    discount(table_.remove(key), dropped);
  }
  dropped.clear();
  epochs::collect_some();
}

/// Forgets kernels until an eighth of the capacity is free, so that the next insertions need not look. If handles refer to
/// too many kernels for that, it looks again when the memory has grown by an eighth. The caller holds the lock.
void KernelCache::keep_capacity(std::vector<Kernel>& dropped) {
  if (bytes_ <= next_check_) return;
  const int64_t wanted = capacity_ - capacity_ / 8;
  for (const KernelTable::Entry* entry : table_.by_age()) {
    if (bytes_ <= wanted) break;
    if (entry->kernel.state().use_count() > 1) continue;
    if (logs(LogLevel::cache))
      log(LogLevel::cache, "evicted " + entry->kernel.symbol() + ": the kernels take " + std::to_string(bytes_) +
                               " bytes, and the capacity is " + std::to_string(capacity_));
    discount(table_.remove(entry->key), dropped);
    evicted_.fetch_add(1, std::memory_order_relaxed);
  }
  next_check_ = std::max(capacity_, bytes_ + bytes_ / 8);
}

void KernelCache::set_capacity(int64_t bytes) {
  std::vector<Kernel> dropped;
  {
    const std::lock_guard lock(mutex_of_all);
    capacity_ = next_check_ = std::max<int64_t>(bytes, 0);
    keep_capacity(dropped);
  }
  dropped.clear();
  epochs::collect();
}

void KernelCache::clear() {
  std::vector<Kernel> dropped;
  {
    const std::lock_guard lock(mutex_of_all);
    for (const KernelTable::Entry* entry : table_.by_age()) dropped.push_back(entry->kernel);
    table_.clear();
    users_.clear();
    bytes_ = 0;
    next_check_ = capacity_;
  }
  dropped.clear();
  epochs::collect();
}

Runtime::Stats KernelCache::stats() const {
  Runtime::Stats stats;
  stats.hits = table_.hits();
  stats.misses = misses_.load(std::memory_order_relaxed);
  stats.failed = failed_.load(std::memory_order_relaxed);
  stats.cancelled = cancelled_.load(std::memory_order_relaxed);
  stats.evicted = evicted_.load(std::memory_order_relaxed);
  stats.build_nanoseconds = nanoseconds_.load(std::memory_order_relaxed);
  const std::lock_guard lock(mutex_of_all);
  stats.kernels = table_.size();
  stats.bytes = bytes_;
  return stats;
}

}  // namespace strew::inline v0
