// See walk.h. Code generators follow what is decided here; where a way has no code in a backend, or a backend has its own order (the blocks of
// backends/portable, the loops that Halide makes), it takes no notice.
#include "backends/lower/walk.h"

#include <algorithm>
#include <bit>

#include "backends/lower/tiles.h"
#include "backends/lower/vector_code.h"
#include "base/cpus.h"
#include "schedules/target.h"

namespace strew::inline v0::lowered {
namespace {

constexpr int64_t kWidestSink = 16;  // bytes of the widest element

/// Vector registers that a row may take, so that some are left for what is computed with it.
int64_t row_registers(const Target& target) {
  constexpr int64_t kOfMany = 24, kOfSixteen = 12;
  return target.arch != "x86_64" || has_masks(target) ? kOfMany : kOfSixteen;
}

/// What the passes ask of a kernel.
class Question {
 public:
  Question(const Kernel& kernel, const Target& target)
      : plan(kernel.plan), schedule(kernel.schedule), kernel_(kernel), target_(target) {}

  const Plan& plan;
  const Schedule& schedule;

  int width(int tensor) const { return bits(plan.tensors[static_cast<size_t>(tensor)].dtype); }
  bool is_packed(int tensor) const { return width(tensor) < 8; }
  int64_t bytes(int tensor) const { return width(tensor) / 8; }
  bool is_string(int tensor) const { return plan.tensors[static_cast<size_t>(tensor)].dtype == DType::string; }

  /// Is no window cut by the strategy? Where windows are single elements, it cuts the loop of positions.
  bool is_whole(const Entry& entry) const { return entry.cut == WindowCut::none || plan.window.empty(); }
  bool reads_current() const {
    return std::ranges::any_of(plan.combine.nodes, [](const ExprNode& n) { return n.op == ExprOp::current; });
  }
  /// Ways of walking that place the windows of several positions at once are made for one source.
  bool has_one_source() const { return plan.sources.size() == 1; }
  bool looks_ahead(const Entry& entry) const;
  bool has_little_code() const;
  bool drops_to_sinks() const;
  bool has_sinks(const Entry& entry) const { return is_whole(entry) && drops_to_sinks(); }
  bool waits_for_sinks(const Entry& entry) const;
  bool is_short(const Entry& entry) const;
  bool has_index_lanes() const;
  bool pays_register() const;
  /// In how many panels do rows pay registers? 0: they do not.
  int64_t row_panels(const Entry& entry) const;
  /// Has nearly every destination an update?
  bool reaches_most() const { return updates_per_element() >= 1; }
  bool folds_rows(const Entry& entry) const;
  bool pays_lanes(const Entry& entry) const;
  bool pays_sinks_of_lanes() const;
  bool may_be_rows(const Entry& entry) const;
  bool pays_packing(const Entry& entry) const;

 private:
  const std::vector<PlaceRule>& rules() const { return kernel_.primary().rules; }
  bool all_rules(PlaceRule rule) const {
    return !rules().empty() && std::ranges::all_of(rules(), [&](PlaceRule each) { return each == rule; });
  }
  int64_t table_elements() const;
  int64_t updates_per_element() const;
  bool moves_whole_rows() const;

