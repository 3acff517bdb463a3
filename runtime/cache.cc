// See cache.h. KernelTable uses open addressing and is at most half full. A slot is written once and then published. A
// full table is replaced by one of twice the size.
//
// Reclamation of replaced tables: a reader increments a counter before it loads the table's pointer, and decrements it
// when done. The counters lie in 16 stripes, a cache line each, chosen by thread. The increment, the load and the
// writer's exchange of the pointer are sequentially consistent, so a reader of a replaced table incremented its counter
// before the replacement. Once every counter has been zero after the replacement, nobody reads the table any more.
// Writers look at the counters and never wait: a table that may still be read is freed by a later write. Every stripe
// has two counters, because a single one might never be zero while readers overlap: new readers use the counter that
// parity_ names, the other one only drains, and when it is zero in all stripes, parity_ changes. A look-up costs two
// uncontended atomic operations and one reference count, about 20 ns.
//
// There is no eviction: kernels take a few KiB, and clear() drops them all.
//
// A Flight is a build in progress: the first thread that misses builds without holding the lock; the others wait on its
// Flight. BuiltKernels is asked only if a handle is missing, so plain locks are fast enough: one for the map, and one
// per symbol during its build. Tested by tests/unit/cache_test.cc.
#include "runtime/cache.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <new>
#include <optional>

namespace strew::inline v0 {

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

  /// The slot of `key`, or the empty slot in which it would be put.
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

KernelTable::Reader::Reader(const KernelTable& table)
    : stripe_(own(table.stripes_)), count_(stripe_.readers[table.parity_.load(std::memory_order_relaxed)]) {
  count_.fetch_add(1, std::memory_order_seq_cst);
  slots_ = table.slots_.load(std::memory_order_seq_cst);
}

Kernel KernelTable::find(Hash128 key) const {
  Kernel kernel;
  {
    const Reader reader(*this);
    const Slots::Slot& slot = reader.slots_->probe(key);
    if (!slot.ready.load(std::memory_order_acquire) || slot.key != key) return kernel;
    kernel = slot.kernel;
    reader.stripe_.hits.fetch_add(1, std::memory_order_relaxed);
  }
  return kernel;
}

void KernelTable::replace(std::unique_ptr<Slots> next) {
  retired_.reserve(retired_.size() + 1);
  retired_.push_back({std::unique_ptr<Slots>(slots_.exchange(next.release(), std::memory_order_seq_cst))});
  free_unread();
}

uint32_t KernelTable::empty_counters() const {
  uint32_t empty = 0;
  for (size_t parity = 0; parity < 2; ++parity)
    for (size_t i = 0; i < kStripes; ++i)
      if (stripes_[i].readers[parity].load(std::memory_order_seq_cst) == 0) empty |= uint32_t{1} << (parity * kStripes + i);
  return empty;
}

/// Frees the replaced tables that nobody reads. A reader that loaded parity_ before it changed may increment its counter
/// late. It then loads a newer table than those replaced ones for which this counter has already been seen at zero.
void KernelTable::free_unread() {
  constexpr uint32_t kStripesOfOne = (uint32_t{1} << kStripes) - 1, kAll = kStripesOfOne << kStripes | kStripesOfOne;
  for (int turn = 0; turn < 2 && !retired_.empty(); ++turn) {
    const uint32_t empty = empty_counters(), idle = 1 - parity_.load(std::memory_order_relaxed);
    for (Retired& old : retired_) old.seen_empty |= empty;
    retired_.erase(std::remove_if(retired_.begin(), retired_.end(), [](const Retired& old) { return old.seen_empty == kAll; }),
                   retired_.end());
    if ((empty >> (idle * kStripes) & kStripesOfOne) == kStripesOfOne) parity_.store(idle, std::memory_order_relaxed);
  }
}

void KernelTable::insert(Hash128 key, Kernel kernel) {
  if (!retired_.empty()) free_unread();
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

  Expected<Kernel> answer = unsupported("build: out of memory");  // made now, while there is memory
  try {
    answer = build();
  } catch (const std::bad_alloc&) {
    // `answer` is the out-of-memory Status already
  } catch (const std::exception& e) {
    answer = internal_error(std::string("build: ") + e.what());
  }

  lock.lock();
  (answer.ok() ? built_ : failed_).fetch_add(1, std::memory_order_relaxed);
  try {
    if (answer.ok()) table_.insert(key, *answer);
  } catch (const std::bad_alloc&) {
    // the kernel is returned but not remembered
  }
  flight->answer.emplace(std::move(answer));
  flights_.erase(key);
  flight->landed.notify_all();
  return *flight->answer;
}

void KernelCache::clear() {
  const std::lock_guard lock(mutex_);
  table_.clear();
  quick_table_.clear();
}

Expected<BuiltKernels::Built> BuiltKernels::get(const std::string& symbol, const std::function<Expected<Built>()>& build) {
  std::shared_ptr<Place> place;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Place>& found = places_[symbol];
    if (found == nullptr) found = std::make_shared<Place>();
    place = found;
  }
  const std::lock_guard lock(place->building);
  if (place->kernel != nullptr) return place->kernel;
  STREW_ASSIGN(place->kernel, build());
  count_.fetch_add(1, std::memory_order_relaxed);
  return place->kernel;
}

void BuiltKernels::clear() {
  const std::lock_guard lock(mutex_);
  places_.clear();
}

Runtime::Stats KernelCache::stats() const {
  Runtime::Stats stats;
  stats.hits = table_.hits() + quick_table_.hits();
  stats.misses = misses_.load(std::memory_order_relaxed);
  stats.built = built_.load(std::memory_order_relaxed);
  stats.failed = failed_.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace strew::inline v0
