// KernelTable: a hash table from keys of requests to kernels. Readers take no lock, allocate nothing and write nothing
// that another thread writes; they borrow the kernel for as long as an EpochReader lives (runtime/epoch.h). Writers are
// serialised by the caller's lock and never wait for readers. A look-up takes 11 ns with a handle and 6 ns without; 16 maps with a mutex each would
// take 22 ns (Zen 5, one thread), about what a small call takes. Tested by tests/unit/runtime/kernel_table_test.cc.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/epoch.h"
#include "strew/kernel.h"
#include "strew/text.h"

namespace strew::inline v0 {

class KernelTable {
 public:
  struct Entry {
    Hash128 key;
    Kernel kernel;
    /// The tick in which the entry was found last. Ticks count insertions, so a kernel in steady use is written once
    /// per insertion, not once per look-up.
    mutable std::atomic<uint32_t> last_used{0};
  };

  KernelTable();
  ~KernelTable();
  KernelTable(const KernelTable&) = delete;
  KernelTable& operator=(const KernelTable&) = delete;

  /// The entry of `key`, or null. It lives until the reader that `record` belongs to ends; null: nothing is found.
  const Entry* find(Hash128 key, const EpochRecord* record) const;
  uint64_t hits() const;

  // For writers, under the caller's lock. Whoever has changed the table calls epochs::collect_some() after releasing it.

  /// Adds the kernel, or puts it in the place of the one with this key, and returns that one. Readers find one of the two.
  Kernel put(Hash128 key, Kernel kernel);
  /// The kernel of `key`, or null; without counting a hit. It is valid until the next change.
  const Kernel* peek(Hash128 key) const;
  /// Removes the entry of `key`, if there is one, and returns its kernel.
  Kernel remove(Hash128 key);
  void clear();
  size_t size() const { return size_; }
  /// The memory of an entry and its place, without the kernel.
  static int64_t entry_bytes();
  /// All entries, the one that was not used for the longest time first.
  std::vector<const Entry*> by_age() const;

 private:
  struct Slots;
  /// The look-ups that found their kernel, counted per thread: the first kOwnCounters threads have one of their own.
  static constexpr size_t kOwnCounters = 63;
  struct alignas(64) Counter {
    std::atomic<uint64_t> value{0};
  };
  void replace(size_t slots);

  std::atomic<Slots*> slots_;
  std::atomic<uint32_t> tick_{1};
  size_t size_ = 0;
  mutable std::array<Counter, kOwnCounters + 1> hits_;
};

}  // namespace strew::inline v0
