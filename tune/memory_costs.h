// The costs of memory and of threads: loops of ours, because they need no kernel.
#pragma once

#include <cstdint>

#include "strew/machine_costs.h"

namespace strew::inline v0 {

/// All functions round `bytes` down to a power of two.
///
/// Measures all numbers of a level of which `bytes` are used at a time.
/// `streaming`, if given, gets the time to write a line with stores that bypass the caches; main memory has such. Leaves everything alone
/// if there is no memory for it.
void measure_memory(int64_t bytes, int cores, MemoryCosts& costs, float* streaming = nullptr);
/// Nanoseconds to read and write lines of random pages, prefetched in time; 0 if there is no memory for it.
float measure_updates(int64_t bytes);
/// Nanoseconds that a wrongly predicted branch costs.
float measure_branch_miss();

}  // namespace strew::inline v0
