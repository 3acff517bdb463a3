// The entries range, stream and clip. range applies every index position of [begin, end), in order, with its whole window;
// stream does so with stores that bypass the caches; clip does the same as range with a part of each window. There are five ways to emit windows: a call of an external body, a
// RegisterRun, ElementLanes, a RowPack, or loops emitted here. emit_positions() takes the first of them that the plan allows.
//
// Where a window is one vector at most, an iteration of the loop does several positions (schedule knob `unroll`): on Zen 4, an add to a row of
// 16 bytes in the first-level cache takes 0.6 of the time, one to a row of 64 bytes 0.96. Where the schedule prefetches, memory is waited for, and
// that gained nothing.
//
// With schedule knob `prefetch`, each iteration prefetches the first cache lines of the window that lies `prefetch` positions ahead: where a
// scatter will write, or a gather read. That position's index may be out of bounds, which is harmless, because a prefetch never faults. The
// look-ahead stops at the end of the innermost position loop, so the index array is never read past its end: where windows are short code,
// the loop over the last positions is another one, which prefetches nothing.
// Tested by tests/differential and tests/golden/machine_code_test.cc.
#include <algorithm>

#include "backends/llvm/address/element_lanes.h"
#include "backends/llvm/address/prefetch.h"
#include "backends/llvm/address/sink_slot.h"
#include "backends/llvm/address/window.h"
#include "backends/llvm/compute/register_run.h"
#include "backends/llvm/compute/row_pack.h"
#include "backends/llvm/entries/entries.h"
#include "backends/llvm/entries/external_body.h"
#include "schedules/entries.h"

namespace strew::inline v0 {
namespace {
using llvm::Value;

void prefetch(Frame& f, const Pointers& p, bool is_cut) {
  const int tensor = f.indexed();
  Pointers ahead = p;
  for (const Component& c : f.plan.primary().components) ahead = f.step(ahead, c.strides, load_component(f, p, c));
  prefetch_run(f, tensor, ahead[static_cast<size_t>(tensor)], !f.plan.gather, is_cut);
}

/// The loop over the positions [begin, end) of an entry.
class PositionLoop {
 public:
  PositionLoop(Frame& frame, WindowCut cut) : f_(frame), cut_(cut) {
    if (f_.plan.kind == PlanKind::element && f_.plan.positions.size() <= 1) options_.unroll = f_.schedule.unroll;
    // No prefetch of a destination that is stored non-temporally: such a store would have to evict the line again.
    const bool past_cache = f_.schedule.nontemporal && !f_.plan.gather;
    looks_ahead_ = f_.schedule.prefetch > 0 && !past_cache && !f_.plan.positions.empty() && !f_.packed(f_.indexed());
  }

  /// Applies one position per iteration. `window` does its window; empty: emit_window() does.
  void one_by_one(WindowBody window) {
    f_.for_rows(f_.plan.positions, f_.begin(), f_.end(), [&](const Pointers& row, Value*, Value* lo, Value* hi) {
      in_parts(lo, hi, [&](Value* first, Value* last, Ahead ahead) { each({row, hi, ahead}, first, last, window); });
    });
  }

  /// Applies kIndexLanes positions per iteration: their offsets are computed in one vector, then each element is applied on its own. For plans
  /// whose windows are single elements (ElementLanes::pay).
  void by_lanes() {
    f_.for_rows(f_.plan.positions, f_.begin(), f_.end(), [&](const Pointers& row, Value*, Value* lo, Value* hi) {
      in_parts(lo, hi, [&](Value* first, Value* last, Ahead ahead) {
        const Row from{row, hi, ahead};
        const auto eight = [&](Value* at) {
          const ElementLanes elements(f_, f_.at_position(row, at));
          for (int lane = 0; lane < kIndexLanes; ++lane) {
            Value* i = f_.e.add(at, f_.e.i64(lane));
            look_ahead(from, i);
            emit_whole_window(f_, elements.moved(f_.at_position(row, i), lane));
          }
        };
        f_.e.loop_in_groups(first, last, kIndexLanes, eight, [&](Value* i) { one(from, i, {}); });
      });
    });
  }

  /// Applies RowPack::kRows positions per iteration, which prefetches nothing.
  void by_packs() {
    RowPack pack(f_);
    f_.for_rows(f_.plan.positions, f_.begin(), f_.end(), [&](const Pointers& row, Value*, Value* lo, Value* hi) {
      const auto several = [&](Value* i) { pack.apply([&](int k) { return f_.at_position(row, f_.e.add(i, f_.e.i64(k))); }); };
      f_.e.loop_in_groups(lo, hi, RowPack::kRows, several, [&](Value* i) { one({row, hi, Ahead::nothing}, i, {}); });
    });
  }

 private:
  /// How far a position looks ahead: not at all, as far as there are positions, or by the schedule's distance, because there are enough.
  enum class Ahead : uint8_t { nothing, to_the_end, whole };
  struct Row {
    const Pointers& pointers;
    Value* end;
    Ahead ahead;
  };

  /// Emits a loop over [lo, hi); or two, of which only the first looks ahead, so that it need not ask where the row ends. Both have all of a
  /// window's code, so this is for short windows.
  template <class Loop>
  void in_parts(Value* lo, Value* hi, const Loop& loop) {
    if (!looks_ahead_) return loop(lo, hi, Ahead::nothing);
    if (!is_little_code()) return loop(lo, hi, Ahead::to_the_end);
    Value* const border = f_.e.smax(lo, f_.e.b.CreateSub(hi, f_.e.i64(f_.schedule.prefetch)));
    loop(lo, border, Ahead::whole);
    loop(border, hi, Ahead::nothing);
  }

