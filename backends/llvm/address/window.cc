// See window.h. Where the policy cuts a window, the bounds of its loops are clipped; there are no masks. A dim that wraps is walked in two
// segments, by a loop of two iterations around one copy of the nest. The first window loop may be cut in addition (WindowCut). Such a cut may
// leave an empty range, which must not have a negative length, so its end is set to its begin. Windows that the policy drops or fills are
// skipped by a branch; single elements use a sink slot instead (sink_slot.h).
// Tested by tests/differential; wrapping also by tests/unit and the TensorScatter oracle.
#include "backends/llvm/address/window.h"

#include <algorithm>
#include <cstddef>

#include "strew/abi.h"

namespace strew::inline v0 {
namespace {
using llvm::Value;

class WindowEmitter {
 public:
  WindowEmitter(Frame& frame, const lowered::Body& body, const Placement* placement, WindowCut cut)
      : f_(frame), e_(frame.e), body_(body), placement_(placement), cut_(cut), loops_(frame.plan.window) {}

  void emit(const Pointers& p) {
    if (loops_.empty()) return emit_lane_loop(f_, body_, p, nullptr, e_.i64(0), e_.i64(1));
    nest(p, 0);
  }

 private:
  void nest(const Pointers& p, size_t level) {
    for_segments(f_, placement_, p, level, cut_, [&](const Pointers& from, Value* lo, Value* hi) { walk(from, level, lo, hi); });
  }

  void walk(const Pointers& p, size_t level, Value* lo, Value* hi) {
    const Loop& loop = loops_[level];
    if (level + 1 == loops_.size()) return emit_lane_loop(f_, body_, p, &loop, lo, hi);
    e_.loop(lo, hi, [&](Value* i) { nest(f_.step(p, loop.strides, i), level + 1); });
  }

  Frame& f_;
  Emitter& e_;
  const lowered::Body& body_;
  const Placement* placement_;  // null: every window loop runs in full
  WindowCut cut_;
  const std::vector<Loop>& loops_;
};

constexpr int64_t kWidestSink = 16;  // bytes of the widest element

/// An element on the call's stack for dropped stores. It is zero at first, and no result depends on it.
Value* sink_element(Frame& f) {
  llvm::AllocaInst* memory = f.e.slot(llvm::ArrayType::get(f.e.b.getInt8Ty(), kWidestSink));
  memory->setAlignment(llvm::Align(kWidestSink));
  return memory;
}

/// A copy of the gather's fill value, as a constant of the object. A stack slot would not do: LLVM knows what it holds, and would turn the load
/// from the selected address into a branch.
Value* fill_element(Frame& f) {
  auto* value = llvm::cast<llvm::Constant>(f.numeric.literal_storage(f.plan.primary().fill, 1));
  auto* global = new llvm::GlobalVariable(*f.e.function.getParent(), value->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, value, "fill");
  global->setAlignment(llvm::Align(kWidestSink));
  return global;
}

/// Replaces the pointers of the indexed tensors by those of their sinks (Walk::sinks), unless the i1 `inside` holds. Cost (bench/policies): one select
/// per position. A combiner that reads the sink waits for the previous store to it; so the positions of an iteration of the loop have a sink each.
void redirect_to_sink(Frame& f, Value* inside, Pointers& p) {
  const auto redirect = [&](int tensor, Value* sink) {
    Value*& at = p[static_cast<size_t>(tensor)];
    at = f.e.b.CreateSelect(inside, at, sink);
  };
  if (f.plan.gather) return redirect(f.plan.operand(0), fill_element(f));
  for (int i = 0; i < f.plan.pairs; ++i) redirect(f.plan.result(i), sink_element(f));
}

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
  const lowered::Bounds bounds = placement == nullptr ? lowered::Bounds::whole : f.kernel.bounds[level];
  const bool wraps = bounds == lowered::Bounds::split;
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
  if (bounds == lowered::Bounds::whole) return body(p, lo, owned ? not_before(lo, hi) : hi);
  const ComponentPlace* place = &placement->components[static_cast<size_t>(loop.move().component)];
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

void emit_whole_window(Frame& f, const Pointers& p) { WindowEmitter(f, f.kernel.update, nullptr, WindowCut::none).emit(p); }

namespace {

/// Where the sources from number `first` on put the windows of a position.
struct Placements {
  std::vector<Placement> all;
  Value* inside = nullptr;    ///< i1: no policy drops the position
  Value* whole = nullptr;     ///< i1: the primary source's
  std::vector<Value*> found;  ///< i1 per look-up that fills: the table has the window