  const Kernel& kernel_;
  const Target& target_;
};

/// No prefetch of a destination that is stored past the caches: such a store would have to evict the line again.
bool Question::looks_ahead(const Entry& entry) const {
  const bool past_cache = entry.nontemporal && !plan.gather;
  return schedule.prefetch > 0 && !past_cache && !plan.positions.empty() && !is_packed(plan.indexed());
}

/// Is a window so little code that it may stand twice?
bool Question::has_little_code() const {
  constexpr size_t kFewNodes = 6, kFewLoops = 1;
  return plan.window.size() <= kFewLoops && !has_row_values(plan) && plan.combine.nodes.size() <= kFewNodes;
}

/// If the policy drops single elements of whole bytes, the store goes to a spare element (the sink) instead of being skipped by a branch, because
/// a branch on random indices is mispredicted. A gather reads a copy of the fill value in the same way.
bool Question::drops_to_sinks() const {
  if (!plan.window.empty() || !has_one_source()) return false;
  const OobPolicy oob = plan.primary().oob;
  const auto is_whole = [&](int tensor) { return !is_packed(tensor) && bytes(tensor) <= kWidestSink; };
  if (plan.gather)
    return kernel_.primary().dropped != Dropped::nothing && is_whole(plan.operand(0)) && !is_string(plan.operand(0));
  if (oob != OobPolicy::skip_element && oob != OobPolicy::skip_window) return false;
  for (int i = 0; i < plan.pairs; ++i)
    if (!is_whole(plan.result(i))) return false;
  return true;
}

/// Would an update that is dropped wait for the one that was dropped before it, because they share a sink?
bool Question::waits_for_sinks(const Entry& entry) const { return has_sinks(entry) && !plan.gather && reads_current(); }

/// Is a window a run of constant length that a vector holds, whatever the index, and is nothing prefetched?
bool Question::is_short(const Entry& entry) const {
  if (looks_ahead(entry) || entry.cut != WindowCut::none || plan.window.empty() || !has_little_code()) return false;
  const Loop& run = plan.window.back();
  return run.extent.is_static() && !run.is_bounded() && !is_packed(plan.indexed()) &&
         run.extent.factor * bytes(plan.indexed()) <= schedule.vector_bytes;
}

/// Signed indices of 32 or 64 bits (under wrap: 32, because 64-bit lanes would be divided one by one), of each tensor adjacent in memory, static
/// dims of up to 2^30, and results of a scatter that the innermost position loop does not move.
bool Question::has_index_lanes() const {
  constexpr int64_t kMostStride = 4, kMostDim = int64_t{1} << 30;
  const IndexSource& source = plan.primary();
  // Before SSE4.2 there are no vector minima and products of 32 bits, and no vector comparisons of 64: lanes would take up to twice the time
  // of scalar code.
  if (target_.arch == "x86_64" && (features_of(target_) & feature_bit("sse4.2")) == 0) return false;
  if (source.components.empty() || plan.positions.empty()) return false;
  const DType dtype = source.components.front().dtype;
  const bool narrow = dtype == DType::i32;
  if (!narrow && dtype != DType::i64) return false;
  if (!narrow && source.oob == OobPolicy::wrap) return false;
  const Loop& loop = plan.positions.back();
  for (int i = 0; i < plan.pairs && !plan.gather; ++i)
    if (!loop.strides[static_cast<size_t>(plan.result(i))].is(0)) return false;
  for (size_t k = 0; k < source.components.size(); ++k) {
    const Component& c = source.components[k];
    const bool fits =
        c.dtype == dtype && c.dim.is_static() && c.window.is_static() && c.dim.factor >= 1 && c.dim.factor <= kMostDim;
    if (!fits || rules()[k] == PlaceRule::cut || rules()[k] == PlaceRule::split) return false;
    const Term& stride = loop.strides[static_cast<size_t>(c.tensor)];
    if (!stride.is_static() || stride.factor < 1 || stride.factor > kMostStride || !c.index_offset.is_static()) return false;
    if (stride.is(1)) continue;
    // All components of kIndexLanes positions that lie in this tensor are loaded at once. So that the load does not reach beyond the end of the index array, the last
    // component of a position must be directly followed by the next position.
    const bool ends = std::ranges::any_of(source.components, [&](const Component& other) {
      return other.tensor == c.tensor && other.index_offset.is(stride.factor - 1);
    });
    if (!ends || c.index_offset.factor >= stride.factor) return false;
  }
  return true;
}

/// The elements of the indexed tensor; 0 if its dims are not constant, or the windows have more than one element.
int64_t Question::table_elements() const {
  if (!plan.window.empty()) return 0;
  __int128 elements = 1;
  constexpr __int128 kMost = __int128{1} << 62;
  for (const Loop& loop : plan.positions) {
    if (loop.strides[static_cast<size_t>(plan.indexed())].is(0)) continue;
    if (!loop.extent.is_static() || elements > kMost) return 0;
    elements *= loop.extent.factor;
  }
  for (const Component& c : plan.primary().components) {
    if (!c.dim.is_static() || elements > kMost) return 0;
    elements *= c.dim.factor;
  }
  return static_cast<int64_t>(std::min(elements, kMost));
}

/// The average number of updates per element of the result; 0 if the sizes are not constant.
int64_t Question::updates_per_element() const {
  const auto result = static_cast<size_t>(plan.result(0));
  __int128 positions = 1, elements = 1;
  constexpr __int128 kMost = __int128{1} << 62;
  for (const Loop& loop : plan.positions) {
    if (!loop.extent.is_static() || positions > kMost) return 0;
    positions *= loop.extent.factor;
    if (!loop.strides[result].is(0)) elements *= loop.extent.factor;
  }
  for (const Component& c : plan.primary().components) {
    if (!c.dim.is_static() || elements > kMost) return 0;
    elements *= c.dim.factor;
  }
  return elements == 0 ? 0 : static_cast<int64_t>(std::min(positions / elements, kMost));
}

/// Combines runs of equal indices in a register. Without it, each update of a run waits for the load of what the previous update stored, which takes
/// several cycles more than the arithmetic. The element is loaded only if its address differs from the previous one: a branch that is mispredicted
/// about once per run. On Zen 3, with one update per element, an update takes 0.7 ns with plain loads and 1.7 to 3 ns with the register; with 64
/// updates per element, 3.0 ns and 0.7 ns. The two are equal at about seven.
bool Question::pays_register() const {
  constexpr int64_t kWidest = 8, kUpdates = 8;
  if (plan.gather || plan.pairs != 1 || !plan.window.empty() || plan.pure_move || has_row_values(plan)) return false;
  if (!plan.primary().sorted.holds || plan.unique.holds || updates_per_element() < kUpdates) return false;
  return !is_packed(plan.result(0)) && bytes(plan.result(0)) <= kWidest && reads_current();
}

/// Combines runs of rows in registers: the row is loaded and stored once per run, and an update does not wait until what the one before stored can be
/// loaded. `./dev bench fused` (sorted_rows) on Zen 4 with AVX-512, one thread, 4,000 sorted updates of 1,000 rows in place, ns per update without and
/// with the registers: rows of 16 f32 1.9 to 6.6 and 0.9 to 1.4, of 64 f32 5.0 to 10.2 and 3.7 to 4.2, of 256 f32 17 to 25 and 14 to 17. Rows of up to 32
/// bytes are as pays_register() says of elements.
///
/// Where updates are looked up, a row that is too long for the registers is done in panels, as many equal parts of it as it takes: all positions for the
/// first panel, then all for the next. (Updates that lie in order are read faster whole: rows of 512 f32 took 1.6 times as long in panels.) On Zen 4, bags of 32 rows of 512 f16 took 0.7 of the time so with AVX-512 (2 panels), with AVX2 those of 128 f16 0.75 (2 panels) and those of
/// 256 f32 0.75 (4 panels of 256 bytes), but those of 256 f16 1.2 (4 panels of 128 bytes).
int64_t Question::row_panels(const Entry& entry) const {
  constexpr int64_t kMostNodes = 128, kShortBytes = 32, kUpdates = 8, kMostPanels = 4, kShortPanelBytes = 256;
  if (plan.gather || plan.pairs != 1 || plan.window.size() != 1 || plan.pure_move || has_row_values(plan)) return 0;
  if (plan.kind != PlanKind::row || entry.cut != WindowCut::none || entry.nontemporal || !reads_current()) return 0;
  if (!plan.primary().sorted.holds || plan.unique.holds) return 0;
  const Loop& row = plan.window.front();
  const Body& body = kernel_.update;
  if (!row.extent.is_static() || row.extent.factor < 1 || row.is_bounded() || !is_vector_code(plan, body, row)) return 0;
  const bool has_long_runs = updates_per_element() >= kUpdates;
  const int update = plan.update(0);
  const bool looks_up = plan.tensors[static_cast<size_t>(update)].source > 0;
  if (row.extent.factor * bytes(plan.result(0)) <= kShortBytes && !has_long_runs) return 0;
  const int lanes = lanes_of(plan, body, schedule.vector_bytes);
  for (int64_t panels = 1; panels <= kMostPanels; ++panels) {
    const bool is_short = panels > 2 && row.extent.factor / panels * bytes(update) < kShortPanelBytes;
    if (panels > 1 && (!looks_up || !has_long_runs || is_short)) return 0;
    const int64_t parts = std::ssize(row_parts(row.extent.factor / panels, lanes));
    if (row.extent.factor % panels == 0 && parts <= row_registers(target_) && parts * std::ssize(body.graph->nodes) <= kMostNodes)
      return panels;
  }
  return 0;
}

/// Do all updates of a run through the innermost position loop go to one element, and those of every other run to another? On Zen 4, sums of 1,024 rows of 1,024 f32
/// take 0.14 ns per element side by side, and 3.3 ns with a window over the rows, whose elements lie apart.
bool Question::folds_rows(const Entry& entry) const {
  constexpr int64_t kWidest = 8;
  if (plan.gather || plan.pairs != 1 || plan.sources.size() > 1 || !plan.primary().components.empty()) return false;
  if (!plan.window.empty() || has_row_values(plan)) return false;
  if (entry.kind != EntryKind::range || entry.cut != WindowCut::none || plan.positions.size() < 2 || !reads_current())
    return false;
  const auto result = static_cast<size_t>(plan.result(0));
  const auto moves_result = [&](const Loop& loop) { return loop.strides[result].is_static() && !loop.strides[result].is(0); };
  return plan.positions.back().strides[result].is(0) &&
         std::all_of(plan.positions.begin(), plan.positions.end() - 1, moves_result) && !is_packed(plan.result(0)) &&
         bytes(plan.result(0)) <= kWidest;
}

/// Offsets of single elements in vectors: policy clamp then costs no more than trusted indices do, and wrap is a multiplication by the reciprocal
/// instead of a division behind a branch.
bool Question::pays_lanes(const Entry& entry) const {
  if (plan.pairs != 1 || !plan.window.empty() || has_row_values(plan) || is_packed(plan.indexed()) || !has_index_lanes())
    return false;
  const bool drops = all_rules(PlaceRule::fits) || all_rules(PlaceRule::inside);
  if (!all_rules(PlaceRule::clamped) && !all_rules(PlaceRule::wrapped) && !(drops && has_sinks(entry) && pays_sinks_of_lanes()))
    return false;
  const auto at = static_cast<size_t>(plan.indexed());
  return plan.positions.back().strides[at].is(0) &&
         std::ranges::all_of(plan.primary().components, [&](const Component& c) { return c.strides[at].is_static(); });
}

/// Under policies skip and fill, where what is dropped has a sink for each lane. One position at a time takes a comparison and a selected address; in lanes, more positions fit into the reorder buffer.
/// Nanoseconds per element, one at a time and in lanes, on a Xeon with AVX-512 and 2 MiB of L2 (-: negative indices count from the end):
///
///   table       added by 1 index   1, -        2            2, -         set by 1     2, -          gathered by 1   1, -         2, -
///   16 KB       0.41, 0.57         0.54, 0.61  0.59, 0.73   0.84, 0.85   0.30, 0.40   0.77, 0.79    0.30, 0.33      0.43, 0.40   0.80, 0.59
///   360 KB      1.03, 1.06         1.00, 1.03  1.05, 1.25   1.08, 1.28   1.13, 1.07   1.08, 1.26
///   4 MB        2.12, 1.99         2.36, 2.05  2.59, 2.31   3.13, 2.48   3.3, 3.3     2.9, 3.3
///   64 MB       10.4, 9.6          11.4, 11.1  10.7, 11.4   17.0, 11.7   8.5, 9.0     10.7, 9.0
///
/// With prefetches, all of these take longer.
bool Question::pays_sinks_of_lanes() const {
  // Bytes, more than most second-level caches have. What a machine has must not decide which code a symbol names.
  constexpr int64_t kLarge = 1 << 20;
  if (schedule.prefetch > 0) return false;
  const bool is_large = table_elements() > kLarge / bytes(plan.indexed());
  if (!plan.gather) return is_large && reads_current();
  const std::vector<Component>& components = plan.primary().components;
  return is_large || components.size() > 1 || components.front().dtype != DType::i32 || components.front().normalize_negative;
}

/// Is each element next to that of the position before, if both have the same index? So it is where an index for each element was made of one for each row, by
/// broadcasting it, as exporters write ONNX ScatterElements and PyTorch programs scatter_add. On a Xeon with AVX-512, 300,000 x 64 sums of f32 with such indices
/// take 0.74 of the processor time, reading the indices twice included, and with random ones 0.95.
bool Question::may_be_rows(const Entry& entry) const {
  if (entry.nontemporal || !plan.window.empty() || has_row_values(plan) || plan.positions.size() < 2) return false;
  if (kernel_.primary().dropped != Dropped::nothing || plan.primary().components.size() != 1) return false;
  const Loop& row = plan.positions.back();
  const auto lies_in_order = [&](int tensor) { return row.strides[static_cast<size_t>(tensor)].is(1); };
  if (is_packed(plan.primary().components.front().tensor)) return false;
  const bool is_long = !row.extent.is_static() || row.extent.factor >= kEqualLanes;
  return is_long && lies_in_order(plan.indexed()) && lies_in_order(plan.primary().components.front().tensor) &&
         is_vector_code(plan, kernel_.update, row);
}

/// Does every position either move the whole row or, in a scatter, none of it, without a loop or a division?
bool Question::moves_whole_rows() const {
  if (plan.window.back().is_bounded()) return false;
  for (size_t k = 0; k < rules().size(); ++k) {
    const Component& c = plan.primary().components[k];
    switch (rules()[k]) {
      case PlaceRule::trusted:
      case PlaceRule::inside:
        break;
      case PlaceRule::clamped:
        if (!c.dim.is_static() || !c.window.is_static() || c.dim.factor < c.window.factor) return false;
        break;
      case PlaceRule::fits:
      case PlaceRule::cut:
        if (!c.window.is(1)) return false;
        break;
      case PlaceRule::wrapped:
      case PlaceRule::split:
        return false;
    }
  }
  return true;
}

/// Several short rows in a vector. On Zen 4 with a table in the first-level cache, a position takes 0.45 to 0.9 of the time of one at a time (rows of 4
/// to 32 bytes; gathers and scatters), most of it because positions share the loop's own instructions. Wider vectors gained nothing. Where lines
/// come from main memory, eight stores in a row waited up to 1.1 times as long as one per position, so nothing is packed where the schedule
/// prefetches; nor are rows of 32 bytes scattered so.
bool Question::pays_packing(const Entry& entry) const {
  constexpr int64_t kLeastBytes = 4, kMostBytes = 32, kMostScattered = 16;
  if (entry.cut != WindowCut::none || entry.nontemporal || schedule.prefetch > 0 || target_.arch != "x86_64") return false;
  if (!plan.pure_move || plan.pairs != 1 || plan.window.size() != 1 || plan.positions.empty() || is_packed(plan.indexed()))
    return false;
  const Loop& run = plan.window.back();
  const int ordered = plan.gather ? plan.result(0) : plan.update(0);
  const auto tensor = static_cast<size_t>(ordered), table = static_cast<size_t>(plan.indexed());
  if (!run.extent.is_static() || !run.strides[tensor].is(1) || !run.strides[table].is(1) || !moves_whole_rows()) return false;
  if (kernel_.primary().dropped != Dropped::nothing && is_string(plan.indexed())) return false;
  const int64_t row = run.extent.factor * bytes(plan.indexed());
  return row >= kLeastBytes && row <= (plan.gather ? kMostBytes : kMostScattered) && row <= schedule.vector_bytes &&
         std::has_single_bit(static_cast<uint64_t>(row)) && plan.positions.back().strides[tensor].is(run.extent.factor);
}

bool walks_positions(EntryKind kind) { return kind == EntryKind::range || kind == EntryKind::stream || kind == EntryKind::clip; }

void choose_order(Kernel& kernel, const Target& target) {
  const Question q(kernel, target);
  for (Entry& entry : kernel.entries) {
    if (entry.kind == EntryKind::keys && q.has_index_lanes()) entry.walk.way = Walk::Way::index_lanes;
    if (!walks_positions(entry.kind)) continue;
    if (const int64_t panels = q.row_panels(entry); panels > 0) {
      entry.walk.way = Walk::Way::row_run;
      entry.walk.panels = static_cast<int>(panels);
    } else if (q.folds_rows(entry)) {
      entry.walk.way = Walk::Way::row_folds;
    } else if (q.has_one_source() && q.pays_register()) {
      entry.walk.way = Walk::Way::register_run;
    } else if (q.has_one_source() && q.pays_lanes(entry)) {
      entry.walk.way = Walk::Way::index_lanes;
      entry.walk.sinks = q.has_sinks(entry);
    } else {
      if (q.has_one_source() && q.may_be_rows(entry)) entry.walk.way = Walk::Way::equal_lanes;
      entry.walk.sinks = q.has_sinks(entry);
    }
  }
}

void choose_tiles(Kernel& kernel, const Target& /*target*/) {
  for (Entry& entry : kernel.entries)
    if (walks_positions(entry.kind)) entry.walk.tile = tile_of(kernel, entry);
}

/// Prefetches the window that lies `prefetch` positions ahead: where a scatter will write, or a gather read. That position's index may be out of
/// bounds, which is harmless, because a prefetch never faults. The look-ahead stops at the end of the innermost position loop, so that the index
/// array is never read past its end: where windows are short code, the loop over the last positions is another one, which prefetches nothing.
void choose_prefetch(Kernel& kernel, const Target& target) {
  const Question q(kernel, target);
  for (Entry& entry : kernel.entries) {
    if (!walks_positions(entry.kind) || !q.looks_ahead(entry)) continue;
    // Sorted rows that lie one after the other are prefetched by the processor. On Zen 4, rows of 64 f32 of which every fourth has an update take
    // twice the time without these prefetches.
    const bool lie_in_order = q.plan.kind == PlanKind::slice_update && !q.has_one_source();
    entry.walk.fetches_indexed = !lie_in_order && (entry.walk.way != Walk::Way::row_run || !q.reaches_most());
    if (!entry.walk.fetches_indexed && q.has_one_source()) continue;
    entry.walk.ahead = q.schedule.prefetch;
    entry.walk.look_ahead = q.has_little_code() ? Walk::LookAhead::in_two_loops : Walk::LookAhead::to_the_end;
  }
}

/// Where a window is one vector at most, an iteration of the loop does several positions: on Zen 4, an add to a row of 16 bytes in the first-level
/// cache takes 0.6 of the time, one to a row of 64 bytes 0.96. Where the schedule prefetches, memory is waited for, and that gained nothing.
void choose_packing(Kernel& kernel, const Target& target) {
  const Question q(kernel, target);
  for (Entry& entry : kernel.entries) {
    if (!walks_positions(entry.kind)) continue;
    Walk& walk = entry.walk;
    if (q.plan.kind == PlanKind::element && q.plan.positions.size() <= 1) walk.unroll = q.schedule.unroll;
    if (walk.way == Walk::Way::index_lanes) {
      walk.together = kIndexLanes;
    } else if (walk.way == Walk::Way::equal_lanes) {
      walk.together = kEqualLanes;
    } else if (walk.way == Walk::Way::windows && q.has_one_source() && q.pays_packing(entry)) {
      walk.way = Walk::Way::packed_rows;
      walk.together = kPackedRows;
    } else if (walk.way == Walk::Way::windows && walk.tile.size == 0 && (q.waits_for_sinks(entry) || q.is_short(entry))) {
      walk.together = q.schedule.unroll;
    }
  }
}

constexpr Pass kPasses[] = {
    {"order", choose_order}, {"tiles", choose_tiles}, {"prefetch", choose_prefetch}, {"packing", choose_packing}};

}  // namespace

std::span<const Pass> passes() { return kPasses; }

void run_passes(Kernel& kernel, const Target& target) {
  for (const Pass& pass : kPasses) pass.run(kernel, target);
}

}  // namespace strew::inline v0::lowered
