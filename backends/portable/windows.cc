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

/// Rows of one batch have the same steps, so those that read other fill values are done first.
void Windows::fill_in(uint64_t filling) {
  if (filling == filling_) return;
  flush();
  filling_ = filling;
  if (loops_ == 0) return;
  int64_t* const steps = f_(f_.p.memory.steps);
  std::copy_n(strides(loops_ - 1), slots_, steps);
  for (size_t i = 0; i < f_.p.fills.size(); ++i)
    for (const size_t slot : f_.p.fills[i].slots)
      if ((filling >> i & 1) != 0) steps[slot] = 0;
  runner_.set_steps(steps);
}

/// Sets `count` places of the slots whose look-ups fill, from `first` on, to those of the fill values.
void Windows::put_fills(int64_t* lists, int64_t first, int64_t count) const {
  for (size_t i = 0; filling_ != 0 && i < f_.p.fills.size(); ++i) {
    if ((filling_ >> i & 1) == 0) continue;
    const auto address = static_cast<int64_t>(reinterpret_cast<intptr_t>(f_.p.fills[i].value.bits.data()));
    for (const size_t slot : f_.p.fills[i].slots)
      std::fill_n(lists + static_cast<int64_t>(slot) * f_.p.positions_per_block + first, count,
                  address << body_.slots[slot].log2_per_byte);
  }
}

void Windows::apply(int64_t* places, int64_t count) {
  const int64_t pitch = f_.p.positions_per_block;
  const bool is_apart = f_.p.fences && body_.reads_results;
  if (loops_ == 0 || (loops_ == 1 && !is_apart && first_.lo == 0)) {
    put_fills(places, 0, count);
    return runner_.run(places, pitch, count, first_.hi);
  }
  int64_t* const at = walk_list(0);
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
  int64_t* const next = walk_list(level + 1);
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
    put_fills(rows_, count_, some);
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
  put_fills(rows_, count_, 1);
  ++count_;
}

void Windows::flush() {
  if (count_ > 0) runner_.run(rows_, f_.p.positions_per_block, count_, length_);
  count_ = 0;
}

void Windows::apply_cut(int64_t j) {
  const int64_t pitch = f_.p.positions_per_block;
  int64_t* const at = walk_list(0);
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
  if (level != 0 || cut_ != WindowCut::owned || loop.component < 0) return walk_bounds(level, 0, at, j, range);
  // Owners are of coordinates, which the second segment of a dim of results that wraps shifts.
  const bool wraps = !loop.bounds.empty() && f_.p.components[loop.bounds[0].component].source == 0 &&
                     loop.bounds[0].bounds == lowered::Bounds::split;
  if (!wraps) range = owned(range, loop, j, 0);
  walk_bounds(level, 0, at, j, range);
}

/// Lets the bounds of the loop from `number` on take their parts of the range.
void Windows::walk_bounds(size_t level, size_t number, const int64_t* at, int64_t j, Range range) {
  if (range.is_empty()) return;
  const WindowLoop& loop = f_.p.window_loops[level];
  if (number == loop.bounds.size()) return walk_range(level, at, j, range);
  const WindowBound& bound = loop.bounds[number];
  if (bound.bounds == lowered::Bounds::split) return walk_segments(level, number, at, j, range);
  const uint64_t before = filling_, bit = bound.fill < 0 ? 0 : uint64_t{1} << bound.fill;
  if ((before & bit) != 0) return walk_bounds(level, number + 1, at, j, range);
  const int64_t scale = f_.at(bound.scale);
  const int64_t k = static_cast<int64_t>(bound.component) * f_.p.positions_per_block + j;
  const int64_t lo = f_.lo()[k] * scale, hi = f_.hi()[k] * scale;
  const auto part = [&](Range each, uint64_t filling) {
    if (each.is_empty()) return;
    fill_in(filling);
    walk_bounds(level, number + 1, at, j, each);
  };
  if (bit != 0) {
    part({range.lo, std::min(range.hi, lo)}, before | bit);
    part({std::max(range.lo, hi), range.hi}, before | bit);
  }
  part({std::max(range.lo, lo), std::min(range.hi, hi)}, before);
  fill_in(before);
}

/// The same where a dim wraps: up to its end, and from where it starts over.
void Windows::walk_segments(size_t level, size_t number, const int64_t* at, int64_t j, Range range) {
  const WindowLoop& loop = f_.p.window_loops[level];
  const WindowBound& bound = loop.bounds[number];
  const ComponentNumbers& component = f_.p.components[bound.component];
  const int64_t k = static_cast<int64_t>(bound.component) * f_.p.positions_per_block + j;
  const int64_t split = f_.hi()[k] * f_.at(bound.scale), shift = -f_.at(component.dim);
  const bool is_owned = component.source == 0 && level == 0 && cut_ == WindowCut::owned && loop.component >= 0;
  const auto part = [&](Range each, int64_t by) { return is_owned ? owned(each, loop, j, by) : each; };
  walk_bounds(level, number + 1, at, j, part({range.lo, std::min(range.hi, split)}, 0));
  const Range second = part({std::max(range.lo, split), range.hi}, shift);
  if (second.is_empty()) return;
  const int64_t* const moves = f_.from(component.strides);
  int64_t* const shifted = walk_list(bound.memory);
  for (size_t s = 0; s < slots_; ++s) shifted[s] = at[s] + moves[s] * shift;
  walk_bounds(level, number + 1, shifted, j, second);
}

void Windows::walk_range(size_t level, const int64_t* at, int64_t j, Range range) {
  if (level + 1 == loops_) return add(at, range.lo, range.hi - range.lo);
  int64_t* const next = walk_list(level + 1);
  for (int64_t i = range.lo; i < range.hi; ++i) {
    step(next, at, level, i);
    walk(level + 1, next, j);
  }
}

}  // namespace strew::inline v0::portable
