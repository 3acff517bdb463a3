// The entries range, stream and clip. range applies every index position of [begin, end), in order, with its whole window; stream does so with
// stores that bypass the caches; clip does the same as range with a part of each window. How positions are walked is decided before
// (backends/lower/walk.h); an external body does one window at a time. Tested by tests/differential and tests/golden/machine_code_test.cc.
#include <cstddef>

#include "backends/llvm/address/element_lanes.h"
#include "backends/llvm/address/index.h"
#include "backends/llvm/address/window.h"
#include "backends/llvm/compute/body.h"
#include "backends/llvm/compute/register_run.h"
#include "backends/llvm/compute/row_pack.h"
#include "backends/llvm/compute/row_run.h"
#include "backends/llvm/entries/entries.h"
#include "backends/llvm/entries/external_body.h"
#include "backends/llvm/entries/row_folds.h"
#include "strew/abi.h"

namespace strew::inline v0 {
namespace {
using llvm::Value;
using lowered::kEqualLanes, lowered::kIndexLanes, lowered::Walk;

/// The loop over the positions [begin, end) of an entry.
class PositionLoop {
 public:
  /// panel: the first element of each row that is done; null: whole rows are.
  PositionLoop(Frame& frame, int together, Value* panel = nullptr)
      : f_(frame), walk_(frame.entry.walk), together_(together), panel_(panel) {
    options_.unroll = walk_.unroll;
  }

  /// Applies one position after the other, `together` per iteration. `window` does its window; empty: emit_window() does.
  void one_by_one(WindowBody window) {
    const auto several = [&](const Row& row, Value* i) {
      for (int k = 0; k < together_; ++k) one(row, f_.e.add(i, f_.e.i64(k)), window);
    };
    in_rows(several, window);
  }

  /// The offsets of a group of positions are computed in one vector, then each element is applied on its own.
  void by_lanes() {
    in_rows(
        [&](const Row& row, Value* i) {
          const ElementLanes elements(f_, f_.at_position(row.pointers, i));
          for (int lane = 0; lane < kIndexLanes; ++lane) {
            Value* position = f_.e.add(i, f_.e.i64(lane));
            look_ahead(row, position);
            emit_whole_window(f_, elements.moved(f_.at_position(row.pointers, position), lane));
          }
        },
        {});
  }

  /// The indices of a group of positions are compared. Where they are equal, the group's elements are a row, whose place is that of its first; else each element is
  /// applied on its own.
  void by_equal_lanes() {
    const Loop& along = f_.plan.positions.back();
    const auto as_row = [&](const lowered::Body& body, const Pointers& p, const Placements&) {
      emit_lane_loop(f_, body, p, &along, f_.e.i64(0), f_.e.i64(kEqualLanes));
    };
    in_rows(
        [&](const Row& row, Value* i) {
          const Pointers first = f_.at_position(row.pointers, i);
          f_.e.when(
              has_equal_indices(f_, first, kEqualLanes),
              [&] {
                look_ahead(row, i);
                emit_window(f_, first, as_row);
              },
              [&] { f_.e.loop(i, f_.e.add(i, f_.e.i64(kEqualLanes)), options_, [&](Value* k) { one(row, k, {}); }); });
        },
        {});
  }

  void by_packs() {
    RowPack pack(f_);
    in_rows([&](const Row& row,
                Value* i) { pack.apply([&](int k) { return f_.at_position(row.pointers, f_.e.add(i, f_.e.i64(k))); }); },
            {});
  }

 private:
  /// A row of positions, or a part of it. look_ahead: in_two_loops where there are enough positions.
  struct Row {
    const Pointers& pointers;
    Value* end;
    Walk::LookAhead look_ahead;
  };

