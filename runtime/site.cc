// See strew/site.h. A Way is a kernel that was called at the site; it is constant once made. Calls compare the labels of the
// ways, which lie side by side, and hold an EpochReader (runtime/epoch.h) while they use a way, since another thread may
// replace it. Ways are replaced in turn. Calls by tensors first look at the one extent in which the kernels of the ways differ
// most, which is usually the batch; binding then finds out whether the tensors fit.
//
// Once there are more kernels than ways, those that are found by their tensors are in a table, by the hash of what calls tell apart
// (signature_of). A kernel that the table finds many times in a row becomes a way.
//
//   a call with an op ──its label is a way's──► the way's kernel ──a stand-in with a successor──► renew(): a way to the successor
//      └── else ──first(): Runtime::get──► a way
//   a call with tensors ──Shapes::guess, and they fit──► a way's kernel
//      ├── else ──the table has their signature──► its kernel ──the 16th time in a row──► a way
//      ├── else ──they fit another way──► its kernel
//      └── else ──run_new(): Runtime::get──► a way while there is a free one; then an entry of the table
//
// A way or a list of extents that another one replaces goes to epochs::retire(): calls may be using it. Tested by tests/unit/runtime/site_test.cc.
#include "strew/site.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <vector>

#include "compiler/op/limits.h"
#include "runtime/compile_threads.h"
#include "runtime/epoch.h"
#include "runtime/kernel_state.h"
#include "runtime/kernel_table.h"
#include "runtime/words.h"

namespace strew::inline v0 {

struct Site::Way {
  /// `op`: of a kernel that is found by its op, whose data the way keeps alive; the others: of one that is found by its tensors.
  Way(Kernel made, std::shared_ptr<const void> op, uint64_t wanted_variant = 0, Hash128 wanted_signature = {})
      : kernel(std::move(made)), label(op.get()), op_data(std::move(op)), variant(wanted_variant), signature(wanted_signature) {}

  Kernel kernel;
  const Callable* callable = kernel.state()->plain();                   ///< null: calls need more than it knows
  bool binds_fast = callable != nullptr && callable->binder.is_fast();  ///< the callable can tell quickly whether tensors fit
  const void* label;                                                    ///< as in labels_
  std::shared_ptr<const void> op_data;
  uint64_t variant;
  Hash128 signature;
};

namespace {

/// How many kernels a site remembers by their tensors.
constexpr size_t kMostInTable = 4096;
/// After so many calls in a row that the table has led to one kernel, the kernel becomes a way.
constexpr uint32_t kCallsToAWay = 16;

bool fits(const Kernel& kernel, std::span<const TensorView> tensors) {
  Call call;
  return kernel.state()->current().callable->binder.bind(tensors, call).ok();
}

/// What calls by tensors are told apart by: the variant, and the dtype, rank, dims and strides of each tensor. Null for tensors that no
/// kernel takes.
std::optional<Hash128> signature_of(std::span<const TensorView> tensors, uint64_t variant) {
  Words words;
  words.put(variant);
  for (const TensorView& tensor : tensors) {
    if (tensor.rank < 0 || tensor.rank > kMaxRank || (tensor.rank > 0 && tensor.dims == nullptr)) return std::nullopt;
    const bool has_strides = tensor.strides != nullptr && tensor.rank > 0;
    words.put(static_cast<int64_t>(tensor.dtype) << 32 | tensor.rank << 1 | static_cast<int64_t>(has_strides));
    for (int32_t d = 0; d < tensor.rank; ++d) words.put(tensor.dims[d]);
    for (int32_t d = 0; has_strides && d < tensor.rank; ++d) words.put(tensor.strides[d]);
  }
  return words.hash();
}

/// The table's entry for these tensors; null if it has none, or if there is no table. It lives as long as `reader`.
const KernelTable::Entry* find_in(const KernelTable* table, std::span<const TensorView> tensors, uint64_t variant,
                                  const EpochReader& reader) {
  if (table == nullptr) return nullptr;
  const std::optional<Hash128> signature = signature_of(tensors, variant);
  return signature ? table->find(*signature, reader.record()) : nullptr;
}

/// Changes what a site remembers. Where there is no memory for that it stays as it is, which is right, too.
template <class Change>
void change_if_possible(const Change& change) {
  try {
    change();
    epochs::collect_some();
  } catch (const std::bad_alloc&) {  // a later call tries again
  }
}

/// The kernel that the table found last for this thread, and how many times in a row.
constinit thread_local struct {
  const void* kernel = nullptr;
  uint32_t count = 0;
} repeats;

}  // namespace

/// The extents of one dim in the kernels that are found by their tensors. Constant once made.
struct Site::Shapes {
  using Ways = std::array<std::shared_ptr<const Way>, kWays>;

