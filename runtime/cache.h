// The kernels in memory. KernelCache maps requests to handles: look-ups take no lock, and of the threads that miss one
// request at the same time, one builds and the others wait (single flight). BuiltKernels, behind it, maps symbols to
// built kernels, so that requests which lead to the same code share it. Tested by tests/unit/cache_test.cc.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "strew/runtime.h"
#include "strew/status.h"
#include "strew/text.h"

namespace strew::inline v0 {

/// A hash table from request hash to Kernel. find() takes no lock and allocates nothing. Calls of insert() and clear()
/// must be serialised by the caller's lock; they never wait for readers: a replaced table is kept until no reader can
/// be in it.
class KernelTable {
  struct Slots;
  struct alignas(64) Stripe {
    std::array<std::atomic<uint32_t>, 2> readers{};  ///< active readers that took parity 0 and 1 (see parity_)
    std::atomic<uint64_t> hits{0};
  };
  static constexpr size_t kStripes = 16;

 public:
  /// Protects a read: while a Reader lives, the slots that it found are not freed. find() makes one; tests hold them for longer.
  class Reader {
   public:
    explicit Reader(const KernelTable& table);
    ~Reader() { count_.fetch_sub(1, std::memory_order_release); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

   private:
    friend class KernelTable;
    Stripe& stripe_;
    std::atomic<uint32_t>& count_;
    const Slots* slots_;
  };

  KernelTable();
  ~KernelTable();

  Kernel find(Hash128 key) const;
  void insert(Hash128 key, Kernel kernel);  ///< does nothing if the key is present
  void clear();
  uint64_t hits() const;
  /// Number of replaced tables that are still kept. The caller holds the writers' lock.
  size_t retired() const { return retired_.size(); }

 private:
  /// A replaced table, and the reader counters that have been zero at some time since: bit parity * kStripes + stripe.
  struct Retired {
    std::unique_ptr<Slots> slots;
    uint32_t seen_empty = 0;
  };

  static Stripe& own(std::array<Stripe, kStripes>& stripes);
  void replace(std::unique_ptr<Slots> next);
  uint32_t empty_counters() const;
  void free_unread();

  std::atomic<Slots*> slots_;
  std::atomic<uint32_t> parity_{0};  ///< which of a stripe's two counters new readers increment
  std::vector<Retired> retired_;
  mutable std::array<Stripe, kStripes> stripes_;
};

/// Requests and their kernels, under two hashes: of the op's text (kernel_key), and of the op's
/// fields (quick_key), which is faster to compute. Thread-safe.
class KernelCache {
 public:
  using Build = std::function<Expected<Kernel>()>;

  Kernel find(Hash128 key) const { return table_.find(key); }
  Kernel find_quick(Hash128 quick) const { return quick_table_.find(quick); }
  void remember_quick(Hash128 quick, const Kernel& kernel);

  /// The kernel of `key`; builds it with `build` if it is missing. Of the threads that ask at the same time, one
  /// builds, and the others wait and get the same answer. A failure goes to the threads that waited and is not
  /// remembered.
  Expected<Kernel> get(Hash128 key, const Build& build);
  void clear();
  Runtime::Stats stats() const;

 private:
  struct Flight;
  struct HashOf {
    size_t operator()(Hash128 key) const { return key.low; }
  };

  KernelTable table_, quick_table_;
  mutable std::mutex mutex_;
  std::unordered_map<Hash128, std::shared_ptr<Flight>, HashOf> flights_;
  std::atomic<uint64_t> misses_{0}, built_{0}, failed_{0};
};

struct BuiltKernel;

/// Built kernels by symbol. Requests that differ only in the op's spelling or in the number of threads have one symbol,
/// so they share the kernel. Thread-safe.
class BuiltKernels {
 public:
  using Built = std::shared_ptr<const BuiltKernel>;

  /// The kernel of `symbol`; builds it with `build` if it is missing, while other threads that ask for it wait. A
  /// failure is not remembered.
  Expected<Built> get(const std::string& symbol, const std::function<Expected<Built>()>& build);
  void clear();
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }  ///< built so far

 private:
  struct Place {
    std::mutex building;  ///< held while `kernel` is built
    Built kernel;
  };
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Place>> places_;
  std::atomic<uint64_t> count_{0};
};

}  // namespace strew::inline v0
