// See strew/site.h. A Way is a kernel that was called at the site; it is constant once made. Calls compare the labels of the
// ways, which lie side by side, and hold an EpochReader (runtime/epoch.h) while they use a way, since another thread may
// replace it. Ways are replaced in turn. Calls by tensors first look at the one extent in which the remembered kernels differ
// most, which is usually the batch; binding then finds out whether the tensors fit. Tested by tests/unit/site_test.cc.
#include "strew/site.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <new>

#include "runtime/compile_threads.h"
#include "runtime/epoch.h"
#include "runtime/kernel_state.h"

namespace strew::inline v0 {

struct Site::Way {
  Way(PreparedOp prepared, Kernel made, bool by_tensors, uint64_t wanted_variant)
      : op(std::move(prepared)),
        kernel(std::move(made)),
        callable(kernel.state()->plain()),
        label(by_tensors ? nullptr : op.data_.get()),
        binds_fast(callable != nullptr && callable->binder.is_fast()),
        variant(wanted_variant) {}

  PreparedOp op;
  Kernel kernel;
  const Callable* callable;  ///< null: calls need more than it knows
  const void* label;         ///< as in labels_
  bool binds_fast;           ///< the callable can tell quickly whether tensors fit
  uint64_t variant;
};

namespace {

bool fits(const Kernel& kernel, std::span<const TensorView> tensors) {
  Call call;
  return kernel.state()->current().callable->binder.bind(tensors, call).ok();
}

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
        std::array<int64_t, kWays> sorted = found;
        std::sort(sorted.begin(), sorted.begin() + count);
        const auto different = static_cast<size_t>(std::unique(sorted.begin(), sorted.begin() + count) - sorted.begin());
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
  [[gnu::noinline]] bool run(std::span<const TensorView> tensors, uint64_t variant, strew_fault* fault, Status& status,
                             const Way*& slow) const {
    for (size_t i = 0; i < count; ++i) {
      const Way& way = *ways[i];
      if (way.variant != variant) continue;
      if (way.binds_fast) {
        if (way.callable->run_if_it_fits(tensors, fault, status)) return true;
      } else if (fits(way.kernel, tensors)) {
        slow = &way;
        status = way.kernel.run(tensors, fault);
        return true;
      }
    }
    return false;
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

  void put(Site& site, std::shared_ptr<const Way> way, const Way* instead_of);

  std::atomic<Ways*> ways{new Ways};
};

Site::Site(Runtime& runtime) : runtime_(runtime), owners_(std::make_unique<Owners>()) {}
Site::~Site() = default;

Status Site::run(const PreparedOp& op, std::span<const TensorView> tensors, strew_fault* fault) {
  const EpochReader reader;
  if (reader.record() != nullptr) {
    const void* const wanted = op.data_.get();
    for (size_t i = 0; i < kWays; ++i) {
      if (labels_[i].load(std::memory_order_acquire) != wanted) continue;  // the way was stored before its label
      const Way* const way = ways_[i].load(std::memory_order_acquire);
      if (way->label != wanted) break;  // it is being replaced
      if (way->callable != nullptr) return way->callable->run(tensors, fault);
      renew(*way);
      return way->kernel.run(tensors, fault);
    }
  }
  return run_first(op, tensors, fault);
}

bool Site::run_remembered(std::span<const TensorView> tensors, uint64_t variant, strew_fault* fault, Status& status) {
  const EpochReader reader;
  const Shapes* const shapes = shapes_.load(std::memory_order_acquire);
  if (shapes == nullptr || reader.record() == nullptr) return false;
  const Callable* const guess = shapes->guess(tensors, variant);
  if (guess != nullptr && guess->run_if_it_fits(tensors, fault, status)) return true;
  const Way* slow = nullptr;
  if (!shapes->run(tensors, variant, fault, status, slow)) return false;
  if (slow != nullptr) renew(*slow);
  return true;
}

/// A way whose stand-in has a successor is replaced by one to the successor, whose calls cost less. The caller holds an EpochReader.
void Site::renew(const Way& way) {
  Kernel kernel = way.kernel.state()->replaced_by();
  if (!kernel) return;
  try {
    remember(std::make_shared<const Way>(way.op, std::move(kernel), way.label == nullptr, way.variant), &way);
  } catch (const std::bad_alloc&) {
    // the way stays as it is, which is right, too
  }
}

[[gnu::noinline]] Status Site::run_first(const PreparedOp& op, std::span<const TensorView> tensors, strew_fault* fault) {
  STREW_ASSIGN(const Kernel kernel, runtime_.get(op));
  try {
    remember(std::make_shared<const Way>(op, kernel, false, 0));
  } catch (const std::bad_alloc&) {
    // the next call looks for the kernel again
  }
  return kernel.run(tensors, fault);
}

Status Site::run_new(Op op, const KernelOptions& options, std::span<const TensorView> tensors, uint64_t variant,
                     strew_fault* fault) {
  try {
    STREW_ASSIGN(const PreparedOp prepared, PreparedOp::of(std::move(op), options));
    STREW_ASSIGN(const Kernel kernel, runtime_.get(prepared));
    STREW_TRY(kernel.run(tensors, fault));  // tensors that the kernel refuses are no reason to remember it
    remember(std::make_shared<const Way>(prepared, kernel, true, variant));
    return {};
  } catch (const std::bad_alloc&) {
    return resource_exhausted("call: out of memory; what the results hold is not specified");
  }
}

/// `instead_of`: a way that it replaces, if that is still there; null: the oldest.
void Site::remember(std::shared_ptr<const Way> way, const Way* instead_of) {
  owners_->put(*this, std::move(way), instead_of);
  epochs::collect_some();
}

void Site::Owners::put(Site& site, std::shared_ptr<const Way> way, const Way* instead_of) {
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

}  // namespace strew::inline v0