  /// Takes the dim in which the kernels have the most different extents.
  explicit Shapes(const Ways& all) {
    for (const std::shared_ptr<const Way>& way : all)
      if (way != nullptr && way->label == nullptr) ways[count++] = way.get();
    size_t most = 0;
    for (uint32_t t = 0; count > 0 && t < descriptor(0).tensor_count; ++t) {
      for (uint32_t d = 0; d < descriptor(0).tensors[t].rank; ++d) {
        std::array<int64_t, kWays> found{};
        for (size_t i = 0; i < count; ++i) found[i] = extent_of(descriptor(i), t, d);
        const size_t different = std::set<int64_t>(found.begin(), found.begin() + count).size();
        if (different <= most) continue;
        most = different;
        tensor = t;
        dim = static_cast<int32_t>(d);
        for (size_t i = 0; i < count; ++i) keys[i] = key_of(found[i], ways[i]->variant);
      }
    }
    for (size_t i = 0; i < kWays; ++i) {  // places without a way have a key that is found before, so it leads to no other one
      if (i < count && ways[i]->binds_fast) callables[i] = ways[i]->callable;
      if (i >= count) keys[i] = keys[0];
    }
  }

  /// The kernel that is most likely the one for these tensors; null if there is none, or if it does not bind fast.
  const Callable* guess(std::span<const TensorView> tensors, uint64_t variant) const {
    if (tensor >= tensors.size() || dim >= tensors[tensor].rank || tensors[tensor].dims == nullptr) return nullptr;
    const uint32_t key = key_of(tensors[tensor].dims[dim], variant);
    // With branches, which the processor predicts: a call then goes on before the extent has been read.
#pragma GCC unroll 8
    for (size_t i = 0; i < kWays; ++i)
      if (keys[i] == key) return callables[i];
    return nullptr;
  }
  /// Runs the first way that takes the tensors, and sets `slow` to it if it does not bind fast. Returns false if none does.
  [[gnu::noinline]] bool run(std::span<const TensorView> tensors, uint64_t variant, BadIndex* bad_index, Status& status,
                             const Way*& slow) const {
    for (size_t i = 0; i < count; ++i) {
      const Way& way = *ways[i];
      if (way.variant != variant) continue;
      if (way.binds_fast) {
        if (way.callable->run_if_it_fits(tensors, bad_index, status)) return true;
      } else if (fits(way.kernel, tensors)) {
        slow = &way;
        status = way.kernel.run(tensors, bad_index);
        return true;
      }
    }
    return false;
  }
  /// A way that takes the tensors, or null. First those are asked that can tell quickly: the others say at length why they do not.
  const Way* find(std::span<const TensorView> tensors, uint64_t variant) const {
    Call call;
    for (size_t i = 0; i < count; ++i)
      if (ways[i]->variant == variant && ways[i]->binds_fast && ways[i]->callable->binder.bind_fast(tensors, call))
        return ways[i];
    for (size_t i = 0; i < count; ++i)
      if (ways[i]->variant == variant && fits(ways[i]->kernel, tensors)) return ways[i];
    return nullptr;
  }

  size_t count = 0;
  uint32_t tensor = 0;
  int32_t dim = std::numeric_limits<int32_t>::max();  ///< that no tensor has, if the kernels have scalars only
  std::array<uint32_t, kWays> keys{};
  std::array<const Callable*, kWays> callables{};
  std::array<const Way*, kWays> ways{};

 private:
  /// Two kernels may have the same key: binding decides.
  static uint32_t key_of(int64_t extent, uint64_t variant) {
    return static_cast<uint32_t>(extent) ^ static_cast<uint32_t>(variant * 0x9e3779b9U);
  }
  const strew_kernel& descriptor(size_t way) const { return ways[way]->kernel.descriptor(); }
  static int64_t extent_of(const strew_kernel& kernel, uint32_t tensor, uint32_t dim) {
    return tensor < kernel.tensor_count && dim < kernel.tensors[tensor].rank ? kernel.tensors[tensor].dims[dim] : STREW_OPEN;
  }
};

struct Site::Owners {
  struct Ways {
    const uint64_t forks = CompileThreads::forks();
    std::mutex mutex;  // guards the members below and the writing of the labels
    Shapes::Ways ways;
    std::shared_ptr<const Shapes> shapes;
    std::unique_ptr<KernelTable> table;  ///< null: all kernels that are found by their tensors are ways
    size_t next = 0;
  };
  ~Owners() { delete ways.load(); }

