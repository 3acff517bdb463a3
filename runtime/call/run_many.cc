// See run_many.h. Calls of one kernel with one set of shapes are bound and checked one after another, each in some ten
// nanoseconds; an index tensor that several calls in a row share is checked once. If they are small, they then run by their
// range entries alone, in pieces on the threads of a team; of the arguments, only the addresses change from call to call.
// Larger calls run one after another, each on all threads.
#include "runtime/call/run_many.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "base/fp_environment.h"
#include "base/machine.h"
#include "runtime/call/executor/phases.h"
#include "runtime/call/executor/thread_pool.h"
#include "runtime/call/extent.h"

namespace strew::inline v0 {
namespace {

Status in_call(size_t call, const Status& status) {
  return status.ok() ? status : status.with_prefix("call " + std::to_string(call));
}

Status overlap_error(const CallOverlap& overlap, const strew_kernel& writer, const strew_kernel& other) {
  return invalid_argument("call " + std::to_string(overlap.write.call) + ": " + writer.tensors[overlap.write.tensor].name +
                          " overlaps " + other.tensors[overlap.other.tensor].name + " of call " +
                          std::to_string(overlap.other.call) +
                          "; calls of one batch may run at the same time, so make these calls one after another");
}

/// Appends the bytes of a call's tensors, except those that are no memory.
void add_bytes(const strew_kernel& kernel, std::span<const Extent> extents, void* const* data, size_t call,
               std::vector<CallBytes>& writes, std::vector<CallBytes>& reads) {
  for (uint32_t i = 0; i < kernel.tensor_count; ++i) {
    if (extents[i].empty) continue;
    const CallBytes bytes{extents[i].begin(data[i]), extents[i].end(data[i]), static_cast<uint32_t>(call), i};
    (kernel.tensors[i].role == STREW_RESULT ? writes : reads).push_back(bytes);
  }
}

std::vector<Extent> extents_of(const strew_kernel& kernel, std::span<const TensorView> tensors) {
  std::vector<Extent> extents;
  for (uint32_t i = 0; i < kernel.tensor_count; ++i) extents.push_back(extent_of(kernel.tensors[i], tensors[i]));
  return extents;
}

/// Runs items [0, count) by run(begin, end), in pieces on threads that `call` may use, if the work is worth several.
template <class Run>
void spread(const Call& call, const ExecutionLimits& limits, size_t count, Nanoseconds alone, const Run& run) {
  Team team(*call.executor, threads_for(alone, call.threads, limits), alone);
  if (!team.has_help()) return run(0, count);
  const size_t chunks = std::min<size_t>(count, static_cast<size_t>(team.threads() * limits.chunks_per_thread));
  team.run(static_cast<int>(chunks), [&](int chunk) {
    const auto border = [&](int at) { return count * static_cast<size_t>(at) / chunks; };
    run(border(chunk), border(chunk + 1));
  });
}

/// Many calls of one kernel with one set of shapes.
class SameShapes {
 public:
  SameShapes(const Callable& callable, std::span<const TensorView> shapes, std::span<void* const> data)
      : callable_(callable), kernel_(callable.kernel), views_(shapes.begin(), shapes.end()), data_(data) {}

  size_t count() const { return data_.size() / views_.size(); }
  std::span<const TensorView> tensors(size_t call) {
    for (size_t i = 0; i < views_.size(); ++i) views_[i].data = data_[call * views_.size() + i];
    return views_;
  }

  /// Binds and checks all calls. False: they are not small, so they have to run one by one.
  Expected<bool> prepare(const CallOptions& options) {
    STREW_TRY(in_call(0, callable_.binder.bind(tensors(0), call_)));
    callable_.choose_stores(views_, call_);
    if (!callable_.runs_alone(call_) || kernel_.data_count > kMostAddresses) return false;
    extents_ = extents_of(kernel_, views_);
    if (!lies_apart()) {
      STREW_ASSIGN(const bool alone, bind_each());
      if (!alone) return false;
    }
    STREW_TRY(check_indices(options));
    for (size_t i = 0; i < views_.size(); ++i) slots_.push_back(kernel_.tensors[i].data);
    return true;
  }

  void run(const CallOptions& options) {
    if (call_.moves_nothing()) return;
    callable_.use(call_, options);
    const Nanoseconds all = whole_ns(apply_nanoseconds(callable_, call_) * static_cast<double>(count()));
    spread(call_, *callable_.limits, count(), all, [this](size_t begin, size_t end) { run_some(begin, end); });
  }

