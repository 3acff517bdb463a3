// See window.h. A cut window is clipped loop bounds, never a mask. A wrapped dim is walked as two segments by a loop of two, so the
// nest below exists once in the code. Under schedule strategy `window` the first loop is restricted to [w0, w1) of strew_args.
// Tested by tests/differential; wrapping also by tests/unit and the TensorScatter oracle.
#include "backends/llvm/window.h"

#include <cstddef>

#include "runtime/abi.h"

namespace strew {
namespace {
using llvm::Value;

class WindowEmitter {
 public:
  WindowEmitter(Frame& frame, const Body& body, const Placement* placement)
      : f_(frame), e_(frame.e), body_(body), placement_(placement), loops_(frame.plan.window) {}

  void emit(const Pointers& p) {
    if (loops_.empty()) return emit_run(f_, body_, p, nullptr, e_.i64(0), e_.i64(1));
    nest(p, 0);
  }

 private:
  void nest(const Pointers& p, size_t level) {
    const Loop& loop = loops_[level];
    Value* lo = e_.i64(0);
    Value* hi = f_.term(loop.extent);
    if (level == 0 && f_.schedule.strategy == Strategy::window) {
      lo = f_.argument(offsetof(strew_args, w0));
      hi = f_.argument(offsetof(strew_args, w1));
    }
    if (placement_ == nullptr || loop.component < 0) return walk(p, level, lo, hi);
    const auto k = static_cast<size_t>(loop.component);
    const ComponentPlace& place = placement_->components[k];
    Value* scale = f_.term(loop.scale);
    // A sub-range of the window may miss the part that is inside; runs take no negative lengths.
    const bool cut = level == 0 && f_.schedule.strategy == Strategy::window;
    const auto not_before = [&](Value* from, Value* to) { return cut ? e_.smax(from, to) : to; };
    if (place.split == nullptr) {
      Value* from = e_.smax(lo, e_.times(place.lo, scale));
      return walk(p, level, from, not_before(from, e_.smin(hi, e_.times(place.hi, scale))));
    }
    Value* split = e_.times(place.split, scale);
    e_.loop(e_.i64(0), e_.i64(2), {1, 1}, [&](Value* segment) {
      Value* second = e_.b.CreateICmpNE(segment, e_.i64(0));
      Value* from = e_.b.CreateSelect(second, e_.smax(lo, split), lo);
      Value* to = e_.b.CreateSelect(second, hi, e_.smin(hi, split));
      Value* shift = e_.b.CreateSelect(second, e_.b.CreateNeg(f_.term(f_.plan.components[k].dim)), e_.i64(0));
      walk(f_.step(p, f_.plan.components[k].strides, shift), level, from, not_before(from, to));
    });
  }

  void walk(const Pointers& p, size_t level, Value* lo, Value* hi) {
    const Loop& loop = loops_[level];
    if (level + 1 == loops_.size()) return emit_run(f_, body_, p, &loop, lo, hi);
    e_.loop(lo, hi, [&](Value* i) { nest(f_.step(p, loop.strides, i), level + 1); });
  }

  Frame& f_;
  Emitter& e_;
  const Body& body_;
  const Placement* placement_;  // null: no bounds (a fill)
  const std::vector<Loop>& loops_;
};

}  // namespace

void emit_whole_window(Frame& f, const Pointers& p) {
  const Body body = range_body(f.plan, false);
  WindowEmitter(f, body, nullptr).emit(p);
}

void emit_window(Frame& f, const Pointers& p) {
  const Placement placement = place(f, p);
  const Body body = range_body(f.plan, false);
  const auto update = [&] {
    Pointers moved = p;
    for (size_t k = 0; k < f.plan.components.size(); ++k)
      moved = f.step(moved, f.plan.components[k].strides, placement.components[k].start);
    WindowEmitter(f, body, &placement).emit(moved);
  };
  const OobPolicy oob = f.plan.oob;
  if (oob != OobPolicy::fill_element && oob != OobPolicy::fill_window) return f.e.when(placement.inside, update);

  const Body fill = range_body(f.plan, true);
  const auto fill_all = [&] { WindowEmitter(f, fill, nullptr).emit(p); };
  if (oob == OobPolicy::fill_window) return f.e.when(placement.inside, update, fill_all);
  f.e.when(f.e.b.CreateNot(placement.whole), fill_all);
  f.e.when(placement.inside, update);
}

}  // namespace strew
