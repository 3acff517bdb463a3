// See windows.h.
#include "backends/portable/windows.h"

#include <algorithm>

namespace strew::inline v0::portable {

Windows::Windows(const EntryCall& call, const Body& body, WindowCut cut, int64_t* rows, char* columns, int64_t ahead)
    : f_(call),
      body_(body),
      cut_(cut),
      slots_(call.p.body.slots.size()),
      loops_(call.p.window.loops),
      runner_(call, body, loops_ == 0 ? nullptr : call.strides(call.p.window, loops_ - 1, slots_), columns, ahead),
      rows_(rows) {
  if (loops_ == 0) return;
  first_ = {0, call.extent(call.p.window, 0)};
  if (cut_ != WindowCut::none) first_ = {call.args.w0, call.args.w1};
}

bool Windows::cuts() const {
  return f_.p.has_cut_windows || (cut_ == WindowCut::owned && loops_ > 0 && f_.p.window_loops[0].component >= 0);
}

void Windows::apply(const int64_t* places, int64_t count) {
  const int64_t pitch = f_.p.positions_per_block;
  if (loops_ == 0) return runner_.run(places, pitch, count, 1);
  const bool is_apart = f_.p.fences && body_.reads_results;
  if (loops_ == 1 && !is_apart && first_.lo == 0) return runner_.run(places, pitch, count, first_.hi);
  int64_t* const at = f_.walk();
  for (int64_t j = 0; j < count; ++j) {
    for (size_t s = 0; s < slots_; ++s) at[s] = places[static_cast<int64_t>(s) * pitch + j];
    expand(0, at);
    fence();
  }
}

void Windows::step(int64_t* to, const int64_t* at, size_t level, int64_t i) const {
  const int64_t* const by = strides(level);
  for (size_t s = 0; s < slots_; ++s) to[s] = at[s] + i * by[s];
}

/// Adds the rows of loops `level` and further in. at: places of iteration 0.
void Windows::expand(size_t level, const int64_t* at) {
  const Range range = level == 0 ? first_ : Range{0, f_.extent(f_.p.window, level)};
  if (level + 1 == loops_) return add(at, range.lo, range.hi - range.lo);
  if (level + 2 == loops_) return expand_rows(level, at, range);
  int64_t* const next = f_.walk() + static_cast<int64_t>((level + 1) * slots_);
  for (int64_t i = range.lo; i < range.hi; ++i) {
    step(next, at, level, i);
    expand(level + 1, next);
  }
}

/// Adds whole rows of the innermost loop, one per iteration of the loop around it.
void Windows::expand_rows(size_t level, const int64_t* at, Range range) {
  const int64_t length = f_.extent(f_.p.window, level + 1), pitch = f_.p.positions_per_block;
  if (length <= 0) return;
  if (length != length_) flush();
  length_ = length;
  const int64_t* const by = strides(level);
  for (int64_t i = range.lo; i < range.hi;) {
    if (count_ == pitch) flush();
    const int64_t some = std::min(pitch - count_, range.hi - i);
    for (size_t s = 0; s < slots_; ++s)
      f_.loops.line(rows_ + static_cast<int64_t>(s) * pitch + count_, at[s] + i * by[s], by[s], some);
    count_ += some;
    i += some;
  }
}

void Windows::add(const int64_t* at, int64_t lo, int64_t length) {
  if (length <= 0) return;
  const int64_t pitch = f_.p.positions_per_block;
  if (count_ == pitch || length != length_) flush();
  length_ = length;
  const int64_t* const by = strides(loops_ - 1);
  for (size_t s = 0; s < slots_; ++s) rows_[static_cast<int64_t>(s) * pitch + count_] = at[s] + lo * by[s];
  ++count_;
}

void Windows::flush() {
  if (count_ > 0) runner_.run(rows_, f_.p.positions_per_block, count_, length_);
  count_ = 0;
}

void Windows::apply_cut(int64_t j) {
  const int64_t pitch = f_.p.positions_per_block;
  int64_t* const at = f_.walk();
  for (size_t s = 0; s < slots_; ++s) at[s] = f_.places()[static_cast<int64_t>(s) * pitch + j];
  walk(0, at, j);
  fence();
}

/// Of the iterations of the first loop those whose coordinate is in [k0, k1), where the start of the component that moves the loop is shifted.
Windows::Range Windows::owned(Range range, const WindowLoop& loop, int64_t j, int64_t shift) const {
  const int64_t start = f_.values()[loop.component * f_.p.positions_per_block + j] + shift, scale = f_.at(loop.scale);
  return {std::max(range.lo, (f_.args.k0 - start) * scale), std::min(range.hi, (f_.args.k1 - start) * scale)};
}

void Windows::walk(size_t level, const int64_t* at, int64_t j) {
  const WindowLoop& loop = f_.p.window_loops[level];
  Range range = level == 0 ? first_ : Range{0, f_.extent(f_.p.window, level)};
  const bool is_owned = level == 0 && cut_ == WindowCut::owned && loop.component >= 0;
  const bool wraps = loop.bounds == lowered::Bounds::split;
  if (!wraps && is_owned) range = owned(range, loop, j, 0);
  if (loop.bounds == lowered::Bounds::whole) return walk_range(level, at, j, range);
  const int64_t scale = f_.at(loop.scale), bound = loop.component * f_.p.positions_per_block + j;
  if (!wraps) {
    range = {std::max(range.lo, f_.lo()[bound] * scale), std::min(range.hi, f_.hi()[bound] * scale)};
    return walk_range(level, at, j, range);
  }
  const ComponentNumbers& component = f_.p.components[static_cast<size_t>(loop.component)];
  const int64_t split = f_.hi()[bound] * scale, shift = -f_.at(component.dim);
  const auto part = [&](Range each, int64_t by) { return is_owned ? owned(each, loop, j, by) : each; };
  walk_range(level, at, j, part({range.lo, std::min(range.hi, split)}, 0));
  const Range second = part({std::max(range.lo, split), range.hi}, shift);
  if (second.lo >= second.hi) return;
  const int64_t* const moves = f_.from(component.strides);
  int64_t* const shifted = f_.walk() + static_cast<int64_t>((2 * level + 2) * slots_);
  for (size_t s = 0; s < slots_; ++s) shifted[s] = at[s] + moves[s] * shift;
  walk_range(level, shifted, j, second);
}

void Windows::walk_range(size_t level, const int64_t* at, int64_t j, Range range) {
  if (level + 1 == loops_) return add(at, range.lo, range.hi - range.lo);
  int64_t* const next = f_.walk() + static_cast<int64_t>((2 * level + 1) * slots_);
  for (int64_t i = range.lo; i < range.hi; ++i) {
    step(next, at, level, i);
    walk(level + 1, next, j);
  }
}

}  // namespace strew::inline v0::portable
