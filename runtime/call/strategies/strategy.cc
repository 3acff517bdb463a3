// See strategy.h. Tested by tests/unit/backends/kernel_test.cc and tests/differential.
#include "runtime/call/strategies/strategy.h"

#include <algorithm>
#include <limits>

#include "base/strategy_shares.h"
#include "base/strategy_traits.h"
#include "runtime/call/executor/phases.h"
#include "runtime/call/extent.h"

namespace strew::inline v0 {
namespace {

constexpr bool (*kApply[])(const ApplyCall&) = {
#define STREW_APPLY(strategy, text) apply_##strategy,
    STREW_STRATEGIES(STREW_APPLY)
#undef STREW_APPLY
};

/// The sizes of a call, for StrategyShares.
struct CallSizes {
  const ApplyCall& call;

  [[gnu::always_inline]] double threads() const { return call.threads; }
  [[gnu::always_inline]] double slabs() const {
    const int64_t count = call.call.positions / position_unit(call);
    return static_cast<double>(count);
  }
  [[gnu::always_inline]] double positions() const { return static_cast<double>(call.call.positions); }
  [[gnu::always_inline]] double columns() const { return static_cast<double>(call.call.splits); }
  [[gnu::always_inline]] bool columns_are_positions() const { return call.call.window < call.call.splits; }
  [[gnu::always_inline]] double coordinates() const { return static_cast<double>(clip_extent(call)); }
  [[gnu::always_inline]] double table_bytes() const { return static_cast<double>(call.table.count()); }
  [[gnu::always_inline]] double piece_bytes() const { return static_cast<double>(call.limits().owner_piece_bytes); }
  [[gnu::always_inline]] double tables() const { return most_tables(call); }
};

/// How long a thread's share of a call takes, roughly; only the ratio of two counts. base/strategy_shares.h has the share that each strategy gives
/// a thread. Every call of a kernel that carries several strategies asks for all of theirs, so that what they have in common is computed once,
/// and everything is inline. Tested by tests/unit/runtime/call/strategies/choose_strategy_test.cc; the time of a choice by bench/overhead
/// (choice).
class CallEstimates {
 public:
  explicit CallEstimates(const ApplyCall& call)
      : call_(call),
        visits_(of_positions(costs().position_ns)),
        rest_(to_ns(call.alone) - (1 - kUnhidden) * visits_ - call.streams.ns),
        waits_(1 / call.streams.scale) {}

  [[gnu::always_inline]] double of(const ThreadShare& share) const {
    const double repeated = share.cuts_windows ? visits_ : 0, streams = call_.streams.ns * std::max(1.0, share.threads * waits_);
    double sum = repeated + (rest_ - std::min(repeated, rest_) + streams * share.gaps) * share.part + share.visits * visits_ +
                 share.keys * of_positions(costs().key_ns) + share.phases * static_cast<double>(costs().phase_ns);
    if (share.cuts_windows && share.threads > 1 && is_cached(call_.table)) sum += of_positions(costs().transfer_ns);
    if (share.tables != 0) sum += share.tables * 2 * costs().of_bytes(call_.table);
    return sum;
  }

 private:
  const CallCosts& costs() const { return call_.callable.costs; }
  bool is_cached(Bytes table) const { return table.count() <= costs().cache_bytes.back(); }
  double of_positions(float each) const { return static_cast<double>(call_.call.positions) * static_cast<double>(each); }

