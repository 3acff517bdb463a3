// Stopwatch: where the tuner's times come from. KernelStopwatch (kernel_stopwatch.h) runs kernels; RecordedStopwatch
// (recorded_stopwatch.h) tells what another one told before, so that the tuner's decisions can be repeated and tested.
#pragma once

#include <cstdint>

#include "strew/status.h"
#include "tune/variant.h"

namespace strew::inline v0 {

/// What the work of a call is, whatever the variant.
struct CallFacts {
  int64_t data_bytes = 0;   ///< memory that the workload's data takes
  int64_t bytes_moved = 0;  ///< by one call, at least: read and written
  double memcpy_ns = 0;     ///< of a copy that moves as many bytes, by one thread
};

class Stopwatch {
 public:
  virtual ~Stopwatch() = default;
  /// Makes a variant ready. Not ok: why it cannot be measured; the search goes on without it.
  virtual Status prepare(const Variant& variant) = 0;
  /// Nanoseconds per call of a variant that is ready: one turn of it.
  virtual double sample(const Variant& variant) = 0;
  /// Puts the data elsewhere in memory: where it lies decides a part of the time, by chance.
  virtual Status relocate() = 0;
  /// The variant will not be measured again.
  virtual void drop(const Variant& variant) = 0;
  /// Seconds since the tuner began.
  virtual double seconds() = 0;
  /// Seconds for which this process's threads have waited for a core since it began; 0 where nobody counts them.
  virtual double waited_seconds() { return 0; }
  virtual CallFacts facts() = 0;
};

}  // namespace strew::inline v0