 private:
  /// Do all results lie one after another in memory, and everything else outside of their range? Then no two tensors overlap,
  /// in one call or in two. The buffers of layers usually lie so.
  bool lies_apart() const {
    const size_t tensors = views_.size();
    uintptr_t lowest = std::numeric_limits<uintptr_t>::max(), highest = 0;
    bool ascends = true, descends = true;
    for (size_t i = 0; i < data_.size(); i += tensors)
      for (size_t r = 0; r < kernel_.result_count; ++r) {
        const auto [begin, end] = bytes(i, r);
        if (data_[i + r] == nullptr || end < begin) return false;
        const bool first = i + r == 0;
        ascends = ascends && (first || begin >= highest);
        descends = descends && (first || end <= lowest);
        lowest = std::min(lowest, begin);
        highest = std::max(highest, end);
      }
    if (!ascends && !descends) return false;
    for (size_t i = 0; i < data_.size(); i += tensors)
      for (size_t t = kernel_.result_count; t < tensors; ++t) {
        const auto [begin, end] = bytes(i, t);
        if (data_[i + t] == nullptr || end < begin || (end > lowest && begin < highest)) return false;
      }
    return true;
  }
  std::pair<uintptr_t, uintptr_t> bytes(size_t call, size_t tensor) const {
    return {extents_[tensor].begin(data_[call + tensor]), extents_[tensor].end(data_[call + tensor])};
  }

  /// Checks the addresses of each call by binding it, and compares each with all others. False: a call is not direct, since
  /// its result, unlike that of call 0, is not its operand.
  Expected<bool> bind_each() {
    std::vector<CallBytes> writes, reads;
    for (size_t c = 0; c < count(); ++c) {
      Call call;
      const std::span<const TensorView> views = tensors(c);
      STREW_TRY(in_call(c, callable_.binder.bind(views, call)));
      if (!callable_.runs_alone(call)) return false;
      add_bytes(kernel_, extents_, data_.data() + c * views_.size(), c, writes, reads);
    }
    if (const auto overlap = find_overlap(writes, reads)) return overlap_error(*overlap, kernel_, kernel_);
    return true;
  }

  Status check_indices(const CallOptions& options) {
    if (callable_.check == nullptr) return {};
    const std::span components(kernel_.sources[0].components, kernel_.sources[0].component_count);
    for (size_t c = 0; c < count(); ++c) {
      void* const* const data = data_.data() + c * views_.size();
      const auto is_checked = [&](const strew_index_component& component) {  // in the call before
        return data[component.tensor] == (data - views_.size())[component.tensor];
      };
      if (c > 0 && std::ranges::all_of(components, is_checked)) continue;
      for (const strew_index_component& component : components)
        call_.data[kernel_.tensors[component.tensor].data] = data[component.tensor];
      const strew_args args = arguments_of(call_, callable_.program);
      strew_fault found;
      if (callable_.check(&args, 0, call_.positions, &found) != STREW_OK)
        return in_call(c, bad_index_error(kernel_, tensors(c), found, options.bad_index));
    }
    return {};
  }

  /// Runs calls [begin, end): of the arguments, only the addresses change.
  void run_some(size_t begin, size_t end) const {
    std::array<void*, kMostAddresses> addresses;
    std::copy_n(call_.data, kernel_.data_count, addresses.begin());
    strew_args args = arguments_of(call_, callable_.program);
    args.data = addresses.data();
    const FpEnvironment environment(callable_.computes_floats);
    const size_t tensors = views_.size();
    for (size_t c = begin; c < end; ++c) {
      for (size_t i = 0; i < tensors; ++i) addresses[slots_[i]] = data_[c * tensors + i];
      run_entry(callable_.applies(call_), args, 0, call_.positions);
    }
  }

  static constexpr size_t kMostAddresses = 64;  ///< kernels with more tensors run call by call

