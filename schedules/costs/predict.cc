// See predict.h. The numbers of this file are properties of processors in general, each with its reason; what differs between
// machines is in MachineCosts.
#include "schedules/costs/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/call_costs.h"
#include "base/machine.h"
#include "base/strategy_shares.h"
#include "base/strategy_traits.h"
#include "schedules/target.h"

namespace strew::inline v0 {
namespace {

/// A processor prefetches by itself after so many lines in sequence.
constexpr double kRandomLines = 3;
/// The loads of a window wait behind those of the window before, unless a prefetch has begun all of them at once.
constexpr double kQueued = 0.3;
/// A line takes longer when others are on their way, so a prefetch must be begun so many times the latency before.
constexpr double kEarly = 1.75;
/// A row that is updated waits once more for a line that a load has brought from a cache, where a prefetch for writing makes the line this
/// core's own: such a part of the last cache's latency.
constexpr double kOwnership = 0.1;
/// Lines that a core prefetches beyond its part of a window.
constexpr double kNeighbours = 0.5;
/// Stores that wait for their line hold up nothing while there are at most so many, the size of a store buffer.
constexpr double kBufferedStores = 64;

/// How many times as much work `threads` threads do as one, if all cores do `scale` times as much.
double scaled(double scale, double threads, int cores) {
  if (threads <= 1 || cores <= 1) return 1;
  if (threads >= cores) return std::max(1.0, scale);
  return std::pow(std::max(1.0, scale), std::log(threads) / std::log(cores));
}

using LevelCost = float MemoryCosts::*;

/// A cost per line of data of which `bytes` are used again and again by each of `threads` threads: every level holds its share
/// of them, and the next one the rest. `kept`: the part of what a thread reads or writes that its own caches have from the last call.
double per_line(const CostQuestion& q, LevelCost cost, LevelCost scale, EstimatedBytes bytes, EstimatedBytes own_bytes,
                double threads, double kept = 1) {
  const Target& t = q.target;
  const double sizes[] = {static_cast<double>(t.l1d_bytes), static_cast<double>(t.l2_bytes),
                          static_cast<double>(t.l3_bytes) * t.costs.last_level_share};
  double held = 0, sum = 0;
  for (size_t level = 0; level < q.target.costs.memory.size(); ++level) {
    const double reach = std::max(1.0, (level < 2 ? own_bytes : bytes).count());
    const double holds = level < 3 ? std::min(1.0, sizes[level] / reach) * (level < 2 ? kept : 1) : 1;
    const MemoryCosts& costs = q.target.costs.memory[level];
    if (holds > held)
      sum += (holds - held) * static_cast<double>(costs.*cost) / (scale ? scaled(costs.*scale, threads, t.cores) : 1);
    held = std::max(held, holds);
  }
  return sum;
}

/// A line that a thread stores past the caches.
double streaming_line(const CostQuestion& q, const ThreadShare& share) {
  const MachineCosts& m = q.target.costs;
  return m.streaming_ns * share.threads / scaled(m.memory[3].stream_scale, share.threads, q.target.cores);
}

/// What a line waits for that is stored past the caches while they have it, because the result was filled before, or copied by stores that went through them: it is written to memory first. On a Xeon
/// with 480 MiB of last-level cache, 8,192 rows of 2 KiB of a result of 32 MiB that was just filled took 3.3 ms past the caches, and 1.3 through them.
double written_back_line(const CostQuestion& q, const ThreadShare& share) {
  // Of the last-level cache: copies of more per thread bypass it (runtime/call/executor/phases.h).
  constexpr double kStreamedShare = 0.25;
  const MachineCosts& m = q.target.costs;
  const double l3 = static_cast<double>(q.target.l3_bytes), bytes = q.work.init_bytes;
  if (bytes <= 0 || (!q.work.is_filled && bytes / share.threads > kStreamedShare * l3)) return 0;
  const double held = std::min(1.0, (static_cast<double>(q.target.l2_bytes) * share.threads + l3 * m.last_level_share) / bytes);
  return held * m.memory[3].store_ns * share.threads / scaled(m.memory[3].stream_scale, share.threads, q.target.cores);
}

/// The bytes that calls go over again and again.
EstimatedBytes footprint(const Workload& w) {
  return EstimatedBytes(std::min(w.table_bytes, w.positions * w.lines * kLineBytes) + w.moved_bytes);
}

/// Of a window, or of a part of it.
struct Vectors {
  double count = 0;
  double widths = 0;  ///< of all, in the target's widest
};
/// The largest power of two that is at most `bytes`, which is not 0.
double power_below(double bytes) { return std::exp2(std::floor(std::log2(bytes))); }

/// The last bytes of a run, fewer than a vector has, as backends/llvm/compute/body.cc handles them. `follows`: whole vectors come before.
Vectors vectors_of_rest(const CostQuestion& q, double rest, bool follows) {
  const double widest = q.target.vector_bytes, elements = rest / q.work.element_bytes;
  if (rest < q.work.element_bytes) return {};
  // A copy ends with a vector that overlaps the one before: of the same width, or of the largest that fits into the run.
  if (q.work.moves && follows) return {1, q.schedule.vector_bytes / widest};
  const double part = power_below(rest);
  if (part == rest) return {1, part / widest};
  if (q.work.moves) return {2, 2 * part / widest};
  // One vector of which some lanes are masked, or one of half the width, one of a quarter, and so on.
  if (q.work.has_lanes && has_masks(q.target)) return {1, 2 * power_below(elements) * q.work.element_bytes / widest};
  Vectors v;
  for (double left = rest; left >= q.work.element_bytes; left -= power_below(left)) {
    v.count += 1;
    v.widths += power_below(left) / widest;
  }
  return v;
}

/// The vectors of a window: of each run whole ones, then those of the rest.
Vectors vectors_of(const CostQuestion& q) {
  const Workload& w = q.work;
  if (w.is_element) return {};
  const double widest = q.target.vector_bytes, vector_bytes = q.schedule.vector_bytes;
  const double whole = std::floor(w.run_bytes / vector_bytes);
  const Vectors rest = vectors_of_rest(q, w.run_bytes - whole * vector_bytes, whole > 0);
  return {(whole + rest.count) * w.runs, (whole * vector_bytes / widest + rest.widths) * w.runs};
}

/// Instructions of a position besides its window.
constexpr double kPositionInstructions = 8;
/// Instructions of a position of one element.
constexpr double kElementInstructions = 6;
/// Loads, stores and address steps of a vector.
constexpr double kVectorInstructions = 3.5;

/// The part of a vector's time that does not depend on its width, and the part that is not the combiner's.
constexpr double kOfAnyWidth = 0.5, kLoadsAndStores = 0.6;
/// Looking ahead computes the address of one more position, at about half of its whole cost. Windows of at most kShortWindow bytes are then
/// handled one by one and not several at once (backends/llvm/compute/row_pack.h), which costs about half a vector more.
constexpr double kLookAhead = 0.5, kShortWindow = 16;
/// Every further number of an index vector adds so much to a position, and every operator on an element.
constexpr double kComponent = 0.25, kOperator = 0.1;
/// Half of what unrolling an element loop once more saves: address steps and branches.
constexpr double kUnrolled = 1.05;

double compute_of_position(const CostQuestion& q, double window_share) {
  const MachineCosts& m = q.target.costs;
  const Workload& w = q.work;
  const Vectors vectors = vectors_of(q);
  const double windows = (kOfAnyWidth * vectors.count + (1 - kOfAnyWidth) * vectors.widths) * m.vector_ns *
                         (kLoadsAndStores + (1 - kLoadsAndStores) * std::max(1.0, w.operations));
  const double one_by_one = w.window_bytes <= kShortWindow ? m.vector_ns : 0;
  const double looks_ahead = q.schedule.prefetch > 0 ? kLookAhead * (m.position_ns + one_by_one) : 0;
  const double unrolled = w.is_element && q.schedule.unroll == 4 ? kUnrolled : 1;
  const double elements = w.is_element ? kOperator * w.operations : 0;
  return m.position_ns * ((1 + kComponent * (w.components - 1)) * unrolled + elements) + windows * window_share + looks_ahead;
}

/// The part of the reorder buffer that fills with a kernel's work: loads have a queue of their own, which is shorter.
constexpr double kLoadsInFlight = 0.5, kLeastAhead = 0.25;

/// How many positions ahead the processor begins to load lines by itself.
double positions_ahead(const CostQuestion& q, double window_share) {
  const double windows = vectors_of(q).count * window_share * (kVectorInstructions + q.work.operations);
  const double instructions = q.work.is_element ? kElementInstructions : kPositionInstructions + windows;
  return std::max(kLeastAhead, kLoadsInFlight * q.target.costs.in_flight / instructions);
}

/// What lines of the table cost a thread: at random addresses, each after the one before, and how long one is waited for.
struct TableCosts {
  double random, next;
  EstimatedTime latency;
};
TableCosts table_costs(const CostQuestion& q, const ThreadShare& share, EstimatedBytes bytes, EstimatedBytes own) {
  const auto cost = [&](LevelCost line, LevelCost scale) {
    return per_line(q, line, scale, bytes, own, share.threads) * share.threads;
  };
  const EstimatedTime latency(per_line(q, &MemoryCosts::latency_ns, nullptr, bytes, own, share.threads));
  if (q.work.gathers)
    return {cost(&MemoryCosts::read_line_ns, &MemoryCosts::line_scale), cost(&MemoryCosts::stream_ns, &MemoryCosts::stream_scale),
            latency};
  // No processor foresees which lines of a row will be written, however long it is.
  const double line = cost(&MemoryCosts::update_line_ns, &MemoryCosts::line_scale);
  return {line, q.work.reads_table ? cost(&MemoryCosts::store_ns, &MemoryCosts::stream_scale) : line, latency};
}

/// Nanoseconds per window for `lines` of them at an address that nobody foresees. `least`: what memory needs at least. `wait`: for one line.
double random_window(const CostQuestion& q, const ThreadShare& share, EstimatedBytes own, double lines, EstimatedTime least,
                     EstimatedTime wait) {
  const Workload& w = q.work;
  const double throughput = least.count(), latency = wait.count();
  const double far = 1 - std::min(1.0, EstimatedBytes(static_cast<double>(q.target.l2_bytes) / 2) / own);
  const bool updates_rows = w.reads_table && !w.gathers && w.window_bytes > kShortWindow;
  const double alone =
      std::max(throughput * (w.is_element ? 1 : 1 + kQueued * far), latency / positions_ahead(q, share.of_window())) +
      (updates_rows ? kOwnership * std::min<double>(latency, q.target.costs.memory[2].latency_ns) : 0);
  const double distance = q.schedule.prefetch;
  if (distance == 0) return alone;
  // Lines that are prefetched so early that they leave the private caches again are loaded twice.
  const double held = static_cast<double>(q.target.l2_bytes) / 2 / kLineBytes;
  const double lost =
      std::clamp(distance * lines / std::max(held, 1.0) - 1, 0.0, 1.0) * lines * q.target.costs.memory[2].read_line_ns;
  const double ahead = std::max(throughput, latency / std::max(distance / kEarly, positions_ahead(q, share.of_window()))) + lost;
  const double positions = std::max(1.0, w.positions * share.of_positions()),
               covered = std::max(0.0, positions - distance) / positions;
  return covered * ahead + (1 - covered) * alone;  // nobody prefetches for the first positions
}

/// Nanoseconds per window for its lines of the table, on one of the threads.
double table_of_window(const CostQuestion& q, const ThreadShare& share) {
  const Workload& w = q.work;
  constexpr double kPassesBy = 0.5;  // of what is read or written in order takes the place of the table's lines in the caches
  const EstimatedBytes bytes(w.table_bytes +
                             (q.schedule.nontemporal && !w.gathers ? 0 : kPassesBy * std::min(w.moved_bytes, w.table_bytes)));
  const EstimatedBytes own = share.owns ? bytes / share.threads : bytes * share.of_window();
  // A core also prefetches a line of the neighbour's part of the window, or none.
  const double lines = std::min(w.lines, w.lines * share.of_window() + (share.of_window() < 1 ? kNeighbours : 0));
  if (q.schedule.nontemporal && !w.gathers) return lines * (streaming_line(q, share) + written_back_line(q, share));
  const TableCosts costs = table_costs(q, share, bytes, own);
  // The first lines of a run are random ones, the others follow.
  const double random_part = std::min(1.0, kRandomLines / std::max(w.lines / w.runs * share.of_window(), 1e-9));
  const EstimatedTime throughput(lines * (random_part * costs.random + (1 - random_part) * costs.next));
  // Positions that follow one another share lines, and many updates of an element need its line once.
  const double in_order = lines * costs.next * std::min(1.0, w.table_bytes / std::max(1.0, w.positions * w.lines * kLineBytes));
  return w.in_order * in_order + (1 - w.in_order) * random_window(q, share, own, lines, throughput, costs.latency);
}

/// Stores that wait for their lines take longer between loads of other lines than alone: both use the same buffers.
constexpr double kStoresWait = 1.4;

/// Nanoseconds per window for rows of look-ups, at addresses that nobody foresees.
double lookups_of_window(const CostQuestion& q, const ThreadShare& share) {
  const EstimatedBytes tables(q.work.lookup_bytes);
  const auto cost = [&](LevelCost line, LevelCost scale) { return per_line(q, line, scale, tables, tables, share.threads); };
  const double lines = std::max(1.0, q.work.window_bytes / kLineBytes * share.of_window());
  const EstimatedTime throughput(lines * share.threads * cost(&MemoryCosts::read_line_ns, &MemoryCosts::line_scale));
  return random_window(q, share, tables, lines, throughput, EstimatedTime(cost(&MemoryCosts::latency_ns, nullptr)));
}

/// Nanoseconds per window for what is read or written besides the table: updates, or a gather's result, in order; or rows of look-ups.
double stream_of_window(const CostQuestion& q, const ThreadShare& share) {
  const Workload& w = q.work;
  if (w.lookup_bytes > 0) return lookups_of_window(q, share);
  const double lines = w.window_bytes / kLineBytes * share.of_window();
  const EstimatedBytes bytes = footprint(w);
  if (w.gathers && q.schedule.nontemporal) return lines * streaming_line(q, share);
  const LevelCost cost = w.gathers ? &MemoryCosts::store_ns : &MemoryCosts::stream_ns;
  // The program that made the updates, or will read the result, runs on one of the threads.
  const double kept = 1.0 / share.threads;
  const double waits = w.gathers ? kStoresWait : 1;
  return lines * share.threads * waits *
         per_line(q, cost, &MemoryCosts::stream_scale, bytes, bytes / share.threads, share.threads, kept);
}

}  // namespace

double Prediction::total() const {
  const Prediction& p = *this;
  const double compute = p[CostTerm::windows] + p[CostTerm::keys], memory = p[CostTerm::table] + p[CostTerm::stream];
  return std::max(compute, memory) + kUnhidden * std::min(compute, memory) + p[CostTerm::tables] + p[CostTerm::threads] +
         p[CostTerm::init] + p[CostTerm::call];
}

namespace {

/// The terms windows, table and stream of one thread with that share.
Prediction work_of_share(const CostQuestion& q, const ThreadShare& share) {
  const Workload& w = q.work;
  const MachineCosts& m = q.target.costs;
  const double positions = w.positions * share.of_positions();
  Prediction p;
  p[CostTerm::windows] = positions * compute_of_position(q, share.of_window());
  p[CostTerm::table] = positions * table_of_window(q, share);
  p[CostTerm::stream] = positions * stream_of_window(q, share);
  if (q.schedule.nontemporal) {
    // Stores that bypass the caches wait in buffers of their own, beside the loads: most of the shorter hides behind the longer.
    (p[CostTerm::table] < p[CostTerm::stream] ? p[CostTerm::table] : p[CostTerm::stream]) *= kUnhidden;
    // The fence after the last store; and whoever reads the result next finds nothing of it in the caches. Of the last level, which others use meanwhile, a quarter of the free part counts: on a Xeon
    // with AMX, JAX programs that gather 8 MB and read them took 1.2 times as long with these stores, and with 24 MB 0.9 times.
    constexpr double kReadSoon = 0.25;
    const Target& t = q.target;
    const double lines = w.moved_bytes / kLineBytes;
    const auto held = [&](double bytes) { return std::min(1.0, bytes / w.moved_bytes); };
    const auto stream_of = [&](const MemoryCosts& level) {
      return static_cast<double>(level.stream_ns) / scaled(level.stream_scale, share.threads, t.cores);
    };
    const double far = stream_of(m.memory[3]), near = held(static_cast<double>(t.l2_bytes) * share.threads),
                 last = std::max(0.0, held(kReadSoon * static_cast<double>(t.l3_bytes) * m.last_level_share) - near);
    p[CostTerm::stream] += m.memory[3].latency_ns + lines * (near * far + last * std::max(0.0, far - stream_of(m.memory[2])));
  } else if (!w.reads_table && !w.gathers) {
    const double lines = positions * w.lines * share.of_window();
    p[CostTerm::table] *= std::max(0.0, lines - kBufferedStores) / std::max(lines, 1.0);
  }
  return p;
}

/// Fork and join.
double phase_ns(const CostQuestion& q) {
  if (q.threads <= 1) return 0;
  const double all = std::max(2, q.target.cores);
  return static_cast<double>(q.target.costs.fork_join_ns) * std::log2(q.threads) / std::log2(all);
}

/// Two threads that go over the same rows at the same time take lines from each other, because each core also prefetches the neighbours of
/// its own lines. That shows where both work on a row at nearly the same time: if its lines are in a cache, or rows follow one another.
double taken_lines(const CostQuestion& q, double threads) {
  if (q.work.gathers && q.schedule.nontemporal) return 0;
  const double caches =
      threads * static_cast<double>(q.target.l2_bytes) + static_cast<double>(q.target.l3_bytes) * q.target.costs.last_level_share;
  const double near = std::min(1.0, caches / std::max(1.0, q.work.table_bytes));
  return q.work.positions * std::max(near, q.work.in_order) * q.target.costs.transfer_ns;
}

/// Filling a private table and merging it.
double table_ns(const CostQuestion& q) {
  const MemoryCosts& cache = q.target.costs.memory[q.work.table_bytes <= static_cast<double>(q.target.l2_bytes) ? 1 : 2];
  return q.work.table_bytes / kLineBytes * (cache.store_ns + cache.stream_ns + cache.store_ns);
}

/// The sizes of a plan, for StrategyShares.
struct PlanSizes {
  const CostQuestion& q;

