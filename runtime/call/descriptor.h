// Descriptors (strew/abi.h): is this one ours, and what do its terms come to?
#pragma once

#include <cstdint>
#include <limits>

#include "strew/abi.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Ok, or why this program cannot run the kernel: another version of the interface. Of a kernel that is part of another, too.
Status check_descriptor(const strew_kernel& kernel);

/// The term's value; saturates. `dyn`: one number per symbol of the kernel, none below zero where the term counts something.
inline int64_t evaluate(const strew_kernel& kernel, const strew_term& term, const int64_t* dyn) {
  int64_t value = term.factor;
  for (uint32_t i = 0; i < term.count; ++i)
    if (__builtin_mul_overflow(value, dyn[kernel.factors[term.first + i]], &value)) return std::numeric_limits<int64_t>::max();
  return value;
}

/// Bytes of an element of a result, at least one.
inline int64_t result_bytes(const strew_kernel& kernel, uint32_t result = 0) {
  const int64_t bytes = kernel.tensors[result].bits / 8;
  return bytes == 0 ? 1 : bytes;
}

/// Iterations of a loop that moves result 0 by `stride` between two borders of `line_bytes` in it. 1 where it moves by a line or more, or
/// not at all.
int64_t line_unit(const strew_kernel& kernel, const strew_term& stride, const int64_t* dyn, int64_t line_bytes);

/// The largest key that a destination of this call may have; saturates.
int64_t last_key(const strew_kernel& kernel, const int64_t* dyn);
/// Do the keys of this call's destinations fit 32 bits? All bits set stand for none.
inline bool keys_fit(const strew_kernel& kernel, const int64_t* dyn) {
  return last_key(kernel, dyn) < std::numeric_limits<uint32_t>::max();
}

}  // namespace strew::inline v0