  const Callable& callable_;
  const strew_kernel& kernel_;
  std::vector<TensorView> views_;
  std::span<void* const> data_;
  Call call_;
  std::vector<Extent> extents_;
  std::vector<uint32_t> slots_;  ///< per tensor, its index in strew_args.data
};

/// A batch of one call is that call.
Status run_one(const Callable& callable, std::span<const TensorView> shapes, std::span<void* const> data,
               const CallOptions& options) {
  std::array<TensorView, Call::kFewTensors> views;
  for (size_t i = 0; i < shapes.size(); ++i) {
    views[i] = shapes[i];
    views[i].data = data[i];
  }
  return in_call(0, callable.run(std::span(views).first(shapes.size()), options));
}

}  // namespace

Status run_many(const Callable& callable, std::span<const TensorView> shapes, std::span<void* const> data,
                const CallOptions& options) {
  try {
    STREW_TRY(check_threads(options.threads));
    const size_t tensors = callable.kernel.tensor_count;
    if (shapes.size() != tensors)
      return invalid_argument("shapes: " + std::to_string(shapes.size()) + " tensors, expected " + std::to_string(tensors));
    if (data.size() % tensors != 0)
      return invalid_argument("data: " + std::to_string(data.size()) + " addresses, expected a multiple of " +
                              std::to_string(tensors) + ", one per tensor of each call");
    if (data.empty()) return {};
    if (data.size() == tensors && tensors <= Call::kFewTensors) return run_one(callable, shapes, data, options);
    SameShapes calls(callable, shapes, data);
    STREW_ASSIGN(const bool alone, calls.prepare(options));
    if (alone) {
      calls.run(options);
      return {};
    }
    std::vector<TensorView> views;
    return run_batch(batch_of(callable, shapes, data, views), options);
  } catch (const std::bad_alloc&) {
    return resource_exhausted("call: out of memory; what the results hold is not specified");
  }
}

std::vector<BatchCall> batch_of(const Callable& callable, std::span<const TensorView> shapes, std::span<void* const> data,
                                std::vector<TensorView>& views) {
  views.resize(data.size());
  for (size_t i = 0; i < data.size(); ++i) {
    views[i] = shapes[i % shapes.size()];
    views[i].data = data[i];
  }
  std::vector<BatchCall> calls;
  for (size_t first = 0; first < views.size(); first += shapes.size())
    calls.push_back({&callable, std::span(views).subspan(first, shapes.size())});
  return calls;
}

namespace {

/// Binds and checks all calls.
Expected<std::vector<Call>> bind_batch(std::span<const BatchCall> calls, const CallOptions& options) {
  STREW_TRY(check_threads(options.threads));
  std::vector<Call> bound(calls.size());
  std::vector<CallBytes> writes, reads;
  std::vector<void*> data;
  for (size_t c = 0; c < calls.size(); ++c) {
    const auto& [callable, tensors] = calls[c];
    Call& call = bound[c];
    STREW_TRY(in_call(c, callable->binder.bind(tensors, call)));
    callable->use(call, options);
    if (callable->kernel.entries[STREW_ENTRY_check] != nullptr)
      STREW_TRY(in_call(c, check_indices(*callable, tensors, call, options.bad_index)));
    data.clear();
    for (const TensorView& view : tensors) data.push_back(view.data);
    add_bytes(callable->kernel, extents_of(callable->kernel, tensors), data.data(), c, writes, reads);
  }
  const auto overlap = find_overlap(writes, reads);
  if (!overlap) return bound;
  return overlap_error(*overlap, calls[overlap->write.call].callable->kernel, calls[overlap->other.call].callable->kernel);
}

}  // namespace

Status check_batch(std::span<const BatchCall> calls, const CallOptions& options) {
  try {
    return bind_batch(calls, options).status();
  } catch (const std::bad_alloc&) {
    return resource_exhausted("call: out of memory; nothing was written");
  }
}

Status run_batch(std::span<const BatchCall> calls, const CallOptions& options) {
  std::vector<Call> bound;
  std::vector<size_t> small, large;
  try {
    STREW_ASSIGN(bound, bind_batch(calls, options));
    if (calls.empty()) return {};
    // Small calls are one job; the others run one after another, each on all threads.
    Nanoseconds alone{0};
    for (size_t c = 0; c < calls.size(); ++c) {
      const Callable& callable = *calls[c].callable;
      const bool is_small = callable.runs_alone(bound[c]);
      (is_small ? small : large).push_back(c);
      if (!is_small) continue;
      alone += whole_ns(apply_nanoseconds(callable, bound[c]));
      callable.choose_stores(calls[c].tensors, bound[c]);
    }
    const auto run_small = [&](size_t begin, size_t end) {
      for (const size_t c : std::span(small).subspan(begin, end - begin))
        static_cast<void>(calls[c].callable->run_alone(calls[c].tensors, bound[c], nullptr));
    };
    spread(bound[0], *calls[0].callable->limits, small.size(), alone, run_small);
    for (const size_t c : large) STREW_TRY(in_call(c, calls[c].callable->run(calls[c].tensors, options)));
    return {};
  } catch (const std::bad_alloc&) {
    return resource_exhausted("call: out of memory; what the results hold is not specified");
  }
}

}  // namespace strew::inline v0