  double threads() const { return q.threads; }
  double slabs() const { return q.work.slabs; }
  double positions() const { return q.work.positions; }
  double columns() const { return q.work.columns; }
  bool columns_are_positions() const { return q.work.columns_are_positions; }
  double coordinates() const { return q.work.coordinates; }
  double table_bytes() const { return q.work.table_bytes; }
  double piece_bytes() const { return kOwnerPieceBytes; }
  double tables() const { return private_tables(q.schedule.tables, q.work.regroups, q.threads); }
};

ThreadShare share_of(const CostQuestion& q) {
  const PlanSizes sizes{q};
  const StrategyShares shares(sizes);
  switch (q.schedule.strategy) {
#define STREW_SHARE(strategy, text) \
  case Strategy::strategy:          \
    return shares.strategy();
    STREW_STRATEGIES(STREW_SHARE)
#undef STREW_SHARE
  }
  return {};
}

/// What it costs to list an element for its owner and to find it by the list, in positions: the compiler's loops over positions that follow one another do several at once. On a Xeon with AMX, 19.2
/// million elements took 62 to 77 ms on two threads that own them, and 36 (indices equal along rows) to 90 ms on one thread; the other numbers said 22.
constexpr double kListedElement = 3;

/// What a call costs besides the terms init and call.
Prediction cost_of_share(const CostQuestion& q, const ThreadShare& share) {
  const MachineCosts& m = q.target.costs;
  Prediction p = work_of_share(q, share);
  p[CostTerm::stream] *= share.gaps;
  const double listed = share.keys > 0 && q.work.is_element ? kListedElement * share.part : 0;
  p[CostTerm::keys] = q.work.positions * (share.keys * m.key_ns + (share.visits + listed) * m.position_ns);
  if (share.tables > 0) p[CostTerm::tables] = share.tables * table_ns(q);
  p[CostTerm::threads] =
      share.phases * phase_ns(q) + (share.cuts_windows && share.threads > 1 ? taken_lines(q, share.threads) : 0);
  return p;
}

/// With how many threads the executor runs the call (runtime/call/executor). One thread runs every strategy as `sequential`, except that of
/// private tables where these decide the bits.
int threads_of_call(const CostQuestion& q) {
  const Strategy strategy = q.schedule.strategy;
  if (strategy == Strategy::sequential) return 1;
  const Target& t = q.target;
  const CallCosts costs = call_costs(t.costs, {t.l1d_bytes, t.l2_bytes, t.l3_bytes});
  if (traits_of(strategy).needs_keys() && q.work.positions < static_cast<double>(kOwnerPositions)) return 1;
  constexpr int64_t kMost = int64_t{1} << 50;  // beyond every cache and every number of positions
  const Bytes table(whole(q.work.table_bytes, kMost));
  const double alone = costs.of_windows(whole(q.work.positions, kMost), EstimatedBytes(q.work.window_bytes), table);
  return static_cast<int>(std::clamp<int64_t>(whole_ns(alone) / costs.thread_time(), 1, q.threads));
}

}  // namespace

Prediction predict(const CostQuestion& question) {
  const CostQuestion q{question.work, question.schedule, question.target, threads_of_call(question)};
  const bool alone = q.threads == 1 && (!traits_of(q.schedule.strategy).may_group || q.work.regroups);
  Prediction p = cost_of_share(q, alone ? ThreadShare{} : share_of(q));
  p[CostTerm::call] = q.target.costs.call_ns;
  const double lines = q.work.init_bytes / kLineBytes;
  if (lines > 0) {
    const int threads = question.threads;  // filling and copying are phases of their own
    const EstimatedBytes bytes(2 * q.work.init_bytes), own = bytes / threads;
    p[CostTerm::init] = lines * (per_line(q, &MemoryCosts::stream_ns, &MemoryCosts::stream_scale, bytes, own, threads) +
                                 per_line(q, &MemoryCosts::store_ns, &MemoryCosts::stream_scale, bytes, own, threads));
  }
  return p;
}

std::string print(const Prediction& prediction) {
  const auto show = [](double nanoseconds) {
    if (nanoseconds < 1e3) return fmt::format("{:.0f} ns", nanoseconds);
    if (nanoseconds < 1e6) return fmt::format("{:.3g} us", nanoseconds / 1e3);
    return fmt::format("{:.3g} ms", nanoseconds / 1e6);
  };
  std::array<size_t, kCostTerms> order{};
  for (size_t i = 0; i < kCostTerms; ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return prediction.nanoseconds[a] > prediction.nanoseconds[b]; });
  const auto part = [&](size_t i) {
    return fmt::format("{} {}", name(static_cast<CostTerm>(order[i])), show(prediction.nanoseconds[order[i]]));
  };
  return fmt::format("about {}: {}, {}", show(prediction.total()), part(0), part(1));
}

}  // namespace strew::inline v0
