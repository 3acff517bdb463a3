// See strew/site.h. A Way is a kernel that was called at the site; it is constant once made. Calls compare the labels of the
// ways, which lie side by side, and hold an EpochReader (runtime/epoch.h) while they use a way, since another thread may
// replace it. Ways are replaced in turn. Tested by tests/unit/site_test.cc.
#include "strew/site.h"

#include <memory>
#include <mutex>
#include <new>

#include "runtime/epoch.h"
#include "runtime/kernel_state.h"

namespace strew::inline v0 {

struct Site::Way {
  Way(PreparedOp prepared, Kernel made, bool by_tensors, uint64_t wanted_variant)
      : op(std::move(prepared)),
        kernel(std::move(made)),
        callable(kernel.state()->is_plain ? kernel.state()->callable.get() : nullptr),
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
  return kernel.state()->callable->binder.bind(tensors, call).ok();
}

}  // namespace

struct Site::Owners {
  std::mutex mutex;  // guards the members below and the writing of the labels
  std::array<std::shared_ptr<const Way>, kWays> ways;
  size_t next = 0;
};

Site::Site(Runtime& runtime) : runtime_(runtime), owners_(std::make_unique<Owners>()) {}
Site::~Site() = default;

Status Site::run(const PreparedOp& op, std::span<const TensorView> tensors, strew_fault* fault) {
  const EpochReader reader;
  if (reader.record() != nullptr) {
    const void* const wanted = op.data_.get();
    for (size_t i = 0; i < kWays; ++i) {
      if (labels_[i].load(std::memory_order_relaxed) != wanted) continue;
      const Way* const way = ways_[i].load(std::memory_order_acquire);
      if (way->label != wanted) break;  // it is being replaced
      return way->callable != nullptr ? way->callable->run(tensors, fault) : way->kernel.run(tensors, fault);
    }
  }
  return run_first(op, tensors, fault);
}

bool Site::run_remembered(std::span<const TensorView> tensors, uint64_t variant, strew_fault* fault, Status& status) {
  const EpochReader reader;
  if (reader.record() == nullptr) return false;
  for (const std::atomic<const Way*>& each : ways_) {
    const Way* const way = each.load(std::memory_order_acquire);
    if (way == nullptr) break;  // ways are filled in order
    if (way->label != nullptr || way->variant != variant) continue;
    if (way->binds_fast) {
      if (way->callable->run_if_it_fits(tensors, fault, status)) return true;
    } else if (fits(way->kernel, tensors)) {
      status = way->kernel.run(tensors, fault);
      return true;
    }
  }
  return false;
}

[[gnu::noinline]] Status Site::run_first(const PreparedOp& op, std::span<const TensorView> tensors, strew_fault* fault) {
  STREW_ASSIGN(const Kernel kernel, runtime_.get(op));
  remember(std::make_shared<const Way>(op, kernel, false, 0));
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
    return unsupported("call: out of memory; what the results hold is not specified");
  }
}

void Site::remember(std::shared_ptr<const Way> way) {
  const std::lock_guard lock(owners_->mutex);
  for (const std::shared_ptr<const Way>& other : owners_->ways)  // another thread may have been faster
    if (other != nullptr && other->kernel.state() == way->kernel.state() && other->label == way->label &&
        other->variant == way->variant)
      return;
  const size_t at = owners_->next++ % kWays;
  ways_[at].store(way.get(), std::memory_order_seq_cst);
  labels_[at].store(way->label, std::memory_order_release);
  owners_->ways[at].swap(way);
  if (way != nullptr) epochs::retire(std::move(way));
}

}  // namespace strew::inline v0