  /// A thread that this process does not have may have been changing the ways, and hold the lock, when the process was forked. They are left
  /// as they are then, because calls may go on to find them, and the child begins with new ones.
  Ways& current() {
    Ways* found = ways.load(std::memory_order_acquire);
    if (found->forks == CompileThreads::forks()) return *found;
    auto fresh = std::make_unique<Ways>();
    return ways.compare_exchange_strong(found, fresh.get(), std::memory_order_acq_rel) ? *fresh.release() : *found;
  }

  /// Adds the way, or puts it in the place of `instead_of`, if that is still there.
  void put(Site& site, std::shared_ptr<const Way> way, const Way* instead_of) {
    Ways& own = current();
    const std::lock_guard lock(own.mutex);
    for (const std::shared_ptr<const Way>& other : own.ways)  // another thread may have been faster
      if (other != nullptr && other->kernel.state() == way->kernel.state() && other->label == way->label &&
          other->variant == way->variant)
        return;
    size_t at = own.next % kWays;
    for (size_t i = 0; instead_of != nullptr && i < kWays; ++i)
      if (own.ways[i].get() == instead_of) at = i;
    Shapes::Ways next = own.ways;
    next[at] = way;
    auto shapes = std::make_shared<const Shapes>(next);  // may throw, so nothing has changed yet
    if (at == own.next % kWays) ++own.next;
    site.ways_[at].store(way.get(), std::memory_order_seq_cst);
    site.labels_[at].store(way->label, std::memory_order_release);
    own.ways[at].swap(way);
    site.shapes_.store(shapes.get(), std::memory_order_seq_cst);
    own.shapes.swap(shapes);
    if (shapes != nullptr) epochs::retire(std::move(shapes));
    if (way != nullptr) epochs::retire(std::move(way));
  }

  /// Adds a kernel that is found by its tensors: as a way, as long as there are free ones, or to the table.
  void put_by_tensors(Site& site, std::shared_ptr<const Way> way) {
    Ways& own = current();
    bool becomes_way = true;
    {
      const std::lock_guard lock(own.mutex);
      if (own.table == nullptr && own.ways[own.next % kWays] != nullptr) {
        auto table = std::make_unique<KernelTable>();
        for (const std::shared_ptr<const Way>& other : own.ways)
          if (other->label == nullptr) table->put(other->signature, other->kernel);
        own.table = std::move(table);
        site.table_.store(own.table.get(), std::memory_order_release);
      }
      if (own.table != nullptr) {
        if (own.table->size() >= kMostInTable) {  // those that were not used for the longest time go
          std::vector<const KernelTable::Entry*> oldest = own.table->by_age();
          oldest.resize(kMostInTable / 4);
          for (const KernelTable::Entry* const entry : oldest) own.table->remove(entry->key);
        }
        own.table->put(way->signature, way->kernel);
        becomes_way = way->kernel.descriptor().symbol_count > 0;  // it takes other tensors, too, which the table does not know
      }
    }
    if (becomes_way) put(site, std::move(way), nullptr);
  }

  /// A stand-in that has a successor is replaced by it; a kernel that was found many times in a row becomes a way, which is found faster. The
  /// caller holds an EpochReader.
  [[gnu::noinline]] void found_in_table(Site& site, const KernelTable::Entry& entry, uint64_t variant) {
    Kernel next = entry.kernel.state()->replaced_by();
    if (const void* const found = entry.kernel.state().get(); repeats.kernel != found) repeats = {found, 0};
    const bool repeated = ++repeats.count == kCallsToAWay;
    if (!next && !repeated) return;
    change_if_possible([&] {
      if (next) {
        Ways& own = current();
        const std::lock_guard lock(own.mutex);
        if (own.table != nullptr && own.table->peek(entry.key) != nullptr) own.table->put(entry.key, std::move(next));
      } else if (entry.kernel.state()->plain() != nullptr) {
        put(site, std::make_shared<const Way>(entry.kernel, nullptr, variant, entry.key), nullptr);
      }
    });
  }

