// Do two strided byte ranges overlap? Compares their intervals, and then their residues modulo the strides, so that interleaved views count
// as disjoint. And do calls of a batch touch memory that another of them writes? Tested by tests/unit/runtime/call/bind_test.cc and run_many_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace strew::inline v0 {

/// A tensor view as bytes: `rank` dims around `base`, with elements of `element` bytes.
struct StridedBytes {
  uintptr_t base = 0;
  int64_t element = 1;
  int rank = 0;
  const int64_t* dims = nullptr;
  const int64_t* strides = nullptr;  ///< in elements
};

/// Returns true only if no byte belongs to both views. Both views must have elements, and their sizes in bytes must fit 63 bits.
bool disjoint(const StridedBytes& a, const StridedBytes& b);

/// The bytes [begin, end) that call `call` reads or writes as its tensor `tensor`.
struct CallBytes {
  uintptr_t begin = 0, end = 0;
  uint32_t call = 0, tensor = 0;
};

struct CallOverlap {
  CallBytes write, other;
};

/// A write and another call's read or write that overlap, if there are any. Sorts the lists unless they are sorted already,
/// as those of buffers that were allocated one after another often are.
std::optional<CallOverlap> find_overlap(std::vector<CallBytes>& writes, std::vector<CallBytes>& reads);

}  // namespace strew::inline v0
