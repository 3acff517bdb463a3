// Call: the addresses and counts of one call, computed by binding. It lives on the stack of the thread that makes the call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "strew/abi.h"

namespace strew::inline v0 {

class Executor;

/// How much a call does.
struct WorkCounts {
  int64_t positions;  ///< index positions
  int64_t splits;     ///< iterations of the first window loop
  int64_t window;     ///< elements of a window
  int64_t init;       ///< elements of the result to initialise before the updates are applied
  /// Are there no elements to move? Loops over positions or over a part of the window could take for ever all the same.
  bool moves_nothing() const { return positions == 0 || window == 0; }
};

struct Call : WorkCounts {
  static constexpr size_t kFewTensors = 16, kFewSymbols = 24;

  Call() = default;
  /// What points into the other call points into this one.
  Call(Call&& other) noexcept;
  Call& operator=(Call&&) = delete;

  void** data;                       ///< strew_args.data: one per tensor of the plan, null where unbound
  std::unique_ptr<uint64_t[]> many;  // NOLINT(modernize-avoid-c-arrays): data and dyn of a kernel with more tensors or symbols
  // `dyn` is not next to `data`: arguments_of() copies both, and GCC would copy them with one load, which would wait until both stores have
  // left the store buffer.
  const int64_t* dyn;      ///< strew_args.dyn
  bool streams = false;    ///< the entry stream applies the windows in place of range
  int strategy = -1;       ///< STREW_STRATEGY_... that the call takes; -1: what choose_strategy() takes
  bool result_is_operand;  ///< init copy, and every result buffer is its operand's, so nothing is copied
  Executor* executor;      ///< runs the phases of the call; not set in calls that run alone
  int threads;             ///< the most that the call may use; not set in calls that run alone
  // Only as many of these are filled as the kernel has.
  std::array<void*, kFewTensors> few_data;
  std::array<int64_t, kFewSymbols> few_dyn;
};

inline Call::Call(Call&& other) noexcept
    : WorkCounts(other),
      data(other.data == other.few_data.data() ? few_data.data() : other.data),
      many(std::move(other.many)),
      dyn(other.dyn == other.few_dyn.data() ? few_dyn.data() : other.dyn),
      streams(other.streams),
      strategy(other.strategy),
      result_is_operand(other.result_is_operand),
      executor(other.executor),
      threads(other.threads) {
  std::memcpy(&few_data, &other.few_data, sizeof few_data);  // also what is not filled
  std::memcpy(&few_dyn, &other.few_dyn, sizeof few_dyn);
}

/// The arguments of the entries of a bound call. `program`: strew_kernel.program. They are set field by field: GCC clears an object of this size with `rep stos`, which
/// takes ten nanoseconds.
inline strew_args arguments_of(const Call& call, const void* program) {
  strew_args args;
  args.abi = STREW_ABI_VERSION;
  args.flags = 0;
  args.data = call.data;
  args.dyn = call.dyn;
  args.pos = nullptr;
  args.key = nullptr;
  args.n_list = 0;
  args.w0 = 0;
  args.w1 = call.splits;
  args.k0 = 0;
  args.k1 = 0;
  args.scratch = nullptr;
  args.program = program;
  args.source = 0;
  return args;
}

/// Runs an entry that cannot report a fault: policy error has checked all indices before, and under the other policies entries move positions
/// in bounds or drop them.
inline void run_entry(strew_entry entry, const strew_args& args, int64_t begin, int64_t end) {
  strew_fault unused;
  entry(&args, begin, end, &unused);
}

}  // namespace strew::inline v0
