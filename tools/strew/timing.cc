// See timing.h. A sample is the mean over as many calls as take about 20 us, so that the cost of reading the clock does
// not matter. Samples are taken for about 0.2 s, and the median is reported. The timed calls write to private copies of
// the results: otherwise repeated calls of an in-place add would change what `run` stores.
//
// The bytes are those that a call must move: updates and indices that are read; destinations that are written, and also
// read if the combiner needs them; with init copy into a buffer of its own, operand and result once more. The times are
// compared with bench/ by hand; no test depends on time.
#include "tools/strew/timing.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "base/checked.h"
#include "compiler/op/dims.h"
#include "compiler/plan/plan.h"
#include "strew/tensor.h"

namespace strew::cli {
namespace {

constexpr double kSampleNanoseconds = 20e3, kTotalNanoseconds = 200e6;
constexpr int kMaxSamples = 2001, kMinSamples = 5;

double now() {
  return static_cast<double>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

/// The median time of a call of f, in nanoseconds. `samples`: receives their number.
template <class F>
double median_time(F f, int& samples) {
  double start = now();
  f();
  const double once = std::max(1.0, now() - start);
  const int calls = static_cast<int>(std::clamp(kSampleNanoseconds / once, 1.0, 1e6));
  samples = static_cast<int>(std::clamp(kTotalNanoseconds / (once * calls), double{kMinSamples}, double{kMaxSamples}));
  std::vector<double> times;
  for (int s = 0; s < samples; ++s) {
    start = now();
    for (int c = 0; c < calls; ++c) f();
    times.push_back((now() - start) / calls);
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

int64_t elements_of(const TensorView& view) {
  int64_t n = 1;
  for (int d = 0; d < view.rank; ++d) n *= view.dims[d];
  return n;
}

int64_t bytes_of(const TensorView& view) { return storage_bytes(view.dtype, elements_of(view)); }

/// Copies the bytes that a view spans, and makes the view point into the copy.
Expected<Buffer> privatise(TensorView& view) {
  int64_t low = 0, high = elements_of(view) - 1;
  if (view.strides != nullptr && high >= 0) {
    high = 0;
    for (int d = 0; d < view.rank; ++d) (view.strides[d] < 0 ? low : high) += view.strides[d] * (view.dims[d] - 1);
  }
  const int64_t before = storage_bytes(view.dtype, -low), after = storage_bytes(view.dtype, high + 1);
  STREW_ASSIGN(Buffer copy, Buffer::allocate(before + after));
  if (before + after > 0) {
    std::memcpy(copy.data(), static_cast<const std::byte*>(view.data) - before, static_cast<size_t>(before + after));
  }
  view.data = copy.data() + before;
  return copy;
}

int64_t bytes_moved(const Op& op, std::span<const TensorView> views, bool no_copy) {
  const std::vector<TensorSlot> slots = tensor_slots(op);
  const Scatter* scatter = std::get_if<Scatter>(&op);
  const bool reads = scatter != nullptr && scatter->combiner != CombinerKind::assign;
  int64_t total = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    const Lookup* const lookup = lookup_of(op, slots[i].role, slots[i].index);
    const bool is_known = lookup != nullptr && is_static(lookup->gather.result.dims);
    const int64_t bytes =
        is_known ? storage_bytes(views[i].dtype, *checked::product(lookup->gather.result.dims)) : bytes_of(views[i]);
    switch (slots[i].role) {
      case Role::indices:
      case Role::extra:
        total += bytes;
        break;
      // An update is read, and as many bytes of destinations are written, and read if there is a combiner.
      case Role::updates:
        total += bytes * (reads ? 3 : 2);
        break;
      case Role::operand:
        total += scatter != nullptr && !no_copy ? bytes : 0;
        break;
      case Role::result:
        if (scatter == nullptr) {
          total += 2 * bytes;  // a gather reads as many bytes of its operand
        } else if (scatter->init != InitKind::in_place && !no_copy) {
          total += bytes;
        }
        break;
    }
  }
  return total;
}

Expected<double> time_memcpy(int64_t bytes) {
  const int64_t half = std::max<int64_t>(1, bytes / 2);
  STREW_ASSIGN(const Buffer from, Buffer::allocate(half));
  STREW_ASSIGN(const Buffer to, Buffer::allocate(half));
  std::memset(from.data(), 1, static_cast<size_t>(half));
  int samples = 0;
  return median_time(
      [&] {
        std::memcpy(to.data(), from.data(), static_cast<size_t>(half));
        asm volatile("" : : "r"(to.data()) : "memory");
      },
      samples);
}

}  // namespace

bool can_bind_in_place(const Op& op) {
  const Scatter* scatter = std::get_if<Scatter>(&op);
  return scatter != nullptr && scatter->init == InitKind::copy && scatter->operands == scatter->results;
}

Expected<CallTime> time_kernel(const Kernel& kernel, std::span<const TensorView> views, bool in_place) {
  const std::vector<TensorSlot> slots = tensor_slots(kernel.op());
  std::vector<TensorView> bound(views.begin(), views.end());
  std::vector<Buffer> copies;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].role == Role::result) {
      STREW_ASSIGN(Buffer copy, privatise(bound[i]));
      copies.push_back(std::move(copy));
    } else if (slots[i].role == Role::operand && in_place) {
      bound[i] = bound[static_cast<size_t>(slots[i].index)];
    }
  }
  STREW_TRY(kernel.run(bound));
  CallTime out;
  out.nanoseconds = median_time([&] { static_cast<void>(kernel.run(bound).ok()); }, out.samples);
  const bool no_copy = in_place || (kernel.plan().symbols.empty() && overwrites_all(kernel.plan(), nullptr));
  out.bytes = bytes_moved(kernel.op(), views, no_copy);
  STREW_ASSIGN(out.memcpy_nanoseconds, time_memcpy(out.bytes));
  return out;
}

}  // namespace strew::cli
