// See window.h. Where the policy cuts a window, the bounds of its loops are clipped; there are no masks. A dim that wraps is walked in two
// segments, by a loop of two iterations around one copy of the nest. The first window loop may be cut in addition (WindowCut). Such a cut may
// leave an empty range, which must not have a negative length, so its end is set to its begin. Windows that the policy drops or fills are
// skipped by a branch; single elements use a sink slot instead (sink_slot.h).
// Tested by tests/differential; wrapping also by tests/unit and the TensorScatter oracle.
#include "backends/llvm/address/window.h"

#include <cstddef>

#include "backends/llvm/address/sink_slot.h"
#include "strew/abi.h"

namespace strew::inline v0 {
namespace {
using llvm::Value;

class WindowEmitter {
 public:
  WindowEmitter(Frame& frame, const Body& body, const Placement* placement, WindowCut cut)
      : f_(frame), e_(frame.e), body_(body), placement_(placement), cut_(cut), loops_(frame.plan.window) {}

  void emit(const Pointers& p) {
    if (loops_.empty()) return emit_run(f_, body_, p, nullptr, e_.i64(0), e_.i64(1));
    nest(p, 0);
  }

 private:
  void nest(const Pointers& p, size_t level) {
    for_segments(f_, placement_, p, level, cut_, [&](const Pointers& from, Value* lo, Value* hi) { walk(from, level, lo, hi); });
  }

  void walk(const Pointers& p, size_t level, Value* lo, Value* hi) {
    const Loop& loop = loops_[level];
    if (level + 1 == loops_.size()) return emit_run(f_, body_, p, &loop, lo, hi);
    e_.loop(lo, hi, [&](Value* i) { nest(f_.step(p, loop.strides, i), level + 1); });
  }

  Frame& f_;
  Emitter& e_;
  const Body& body_;
  const Placement* placement_;  // null: every window loop runs in full
  WindowCut cut_;
  const std::vector<Loop>& loops_;
};

/// The iteration of `loop` that stands at the operand coordinate in field `argument` of strew_args. `shift` is added to the start of the
/// component that moves the loop; null: nothing is.
Value* iteration_at(Frame& f, const Placement& placement, const Loop& loop, size_t argument, Value* shift) {
  Value* start = placement.components[static_cast<size_t>(loop.move().component)].start;
  if (shift != nullptr) start = f.e.add(start, shift);
  Value* scale = f.term(loop.move().scale);
  return f.e.times(f.e.b.CreateSub(f.argument(argument), start), scale);
}

}  // namespace

void for_segments(Frame& f, const Placement* placement, const Pointers& p, size_t level, WindowCut window_cut,
                  llvm::function_ref<void(const Pointers& p, Value* lo, Value* hi)> body) {
  Emitter& e = f.e;
  const Loop& loop = f.plan.window[level];
  Value* lo = e.i64(0);
  Value* hi = f.term(loop.extent);
  // A cut range may miss the part of the window that is in bounds; not_before() then makes it empty instead of negative.
  const bool cut = level == 0 && window_cut != WindowCut::none;
  if (cut) {
    lo = f.argument(offsetof(strew_args, w0));
    hi = f.argument(offsetof(strew_args, w1));
  }
  const ComponentPlace* place = placement == nullptr || !loop.move().is_bounded
                                    ? nullptr
                                    : &placement->components[static_cast<size_t>(loop.move().component)];
  const bool wraps = place != nullptr && place->split != nullptr;
  const bool owned = cut && window_cut == WindowCut::owned && placement != nullptr && loop.move().component >= 0;
  const auto owned_from = [&](Value* from, Value* shift) {
    return owned ? e.smax(from, iteration_at(f, *placement, loop, offsetof(strew_args, k0), shift)) : from;
  };
  const auto owned_to = [&](Value* to, Value* shift) {
    return owned ? e.smin(to, iteration_at(f, *placement, loop, offsetof(strew_args, k1), shift)) : to;
  };
  const auto not_before = [&](Value* from, Value* to) { return cut ? e.smax(from, to) : to; };
  if (!wraps) {
    lo = owned_from(lo, nullptr);
    hi = owned_to(hi, nullptr);
  }
  if (place == nullptr) return body(p, lo, owned ? not_before(lo, hi) : hi);
  Value* scale = f.term(loop.move().scale);
  if (!wraps) {
    Value* from = e.smax(lo, e.times(place->lo, scale));
    return body(p, from, not_before(from, e.smin(hi, e.times(place->hi, scale))));
  }
  const Component& component = placement->source.components[static_cast<size_t>(loop.move().component)];
  Value* split = e.times(place->split, scale);
  e.loop(e.i64(0), e.i64(2), {1, 1}, [&](Value* segment) {
    Value* second = e.b.CreateICmpNE(segment, e.i64(0));
    Value* shift = e.b.CreateSelect(second, e.b.CreateNeg(f.term(component.dim)), e.i64(0));
    Value* from = owned_from(e.b.CreateSelect(second, e.smax(lo, split), lo), shift);
    Value* to = owned_to(e.b.CreateSelect(second, hi, e.smin(hi, split)), shift);
    to = not_before(from, to);
    body(f.step(p, component.strides, shift), from, to);
  });
}

void emit_whole_window(Frame& f, const Pointers& p) {
  const Body body = range_body(f.plan, false);
  WindowEmitter(f, body, nullptr, WindowCut::none).emit(p);
}

void emit_window(Frame& f, const Pointers& p, WindowCut cut, WindowBody given) {
  const Placement placement = place(f, f.plan.primary(), p);
  const Body body = range_body(f.plan, false);
  const bool redirects = !given && cut == WindowCut::none && uses_sink_slot(f);
  const auto update = [&] {
    Pointers at = moved(f, p, placement);
    if (given) return given(at, placement, cut);
    if (redirects) redirect_to_sink(f, placement.inside, at);
    WindowEmitter(f, body, &placement, cut).emit(at);
  };
  if (redirects) return update();
  const OobPolicy oob = placement.source.oob;
  if (oob != OobPolicy::fill_element && oob != OobPolicy::fill_window) return f.e.when_likely(placement.inside, update, [] {});

  const Body fill = range_body(f.plan, true);
  const auto fill_all = [&] { WindowEmitter(f, fill, nullptr, cut).emit(p); };
  if (oob == OobPolicy::fill_window) return f.e.when(placement.inside, update, fill_all);
  f.e.when(f.e.b.CreateNot(placement.whole), fill_all);
  f.e.when(placement.inside, update);
}

}  // namespace strew::inline v0