  const ApplyCall& call_;
  double visits_;  ///< what every thread does that visits all positions, besides its part of their windows
  double rest_;    ///< one thread's time, but for what is read or written in order
  double waits_;   ///< how much longer each of two threads reads, at most, because the other does
};

/// Are there so many updates that private tables pay, and memory for them? Of other strategies the compiler knows the answer.
[[gnu::always_inline]] inline bool suits(const ApplyCall& call, const StrategyTraits& traits) {
  return !traits.may_group || repays_tables(call, elements(call.tensors[0]));
}

/// Calls `function` with each of the strategies, bits in `all`, and its estimate.
template <class Function>
void each_estimate(const ApplyCall& call, uint32_t all, const Function& function) {
  const CallSizes sizes{call};
  const StrategyShares shares(sizes);
  const CallEstimates estimates(call);
  constexpr double kNever = std::numeric_limits<double>::infinity();
#define STREW_ESTIMATE(strategy, text)             \
  if ((all >> STREW_STRATEGY_##strategy & 1) != 0) \
    function(STREW_STRATEGY_##strategy,            \
             suits(call, traits_of(STREW_STRATEGY_##strategy)) ? estimates.of(shares.strategy()) : kNever);
  STREW_STRATEGIES(STREW_ESTIMATE)
#undef STREW_ESTIMATE
}

}  // namespace

Bytes table_bytes(const strew_kernel& kernel, const int64_t* dims) {
  const strew_tensor_rule& table = kernel.tensors[table_of(kernel)];
  int64_t bits = table.bits;
  for (uint32_t d = 0; d < table.rank; ++d)
    if (dims[d] == STREW_OPEN || __builtin_mul_overflow(bits, dims[d], &bits)) return Bytes(std::numeric_limits<int64_t>::max());
  return Bytes(bits / 8);
}

int64_t position_unit(const ApplyCall& call) {
  const strew_kernel& kernel = call.kernel();
  if (kernel.slab.factor != 0) return std::max<int64_t>(evaluate(kernel, kernel.slab, call.args.dyn), 1);
  return line_unit(call, kernel.position_stride);
}

/// Always declines, so that one thread runs the range entry over all positions.
bool apply_sequential(const ApplyCall&) { return false; }

/// Every thread applies its own chunk of index positions, with whole windows. That is legal if no two threads write one destination: the op is
/// a gather or a slice update, destinations are unique, or batching dims give each slab of positions destinations of its own. In the last case
/// no chunk cuts through a slab. Tested by tests/unit/runtime/call/executor/executor_test.cc.
bool apply_positions(const ApplyCall& call) {
  const Split split{call.call.positions, position_unit(call), 1};
  run_split(call.callable, call.call, {PhaseKind::positions, call.callable.applies(call.call), call.args, split}, call.alone);
  return true;
}

/// Every thread visits all index positions, in order, and applies its own chunk of the first window loop. Tested by
/// tests/unit/runtime/call/executor/executor_test.cc.
bool apply_window(const ApplyCall& call) {
  const Split split{call.call.splits, line_unit(call, call.kernel().window_stride), 1};
  const Phase phase{PhaseKind::window, call.callable.applies(call.call), call.args, split, Axis::window, call.call.positions};
  run_split(call.callable, call.call, phase, call.alone);
  return true;
}

/// Every thread visits all index positions, in order, and applies the part of each window that lies in its own range of the operand dim moved
/// by the first window loop. Tested by tests/unit/runtime/call/strategies/clip_test.cc.
bool apply_clip(const ApplyCall& call) {
  Team team(*call.call.executor, call.threads, call.alone);
  if (!team.has_help()) return false;
  const Split split{clip_extent(call), line_unit(call, call.kernel().clip_stride), 1};
  run_chunks(team, call.limits(),
             {PhaseKind::clip, call.entry(STREW_ENTRY_clip), call.args, split, Axis::destinations, call.call.positions});
  return true;
}

ApplyCall apply_call(const Callable& callable, const Call& call, std::span<const TensorView> tensors, const strew_args& args) {
  const Bytes table = table_bytes(callable.kernel, tensors);
  const CallCosts::Windows windows = callable.costs.windows(call.positions, window_bytes(callable, call), table);
  const Nanoseconds alone = whole_ns(windows.ns);
  const int threads = threads_for(alone, call.threads, *callable.limits);
  return {callable, call, tensors, args, threads, alone, windows.streams, table};
}

int choose_strategy(const ApplyCall& call) {
  const strew_kernel& kernel = call.kernel();
  const int own = kernel.strategy, wanted = call.limits().strategy;
  if (wanted >= 0) return (kernel.strategies >> wanted & 1) != 0 ? wanted : own;
  constexpr uint32_t kAlone = 1U << STREW_STRATEGY_sequential;
  const uint32_t all = kernel.strategies | 1U << own;
  if ((all & ~(1U << own) & ~kAlone) == 0 || call.limits().shares_all) return own;
  // Where all shapes are known, the schedule's choice knows more than these estimates.
  constexpr double kKnown = 0.75;
  const double of_own = kernel.symbol_count == 0 ? kKnown : 1;
  double least = std::numeric_limits<double>::infinity();
  int best = own;
  const auto consider = [&](int strategy, double nanoseconds) {
    if (strategy == own) nanoseconds *= of_own;
    if (nanoseconds > least || (nanoseconds == least && strategy != own)) return;
    least = nanoseconds;
    best = strategy;
  };
  each_estimate(call, all, consider);
  return best;
}

std::array<int, STREW_STRATEGY_COUNT> strategies_within(const ApplyCall& call, double times) {
  const uint32_t all = call.kernel().strategies | 1U << call.kernel().strategy;
  double least = std::numeric_limits<double>::infinity();
  each_estimate(call, all, [&](int, double nanoseconds) { least = std::min(least, nanoseconds); });
  std::array<int, STREW_STRATEGY_COUNT> list;
  list.fill(-1);
  size_t count = 0;
  each_estimate(call, all, [&](int strategy, double nanoseconds) {
    if (nanoseconds <= times * least) list[count++] = strategy;
  });
  return list;
}

void apply(const Callable& callable, const Call& call, std::span<const TensorView> tensors, const strew_args& args) {
  if (call.moves_nothing()) return;
  if (!callable.always_runs_alone) {
    const ApplyCall apply = apply_call(callable, call, tensors, args);
    const bool has_learned = call.strategy >= 0 && callable.limits->strategy < 0;
    if (kApply[has_learned ? call.strategy : choose_strategy(apply)](apply)) return;
  }
  note_phase(*callable.limits, PhaseKind::whole, 1);
  run_entry(callable.applies(call), args, 0, call.positions);
}

}  // namespace strew::inline v0
