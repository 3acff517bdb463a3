// Table: open addressing at most half full, slots written once and then published; a full table is replaced by one of twice the size.
// Readers announce themselves in one of 16 stripes (a cache line each, picked by thread), so a writer that replaces the table knows when
// the old one has no reader left: the announcement and the pointer are sequentially consistent on both sides. Two uncontended atomics
// and one reference count per look-up, about 20 ns. There is no eviction: kernels are a few KiB; clear() drops them all.
//
// Flight: the first to miss builds with no lock held, the rest wait on its flight. Tested by tests/unit/cache_test.cc.
#include "runtime/cache.h"

#include <condition_variable>
#include <exception>
#include <optional>
#include <thread>

namespace strew {

struct KernelTable::Slots {
  struct Slot {
    std::atomic<bool> ready{false};
    Hash128 key;
    Kernel kernel;
  };
  explicit Slots(size_t size) : mask(size - 1), list(new Slot[size]) {}

  const size_t mask;  // size - 1, size a power of two
  size_t used = 0;
  const std::unique_ptr<Slot[]> list;

  /// The slot of `key`, or the empty one where it belongs.
  Slot& probe(Hash128 key) const {
    for (size_t i = key.low & mask;; i = (i + 1) & mask) {
      Slot& slot = list[i];
      if (!slot.ready.load(std::memory_order_acquire) || slot.key == key) return slot;
    }
  }
  void put(Hash128 key, Kernel kernel) {
    Slot& slot = probe(key);
    if (slot.ready.load(std::memory_order_relaxed)) return;
    slot.key = key;
    slot.kernel = std::move(kernel);
    slot.ready.store(true, std::memory_order_release);
    ++used;
  }
};

namespace {
constexpr size_t kFirstSize = 64;
}  // namespace

KernelTable::KernelTable() : slots_(new Slots(kFirstSize)) {}
KernelTable::~KernelTable() { delete slots_.load(); }

KernelTable::Stripe& KernelTable::own(std::array<Stripe, kStripes>& stripes) {
  static std::atomic<size_t> next{0};
  thread_local const size_t mine = next.fetch_add(1, std::memory_order_relaxed) % kStripes;
  return stripes[mine];
}

Kernel KernelTable::find(Hash128 key) const {
  Stripe& stripe = own(stripes_);
  stripe.readers.fetch_add(1, std::memory_order_seq_cst);
  const Slots* slots = slots_.load(std::memory_order_seq_cst);
  const Slots::Slot& slot = slots->probe(key);
  Kernel kernel;
  if (slot.ready.load(std::memory_order_acquire) && slot.key == key) kernel = slot.kernel;
  stripe.readers.fetch_sub(1, std::memory_order_release);
  if (kernel) stripe.hits.fetch_add(1, std::memory_order_relaxed);
  return kernel;
}

void KernelTable::replace(std::unique_ptr<Slots> next) {
  const std::unique_ptr<Slots> old(slots_.exchange(next.release(), std::memory_order_seq_cst));
  for (Stripe& stripe : stripes_)
    while (stripe.readers.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
}

void KernelTable::insert(Hash128 key, Kernel kernel) {
  Slots* slots = slots_.load(std::memory_order_relaxed);
  if (2 * (slots->used + 1) > slots->mask + 1) {
    auto larger = std::make_unique<Slots>(2 * (slots->mask + 1));
    for (size_t i = 0; i <= slots->mask; ++i)
      if (slots->list[i].ready.load(std::memory_order_relaxed)) larger->put(slots->list[i].key, slots->list[i].kernel);
    replace(std::move(larger));
    slots = slots_.load(std::memory_order_relaxed);
  }
  slots->put(key, std::move(kernel));
}

void KernelTable::clear() { replace(std::make_unique<Slots>(kFirstSize)); }

uint64_t KernelTable::hits() const {
  uint64_t sum = 0;
  for (const Stripe& stripe : stripes_) sum += stripe.hits.load(std::memory_order_relaxed);
  return sum;
}

struct KernelCache::Flight {
  std::condition_variable landed;
  std::optional<Expected<Kernel>> answer;  // guarded by the cache's mutex
};

void KernelCache::remember_quick(Hash128 quick, const Kernel& kernel) {
  const std::lock_guard lock(mutex_);
  quick_table_.insert(quick, kernel);
}

Expected<Kernel> KernelCache::get(Hash128 key, const Build& build) {
  std::unique_lock lock(mutex_);
  if (Kernel kernel = table_.find(key)) return kernel;
  if (const auto found = flights_.find(key); found != flights_.end()) {
    const std::shared_ptr<Flight> flight = found->second;
    flight->landed.wait(lock, [&] { return flight->answer.has_value(); });
    return *flight->answer;
  }
  const auto flight = std::make_shared<Flight>();
  flights_.emplace(key, flight);
  misses_.fetch_add(1, std::memory_order_relaxed);
  lock.unlock();

  Expected<Kernel> answer = internal_error("build was cut short");
  try {
    answer = build();
  } catch (const std::exception& e) {
    answer = internal_error(std::string("build: ") + e.what());
  }

  lock.lock();
  (answer.ok() ? built_ : failed_).fetch_add(1, std::memory_order_relaxed);
  if (answer.ok()) table_.insert(key, *answer);
  flight->answer = answer;
  flights_.erase(key);
  flight->landed.notify_all();
  return answer;
}

void KernelCache::clear() {
  const std::lock_guard lock(mutex_);
  table_.clear();
  quick_table_.clear();
}

Runtime::Stats KernelCache::stats() const {
  Runtime::Stats stats;
  stats.hits = table_.hits() + quick_table_.hits();
  stats.misses = misses_.load(std::memory_order_relaxed);
  stats.built = built_.load(std::memory_order_relaxed);
  stats.failed = failed_.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace strew
