// The entries range and clip. range applies every index position of [begin, end), in order, with its whole window;
// clip does the same with a part of each window. There are four ways to emit a window: a call of an external body, a
// RegisterRun, ElementLanes, or loops emitted here. emit_positions() takes the first of them that the plan allows.
//
// With schedule knob `prefetch`, each iteration prefetches the first cache lines of the window that lies `prefetch` positions ahead: where a
// scatter will write, or a gather read. That position's index may be out of bounds, which is harmless, because a prefetch never faults. The
// look-ahead stops at the end of the innermost position loop, so the index array is never read past its end.
// Tested by tests/differential and tests/golden/machine_code_test.cc.
#include "backends/llvm/address/element_lanes.h"
#include "backends/llvm/address/prefetch.h"
#include "backends/llvm/address/window.h"
#include "backends/llvm/compute/register_run.h"
#include "backends/llvm/entries/entries.h"
#include "backends/llvm/entries/external_body.h"

namespace strew::inline v0 {
namespace {
using llvm::Value;

void prefetch(Frame& f, const Pointers& p, bool is_cut) {
  const int tensor = f.indexed();
  Pointers ahead = p;
  for (size_t k = 0; k < f.plan.components.size(); ++k)
    ahead = f.step(ahead, f.plan.components[k].strides, load_component(f, p, k));
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
      f_.e.loop(lo, hi, options_, [&](Value* i) { one(row, hi, i, window); });
    });
  }

  /// Applies kIndexLanes positions per iteration: their offsets are computed in one vector, then each element is applied on its own. For plans
  /// whose windows are single elements (ElementLanes::pay).
  void by_lanes() {
    f_.for_rows(f_.plan.positions, f_.begin(), f_.end(), [&](const Pointers& row, Value*, Value* lo, Value* hi) {
      const auto eight = [&](Value* first) {
        const ElementLanes elements(f_, f_.at_position(row, first));
        for (int lane = 0; lane < kIndexLanes; ++lane) {
          Value* i = f_.e.add(first, f_.e.i64(lane));
          look_ahead(row, hi, i);
          emit_whole_window(f_, elements.moved(f_.at_position(row, i), lane));
        }
      };
      loop_by_lanes(f_, lo, hi, eight, [&](Value* i) { one(row, hi, i, {}); });
    });
  }

 private:
  void one(const Pointers& row, Value* hi, Value* i, WindowBody window) {
    look_ahead(row, hi, i);
    emit_window(f_, f_.at_position(row, i), cut_, window);
  }

  void look_ahead(const Pointers& row, Value* hi, Value* i) {
    if (!looks_ahead_) return;
    Value* last = f_.e.b.CreateSub(hi, f_.e.i64(1));
    Value* ahead = f_.e.smin(f_.e.add(i, f_.e.i64(f_.schedule.prefetch)), last);
    prefetch(f_, f_.at_position(row, ahead), cut_ != WindowCut::none);
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

void emit_windows(Frame& f, WindowCut cut) { PositionLoop(f, cut).one_by_one({}); }

void emit_positions(llvm::Module& module, const BuildRequest& request, const std::string& name, WindowCut cut,
                    const BodySignature* signature) {
  Frame f(module, name, request.plan, request.schedule, request.target);
  if (signature != nullptr) {
    emit_external_body(f, cut, *signature, request.symbol);
  } else if (RegisterRun::pays(f)) {
    emit_register_run(f, cut);
  } else if (ElementLanes::pay(f)) {
    emit_lanes(f, cut);
  } else {
    emit_windows(f, cut);
  }
  f.finish();
}

}  // namespace

void emit_range(llvm::Module& module, const BuildRequest& request, const std::string& name, const BodySignature* signature) {
  emit_positions(module, request, name, cut_of(request.schedule), signature);
}

void emit_clip(llvm::Module& module, const BuildRequest& request, const std::string& name, const BodySignature* signature) {
  emit_positions(module, request, name, WindowCut::owned, signature);
}

}  // namespace strew::inline v0
