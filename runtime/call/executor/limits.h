// ExecutionLimits: the size from which a call uses threads, and the sizes of the pieces into which its phases are cut.
//
// Every user runs with the defaults: default_limits(), which have this machine's costs. A test constructs a Runtime with smaller limits, so that a
// call of a few elements passes through every strategy and phase, and with a PhaseTrace, which records what the call
// did. A call reads the limits unless it goes straight to its range entry, so a test may change them between two calls
// of a kernel, never during a call.
//
// Limits do not change results, except for the two that decide whether and how private tables are used: these decide
// the bits of float sums of order `relaxed`, as the schedule's knob `tables` does. Tested by
// tests/unit/runtime/call/executor/execution_limits_test.cc and tests/differential.
#pragma once

#include <cstdint>
#include <memory>

#include "base/call_costs.h"
#include "base/machine.h"

namespace strew::inline v0 {

class Executor;
class PhaseTrace;
struct LearningCounts;

struct ExecutionLimits {
  // Threads.
  int most_threads = kMostThreads;  ///< of a call, besides what its handle allows (KernelOptions::threads)
  CallCosts costs;                  ///< of this machine
  bool shares_all = false;          ///< every call uses as many threads as it may, however small it is
  int strategy = -1;                ///< a STREW_STRATEGY_... that calls take where their kernels can run it; -1: the cheapest
  /// Index positions: a call of strategy `sequential` that has to check more may check them on several threads. Read when the kernel is
  /// built, not at the call. -1: as many as keep one thread busy for as long as repays two.
  int32_t checked_alone = -1;
  int chunks_per_thread = 4;        ///< of a phase that is cut along its own work; several, so that fast threads help slow ones
  int64_t line_bytes = kLineBytes;  ///< chunks end at multiples of it in the result's memory, against false sharing
  int64_t init_unit = 64;           ///< elements: the same for filling and copying results, and for merging private tables

  // Streaming stores.
  /// Results with more than a quarter of it per thread are written with stores that bypass the caches. 0: the size of
  /// this machine's.
  int64_t last_level_cache_bytes = 0;

  // Strategies owner, radix and runs.
  int64_t owner_positions = kOwnerPositions;
  int64_t owner_piece_bytes = kOwnerPieceBytes;
  int64_t owner_block = 2048;          ///< positions whose keys are computed at a time, 1..2048
  int64_t owner_queue = 1024;          ///< updates that an owner collects before it applies them, 1..1024
  int64_t radix_block = 16384;         ///< most positions per block and round: 128 KiB of list, a share of a private cache
  int64_t radix_least_block = 256;     ///< positions; in a shorter block the histogram costs more than the positions
  int radix_blocks_per_thread = 2;     ///< in a round; several, so that fast threads help slow ones
  int64_t radix_least_round = 8192;    ///< positions; in shorter rounds the barriers take a noticeable part of the time
  int64_t radix_scratch_percent = 25;  ///< of operand and updates: scratch for a round's list, so that there are few rounds
  int64_t radix_slots = 4096;          ///< of a histogram, 1..32768: 16 KiB, half of a first-level cache
  int64_t radix_sum = 32768;           ///< counts summed per chunk: about 4 us of work, enough to repay a barrier
  int64_t hot_spots = 16;              ///< places at which keys are sampled to find rows with many updates, 2 or more
  int64_t hot_each = 8;                ///< consecutive keys sampled at each place, 1..8
  int64_t hot_lines =
      4;  ///< of a window that each thread needs, if threads share out the columns of windows with few destinations

  // Strategy private.
  int64_t private_elements_per_update = 1;  ///< with more elements of the result per update, one thread runs without tables
  int64_t merge_block = 2048;  ///< elements into which all tables are merged while these elements are in the first-level cache

  // Sparse widening (runtime/call/wide.h).
  int64_t wide_accumulator_bytes = 64 << 10;  ///< per thread, so that accumulators and operands stay in the second-level cache
  int64_t wide_block = 2048;                  ///< positions whose keys are computed at a time, 1..2048
  int64_t wide_queue = 512;                   ///< updates folded at a time, 1..512

  // csr().
  /// Segments up to which each block of positions counts all of them; more are cut into buckets. 0: as many as have their counters, of 4 bytes, in the
  /// second-level cache (costs.cache_bytes). -1: none.
  int64_t csr_counted = 0;
  int64_t csr_bucket = 16384;  ///< positions of a bucket: its list and its part of the permutation stay in the second-level cache

  /// Where calls count what they find out about the ways that their kernels can run (runtime/call/learner.h). Null: they do not learn.
  LearningCounts* learning = nullptr;

  PhaseTrace* trace = nullptr;  ///< if given, calls record their phases in it; then only one call may run at a time
};

inline constexpr ExecutionLimits kDefaultLimits{};
/// kDefaultLimits with the costs of this machine, measured ones if somebody has measured it (base/machine_costs.h), which are read at the first
/// call. Calls learn if the process's options say so.
std::shared_ptr<const ExecutionLimits> default_limits();
/// The same with counts of their own, for a Runtime. `learns`: calls learn (Options::learn).
std::shared_ptr<const ExecutionLimits> new_limits(bool learns);

/// How a Runtime runs its kernels.
struct ExecutionSettings {
  std::shared_ptr<Executor> executor;  ///< null: process_executor()
  std::shared_ptr<const ExecutionLimits> limits = default_limits();
};

}  // namespace strew::inline v0