  Placements(Frame& f, const Pointers& p, size_t first) {
    inside = whole = f.e.b.getTrue();
    for (size_t s = first; s < f.plan.sources.size(); ++s) {
      const Placement& placement = all.emplace_back(place(f, s, p));
      if (s == 0) whole = placement.whole;
      if (std::ranges::find(f.kernel.fills, s) != f.kernel.fills.end())
        found.push_back(placement.inside);
      else
        inside = inside == f.e.b.getTrue() ? placement.inside : f.e.b.CreateAnd(inside, placement.inside);
    }
  }
  Pointers moved(Frame& f, Pointers p) const {
    for (const Placement& placement : all) p = strew::moved(f, p, placement);
    return p;
  }
};

/// Calls `emit` with the body of the update: where no look-up fills, and for each set of them that may. `filling`: those of the first i.
void with_bodies(Frame& f, const Placements& placements, llvm::function_ref<void(const lowered::Body&)> emit, size_t i = 0,
                 size_t filling = 0) {
  if (i == placements.found.size()) return emit(filling == 0 ? f.kernel.update : f.kernel.filled[filling - 1]);
  f.e.when_likely(
      placements.found[i], [&] { with_bodies(f, placements, emit, i + 1, filling); },
      [&] { with_bodies(f, placements, emit, i + 1, filling | size_t{1} << i); });
}

}  // namespace

void emit_listed_window(Frame& f, const Pointers& p, WindowBody given) {
  const Placements lookups(f, p, 1);
  const auto update = [&] {
    const Pointers at = lookups.moved(f, p);
    with_bodies(f, lookups, [&](const lowered::Body& body) {
      given ? given(body, at, nullptr) : WindowEmitter(f, body, nullptr, WindowCut::none).emit(at);
    });
  };
  f.e.when_likely(lookups.inside, update, [] {});
}

void emit_window(Frame& f, const Pointers& p, WindowBody given) {
  const Placements placements(f, p, 0);
  Value *const inside = placements.inside, *const whole = placements.whole;
  const Placement* const primary = placements.all.empty() ? nullptr : placements.all.data();
  const bool sinks = f.entry.walk.sinks && !given;
  const auto update = [&] {
    Pointers at = placements.moved(f, p);
    if (sinks) redirect_to_sink(f, inside, at);
    with_bodies(f, placements, [&](const lowered::Body& body) {
      given ? given(body, at, primary) : WindowEmitter(f, body, primary, f.entry.cut).emit(at);
    });
  };
  if (sinks) return update();
  const auto fill_all = [&] { WindowEmitter(f, *f.kernel.fill, nullptr, f.entry.cut).emit(p); };
  switch (f.kernel.primary().dropped) {
    case Dropped::nothing:
      return f.e.when_likely(inside, update, [] {});
    case Dropped::filled:
      return f.e.when(inside, update, fill_all);
    case Dropped::parted:
      f.e.when(f.e.b.CreateNot(whole), fill_all);
      return f.e.when(inside, update);
  }
}

namespace {

// At most kMostLines lines are prefetched: the hardware's own prefetcher fetches what follows them.
constexpr int64_t kFetchedLine = 64;
constexpr size_t kMostLines = 8;

/// The bytes of a row if its length is constant, else one line.
int64_t row_bytes(const Frame& f, int tensor) {
  if (f.plan.per_row && f.plan.tensors[static_cast<size_t>(tensor)].role == Role::result) return f.element_bytes(tensor);
  if (f.plan.window.empty() || !f.plan.window.back().extent.is_static()) return kFetchedLine;
  return f.plan.window.back().extent.factor * f.element_bytes(tensor);
}

/// A byte of each line that is prefetched of a row. Tables that begin 16 bytes after a line, as NumPy's do, have rows in one line more than others. On
/// Zen 4, rows of 64 and 128 bytes take 0.87 to 0.98 of the time where that is prefetched, too; shorter rows 1.04, longer ones as long as before.
std::vector<int64_t> fetched_bytes(int64_t row) {
  std::vector<int64_t> out;
  for (int64_t byte = 0; byte < row && out.size() < kMostLines; byte += kFetchedLine) out.push_back(byte);
  if (row >= kFetchedLine && row <= 2 * kFetchedLine) out.push_back(row - 1);
  return out;
}

}  // namespace

void prefetch_placed(Frame& f, const Pointers& p, int tensor, bool write) {
  const auto t = static_cast<size_t>(tensor);
  Pointers there = p;
  if (const int source = f.plan.tensors[t].source; source >= 0)
    for (const Component& c : f.plan.sources[static_cast<size_t>(source)].components)
      there = f.step(there, c.strides, load_component(f, p, c));
  prefetch_row(f, tensor, there[t], write);
}

void prefetch_lookups(Frame& f, const Pointers& p) {
  for (size_t t = 0; t < f.plan.tensors.size(); ++t) {
    const auto tensor = static_cast<int>(t);
    const bool is_row = f.plan.window.empty() || !f.plan.window.back().strides[t].is(0);
    if (f.plan.tensors[t].source > 0 && !f.packed(tensor) && is_row) prefetch_placed(f, p, tensor, false);
  }
}

void prefetch_row(Frame& f, int tensor, Value* address, bool write) {
  Value *first = f.e.i64(0), *last = nullptr;
  if (f.entry.cut != WindowCut::none && !f.plan.window.empty()) {
    // Only the lines of this thread's part of the window: other threads write the others, and a prefetch would take those away from them.
    Value* step = f.bytes(f.plan.window.front().strides[static_cast<size_t>(tensor)], tensor);
    first = f.e.times(f.argument(offsetof(strew_args, w0)), step);
    if (f.plan.window.size() == 1) last = f.e.b.CreateSub(f.e.times(f.argument(offsetof(strew_args, w1)), step), f.e.i64(1));
  }
  for (const int64_t byte : fetched_bytes(row_bytes(f, tensor))) {
    Value* offset = f.e.add(first, f.e.i64(byte));
    if (last != nullptr) offset = f.e.smin(offset, last);
    f.e.b.CreateIntrinsic(llvm::Intrinsic::prefetch, {f.e.b.getPtrTy()},
                          {f.e.at(address, offset), f.e.b.getInt32(write ? 1 : 0), f.e.b.getInt32(3), f.e.b.getInt32(1)});
  }
}

}  // namespace strew::inline v0
