// The kernels in memory: tables of handles that are read without a lock, by what was asked for, with single flight for what is missing; and
// behind them the built kernels, by symbol.
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

/// Hash -> Kernel. find() takes no lock and allocates nothing; insert() and clear() exclude each other by the caller's lock and never wait for
/// readers: a table that was replaced is kept until no reader can be in it.
class KernelTable {
  struct Slots;
  struct alignas(64) Stripe {
    std::array<std::atomic<uint32_t>, 2> readers{};  ///< by parity
    std::atomic<uint64_t> hits{0};
  };
  static constexpr size_t kStripes = 16;

 public:
  /// Somebody who reads the table: while it lives, the slots it found stay. One per find(); tests hold them for longer.
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
  void insert(Hash128 key, Kernel kernel);  ///< a key that is there keeps its kernel
  void clear();
  uint64_t hits() const;
  /// Replaced tables that are still kept. Under the writers' lock.
  size_t retired() const { return retired_.size(); }

 private:
  /// A replaced table, and which counters of readers were seen at zero since: bit parity * kStripes + stripe.
  struct Retired {
    std::unique_ptr<Slots> slots;
    uint32_t seen_empty = 0;
  };

  static Stripe& own(std::array<Stripe, kStripes>& stripes);
  void replace(std::unique_ptr<Slots> next);
  uint32_t empty_counters() const;
  void free_unread();

  std::atomic<Slots*> slots_;
  std::atomic<uint32_t> parity_{0};  ///< which of a stripe's two counters new readers take
  std::vector<Retired> retired_;
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

struct BuiltKernel;

/// Symbol -> what was built. Requests that differ in the op's spelling or in threads come to one symbol, and share it.
class BuiltKernels {
 public:
  using Built = std::shared_ptr<const BuiltKernel>;

  /// The kernel of that symbol, built by `build` if it is missing. Whoever asks meanwhile waits. A failure is not remembered.
  Expected<Built> get(const std::string& symbol, const std::function<Expected<Built>()>& build);
  void clear();
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }  ///< built so far

 private:
  struct Place {
    std::mutex building;  ///< held while it is built
    Built kernel;
  };
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Place>> places_;
  std::atomic<uint64_t> count_{0};
};

}  // namespace strew::inline v0
