// write_windows(). Each position is an iteration of scalar loops: the components of its index are read from memory,
// scalar arithmetic applies the policy, and the part of the window that the policy leaves is moved as tiles: tload,
// perhaps combine, tstore. The columns of a tile run along the innermost contiguous loop, as many as fit; its rows run
// along the longest of the other window loops.
//
// Policies that drop elements restrict loops to [lower, upper); policies that drop windows make this range empty; wrap
// visits the window in two pieces per wrapped dim. So no access is ever out of bounds. Cores share a scatter by slab
// (outermost batching loop), a gather by position, and a single window by its tiles; one core does everything else, in
// order. Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#include <algorithm>

#include "backends/pto/check.h"
#include "backends/pto/forms.h"
#include "backends/pto/init.h"
#include "backends/pto/spread.h"
#include "backends/pto/starts.h"
#include "backends/pto/tiles.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

class WindowWriter {
 public:
  WindowWriter(Frame& frame, WindowWalk walk, Combine combine)
      : frame_(frame),
        plan_(frame.plan),
        b_(frame.build),
        walk_(std::move(walk)),
        combine_(std::move(combine)),
        at_(frame),
        tiles_(frame, TileForm::rows, walk_.has_axis ? frame.attempt.rows : 1, walk_.cols) {}
  Status run();

 private:
  void make_grids();
  void position();
  void pieces(size_t k);
  void around(size_t depth);
  void rows();
  void columns(const Number& first, const Number& count);
  void move(const TileAt& at);
  LoopSpan span(const Loop& loop) const;

  Frame& frame_;
  const Plan& plan_;
  ProgramBuilder& b_;
  const WindowWalk walk_;
  Combine combine_;
  StartCode at_;
  TileWriter tiles_;
  Spread spread_ = Spread::single;
  std::vector<Number> around_at_;
  bool filling_ = false;
  Status failed_;
};

/// Reads and writes a tile of the table by plain loads and stores.
class WindowAccess final : public TileAccess {
 public:
  WindowAccess(Frame& frame, const TileWriter& writer, const TileAt& at, const StartCode& start, bool filling)
      : frame_(frame), tiles_(writer), at_(at), start_(start), filling_(filling) {}

  bool current_first() const override { return true; }

  Named current(int pair) override {
    const int table = frame_.table(pair);
    if (!filling_) return tiles_.load("current", table, at_);
    const Named tile = tiles_.tile("fill", table, at_);
    const Number words = frame_.build.mul(at_.width, frame_.build.number(frame_.words(table).count), "words");
    write_fill(frame_, table, tile, at_.count, words, frame_.plan.primary().fill);
    return tile;
  }

  Named extra(int tensor) override {
    const auto t = static_cast<size_t>(tensor);
    if (in_tiles(frame_.plan.tensors[t])) return tiles_.load("extra", tensor, at_);
    // A scalar that holds for the whole window.
    ProgramBuilder& b = frame_.build;
    Number at = b.number(0);
    for (size_t i = 0; i < frame_.plan.positions.size(); ++i) {
      const Number stride = frame_.number(frame_.plan.positions[i].strides[t]);
      at = b.add(at, b.mul(start_.position[i], stride, "extra_at"), "extra_at");
    }
    return frame_.load_word(frame_.pointer(tensor) + "_number", tensor, at);
  }

  void put(int pair, const Named& data) override {
    const bool scatter = frame_.scatter();
    const int into = scatter ? frame_.table(pair) : slices_of(frame_.plan, pair);
    frame_.build.store(data, tiles_.part(scatter ? "table_part" : "result_part", into, at_));
  }

 private:
  Frame& frame_;
  const TileWriter& tiles_;
  const TileAt& at_;
  const StartCode& start_;
  bool filling_;
};

void WindowWriter::make_grids() {
  const auto add = [&](int tensor) {
    tiles_.add(tensor, walk_.has_axis ? walk_.axis.strides[static_cast<size_t>(tensor)] : constant(0));
  };
  for (int pair = 0; pair < plan_.pairs; ++pair) {
    add(frame_.table(pair));
    add(slices_of(plan_, pair));
  }
  for (size_t t = 0; t < plan_.tensors.size(); ++t)
    if (in_tiles(plan_.tensors[t])) add(static_cast<int>(t));
}

/// Policy wrap: visits the window in two pieces per component, up to the end of the dim and from its beginning.
void WindowWriter::pieces(size_t k) {
  if (k == plan_.primary().components.size()) return around(0);
  const Component& c = plan_.primary().components[k];
  if (rule_of(plan_, k) != PlaceRule::split) return pieces(k + 1);
  const Number dim = frame_.number(c.dim), window = frame_.number(c.window), start = at_.starts[k];
  const Number cut = b_.min(b_.sub(dim, start, "room"), window, "cut");
  b_.note("a window that runs over the end goes on at the beginning");
  b_.loop("piece", b_.number(0), b_.number(2), b_.number(1), 1.0, [&](const Number& piece) {
    const Number rest = b_.sub(window, cut, "rest");
    at_.spans[k] = {b_.mul(piece, cut, "lower"), b_.add(cut, b_.mul(piece, rest, "more"), "upper")};
    at_.starts[k] = b_.sub(start, b_.mul(piece, dim, "turn"), "piece_start");
    pieces(k + 1);
    at_.starts[k] = start;
  });
}

