// See spread.h. A slab is the part of the destinations that one iteration of the outermost batching loop writes. a3
// writes single elements through a cache of 64-byte lines, so two cores must not write elements of one line. Tested by
// tests/golden/pto_program_test.cc and tests/differential/npu.
#include "backends/pto/spread.h"

#include <algorithm>

#include "backends/pto/tiles.h"

namespace strew::inline v0::pto {
namespace {

/// Do the iterations of the loop divide the tensor into equal parts that cover all its elements? False if the numbers
/// are not static.
bool covers(const Loop& loop, size_t tensor, int64_t elements) {
  return !loop.strides[tensor].is(0) && loop.strides[tensor].is_static() && loop.extent.is_static() &&
         loop.strides[tensor].factor * loop.extent.factor == elements;
}

/// Can a launch sort the positions by the rows that they go to? Each has one row, which lies behind the one before it, and the number of positions is known.
bool can_sort(const Frame& frame, const RowWalk& walk) {
  const Plan& plan = frame.plan;
  const auto reads_tiles = [](const PlanTensor& t) { return t.role == Role::extra && t.extra != ExtraKind::scalar; };
  return walk.outer.empty() && walk.window.empty() && walk.fractals == 0 && plan.symbols.empty() && plan.sources.size() == 1 &&
         walk.axis.extent.factor > 0 && std::ranges::none_of(plan.tensors, reads_tiles) &&
         frame.options.output != Output::pto_as && !frame.options.index_column && !frame.has_strides();
}

/// Do elements of some result share bytes?
bool packs_results(const Frame& frame) {
  bool out = false;
  for (int pair = 0; pair < frame.plan.pairs; ++pair) out |= frame.per_word(frame.plan.result(pair)) > 1;
  return out;
}

/// Can a launch of its own make the results of a program of windows, each core a part? Accumulators would take a third launch; results with
/// strides, and those of packed operands, are made as a whole.
bool makes_parts(const Frame& frame) {
  bool packed = false;
  for (int pair = 0; pair < frame.plan.pairs; ++pair) packed |= frame.per_word(frame.plan.operand(pair)) > 1;
  return !packed && !packs_results(frame) && frame.attempt.rounded == nullptr && !frame.has_strides() &&
         frame.options.output != Output::pto_as;
}

}  // namespace

CoreSplit split_of(Spread spread) {
  if (spread == Spread::single) return CoreSplit::single;
  return spread == Spread::slab || spread == Spread::ranges ? CoreSplit::destinations : CoreSplit::updates;
}

bool initialises_results(const Frame& frame) {
  return frame.scatter() && (frame.plan.init_kind != InitKind::in_place || frame.attempt.rounded != nullptr);
}

bool initialises_at_once(const Frame& frame) { return initialises_results(frame) && !frame.launches(); }

Spread spread_rows(Frame& frame, const RowWalk& walk, const Combine& combine) {
  const Plan& plan = frame.plan;
  const auto table = static_cast<size_t>(frame.table(0));
  const bool initialises = initialises_results(frame);
  const bool lines = frame.scatter() && walk.elements && frame.chip == Chip::a3;
  const int64_t around = walk.outer.empty() ? 1 : frame.assumed(walk.outer[0].extent);
  const int64_t tiles = frame.assumed_trips(walk.axis.extent, frame.attempt.rows);
  if (!frame.scatter() || (combine.any_order && (!initialises || frame.launches()) && !lines)) {
    const bool nested = !(walk.outer.empty() && walk.window.empty());
    if (nested) frame.others.push_back(frame.launches() ? Sharing::launched_items : Sharing::items);
    if (frame.shares_items()) return Spread::items;
    return around > tiles ? Spread::outer : Spread::tiles;
  }
  if (combine.any_order && !lines && frame.options.output != Output::pto_as) {
    frame.others.push_back(Sharing::launches);
    if (!(walk.outer.empty() && walk.window.empty())) frame.others.push_back(Sharing::launched_items);
  }
  const int64_t elements = frame.elements(frame.table(0)).value.value_or(-1);
  const bool enough = around * 4 >= frame.build.planned_cores() || plan.primary().oob == OobPolicy::wrap;
  const bool slabs = !walk.outer.empty() && covers(walk.outer[0], table, elements) && enough &&
                     (!lines || walk.outer[0].strides[table].factor * bits(plan.tensors[table].dtype) / 8 % kCacheLine == 0);
  // PTO-AS initialises a whole result at once.
  if (slabs) return initialises && frame.options.output == Output::pto_as ? Spread::single : Spread::slab;
  // Ranges need the mode `skip`, so they exclude the mode `wrap`. A single tile is not worth sharing.
  const bool one_tile = walk.outer.empty() && walk.window.empty() && !initialises && walk.axis.extent.is_static() && tiles <= 1;
  if (plan.primary().oob == OobPolicy::wrap || one_tile) return Spread::single;
  if (can_sort(frame, walk)) frame.others.push_back(Sharing::buckets);
  return Spread::ranges;
}

Spread spread_windows(Frame& frame, const WindowWalk& walk) {
  const Plan& plan = frame.plan;
  // Elements of several cores would share bytes.
  if (packs_results(frame)) return Spread::single;
  const bool initialises = initialises_at_once(frame), one = plan.positions.empty();
  if (initialises && makes_parts(frame)) frame.others.push_back(Sharing::launches);
  const auto table = static_cast<size_t>(frame.table(0));
  // Only contiguous results are made slab by slab.
  const int64_t elements = frame.has_strides() ? -1 : frame.elements(frame.table(0)).value.value_or(-1);
  const bool slabs = !one && !plan.positions[0].strides[table].is(0);
  const bool whole = slabs && covers(plan.positions[0], table, elements);
  if (!frame.scatter() && !one) return Spread::outer;
  if (one && !initialises) {
    // If the window is a single tile, one core copies it.
    const bool pieces = walk.has_axis || !walk.run.extent.is_static() || walk.run.extent.factor > walk.cols;
    return pieces ? Spread::tiles : Spread::single;
  }
  if ((whole && !(initialises && frame.options.output == Output::pto_as)) || (slabs && !initialises)) return Spread::slab;
  return !initialises && plan.unique.holds && !one ? Spread::outer : Spread::single;
}

LoopTurns turns_of(Frame& frame, bool is_split, const LoopTurns& all, const std::array<const char*, 3>& hints) {
  ProgramBuilder& b = frame.build;
  if (!is_split) return all;
  const Number from = b.add(all.from, b.mul(b.core(), all.step, hints[0]), hints[1]);
  return {from, b.mul(b.cores(), all.step, hints[2])};
}

Status write_spread(Frame& frame, Spread spread, const std::function<Status()>& all) {
  if (spread != Spread::single) return all();
  ProgramBuilder& b = frame.build;
  Status failed;
  b.note("one core does it all");
  b.when(b.equal(b.core(), b.number(0)), [&] {
    clear_packed_results(frame);
    if (initialises_at_once(frame)) failed = write_init(frame, b.number(0), frame.elements(frame.table(0)));
    if (failed.ok()) failed = all();
    if (failed.ok()) failed = write_rounding(frame, b.number(0), frame.elements(frame.table(0)));
  });
  return failed;
}

void write_nest(Frame& frame, const std::vector<Loop>& loops, const char* hint, std::vector<Number>& at,
                const std::function<void()>& body) {
  const auto succeeds = [&] {
    body();
    return Status();
  };
  static_cast<void>(write_positions(frame, {loops, Spread::single, hint, hint}, at, succeeds));
}

Status write_positions(Frame& frame, const PositionLoops& positions, std::vector<Number>& at,
                       const std::function<Status()>& body) {
  ProgramBuilder& b = frame.build;
  const Spread spread = positions.spread;
  Status failed;
  const std::function<void(size_t)> from = [&](size_t depth) {
    if (depth == positions.loops.size()) {
      failed = body();
      return;
    }
    const bool is_split = depth == 0 && (spread == Spread::outer || spread == Spread::slab);
    const Loop& loop = positions.loops[depth];
    const Number extent = frame.number(loop.extent);
    const Number step = is_split ? b.cores() : b.number(1), first = is_split ? b.core() : b.number(0);
    b.loop(depth == 0 ? positions.outer : positions.inner, first, extent, step, [&](const Number& variable) {
      const bool makes = is_split && spread == Spread::slab && initialises_at_once(frame);
      Number start, stop;
      if (makes) {
        const Number each = frame.number(loop.strides[static_cast<size_t>(frame.table(0))]);
        start = b.mul(variable, each, "slab_start");
        stop = b.add(start, each, "slab_stop");
        failed = write_init(frame, start, stop);
      }
      at.push_back(variable);
      if (failed.ok()) from(depth + 1);
      at.pop_back();
      if (makes && failed.ok()) failed = write_rounding(frame, start, stop);
    });
  };
  from(0);
  return failed;
}

}  // namespace strew::inline v0::pto
