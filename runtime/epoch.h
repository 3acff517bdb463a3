// Epochs: epoch-based reclamation for what threads read without a lock. A reader holds an EpochReader while it uses
// objects that it found through an atomic pointer; a writer unlinks an object and gives it to retire(), which drops it
// when every reader that might have found it has finished. Readers write one cache line that belongs to their thread,
// and nothing else: no lock, no counter shared between threads, no atomic read-modify-write.
//
// The epochs belong to the process: all runtimes and sites share them. Tested by tests/unit/runtime/epoch_test.cc, also under
// ThreadSanitizer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace strew::inline v0 {

/// What a thread writes when it reads. Records are never freed; the record of a thread that ended serves a later one.
struct alignas(64) EpochRecord {
  std::atomic<uint64_t> epoch{0};  ///< the epoch in which the outermost reader of the thread began; 0: none
  uint32_t depth = 0;              ///< readers of this thread that are alive
  /// There is no membarrier(), or not yet: the reader itself orders its store before its loads.
  std::atomic<bool> needs_fence{true};
  uint32_t number = 0;  ///< of the record, from 0 on: chooses counters that only this thread writes
  std::atomic<bool> taken{true};
  EpochRecord* next = nullptr;
};

namespace epochs {

extern std::atomic<uint64_t> current;
extern constinit thread_local EpochRecord* own [[gnu::tls_model("initial-exec")]];
/// Finds or makes the record of this thread. Returns null without memory for one.
[[gnu::cold]] EpochRecord* attach();

/// Begins to read on this thread; end() ends it. Readers may be nested. Returns null without memory for a record: then nothing
/// may be read.
inline EpochRecord* begin() {
  EpochRecord* const record = own != nullptr ? own : attach();
  if (record == nullptr || record->depth++ != 0) return record;
  // Acquire: a reader that sees an epoch sees what was unlinked before it began. Otherwise a weakly ordered processor could load a pointer
  // early, and the epoch, which says that the reader came too late for the object behind it, later.
  // The store must be visible before the loads that follow. Writers make it so with membarrier(), which acts as a fence on
  // all threads of the process; then the compiler's order is all that is needed here.
  if (record->needs_fence.load(std::memory_order_acquire)) {
    record->epoch.store(current.load(std::memory_order_acquire), std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  } else {
    record->epoch.store(current.load(std::memory_order_acquire), std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  return record;
}
inline void end(EpochRecord* record) {
  if (record != nullptr && --record->depth == 0) record->epoch.store(0, std::memory_order_release);
}

/// From some time on, readers rely on membarrier(), which is faster. Whoever has the time to spare calls it, a thread that has compiled: it may take 20 ms,
/// the first time.
void rely_on_barrier();

/// Keeps `object` until collect() finds that no reader that began before this call is alive. It never drops anything itself, so it may be
/// called with locks held: what is dropped may take the linker's lock, or call a program's functions. The caller has already made the object
/// unreachable for new readers. Without memory to remember it, it is never dropped.
void retire(std::shared_ptr<const void> object) noexcept;
/// Drops all retired objects that no reader can hold, if there are at least so many of them. Returns how many are left. The caller holds no lock of
/// strew's.
size_t collect(size_t least = 1);
/// collect(), if so many objects wait that it pays. Whoever has retired objects calls it after it has released its locks.
void collect_some();

}  // namespace epochs

/// begin() and end() as a scope.
class EpochReader {
 public:
  EpochReader() : record_(epochs::begin()) {}
  ~EpochReader() { epochs::end(record_); }
  EpochReader(const EpochReader&) = delete;
  EpochReader& operator=(const EpochReader&) = delete;

  EpochRecord* record() const { return record_; }  ///< null: nothing may be read

 private:
  EpochRecord* const record_;
};

}  // namespace strew::inline v0