  /// Emits the loop over the row's positions [lo, hi); or two, of which only the first looks ahead, so that it need not ask where the row ends.
  template <class Group>
  void in_rows(const Group& group, WindowBody window) {
    f_.for_rows(f_.plan.positions, f_.begin(), f_.end(), [&](const Pointers& whole, Value*, Value* lo, Value* hi) {
      const Pointers pointers = panel_ == nullptr ? whole : f_.step(whole, f_.plan.window.back().strides, panel_);
      if (f_.entry.cut != WindowCut::none && f_.plan.window.empty()) {  // the columns are iterations of this loop
        lo = f_.e.smax(lo, f_.argument(offsetof(strew_args, w0)));
        hi = f_.e.smax(lo, f_.e.smin(hi, f_.argument(offsetof(strew_args, w1))));
      }
      const auto part = [&](Value* first, Value* last, Walk::LookAhead ahead) {
        const Row row{pointers, hi, ahead};
        const auto single = [&](Value* i) { one(row, i, window); };
        if (together_ == 1) return f_.e.loop(first, last, options_, single);
        f_.e.loop_in_groups(
            first, last, together_, [&](Value* i) { group(row, i); }, single);
      };
      if (walk_.look_ahead != Walk::LookAhead::in_two_loops) return part(lo, hi, walk_.look_ahead);
      Value* const border = f_.e.smax(lo, f_.e.b.CreateSub(hi, f_.e.i64(walk_.ahead)));
      part(lo, border, Walk::LookAhead::in_two_loops);
      part(border, hi, Walk::LookAhead::nothing);
    });
  }

  void one(const Row& row, Value* i, WindowBody window) {
    look_ahead(row, i);
    emit_window(f_, f_.at_position(row.pointers, i), window);
  }

  void look_ahead(const Row& row, Value* i) {
    if (row.look_ahead == Walk::LookAhead::nothing) return;
    Value* ahead = f_.e.add(i, f_.e.i64(walk_.ahead));
    if (row.look_ahead == Walk::LookAhead::to_the_end) ahead = f_.e.smin(ahead, f_.e.b.CreateSub(row.end, f_.e.i64(1)));
    const Pointers p = f_.at_position(row.pointers, ahead);
    if (walk_.fetches_indexed) prefetch_placed(f_, p, f_.indexed(), !f_.plan.gather);
    prefetch_lookups(f_, p);
  }

  Frame& f_;
  const Walk& walk_;
  int together_;
  Value* panel_;
  Emitter::LoopOptions options_;
};

}  // namespace

void emit_positions(llvm::Module& module, const EntryRequest& request) {
  Frame f(module, request.symbol, request.kernel, request.entry, request.target);
  const Walk& walk = request.entry.walk;
  if (request.external != nullptr) {
    ExternalBody body(f, *request.external);
    PositionLoop(f, 1).one_by_one(
        [&](const lowered::Body&, const Pointers& p, const Placements& placements) { body.apply_one(p, placements); });
    return f.finish();
  }
  PositionLoop loop(f, walk.together);
  switch (walk.way) {
    case Walk::Way::windows:
      loop.one_by_one({});
      break;
    case Walk::Way::register_run: {
      RegisterRun run(f);
      loop.one_by_one([&](const lowered::Body&, const Pointers& p, const Placements&) { run.apply(p); });
      break;
    }
    case Walk::Way::row_run: {
      const auto rows = [&](Value* panel) {
        RowRun run(f);
        PositionLoop(f, 1, panel).one_by_one([&](const lowered::Body& body, const Pointers& p, const Placements&) {
          run.apply(body, p);
        });
        run.finish();
      };
      if (walk.panels == 1) {
        rows(nullptr);
      } else {
        const int64_t length = f.plan.window.back().extent.factor / walk.panels;
        f.e.loop(f.e.i64(0), f.e.i64(walk.panels), {}, [&](Value* number) { rows(f.e.times(number, f.e.i64(length))); });
      }
      break;
    }
    case Walk::Way::row_folds:
      emit_row_folds(f);
      break;
    case Walk::Way::index_lanes:
      loop.by_lanes();
      break;
    case Walk::Way::equal_lanes:
      loop.by_equal_lanes();
      break;
    case Walk::Way::packed_rows:
      loop.by_packs();
      break;
  }
  f.finish();
}

void emit_entry(llvm::Module& module, const EntryRequest& request) {
  switch (request.entry.kind) {
    case EntryKind::range:
    case EntryKind::stream:
    case EntryKind::clip:
      return emit_positions(module, request);
    case EntryKind::check:
      return emit_check(module, request);
    case EntryKind::init:
      return emit_init(module, request);
    case EntryKind::keys:
      return emit_keys(module, request);
    case EntryKind::list:
      return emit_list(module, request);
    case EntryKind::merge:
      return emit_merge(module, request);
  }
}

}  // namespace strew::inline v0
