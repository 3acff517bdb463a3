// `strew run --time`: how long one call of a kernel takes, beside memcpy of the same number of bytes.
#pragma once

#include <cstdint>
#include <span>

#include "strew/kernel.h"

namespace strew::cli {

struct CallTime {
  double nanoseconds = 0;  ///< per call, median of `samples`
  int samples = 0;
  int64_t bytes = 0;              ///< read and written by one call
  double memcpy_nanoseconds = 0;  ///< of memcpy that reads and writes as many, median
  double bytes_per_second() const { return nanoseconds > 0 ? static_cast<double>(bytes) * 1e9 / nanoseconds : 0; }
  double memcpy_ratio() const { return nanoseconds > 0 ? memcpy_nanoseconds / nanoseconds : 0; }
};

/// Times `kernel` on copies of the result buffers. `in_place`: result and operand are one buffer, which a scatter with init copy
/// allows; then only what the updates touch is moved.
Expected<CallTime> time_kernel(const Kernel& kernel, std::span<const TensorView> views, bool in_place);

/// Can time_kernel bind result and operand to one buffer?
bool can_bind_in_place(const Op& op);

}  // namespace strew::cli
