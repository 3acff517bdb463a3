// ExecutionLimits: from what size on a call uses threads, and how large the portions are that its phases are cut into.
//
// The defaults are measured and every user runs with them. A test constructs a Runtime with smaller ones, so that a call of a few elements
// takes every strategy and phase, and with a PhaseTrace, which says afterwards what the call really did. Kernels read the limits in every
// call that does not go straight to its range entry, so a test may change them between two calls of one kernel, never during one.
//
// No limit changes a result but the two that decide whether and how private tables are used: they decide the bits of float sums of order
// `relaxed`, as the schedule's knob `tables` does. Tested by tests/unit/execution_limits_test.cc and tests/differential.
#pragma once

#include <cstdint>
#include <memory>

#include "base/machine.h"

namespace strew::inline v0 {

class Executor;
class PhaseTrace;

struct ExecutionLimits {
  // Threads.
  int most_threads = kMostThreads;  ///< of a call, besides what its handle allows (KernelOptions::threads)
  int64_t thread_nanoseconds =
      4000;  ///< of estimated work per thread (two threads pay from 1.5 us of work where they share a cache,
             ///< from 8 us where they do not: Zen 3). 0: always as many threads as are allowed
  int32_t checked_alone =
      3000;                   ///< index positions, 6 us: a call of strategy `sequential` that checks more of them than this may
                              ///< check on several threads. Read when the kernel is built, not at the call
  int chunks_per_thread = 4;  ///< of a phase that is cut along its own work: slack for cores that are slow today
  int64_t line_bytes = kLineBytes;  ///< borders between chunks are multiples of it in the result's memory, against false sharing
  int64_t init_unit = 64;           ///< elements: the same for filling and copying results, and for merging private tables

  // Streaming stores.
  int64_t last_level_cache_bytes = 0;  ///< 0: the kernel's target says it. Results larger than a quarter per thread bypass it

  // Strategies owner, radix and runs.
  int64_t owner_positions = 2048;      ///< fewer index positions are not worth the barriers
  int64_t owner_piece_bytes = 4096;    ///< of the result: a piece has one owner
  int64_t owner_block = 2048;          ///< positions whose keys are made at a time, 1..2048
  int64_t owner_queue = 1024;          ///< updates that an owner collects before it applies them, 1..1024
  int64_t radix_block = 16384;         ///< positions per block and round at most: 128 KiB of list, a private cache's share
  int64_t radix_least_block = 256;     ///< positions; a shorter block costs more in counts than in positions
  int radix_blocks_per_thread = 2;     ///< of positions in a round: slack for cores that are slow today
  int64_t radix_least_round = 8192;    ///< positions; with shorter rounds the barriers show
  int64_t radix_scratch_percent = 25;  ///< of operand and updates: scratch for the list of one round, so that barriers are few
  int64_t radix_slots = 4096;          ///< of a histogram, 1..32768: 16 KiB, half a first-level cache
  int64_t radix_sum = 32768;           ///< counts summed per chunk: about 4 us, what a barrier is worth
  int64_t hot_spots = 16;              ///< places at which the keys are sampled for hot rows, 2 or more
  int64_t hot_each = 8;                ///< keys in a row at each place, 1..8

  // Strategy private.
  int64_t private_elements_per_update = 1;  ///< more elements of the result than that per update: one thread and no tables
  int64_t merge_block = 2048;  ///< elements merged at a time, so that they stay in the first-level cache for all tables

  // Wide accumulation of what updates touch.
  int64_t wide_accumulator_bytes = 64 << 10;  ///< of a thread: accumulators and operands stay in the second-level cache
  int64_t wide_block = 2048;                  ///< positions whose keys are made at a time, 1..2048
  int64_t wide_queue = 512;                   ///< updates folded at a time, 1..512

  PhaseTrace* trace = nullptr;  ///< if given, calls write into it what they do; one call at a time
};

inline constexpr ExecutionLimits kDefaultLimits{};
inline std::shared_ptr<const ExecutionLimits> default_limits() { return {std::shared_ptr<void>(), &kDefaultLimits}; }

/// How a Runtime runs its kernels.
struct ExecutionSettings {
  std::shared_ptr<Executor> executor;  ///< null: process_executor()
  std::shared_ptr<const ExecutionLimits> limits = default_limits();
};

}  // namespace strew::inline v0