  bool is_little_code() const {
    constexpr size_t kFewNodes = 6, kFewLoops = 1;
    return f_.plan.window.size() <= kFewLoops && f_.plan.combine.nodes.size() <= kFewNodes;
  }

  void each(const Row& row, Value* lo, Value* hi, WindowBody window) {
    const auto single = [&](Value* i) { one(row, i, window); };
    const int together = window || !(waits_for_sinks() || is_short()) ? 1 : f_.schedule.unroll;
    if (together == 1) return f_.e.loop(lo, hi, options_, single);
    const auto several = [&](Value* i) {
      for (int k = 0; k < together; ++k) single(f_.e.add(i, f_.e.i64(k)));
    };
    f_.e.loop_in_groups(lo, hi, together, several, single);
  }

  /// Is a window a run of constant length that a vector holds, whatever the index, and is nothing prefetched?
  bool is_short() const {
    if (looks_ahead_ || cut_ != WindowCut::none || f_.plan.window.empty() || !is_little_code()) return false;
    const Loop& run = f_.plan.window.back();
    return run.extent.is_static() && !run.move().is_bounded && !f_.packed(f_.indexed()) &&
           run.extent.factor * f_.element_bytes(f_.indexed()) <= f_.schedule.vector_bytes;
  }

  /// Would an update that is dropped wait for the one that was dropped before it, because they share a sink?
  bool waits_for_sinks() const {
    const auto& nodes = f_.plan.combine.nodes;
    return cut_ == WindowCut::none && !f_.plan.gather && uses_sink_slot(f_) &&
           std::any_of(nodes.begin(), nodes.end(), [](const ExprNode& node) { return node.op == ExprOp::current; });
  }

  void one(const Row& row, Value* i, WindowBody window) {
    look_ahead(row, i);
    emit_window(f_, f_.at_position(row.pointers, i), cut_, window);
  }

  void look_ahead(const Row& row, Value* i) {
    if (row.ahead == Ahead::nothing) return;
    Value* ahead = f_.e.add(i, f_.e.i64(f_.schedule.prefetch));
    if (row.ahead == Ahead::to_the_end) ahead = f_.e.smin(ahead, f_.e.b.CreateSub(row.end, f_.e.i64(1)));
    prefetch(f_, f_.at_position(row.pointers, ahead), cut_ != WindowCut::none);
  }

  Frame& f_;
  WindowCut cut_;
  Emitter::LoopOptions options_;
  bool looks_ahead_ = false;
};

/// Every window is done by a call of the external body.
void emit_external_body(Frame& f, WindowCut cut, const BodySignature& signature, const std::string& symbol) {
  ExternalBody external_body(f, signature, symbol);
  PositionLoop(f, cut).one_by_one(
      [&](const Pointers& p, const Placement& placement, WindowCut part) { external_body.apply_one(p, &placement, part); });
}

/// Single elements with sorted indices: an element that several positions in a row update stays in a register.
void emit_register_run(Frame& f, WindowCut cut) {
  RegisterRun run(f);
  PositionLoop(f, cut).one_by_one([&](const Pointers& p, const Placement&, WindowCut) { run.apply(p); });
}

void emit_lanes(Frame& f, WindowCut cut) { PositionLoop(f, cut).by_lanes(); }

/// Several short rows are moved at a time.
void emit_packs(Frame& f) { PositionLoop(f, WindowCut::none).by_packs(); }

void emit_windows(Frame& f, WindowCut cut) { PositionLoop(f, cut).one_by_one({}); }

void emit_positions(llvm::Module& module, const BuildRequest& request, const Schedule& schedule, const std::string& name,
                    WindowCut cut, const BodySignature* signature) {
  Frame f(module, name, request.plan, schedule, request.target);
  if (signature != nullptr) {
    emit_external_body(f, cut, *signature, request.symbol);
  } else if (RegisterRun::pays(f)) {
    emit_register_run(f, cut);
  } else if (ElementLanes::pay(f)) {
    emit_lanes(f, cut);
  } else if (cut == WindowCut::none && RowPack::pays(f)) {
    emit_packs(f);
  } else {
    emit_windows(f, cut);
  }
  f.finish();
}

}  // namespace

void emit_range(llvm::Module& module, const BuildRequest& request, const std::string& name, const BodySignature* signature) {
  Schedule schedule = request.schedule;
  const std::vector<EntryKind> entries = entries_of(request.plan, schedule);
  const bool has_both = std::find(entries.begin(), entries.end(), EntryKind::stream) != entries.end();
  if (has_both) schedule.nontemporal = false;  // entry stream has the others
  emit_positions(module, request, schedule, name, cut_of(schedule), signature);
}

void emit_stream(llvm::Module& module, const BuildRequest& request, const std::string& name, const BodySignature* signature) {
  Schedule schedule = request.schedule;
  schedule.nontemporal = true;
  emit_positions(module, request, schedule, name, cut_of(schedule), signature);
}

void emit_clip(llvm::Module& module, const BuildRequest& request, const std::string& name, const BodySignature* signature) {
  emit_positions(module, request, request.schedule, name, WindowCut::owned, signature);
}

}  // namespace strew::inline v0
