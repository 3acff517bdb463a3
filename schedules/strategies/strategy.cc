// See strategy.h. Tested by tests/unit/schedules/schedule_test.cc and tests/unit/runtime/call/strategies/private_test.cc.
#include "schedules/strategies/strategy.h"

#include <algorithm>
#include <string>

#include "base/machine.h"
#include "schedules/costs/workload.h"
#include "schedules/entries.h"
#include "schedules/stores.h"
#include "strew/expr_builder.h"

namespace strew::inline v0 {
namespace {

std::string dtype_of(const Plan& plan, int result) {
  return std::string(name(plan.tensors[static_cast<size_t>(plan.result(result))].dtype));
}

/// Results with packed elements cannot be cut at every element, since elements share bytes.
Status whole_bytes(const Plan& plan) {
  for (int i = 0; i < plan.pairs; ++i)
    if (bits(plan.tensors[static_cast<size_t>(plan.result(i))].dtype) < 8)
      return unsupported("result " + std::to_string(i) + " is packed " + dtype_of(plan, i));
  return {};
}

/// What owner, radix and runs need: scatters whose windows coincide or are disjoint (plan kinds row and element) and whose results have
/// whole-byte elements and equal, static, non-negative strides. Then a destination's offset is its key.
Status has_owners(const Plan& plan) {
  if (plan.gather) return unsupported("a gather has no destinations to own");
  if (plan.kind != PlanKind::row && plan.kind != PlanKind::element)
    return unsupported("windows of kind " + std::string(name(plan.kind)) + " do not coincide");
  STREW_TRY(whole_bytes(plan));
  if (!plan.keys)
    return unsupported("no number stands for a destination in all results: their strides have different ratios or signs");
  return {};
}

// Which plans each strategy is legal for, by the names of STREW_STRATEGIES. legal() puts the strategy's name before the reason.

/// One thread, for every plan.
Status legal_sequential(const Plan&) { return {}; }

/// Cuts the index positions into chunks. Legal if no destination can be written from two chunks: in gathers; in slice updates (batching dims
/// give each position a part of its own); if destinations are known to be unique; and if the leading position loops are over batching dims,
/// because chunks are then cut between their iterations. So updates of one destination keep their order, and the bits do not depend on the
/// number of chunks. No thread repeats work on indices; where this strategy is legal, no other is faster.
Status legal_positions(const Plan& plan) {
  STREW_TRY(whole_bytes(plan));
  if (plan.gather || plan.kind == PlanKind::slice_update || plan.unique.holds || slab_loops(plan) > 0) return {};
  return unsupported("two positions may touch one destination (kind " + std::string(name(plan.kind)) + ", no unique_indices)");
}

/// Cuts the first window loop into chunks; of windows with one element, the innermost position loop, if it is over a batching dim, as of an index for each element
/// of rows (column_loop()). Legal if two iterations of that loop never write one destination: rows (windows coincide or are
/// disjoint), slice updates, gathers, and general windows whose first loop is over a dim that no index moves. Every thread visits the
/// positions in order, so the order per destination is kept. The work on indices is done once per thread; the strategy pays from about 64
/// bytes of window per thread on, and skew does not slow it.
Status legal_window(const Plan& plan) {
  STREW_TRY(whole_bytes(plan));
  if (column_loop(plan) == nullptr)
    return unsupported("the window has one element, and no innermost loop over a batching dim lies within others");
  if (has_row_values(plan)) return unsupported("a row is computed as a whole: its elements are reduced");
  if (!plan.gather && plan.kind == PlanKind::general && plan.window.front().move().touches)
    return unsupported("windows may overlap partly along the first window loop (kind general)");
  return {};
}

/// Every destination has one owner, a thread that reads all indices and applies the updates of its destinations in order.
Status legal_owner(const Plan& plan) { return has_owners(plan); }

/// A stable parallel radix partition of the positions by destination; one thread applies each bucket in position order.
Status legal_radix(const Plan& plan) { return has_owners(plan); }

/// Chunks of sorted positions, cut where the destination changes. Legal if equal destinations are certainly adjacent: rows and elements, one
/// position loop, indices hinted as sorted, and a policy that keeps their order. Policy wrap and negative normalisation do not keep it; policy
/// clamp does for one component.
Status legal_runs(const Plan& plan) {
  STREW_TRY(has_owners(plan));
  const IndexSource& source = plan.primary();
  if (!source.sorted.holds) return unsupported("indices are not known to be sorted (no indices_are_sorted)");
  if (plan.positions.size() != 1 || slab_loops(plan) > 0) return unsupported("positions are not one loop over unbatched indices");
  if (std::ranges::any_of(source.components, &Component::normalize_negative))
    return unsupported("negative indices count from the end, which breaks their order");
  if (source.oob == OobPolicy::wrap || (source.oob == OobPolicy::clamp && source.components.size() > 1))
    return unsupported("policy " + std::string(name(source.oob)) + " breaks the order of indices");
  return {};
}

/// Cuts an operand dim in which indices move windows into ranges, one per thread. An element of the result is written by one thread, which
/// visits all positions in order, so the order of updates is kept. Each thread computes every position, so the strategy pays for wide windows.
Status legal_clip(const Plan& plan) {
  if (plan.gather) return unsupported("a gather has no destinations to own");
  STREW_TRY(whole_bytes(plan));
  if (clip_mover(plan) == nullptr) return unsupported("no index moves the first window loop (strategy window splits it)");
  return {};
}

/// Every chunk of positions is applied to a table of its own, as large as the results; then the tables are combined
/// (runtime/call/strategies/private_tables). Legal if every grouping of updates gives the same bits (integers, bool, float min and max), or if
/// the op does not require an order (`relaxed`).
Status legal_private_tables(const Plan& plan) {
  if (plan.gather) return unsupported("a gather combines nothing");
  if (plan.per_row) return unsupported("results hold one value per row");
  const auto& nodes = plan.combine.nodes;
  int currents = 0, reads_of_current = 0;
  for (const ExprNode& node : nodes) {
    currents += node.op == ExprOp::current;
    for (const int32_t arg : node.args) reads_of_current += nodes[static_cast<size_t>(arg)].op == ExprOp::current;
  }
  for (int i = 0; i < plan.pairs; ++i) {
    const DType dtype = plan.tensors[static_cast<size_t>(plan.result(i))].dtype;
    const std::string result = "result " + std::to_string(i) + " of dtype " + dtype_of(plan, i);
    if (bits(dtype) < 16 && (bits(dtype) < 8 || is_float(dtype))) return unsupported(result + " is too narrow");
    const ExprNode& top = nodes[static_cast<size_t>(plan.combine.results[static_cast<size_t>(i)])];
    const bool folds = top.args.size() == 2 && nodes[static_cast<size_t>(top.args[0])].op == ExprOp::current &&
                       nodes[static_cast<size_t>(top.args[0])].index == i;
    if (!folds || currents != plan.pairs || reads_of_current != plan.pairs || !identity_bits(top.op, dtype))
      return unsupported(result + ": the combiner is not an associative one of the current value and the update");
    if (plan.tensors[static_cast<size_t>(plan.update(i))].dtype != dtype)
      return unsupported(result + ": its update has another dtype");
    if (!regroups_exactly(top.op, dtype) && plan.order != Order::relaxed)
      return unsupported(result + ": float " + std::string(name(top.op)) + " depends on the order (order in_order)");
  }
  return {};
}

constexpr Status (*kLegal[])(const Plan&) = {
#define STREW_LEGAL(strategy, text) legal_##strategy,
    STREW_STRATEGIES(STREW_LEGAL)
#undef STREW_LEGAL
};

}  // namespace

Status legal(Strategy strategy, const Plan& plan) {
  const Status status = kLegal[static_cast<size_t>(strategy)](plan);
  return status.ok() ? status : status.with_prefix("strategy " + std::string(name(strategy)));
}

bool is_legal(Strategy strategy, const Plan& plan) { return kLegal[static_cast<size_t>(strategy)](plan).ok(); }

const Component* clip_mover(const Plan& plan) {
  if (plan.window.empty() || plan.window.front().move().component < 0) return nullptr;
  return &plan.primary().components[static_cast<size_t>(plan.window.front().move().component)];
}

ExprOp combiner_of(const Plan& plan, int i) {
  return plan.combine.nodes[static_cast<size_t>(plan.combine.results[static_cast<size_t>(i)])].op;
}

Expr merge_graph(const Plan& plan, int i) {
  const ExprOp op = combiner_of(plan, i);
  const DType dtype = plan.tensors[static_cast<size_t>(plan.result(i))].dtype;
  ExprBuilder e;
  const int32_t current = e.current(0, dtype), table = e.update(0, dtype);
  const int32_t merged = e.apply(merge_of(op), {current, table});
  if (!is_float(dtype)) return e.returns({merged});
  const DType code = bits(dtype) == 16 ? DType::u16 : bits(dtype) == 32 ? DType::u32 : DType::u64;
  const int32_t table_code = e.bitcast(table, code), identity = e.literal(Scalar{code, {*identity_bits(op, dtype), 0}});
  const int32_t untouched = e.apply(ExprOp::eq, {table_code, identity});
  return e.returns({e.apply(ExprOp::select, {untouched, current, merged})});
}

bool combines_exactly(const Plan& plan) {
  for (int i = 0; i < plan.pairs; ++i)
    if (!regroups_exactly(combiner_of(plan, i), plan.tensors[static_cast<size_t>(plan.result(i))].dtype)) return false;
  return true;
}

/// These numbers are part of what a relaxed sum is (docs/semantics.md), so they are not a machine's.
bool relaxed_sum_uses_tables(const Plan& plan) {
  // A table that a private cache holds, and enough updates to repay filling and merging it.
  constexpr double kLeastPositions = 2048, kMostTableBytes = 512 << 10, kUpdatesPerElement = 3;
  const Workload w = workload_of(plan);
  return !w.is_open && w.positions >= kLeastPositions && w.table_bytes <= kMostTableBytes &&
         w.moved_bytes >= kUpdatesPerElement * w.table_bytes;
}

uint32_t strategies_of(const Plan& plan, const Schedule& schedule) {
  const Strategy own = schedule.strategy;
  if (traits_of(own).may_group && !combines_exactly(plan)) return bit(own);  // the tables decide the bits
  uint32_t all = bit(own) | bit(Strategy::sequential);
  const bool is_open = has_open_extents(plan);
  // Where the extents are known and one thread is the fastest, only the stores are left to the call.
  if (!schedule.adapts || (!is_open && own == Strategy::sequential)) return all;
  for (int other = 0; other < STREW_STRATEGY_COUNT; ++other) {
    const StrategyTraits& traits = traits_of(other);
    const bool is_carried =
        traits.carried_by == CarriedBy::all || (traits.carried_by == CarriedBy::owners && traits_of(own).has_owners());
    // Only the call knows whether there are many updates per element, so that grouping them pays.
    const bool groups = traits.may_group && !(is_open && combines_exactly(plan));
    if (is_carried && !groups && is_legal(static_cast<Strategy>(other), plan)) all |= bit(static_cast<Strategy>(other));
  }
  return all;
}

std::vector<EntryKind> entries_of(const Plan& plan, const Schedule& schedule) {
  std::vector<EntryKind> list = {EntryKind::range};
  if (plan.checks_first()) list.push_back(EntryKind::check);
  if (!plan.gather && plan.init_kind != InitKind::in_place) list.push_back(EntryKind::init);
  if (chooses_stores(plan, schedule)) list.push_back(EntryKind::stream);
  const auto add = [&](EntryKind kind) {
    if (std::find(list.begin(), list.end(), kind) == list.end()) list.push_back(kind);
  };
  const uint32_t strategies = strategies_of(plan, schedule);
  for (const Strategy strategy : kStrategies) {
    if ((strategies & bit(strategy)) == 0) continue;
    for (int kind = 0; kind < STREW_ENTRY_COUNT; ++kind)
      if ((traits_of(strategy).entries >> kind & 1) != 0) add(static_cast<EntryKind>(kind));
    // Where windows can be cut into columns, in case a few destinations turn out to be hot.
    const bool cuts_columns = traits_of(strategy).has_owners() && plan.accumulate == Accumulate::native;
    if (cuts_columns && legal_window(plan).ok()) add(EntryKind::clip);
  }
  if (plan.accumulate != Accumulate::native) add(EntryKind::keys);  // which say whether destinations are sorted
  return list;
}

}  // namespace strew::inline v0
