// The kernels in memory: a table that is read without a lock, and single flight for building what is missing.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "compiler/op/text.h"
#include "runtime/kernel.h"
#include "runtime/status.h"

namespace strew {

/// Hash -> Kernel. find() takes no lock and allocates nothing; insert() and clear() exclude each other by the caller's lock.
class KernelTable {
 public:
  KernelTable();
  ~KernelTable();

  Kernel find(Hash128 key) const;
  void insert(Hash128 key, Kernel kernel);  ///< a key that is there keeps its kernel
  void clear();
  uint64_t hits() const;

 private:
  struct Slots;
  struct alignas(64) Stripe {
    std::atomic<uint32_t> readers{0};
    std::atomic<uint64_t> hits{0};
  };
  static constexpr size_t kStripes = 16;

  static Stripe& own(std::array<Stripe, kStripes>& stripes);
  void replace(std::unique_ptr<Slots> next);

  std::atomic<Slots*> slots_;
  mutable std::array<Stripe, kStripes> stripes_;
};

class KernelCache {
 public:
  using Build = std::function<Expected<Kernel>()>;

  Kernel find(Hash128 key) const { return table_.find(key); }
  Kernel find_quick(Hash128 quick) const { return quick_table_.find(quick); }
  void remember_quick(Hash128 quick, const Kernel& kernel);

  /// The kernel of `key`, built by `build` if nobody has: of the threads that ask at the same time one builds, the others wait and get
  /// the same answer. A failure is given to those who waited and then forgotten.
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

}  // namespace strew
