// `strew run --time`: measures a call of a kernel, and for comparison a memcpy that moves the same number of bytes.
#pragma once

#include <cstdint>
#include <span>

#include "strew/kernel.h"

namespace strew::cli {

struct CallTime {
  double nanoseconds = 0;  ///< the time of a call, the median of `samples`
  int samples = 0;
  int64_t bytes = 0;              ///< read and written by one call
  double memcpy_nanoseconds = 0;  ///< the median time of a memcpy that reads and writes as many bytes
  double bytes_per_second() const { return nanoseconds > 0 ? static_cast<double>(bytes) * 1e9 / nanoseconds : 0; }
  double memcpy_ratio() const { return nanoseconds > 0 ? memcpy_nanoseconds / nanoseconds : 0; }
};

/// Measures `kernel` on copies of the result buffers. `in_place`: result and operand are one buffer, which a scatter
/// with init copy allows; a call then moves only the elements that updates reach.
Expected<CallTime> time_kernel(const Kernel& kernel, std::span<const TensorView> views, bool in_place);

/// Can time_kernel() use one buffer for result and operand?
bool can_bind_in_place(const Op& op);

}  // namespace strew::cli
