// See kernel_table.h. Open addressing with linear probing, at most half full. A slot is empty, holds an entry, or held one
// that was removed. It is used for one key only, so that a reader may compare the key after it has seen the entry; a
// removed slot becomes free when the slots are replaced. Entries and replaced slots are retired (runtime/epoch.h), because a
// reader may be looking at them.
#include "runtime/kernel_table.h"

#include <algorithm>
#include <utility>

#include "runtime/kernel_state.h"

namespace strew::inline v0 {
namespace {

constexpr size_t kFirstSlots = 64;
/// What the slot of a removed entry points to. Only its address counts; bytes are never destroyed, and threads may ask while the process exits.
alignas(KernelTable::Entry) constinit const std::array<std::byte, sizeof(KernelTable::Entry)> kRemovedEntry{};
inline const KernelTable::Entry* removed() { return reinterpret_cast<const KernelTable::Entry*>(kRemovedEntry.data()); }

}  // namespace

struct KernelTable::Slots {
  struct Slot {
    std::atomic<const Entry*> entry{nullptr};  ///< null: empty; removed(): its entry was removed
    Hash128 key;                               ///< valid if `entry` is not null
    std::shared_ptr<const Entry> owner;        ///< of `entry`; read and written by writers only
  };
  explicit Slots(size_t count) : mask(count - 1), list(count) {}

  const size_t mask;  // the number of slots, a power of two, minus 1
  size_t used = 0;    // slots that are not empty
  std::vector<Slot> list;

  /// The slot that was used for `key`, or the empty slot that would be.
  Slot& probe(Hash128 key, const Entry*& entry) {
    for (size_t i = key.low & mask;; i = (i + 1) & mask) {
      entry = list[i].entry.load(std::memory_order_acquire);
      if (entry == nullptr || list[i].key == key) return list[i];
    }
  }
  /// Returns the entry that had this key, for the caller to retire.
  std::shared_ptr<const Entry> put(std::shared_ptr<const Entry> entry) {
    const Entry* found = nullptr;
    Slot& slot = probe(entry->key, found);
    if (found == nullptr) {
      ++used;
      slot.key = entry->key;
    }
    slot.owner.swap(entry);
    slot.entry.store(slot.owner.get(), std::memory_order_seq_cst);
    return entry;
  }
};

KernelTable::KernelTable() : slots_(new Slots(kFirstSlots)) {}
KernelTable::~KernelTable() { delete slots_.load(); }

const KernelTable::Entry* KernelTable::find(Hash128 key, const EpochRecord* record) const {
  if (record == nullptr) return nullptr;
  const Entry* entry = nullptr;
  slots_.load(std::memory_order_acquire)->probe(key, entry);
  if (entry == nullptr || entry == removed()) return nullptr;
  const uint32_t tick = tick_.load(std::memory_order_relaxed);
  if (entry->last_used.load(std::memory_order_relaxed) != tick) entry->last_used.store(tick, std::memory_order_relaxed);
  if (record->number < kOwnCounters) {  // only this thread writes it
    std::atomic<uint64_t>& own = hits_[record->number].value;
    own.store(own.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  } else {
    hits_[kOwnCounters].value.fetch_add(1, std::memory_order_relaxed);
  }
  return entry;
}

/// Moves the entries to new slots, of which there are at least `count`, and drops the removed ones.
void KernelTable::replace(size_t count) {
  auto next = std::make_unique<Slots>(count);
  for (const Slots::Slot& slot : slots_.load(std::memory_order_relaxed)->list)
    if (slot.owner != nullptr) next->put(slot.owner);
  epochs::retire(std::shared_ptr<const void>(slots_.exchange(next.release(), std::memory_order_seq_cst),
                                             [](const Slots* old) { delete old; }));
}

Kernel KernelTable::put(Hash128 key, Kernel kernel) {
  auto entry = std::make_shared<Entry>();
  entry->key = key;
  entry->kernel = std::move(kernel);
  entry->last_used.store(tick_.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  Slots* slots = slots_.load(std::memory_order_relaxed);
  const Entry* found = nullptr;
  slots->probe(key, found);
  if (found == nullptr && 2 * (slots->used + 1) > slots->list.size()) {
    size_t count = kFirstSlots;
    while (count < 4 * (size_ + 1)) count *= 2;
    replace(count);
    slots = slots_.load(std::memory_order_relaxed);
  }
  std::shared_ptr<const Entry> old = slots->put(std::move(entry));
  if (old == nullptr) {
    ++size_;
    return {};
  }
  Kernel kernel_before = old->kernel;
  epochs::retire(std::move(old));
  return kernel_before;
}

const Kernel* KernelTable::peek(Hash128 key) const {
  const Entry* found = nullptr;
  slots_.load(std::memory_order_relaxed)->probe(key, found);
  return found == nullptr || found == removed() ? nullptr : &found->kernel;
}

Kernel KernelTable::remove(Hash128 key) {
  const Entry* found = nullptr;
  Slots::Slot& slot = slots_.load(std::memory_order_relaxed)->probe(key, found);
  if (found == nullptr || found == removed()) return {};
  Kernel kernel = found->kernel;
  slot.entry.store(removed(), std::memory_order_seq_cst);
  epochs::retire(std::exchange(slot.owner, nullptr));
  --size_;
  return kernel;
}

void KernelTable::clear() {
  for (Slots::Slot& slot : slots_.load(std::memory_order_relaxed)->list) slot.owner == nullptr ? Kernel{} : remove(slot.key);
  replace(kFirstSlots);
}

int64_t KernelTable::entry_bytes() {
  constexpr int64_t kSlots = 3;  // an entry's share: a quarter to a half of the slots are used
  return shared_bytes<Entry>() + kSlots * static_cast<int64_t>(sizeof(Slots::Slot));
}

std::vector<const KernelTable::Entry*> KernelTable::by_age() const {
  const uint32_t now = tick_.load(std::memory_order_relaxed);
  std::vector<std::pair<uint32_t, const Entry*>> aged;  // readers go on changing the ages
  for (const Slots::Slot& slot : slots_.load(std::memory_order_relaxed)->list)
    if (slot.owner != nullptr) aged.emplace_back(now - slot.owner->last_used.load(std::memory_order_relaxed), slot.owner.get());
  std::stable_sort(aged.begin(), aged.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const Entry*> list;
  for (const auto& [age, entry] : aged) list.push_back(entry);
  return list;
}

uint64_t KernelTable::hits() const {
  uint64_t sum = 0;
  for (const Counter& counter : hits_) sum += counter.value.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace strew::inline v0
