// The range entry: every position of [begin, end), in order, with its whole window; and clip, the same with a part of each window.
//
// With schedule knob `prefetch`, the position that many iterations ahead has its first lines prefetched where it will write (gather:
// read); its index may be out of range, which is harmless: prefetch never faults. The look-ahead stops at the end of the row of
// positions, so the index array is never read past its end.
#include <optional>

#include "backends/llvm/carried.h"
#include "backends/llvm/element_lanes.h"
#include "backends/llvm/entries.h"
#include "backends/llvm/outside.h"
#include "backends/llvm/prefetch.h"
#include "backends/llvm/window.h"

namespace strew {
namespace {
using llvm::Value;

void prefetch(Frame& f, const Pointers& p, bool is_cut) {
  const int tensor = f.indexed();
  Pointers ahead = p;
  for (size_t k = 0; k < f.plan.components.size(); ++k)
    ahead = f.step(ahead, f.plan.components[k].strides, load_component(f, p, k));
  prefetch_run(f, tensor, ahead[static_cast<size_t>(tensor)], !f.plan.gather, is_cut);
}

void emit_positions(llvm::Module& module, const BuildRequest& request, const std::string& name, WindowCut cut, const Form* form) {
  Frame f(module, name, request.plan, request.schedule, request.target);
  std::optional<Outside> outside;
  if (form != nullptr) outside.emplace(f, *form, request.symbol);
  const auto window_outside = [&](const Pointers& p, const Placement& placement, WindowCut part) {
    outside->apply_one(p, &placement, part);
  };
  std::optional<CarriedElement> carried;
  if (!outside && CarriedElement::pays(f)) carried.emplace(f);
  const auto window_carried = [&](const Pointers& p, const Placement&, WindowCut) { carried->apply(p); };
  Emitter::LoopOptions options;
  if (f.plan.kind == PlanKind::element && f.plan.positions.size() <= 1) options.unroll = f.schedule.unroll;
  // A streaming store wants its line out of the cache.
  const bool past_cache = f.schedule.nontemporal && !f.plan.gather;
  const bool ahead = f.schedule.prefetch > 0 && !past_cache && !f.plan.positions.empty() && !f.packed(f.indexed());
  const bool by_lanes = !outside && !carried && ElementLanes::pay(f);
  f.for_rows(f.plan.positions, f.begin(), f.end(), [&](const Pointers& row, Value*, Value* lo, Value* hi) {
    const auto at = [&](Value* i) { return f.at_position(row, i); };
    const auto look_ahead = [&](Value* i) {
      if (!ahead) return;
      Value* last = f.e.b.CreateSub(hi, f.e.i64(1));
      prefetch(f, at(f.e.smin(f.e.add(i, f.e.i64(f.schedule.prefetch)), last)), cut != WindowCut::none);
    };
    const auto one = [&](Value* i) {
      look_ahead(i);
      emit_window(f, at(i), cut, outside ? WindowBody(window_outside) : carried ? WindowBody(window_carried) : WindowBody());
    };
    if (!by_lanes) return f.e.loop(lo, hi, options, one);
    const auto eight = [&](Value* first) {
      const ElementLanes elements(f, at(first));
      for (int lane = 0; lane < kIndexLanes; ++lane) {
        Value* i = f.e.add(first, f.e.i64(lane));
        look_ahead(i);
        emit_whole_window(f, elements.moved(at(i), lane));
      }
    };
    loop_by_lanes(f, lo, hi, eight, one);
  });
  f.finish();
}

}  // namespace

void emit_range(llvm::Module& module, const BuildRequest& request, const std::string& name, const Form* form) {
  emit_positions(module, request, name, cut_of(request.schedule), form);
}

void emit_clip(llvm::Module& module, const BuildRequest& request, const std::string& name, const Form* form) {
  emit_positions(module, request, name, WindowCut::owned, form);
}

}  // namespace strew
