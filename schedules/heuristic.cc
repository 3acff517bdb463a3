// choose_schedule: the default schedule of a plan, by the decision table of README.md. Its numbers are the plan's, the
// target's, or those of schedules/thresholds.h, which gives the origin of each.
//
// Only static extents count. A dynamic extent is taken as large, because the executor decides at the call how many
// threads the call is worth (runtime/call/executor). Whether a table is in cache at the call is not known here, so a
// table larger than the last-level cache counts as cold. Knobs that the caller sets take precedence
// (backends/pipeline). Tested by tests/unit/schedule_test.cc.
#include <algorithm>
#include <limits>

#include "base/machine.h"
#include "schedules/schedule.h"
#include "schedules/strategies/private_tables.h"
#include "schedules/strategies/strategy.h"
#include "schedules/thresholds.h"

namespace strew::inline v0 {
namespace {

using namespace thresholds;
constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();

int64_t times(int64_t a, int64_t b) {
  int64_t product = 0;
  if (a == kUnknown || b == kUnknown || __builtin_mul_overflow(a, b, &product)) return kUnknown;
  return product;
}

int64_t static_count(const std::vector<Loop>& loops) {
  int64_t count = 1;
  for (const Loop& loop : loops) {
    if (loop.extent.is(0)) return 0;
    count = times(count, loop.extent.is_static() ? loop.extent.factor : kUnknown);
  }
  return count;
}

/// The numbers of a plan that the decision table uses; kUnknown if they depend on dynamic dims.
struct Facts {
  int64_t positions, window_bytes, moved_bytes, run_bytes, table_bytes, init_bytes;
};

Facts facts_of(const Plan& plan) {
  const size_t result = static_cast<size_t>(plan.result(0));
  const int64_t element = std::max(1, bits(plan.tensors[result].dtype) / 8);
  Facts f;
  f.positions = static_count(plan.positions);
  f.window_bytes = times(static_count(plan.window), element);
  f.init_bytes = plan.init.empty() ? 0 : times(static_count(plan.init), element);
  f.moved_bytes = times(f.positions, f.window_bytes);
  const bool unit_run = !plan.window.empty() && plan.window.back().strides[result].is(1);
  f.run_bytes = !unit_run                               ? element
                : plan.window.back().extent.is_static() ? times(plan.window.back().extent.factor, element)
                                                        : kUnknown;
  // A lower bound of the table's size: the farthest that any loop or indexed dim alone reaches.
  const size_t indexed = static_cast<size_t>(plan.gather ? plan.operand(0) : plan.result(0));
  f.table_bytes = 0;
  auto reach = [&](const Term& extent, const Term& stride) {
    if (stride.is(0)) return;
    const bool known = extent.is_static() && stride.is_static();
    f.table_bytes = std::max(f.table_bytes, known ? times(times(extent.factor, std::abs(stride.factor)), element) : kUnknown);
  };
  for (const Component& c : plan.components) reach(c.dim, c.strides[indexed]);
  for (const auto* loops : {&plan.positions, &plan.window})
    for (const Loop& loop : *loops) reach(loop.extent, loop.strides[indexed]);
  return f;
}

struct Choice {
  Strategy strategy;
  std::string why;
};

/// Strategy private pays with many updates per element and tables that fit in cache. If the number of tables decides
/// the bits, the answer must not depend on threads or cores.
bool private_pays(const Plan& plan, const Facts& f, const Target& target, int threads) {
  if (f.positions == kUnknown || f.moved_bytes == kUnknown || f.table_bytes == kUnknown || !legal_private_tables(plan).ok())
    return false;
  if (combines_exactly(plan) && threads <= 1) return false;
  return f.positions >= kOwnerPositions && f.table_bytes <= target.l2_bytes &&
         f.moved_bytes >= times(kUpdatesPerElement, f.table_bytes);
}

/// Are owners faster than one thread? Scanning the key of an element costs about as much as updating the element in
/// cache, so a table of single elements must be larger than the cache; narrow rows pay as soon as the table exceeds the
/// private cache. Wide rows are cut into columns instead, which needs no work on indices.
bool owners_pay(const Plan& plan, const Facts& f, const Target& target, int threads) {
  const bool narrow = f.window_bytes != kUnknown && f.window_bytes / threads < kWideShare;
  const int64_t cached = plan.kind == PlanKind::element ? target.l3_bytes / kCachedElementShare : target.l2_bytes;
  return narrow && f.positions >= kOwnerPositions && f.table_bytes > cached && legal_owner(plan).ok();
}

int64_t static_slabs(const Plan& plan) {
  return static_count({plan.positions.begin(), plan.positions.begin() + static_cast<ptrdiff_t>(slab_loops(plan))});
}

Choice choose_strategy(const Plan& plan, const Facts& f, const Target& target, int threads) {
  if (private_pays(plan, f, target, threads))
    return {Strategy::private_tables, "three and more updates per element of a table that fits a core's cache"};
  if (threads <= 1) return {Strategy::sequential, "one thread allowed"};
  if (f.moved_bytes < kThreadsPayBytes) return {Strategy::sequential, "too little work for a second thread"};
  if (legal_positions(plan).ok()) {
    const bool free = plan.gather || plan.kind == PlanKind::slice_update || plan.unique.holds;
    if (free && f.positions >= threads) return {Strategy::positions, "no destination has two writers"};
    if (!free && static_slabs(plan) >= threads)
      return {Strategy::positions, "batching dims give every slab its own destinations"};
  }
  if (f.positions >= kOwnerPositions && legal_runs(plan).ok()) return {Strategy::runs, "indices are sorted"};
  if (owners_pay(plan, f, target, threads)) {
    const std::string table = "narrow windows into a table beyond the cache";
    if (threads < kManyThreads) return {Strategy::owner, table};
    return {Strategy::radix, table + ", many threads"};
  }
  const Term* first = plan.window.empty() ? nullptr : &plan.window.front().extent;
  const bool splits = first && (!first->is_static() || first->factor >= 2);
  if (splits && f.window_bytes / threads >= kLineBytes && legal_window(plan).ok())
    return {Strategy::window, "windows are wide enough for a part per thread"};
  if (f.window_bytes / threads >= kWideShare && legal_clip(plan).ok())
    return {Strategy::clip, "windows overlap, and are wide enough to be shared out by destination"};
  return {Strategy::sequential, "duplicates are possible and no split of the work pays"};
}

int choose_prefetch(const Plan& plan, const Facts& f, const Target& target) {
  if (plan.kind == PlanKind::slice_update || f.positions < kPrefetchPositions || f.table_bytes <= target.l2_bytes) return 0;
  return std::find_if(kLookAhead.begin(), kLookAhead.end(),
                      [&](const LookAhead& row) { return f.window_bytes >= row.window_bytes; })
      ->positions;
}

bool choose_nontemporal(const Plan& plan, const Facts& f, const Target& target, int threads) {
  if (!plan.pure_move || f.run_bytes < kLineBytes || f.run_bytes == kUnknown || f.moved_bytes == kUnknown) return false;
  if (f.run_bytes % kLineBytes != 0) return false;
  if (plan.gather) return f.moved_bytes >= target.l3_bytes / kStreamingGatherShare;
  // Updated slices are read again soon (KV caches).
  const int64_t cached = plan.kind == PlanKind::slice_update ? target.l3_bytes : target.l3_bytes / kStreamingRowShare - 1;
  if (f.table_bytes == kUnknown || f.table_bytes <= cached) return false;
  // Slice updates: many runs (decode), or more bytes than the private caches hold (prefill, slabs). Other kinds: both.
  // Rows of 256 to 1023 bytes on one thread take the same time with and without streaming stores.
  const int64_t runs = f.moved_bytes / f.run_bytes;
  const bool beyond_private = f.moved_bytes > times(target.l2_bytes, threads);
  return plan.kind == PlanKind::slice_update ? runs >= kStreamingRuns || beyond_private
                                             : runs >= kStreamingRuns && beyond_private;
}

}  // namespace

Schedule choose_schedule(const Plan& plan, const Target& target, int max_threads, std::string* why) {
  const Facts f = facts_of(plan);
  const int threads = std::clamp(max_threads > 0 ? max_threads : target.cores, 1, kMostThreads);
  const Choice choice = choose_strategy(plan, f, target, threads);
  if (why != nullptr) *why = choice.why;
  Schedule schedule;
  schedule.vector_bytes = target.vector_bytes;
  schedule.strategy = choice.strategy;
  schedule.prefetch = choose_prefetch(plan, f, target);
  schedule.nontemporal = choose_nontemporal(plan, f, target, schedule.strategy == Strategy::sequential ? 1 : threads);
  schedule.unroll = plan.kind == PlanKind::element && schedule.prefetch == 0 ? 8 : 4;
#ifdef STREW_CHECKED
  schedule.checked = true;
#endif
  return schedule;
}

bool updates_may_be_few(const Plan& fold) {
  const Facts f = facts_of(fold);
  return f.moved_bytes == kUnknown || f.init_bytes == kUnknown || f.moved_bytes < times(2, f.init_bytes);
}

}  // namespace strew::inline v0