/// The iterations of a window loop that the policy does not drop.
LoopSpan WindowWriter::span(const Loop& loop) const {
  if (!loop.move().is_bounded) return {b_.number(0), frame_.number(loop.extent)};
  return at_.spans[static_cast<size_t>(loop.move().component)];
}

void WindowWriter::around(size_t depth) {
  if (depth == walk_.around.size()) return rows();
  const LoopSpan left = span(walk_.around[depth]);
  b_.loop("part", left.from, left.to, b_.number(1), static_cast<double>(frame_.assumed(walk_.around[depth].extent)),
          [&](const Number& variable) {
            around_at_.push_back(variable);
            around(depth + 1);
            around_at_.pop_back();
          });
}

void WindowWriter::rows() {
  const LoopSpan left = span(walk_.axis);
  const Number height = b_.number(frame_.attempt.rows);
  const bool is_split = spread_ == Spread::tiles && walk_.has_axis;
  const bool even = left.from.is(0) && left.to.value && *left.to.value % frame_.attempt.rows == 0;
  // Rows are counted from the window's start, which may lie before the table; the loop begins at the first row that is
  // not dropped.
  const Number to = b_.mul(frame_.guarded(left.to), at_.valid, "upper");
  const double tiles = static_cast<double>(frame_.assumed_trips(walk_.axis.extent, frame_.attempt.rows));
  const LoopTurns turns = turns_of(frame_, is_split, {left.from, height, tiles}, {"first_tile", "first_row", "stride"});
  b_.loop("row", turns.from, to, turns.step, turns.trips,
          [&](const Number& first) { columns(first, b_.left(first, left.to, height, even)); });
}

void WindowWriter::columns(const Number& first, const Number& count) {
  const LoopSpan left = span(walk_.run);
  const int64_t wide = walk_.cols;
  TileAt at{first, walk_.has_axis ? count : b_.number(1), b_.number(0), b_.number(wide), {}};
  for (size_t i = 0; i < plan_.positions.size(); ++i) at.movers.push_back({at_.position[i], plan_.positions[i].strides});
  for (size_t i = 0; i < walk_.around.size(); ++i) at.movers.push_back({around_at_[i], walk_.around[i].strides});
  for (size_t k = 0; k < plan_.primary().components.size(); ++k)
    at.movers.push_back({at_.starts[k], plan_.primary().components[k].strides});
  if (left.from.is(0) && left.to.is(wide)) return move(at);
  const bool is_split = spread_ == Spread::tiles && !walk_.has_axis;
  const Number step = b_.number(wide);
  const bool even = left.from.is(0) && left.to.value && *left.to.value % wide == 0;
  const double pieces = static_cast<double>(frame_.assumed_trips(walk_.run.extent, wide));
  const LoopTurns turns = turns_of(frame_, is_split, {left.from, step, pieces}, {"first_piece", "first_col", "col_stride"});
  b_.loop("col", turns.from, left.to, turns.step, turns.trips, [&](const Number& col) {
    at.col = col;
    at.width = b_.left(col, left.to, step, even, "width", "cols_left");
    move(at);
  });
}

void WindowWriter::move(const TileAt& at) {
  WindowAccess access(frame_, tiles_, at, at_, filling_);
  for (int pair = 0; pair < plan_.pairs && failed_.ok(); ++pair) failed_ = write_tile(frame_, combine_, tiles_, at, pair, access);
}

void WindowWriter::position() {
  at_.read_all();
  if (plan_.gather && is_fill(plan_.primary().oob)) {
    // First fill the whole window, then copy the part that is in bounds.
    const std::vector<LoopSpan> left = at_.spans;
    const Number valid = at_.valid;
    for (size_t k = 0; k < at_.spans.size(); ++k)
      at_.spans[k] = {b_.number(0), frame_.number(plan_.primary().components[k].window)};
    at_.valid = b_.number(1);
    filling_ = true;
    around(0);
    filling_ = false;
    at_.spans = left;
    at_.valid = valid;
  }
  // A dropped window has no rows. Elements dropped on both sides may make a range negative, which is empty, too.
  pieces(0);
}

Status WindowWriter::run() {
  spread_ = spread_windows(frame_, walk_);
  if (walk_.has_axis) frame_.pitch = walk_.axis.strides[static_cast<size_t>(frame_.table(0))];
  make_grids();
  if (plan_.checks_first())
    write_check(frame_, [&](const Named& cell) {
      write_nest(frame_, plan_.positions, "checked", at_.position, [&] { add_fault(frame_, cell, b_.i32(at_.faults())); });
    });
  const PositionLoops loops{plan_.positions, spread_, "position", "position"};
  const auto all = [&] {
    return write_positions(frame_, loops, at_.position, [&] {
      position();
      return failed_;
    });
  };
  failed_ = write_spread(frame_, spread_, all);
  STREW_TRY(failed_);
  frame_.program.tiles = tiles_.describe("copy", split_of(spread_));
  return {};
}

}  // namespace

Status write_windows(Frame& frame) {
  // Tiles are read, combined and written one after another, so there are no atomics here.
  STREW_ASSIGN(Combine combine, start_combine(frame, false));
  WindowWalk walk = window_walk(frame);
  int64_t& rows = frame.attempt.rows;
  if (walk.axis.extent.is_static()) rows = std::clamp<int64_t>(walk.axis.extent.factor, 1, rows);
  return WindowWriter(frame, std::move(walk), std::move(combine)).run();
}

}  // namespace strew::inline v0::pto