  std::atomic<Ways*> ways{new Ways};
};

Site::Site(Runtime& runtime) : runtime_(runtime), owners_(std::make_unique<Owners>()) {}
Site::~Site() = default;

Status Site::run(const PreparedOp& op, std::span<const TensorView> tensors, BadIndex* bad_index) {
  {
    const EpochReader reader;
    const void* const wanted = op.data_.get();
    for (size_t i = 0; reader.record() != nullptr && i < kWays; ++i) {
      if (labels_[i].load(std::memory_order_acquire) != wanted) continue;  // the way was stored before its label
      const Way* const way = ways_[i].load(std::memory_order_acquire);
      if (way->label != wanted || way->callable == nullptr) break;  // it is being replaced, or needs more
      return way->callable->run(tensors, bad_index);
    }
  }
  return run(op, tensors, CallOptions{.bad_index = bad_index});
}

bool Site::run_remembered(std::span<const TensorView> tensors, uint64_t variant, BadIndex* bad_index, Status& status) {
  const EpochReader reader;
  const Shapes* const shapes = shapes_.load(std::memory_order_acquire);
  if (shapes == nullptr || reader.record() == nullptr) return false;
  const Callable* const guess = shapes->guess(tensors, variant);
  if (guess != nullptr && guess->run_if_it_fits(tensors, bad_index, status)) return true;
  if (const KernelTable::Entry* const entry = find_in(table_.load(std::memory_order_acquire), tensors, variant, reader)) {
    const Callable* const callable = entry->kernel.state()->plain();
    if (callable == nullptr || !callable->run_if_it_fits(tensors, bad_index, status))
      status = entry->kernel.run(tensors, bad_index);
    owners_->found_in_table(*this, *entry, variant);
    return true;
  }
  const Way* slow = nullptr;
  if (!shapes->run(tensors, variant, bad_index, status, slow)) return false;
  if (slow != nullptr) renew(*slow);
  return true;
}

[[gnu::noinline]] bool Site::run_remembered(std::span<const TensorView> tensors, uint64_t variant, const CallOptions& how,
                                            Status& status) {
  const EpochReader reader;
  const Shapes* const shapes = shapes_.load(std::memory_order_acquire);
  if (shapes == nullptr || reader.record() == nullptr) return false;
  if (const KernelTable::Entry* const entry = find_in(table_.load(std::memory_order_acquire), tensors, variant, reader)) {
    status = entry->kernel.run(tensors, how);
    owners_->found_in_table(*this, *entry, variant);
    return true;
  }
  const Way* const way = shapes->find(tensors, variant);
  if (way == nullptr) return false;
  status = way->kernel.run(tensors, how);
  if (way->callable == nullptr) renew(*way);
  return true;
}

/// A way whose stand-in has a successor is replaced by one to the successor, whose calls cost less. The caller holds an EpochReader.
void Site::renew(const Way& way) {
  Kernel kernel = way.kernel.state()->replaced_by();
  if (!kernel) return;
  change_if_possible([&] {
    owners_->put(*this, std::make_shared<const Way>(std::move(kernel), way.op_data, way.variant, way.signature), &way);
  });
}

[[gnu::noinline]] Expected<Kernel> Site::first(const PreparedOp& op) {
  STREW_ASSIGN(Kernel kernel, runtime_.get(op));
  change_if_possible([&] { owners_->put(*this, std::make_shared<const Way>(kernel, op.data_), nullptr); });
  return kernel;
}

Status Site::run(const PreparedOp& op, std::span<const TensorView> tensors, const CallOptions& how) {
  {
    const EpochReader reader;
    for (size_t i = 0; reader.record() != nullptr && i < kWays; ++i) {
      if (labels_[i].load(std::memory_order_acquire) != op.data_.get()) continue;
      const Way* const way = ways_[i].load(std::memory_order_acquire);
      if (way->label != op.data_.get()) break;  // it is being replaced
      if (way->callable == nullptr) renew(*way);
      return way->kernel.run(tensors, how);
    }
  }
  STREW_ASSIGN(const Kernel kernel, first(op));
  return kernel.run(tensors, how);
}

Status Site::run_new(Op op, const KernelOptions& options, std::span<const TensorView> tensors, uint64_t variant,
                     const CallOptions& how) {
  try {
    STREW_ASSIGN(const PreparedOp prepared, PreparedOp::of(std::move(op), options));
    STREW_ASSIGN(const Kernel kernel, runtime_.get(prepared));
    STREW_TRY(kernel.run(tensors, how));  // tensors that the kernel refuses are no reason to remember it
    const std::optional<Hash128> signature = signature_of(tensors, variant);
    if (signature) owners_->put_by_tensors(*this, std::make_shared<const Way>(kernel, nullptr, variant, *signature));
    epochs::collect_some();
    return {};
  } catch (const std::bad_alloc&) {
    return resource_exhausted("call: out of memory; what the results hold is not specified");
  }
}

}  // namespace strew::inline v0
