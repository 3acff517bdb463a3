// Sums in registers: the part STREW_SUMS of a kernel with wide accumulation goes over the positions once. It keeps the accumulators of a row in
// registers from the row's first update to its last, and rounds them into the result when another row follows. That gives the bits of fold and
// narrowing if the positions of each destination are adjacent, which the hint that indices are sorted promises. A hint may be false, so every call
// looks at the destinations first, which takes a small part of the time of the rows; a call where they decrease somewhere takes one of the other ways
// (runtime/call/wide). Tested by tests/unit/runtime/call/wide_sums_test.cc and tests/differential.
#include <algorithm>
#include <array>
#include <atomic>

#include "runtime/call/descriptor.h"
#include "runtime/call/executor/phases.h"
#include "runtime/call/strategies/strategy.h"
#include "runtime/call/wide.h"

namespace strew::inline v0 {
namespace {

template <class T>
bool never_decrease(const T* values, int64_t count) {
  constexpr int64_t kTogether = 16;  // a constant, of which GCC makes vectors
  int64_t i = 1;
  for (; i + kTogether <= count; i += kTogether) {
    T decreases = 0;
    for (int64_t k = 0; k < kTogether; ++k) decreases |= static_cast<T>(values[i + k] < values[i + k - 1]);
    if (decreases != 0) return false;
  }
  for (; i < count; ++i)
    if (values[i] < values[i - 1]) return false;
  return true;
}

/// The destinations of a call: its indices or, where these do not lie one after the other, the keys, which are asked for block by block.
class Destinations {
 public:
  Destinations(const Callable& sums, const Call& call, std::span<const TensorView> tensors, const strew_args& args)
      : scan_(sums.kernel.entries[STREW_ENTRY_keys], args), call_(call), sums_(sums) {
    const strew_index_source& source = sums.kernel.sources[0];
    if (source.component_count != 1 || source.repeated_dims != 0) return;
    const TensorView& view = tensors[source.components[0].tensor];
    if (view.dtype != DType::i32 && view.dtype != DType::i64) return;
    const bool is_aligned = reinterpret_cast<uintptr_t>(view.data) % static_cast<uintptr_t>(bits(view.dtype) / 8) == 0;
    const bool is_dense = view.strides == nullptr || (view.rank == 1 && view.strides[0] == 1);
    if (is_aligned && is_dense && elements(view) == call.positions) indices_ = &view;
  }

  /// Do keys never decrease, but for dropped ones that stand before all others? kDroppedKey is the largest, so dropped ones may also stand at the end.
  /// So it is if indices never decrease: strategy runs is legal for these kernels, so the policy keeps their order.
  bool are_sorted() const {
    const int64_t first = indices_ != nullptr ? 0 : first_kept(), positions = call_.positions;
    if (first == positions) return true;
    const ExecutionLimits& limits = *sums_.limits;
    const Nanoseconds alone = whole_ns(static_cast<double>(positions - first) * static_cast<double>(sums_.costs.key_ns));
    Team team(*call_.executor, threads_for(alone, call_.threads, limits), alone);
    const int chunks = team.has_help() ? team.threads() * limits.chunks_per_thread : 1;
    const Split split{positions - first, 1, chunks};
    std::atomic<bool> sorted = true;
    const auto look = [&](int chunk) {
      // A chunk begins with the last position of the one before.
      const int64_t begin = first + split.border(chunk), end = first + split.border(chunk + 1);
      if (begin < end && !are_sorted(std::max(first, begin - 1), end, sorted)) sorted = false;
    };
    run_phase(team, limits, PhaseKind::wide_order, chunks, look, split.busy());
    return sorted;
  }

  /// Would some thread's share of the positions go to one destination? Another thread then gets little, and other ways cut columns.
  bool fill_a_share(int threads) const {
    if (threads <= 1) return false;
    const Split split{call_.positions, 1, threads};
    for (int share = 0; share < split.busy(); ++share)
      if (key(split.border(share)) == key(split.border(share + 1) - 1)) return true;
    return false;
  }

 private:
  static constexpr int64_t kBlock = 1024;

  uint32_t key(int64_t position) const {
    uint32_t out = 0;
    scan_.make(position, 1, &out);
    return out;
  }

  /// The first position whose update is not dropped.
  int64_t first_kept() const {
    std::array<uint32_t, kBlock> keys;  // NOLINT: filled by the keys entry
    for (int64_t begin = 0, count = 1; begin < call_.positions; begin += count) {
      count = std::min(begin == 0 ? 1 : kBlock, call_.positions - begin);
      scan_.make(begin, count, keys.data());
      const auto end = keys.begin() + count;
      const auto kept = std::find_if(keys.begin(), end, [](uint32_t each) { return each != kDroppedKey; });
      if (kept != end) return begin + (kept - keys.begin());
    }
    return call_.positions;
  }

  /// Do the keys of [begin, end) never decrease? Stops early where `go_on` turns false.
  bool are_sorted(int64_t begin, int64_t end, const std::atomic<bool>& go_on) const {
    if (indices_ != nullptr && indices_->dtype == DType::i32)
      return never_decrease(static_cast<const int32_t*>(indices_->data) + begin, end - begin);
    if (indices_ != nullptr) return never_decrease(static_cast<const int64_t*>(indices_->data) + begin, end - begin);
    std::array<uint32_t, kBlock + 1> keys;  // NOLINT: filled by the keys entry; the first is the last of the block before
    keys[0] = 0;
    while (begin < end && go_on) {
      const int64_t count = std::min(kBlock, end - begin);
      scan_.make(begin, count, keys.data() + 1);
      if (!never_decrease(keys.data(), count + 1)) return false;
      keys[0] = keys[static_cast<size_t>(count)];
      begin += count;
    }
    return true;
  }

  const KeyScan scan_;
  const Call& call_;
  const Callable& sums_;
  const TensorView* indices_ = nullptr;  ///< if they lie one after the other
};

}  // namespace

Expected<bool> try_sums(const Callable& callable, std::span<const TensorView> tensors, const CallOptions& options) {
  const Callable& sums = *callable.parts[STREW_SUMS];
  Call call;
  STREW_TRY(sums.binder.bind(tensors, call));
  sums.use(call, options);
  if (!keys_fit(sums.kernel, call.dyn)) return false;
  const strew_args args = arguments_of(call, sums.program);
  if (!call.moves_nothing()) {
    const Destinations destinations(sums, call, tensors, args);
    const int threads = sums.always_runs_alone ? 1 : apply_call(sums, call, tensors, args).threads;
    if (destinations.fill_a_share(threads) || !destinations.are_sorted()) return false;
  }
  note_phase(*sums.limits, PhaseKind::wide_sums, 0);
  STREW_TRY(sums.run_bound(tensors, call, options.bad_index));
  return true;
}

}  // namespace strew::inline v0
