// What remembered kernels take of memory, as the capacity of a runtime's cache counts it: the blocks that they have on the heap, each with
// what the heap adds. Tested by tests/unit/runtime/memory_of_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "strew/kernel_options.h"
#include "strew/op.h"

namespace strew::inline v0 {

/// What one block of so many bytes takes; none: 0.
constexpr int64_t block_bytes(size_t bytes) {
  constexpr size_t kHeader = 8, kUnit = 16, kLeast = 32;  // glibc's on 64-bit machines
  if (bytes == 0) return 0;
  const size_t rounded = (bytes + kHeader + kUnit - 1) / kUnit * kUnit;
  return static_cast<int64_t>(rounded < kLeast ? kLeast : rounded);
}
/// A shared object with its counts.
template <class T>
constexpr int64_t shared_bytes() {
  constexpr size_t kCounts = 16;
  return block_bytes(sizeof(T) + kCounts);
}

/// The blocks behind an op: its lists and its expression.
int64_t memory_of(const Op& op);
/// The blocks behind options: those of a target.
int64_t memory_of(const KernelOptions& options);

}  // namespace strew::inline v0
