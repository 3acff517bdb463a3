// Windows: applies a body to the windows of positions. Windows are turned into rows, the iterations of the innermost window loop. Where the
// innermost loop is the only one and no policy cuts anything, a block of positions is a batch of rows as it is; else rows are collected until a
// batch is full. Where policies or the strategy cut windows, the bounds of their loops are clipped, position by position; a dim that wraps is
// walked in two segments, and what a look-up fills is apart from what it finds. Where a look-up fills, rows read its fill value at stride 0 instead of
// the table; a batch has rows of which the same look-ups fill. Tested by tests/differential.
#pragma once

#include "backends/portable/run_body.h"

namespace strew::inline v0::portable {

using lowered::WindowCut;

class Windows {
 public:
  /// `rows`: memory for a batch, a list per slot. `columns`: memory for the body's columns.
  Windows(const EntryCall& call, const Body& body, WindowCut cut, int64_t* rows, char* columns, int64_t ahead);

  /// Do policies or the strategy cut windows in ways that differ from position to position?
  bool cuts() const;
  /// Of windows from now on, the look-ups of these bits (CallMemory::filling) fill all.
  void fill_in(uint64_t filling);
  /// Applies windows that are not cut, but for the columns of the strategy. places: a list per slot, positions_per_block apart.
  void apply(int64_t* places, int64_t count);
  /// Applies the window of position `j` of the block, whose start and bounds are in the call's memory.
  void apply_cut(int64_t j);
  /// Does what is left to do. Also needed before something else is done to the same results.
  void flush();

 private:
  struct Range {
    int64_t lo, hi;
    bool is_empty() const { return lo >= hi; }
  };
  void fence() {
    if (f_.p.fences && body_.reads_results) flush();
  }
  void expand(size_t level, const int64_t* at);
  void expand_rows(size_t level, const int64_t* at, Range range);
  void walk(size_t level, const int64_t* at, int64_t j);
  void walk_bounds(size_t level, size_t number, const int64_t* at, int64_t j, Range range);
  void walk_segments(size_t level, size_t number, const int64_t* at, int64_t j, Range range);
  void walk_range(size_t level, const int64_t* at, int64_t j, Range range);
  Range owned(Range range, const WindowLoop& loop, int64_t j, int64_t shift) const;
  void add(const int64_t* at, int64_t lo, int64_t length);
  void put_fills(int64_t* lists, int64_t first, int64_t count) const;
  void step(int64_t* to, const int64_t* at, size_t level, int64_t i) const;
  const int64_t* strides(size_t level) const { return f_.strides(f_.p.window, level, slots_); }
  int64_t* walk_list(size_t number) const { return f_.walk() + static_cast<int64_t>(number * slots_); }

  const EntryCall& f_;
  const Body& body_;
  WindowCut cut_;
  size_t slots_, loops_;
  Range first_{0, 1};  // of the first loop
  BodyRunner runner_;
  int64_t* rows_;
  int64_t count_ = 0, length_ = 0;
  uint64_t filling_ = 0;
};

}  // namespace strew::inline v0::portable
