// See epoch.h. retire() stamps an object with the epoch that ends with it. An object may be dropped when no record
// holds an epoch up to its stamp: a reader that began in a later epoch began after the object was unlinked.
//
// Why that is safe: a writer unlinks the object, increments the epoch, and calls membarrier() before it looks at the
// records. A reader whose store is not visible then executes its loads after the barrier, so it cannot find the object.
// A reader that stored an old epoch is merely waited for. Until the process has asked for membarrier() (rely_on_barrier()), where the kernel has no membarrier(), and under
// ThreadSanitizer, which does not know it, readers execute a full fence instead. If membarrier() is refused later on, because the program
// has put a filter of system calls in place (seccomp), nothing orders the readers that exist: then nothing is dropped any more.
//
// A reader may begin to do without its fence while a writer is at work. If the writer still found has_barrier false, then its fence, which comes after
// the unlinking, is before the store of has_barrier in the order of sequentially consistent operations; the reader, which acquired from after that store, sees the
// object unlinked.
//
// fork(): the child has one thread. The records of the others are given up there, since their readers are gone.
#include "runtime/epoch.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/fork_hooks.h"

namespace strew::inline v0 {
namespace epochs {

std::atomic<uint64_t> current{1};
constinit thread_local EpochRecord* own [[gnu::tls_model("initial-exec")]] = nullptr;

}  // namespace epochs

namespace {

struct Retired {
  uint64_t epoch = 0;
  std::shared_ptr<const void> object;
};

/// Never destroyed: threads may end after the static destructors have run.
struct Reclamation {
  std::mutex mutex;  // guards retired; taken by writers only
  std::vector<Retired> retired;
  std::atomic<EpochRecord*> records{nullptr};
  std::atomic<uint32_t> count{0};
  std::atomic<bool> has_barrier{false};  ///< readers rely on membarrier(), or may begin to
  std::atomic<bool> was_asked{false};    ///< rely_on_barrier() was called
  std::atomic<bool> keeps_all{false};    ///< membarrier() was refused while readers relied on it
  pthread_key_t at_thread_end{};

  Reclamation() {
    if (__libc_single_threaded != 0) rely_on_barrier();
    pthread_key_create(&at_thread_end, [](void* record) {
      epochs::own = nullptr;
      give_back(static_cast<EpochRecord*>(record));
    });
    set_fork_hooks(ForkStage::epochs, {[] { process().mutex.lock(); }, [] { process().mutex.unlock(); }, in_child});
  }

  static Reclamation& process() {
    static Reclamation* const made = new Reclamation;
    return *made;
  }
  static void give_back(EpochRecord* record) {
    record->depth = 0;
    record->epoch.store(0, std::memory_order_release);
    record->taken.store(false, std::memory_order_release);
  }
  static void in_child() {
    for (EpochRecord* record = process().records.load(); record != nullptr; record = record->next)
      if (record != epochs::own && record->taken.load(std::memory_order_acquire))
        give_back(record);  // its thread does not exist here
    process().mutex.unlock();
  }

  /// Asks the system for membarrier(), once, and lets readers do without their fence. With several threads that takes 5 to 20 ms, a grace period of
  /// the kernel's, which no call should wait for.
  void rely_on_barrier() {
#ifndef __SANITIZE_THREAD__
    if (was_asked.exchange(true, std::memory_order_relaxed)) return;
    if (syscall(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0) return;
    has_barrier.store(true, std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (EpochRecord* record = records.load(std::memory_order_acquire); record != nullptr; record = record->next)
      record->needs_fence.store(false, std::memory_order_release);
#endif
  }

  /// Orders the unlinking of objects before the reads of the records, and the loads of every reader after its store.
  /// False if that cannot be done.
  bool barrier() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (keeps_all.load(std::memory_order_relaxed)) return false;
    if (!has_barrier.load(std::memory_order_seq_cst) || syscall(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0)
      return true;
    has_barrier = false;  // records that threads take from now on have a fence
    keeps_all = true;
    return false;
  }
  uint64_t oldest_reader() const {
    uint64_t oldest = std::numeric_limits<uint64_t>::max();
    for (const EpochRecord* record = records.load(std::memory_order_acquire); record != nullptr; record = record->next)
      if (const uint64_t epoch = record->epoch.load(std::memory_order_seq_cst); epoch != 0) oldest = std::min(oldest, epoch);
    return oldest;
  }
};

/// How many objects may wait before collect_some() looks whether they can be dropped: a look costs a microsecond or more.
constexpr size_t kRetiredBatch = 32;

}  // namespace

namespace epochs {

EpochRecord* attach() {
  Reclamation& all = Reclamation::process();
  EpochRecord* record = all.records.load(std::memory_order_acquire);
  for (; record != nullptr; record = record->next) {
    bool taken = false;
    if (record->taken.compare_exchange_strong(taken, true, std::memory_order_acquire)) break;
  }
  if (record == nullptr) {
    record = new (std::nothrow) EpochRecord;
    if (record == nullptr) return nullptr;
    record->number = all.count.fetch_add(1, std::memory_order_relaxed);
    record->next = all.records.load(std::memory_order_relaxed);
    while (!all.records.compare_exchange_weak(record->next, record, std::memory_order_release)) {
    }
  }
  // This store, then that load; rely_on_barrier() has a store, then stores to the records: one of the two sees the other.
  record->needs_fence.store(true, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (all.has_barrier.load(std::memory_order_seq_cst)) record->needs_fence.store(false, std::memory_order_relaxed);
  pthread_setspecific(all.at_thread_end, record);  // on failure the record stays taken, and a later thread makes its own
  return own = record;
}

void rely_on_barrier() { Reclamation::process().rely_on_barrier(); }

void retire(std::shared_ptr<const void> object) noexcept {
  Reclamation& all = Reclamation::process();
  try {
    const std::lock_guard lock(all.mutex);
    all.retired.emplace_back();  // may throw, so it comes first
    all.retired.back() = {current.fetch_add(1, std::memory_order_seq_cst), std::move(object)};
  } catch (const std::bad_alloc&) {
    // Readers may be using the object, so it must not be destroyed here: its last owner is a place that is never destroyed.
    alignas(std::shared_ptr<const void>) std::array<std::byte, sizeof object> never;
    new (never.data()) std::shared_ptr<const void>(std::move(object));
  }
}

void collect_some() { collect(kRetiredBatch); }

size_t collect(size_t least) {
  Reclamation& all = Reclamation::process();
  std::vector<Retired> dropped;  // destroyed after the lock is released: the last owner of code takes the linker's lock
  const std::lock_guard lock(all.mutex);
  if (all.retired.size() < least || !all.barrier()) return all.retired.size();
  const uint64_t oldest = all.oldest_reader();
  const auto is_kept = [&](const Retired& one) { return one.epoch >= oldest; };
  const auto kept = std::partition(all.retired.begin(), all.retired.end(), is_kept);
  try {
    dropped.assign(std::make_move_iterator(kept), std::make_move_iterator(all.retired.end()));
    all.retired.erase(kept, all.retired.end());
  } catch (const std::bad_alloc&) {
    // a later call finds them again
  }
  return all.retired.size();
}

}  // namespace epochs
}  // namespace strew::inline v0
