// What the function csr (strew/csr.h) is made of: the call with its limits, and the two ways to sort.
//
//   counting   each block of positions counts its indices in a histogram of all segments, and then writes its positions straight to their places.
//              The segments must be so few that the histograms stay in the caches.
//   buckets    a stable radix partition (runtime/call/strategies/partition.h) into ranges of segments, and then a counting sort of each range, whose part
//              of the results stays in a cache.
//
// In both, the first phase reads all indices and writes to scratch only, so that nothing is written to the results if an index is bad. Each place of the
// results follows from the indices alone, whatever the threads, blocks and buckets are. Tested by tests/unit/runtime/call/csr/csr_test.cc.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "runtime/call/executor/limits.h"
#include "runtime/call/executor/thread_pool.h"
#include "strew/call_options.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

/// csr() with limits.
Status csr(const TensorView& indices, const TensorView& offsets, const TensorView& permutation, const CallOptions& options,
           const ExecutionLimits& limits);

/// The integers of a view with one dim. Elements need not be aligned, as in kernels.
struct Integers {
  char* data = nullptr;
  int64_t step = 0;  ///< bytes from an element to the next
  int bytes = 0;     ///< of an element
  bool is_signed = false;

  /// T has as many bytes as an element.
  template <class T>
  T get(int64_t i) const {
    T value;
    std::memcpy(&value, data + i * step, sizeof value);
    return value;
  }
  template <class T>
  void set(int64_t i, T value) const {
    std::memcpy(data + i * step, &value, sizeof value);
  }
};

/// A call that was checked.
struct CsrJob {
  Integers indices, offsets, permutation;
  int64_t positions = 0, segments = 0;

  /// An index that is read as an unsigned integer of its width is in bounds if it is less than this. A negative one is at least half of what the width holds.
  uint64_t bound() const {
    const auto most = static_cast<uint64_t>(segments);
    return indices.is_signed ? std::min(most, uint64_t{1} << (8 * indices.bytes - 1)) : most;
  }
};

/// Reads the indices of positions [begin, begin + count) as `keys`. Returns how many of them are in bounds before the first that is not; later keys are not
/// specified. For less than 2^32 segments.
int64_t read_keys(const CsrJob& job, int64_t begin, int64_t count, uint32_t* keys);

/// The first position whose index is out of bounds, of those that several threads found.
class FirstBad {
 public:
  explicit FirstBad(int64_t positions) : at_(positions) {}
  void note(int64_t position) {
    int64_t known = at_.load(std::memory_order_relaxed);
    while (position < known && !at_.compare_exchange_weak(known, position, std::memory_order_relaxed)) {
    }
  }
  int64_t get() const { return at_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> at_;
};

/// Calls run with an unsigned integer that is as wide as an index: run(uint16_t()).
template <class Run>
auto with_index_type(const CsrJob& job, const Run& run) {
  const int bytes = job.indices.bytes;
  return bytes == 1 ? run(uint8_t()) : bytes == 2 ? run(uint16_t()) : bytes == 4 ? run(uint32_t()) : run(uint64_t());
}
/// Calls run with an offset and a position of the types that the results have: run(int32_t(), int64_t()).
template <class Run>
void with_result_types(const CsrJob& job, const Run& run) {
  const auto with_offset = [&](auto offset) { job.permutation.bytes == 4 ? run(offset, int32_t()) : run(offset, int64_t()); };
  job.offsets.bytes == 4 ? with_offset(int32_t()) : with_offset(int64_t());
}

/// The two ways. Each returns the first position whose index is out of bounds, with nothing written to the results; the number of positions if there is none.
Expected<int64_t> csr_by_counting(const CsrJob& job, Team& team, const ExecutionLimits& limits);
/// For less than 2^31 positions and 2^32 segments.
Expected<int64_t> csr_by_buckets(const CsrJob& job, Team& team, const ExecutionLimits& limits);

}  // namespace strew::inline v0
