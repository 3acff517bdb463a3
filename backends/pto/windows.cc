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

#include "backends/pto/row_values.h"
#include "backends/pto/spread.h"
#include "backends/pto/tiles.h"
#include "backends/pto/walk.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

/// The iterations [from, to) of a window loop that the policy does not drop.
struct LoopSpan {
  Number from, to;
};

/// Writes the scalar instructions that compute where the window of one position starts: reads the index components from memory
/// and applies the policy. Numbers have 64 bits. A start is clamped to a range in which nothing can overflow before anything is
/// added to it.
class StartCode {
 public:
  /// Of source number `source`: 0 are the op's own indices, the others those of look-ups. `position`: the variables of the position loops.
  StartCode(Frame& frame, size_t source, const std::vector<Number>& position)
      : frame_(frame), plan_(frame.plan), b_(frame.build), source_(frame.plan.sources[source]), position_(position) {}

  /// Reads all components at `position` and sets `starts`, `spans` and `valid`.
  void read_all() {
    starts.clear();
    spans.clear();
    valid = b_.number(1);
    for (size_t k = 0; k < source_.components.size(); ++k) bound(k, start(k));
  }

  /// 1 if a component at `position` is out of bounds or, without policy error, if one is negative; else 0.
  Number faults() {
    Number faults = b_.number(0), outside;
    for (size_t k = 0; k < source_.components.size(); ++k) {
      if (!source_.checks_first) {
        if (!is_signed_integer(source_.components[k].dtype)) continue;
        const Number negative = b_.sub(b_.number(0), sign(load_index(k)), "negative");
        faults = b_.max(faults, negative, "fault");
        continue;
      }
      const Number value = start(k);
      clamp(value, frame_.last_start(source_.components[k]), outside);
      faults = b_.max(faults, outside, "fault");
    }
    return faults;
  }

  const IndexSource& source() const { return source_; }

  std::vector<Number> starts;   ///< for each component: the coordinate at which the window starts, after the policy
  std::vector<LoopSpan> spans;  ///< for each component: the window's coordinates that the policy does not drop
  Number valid;                 ///< 0: the policy drops the whole window; else 1

 private:
  /// Index number `at` of the component's tensor, several of which share a byte; the first has the lowest bits.
  Number packed_index(const Component& c, const Number& at, const std::string& hint) {
    const int width = bits(c.dtype);
    const Number each = b_.number(8 / width), range = b_.number(int64_t{1} << width);
    const Named byte = frame_.load_word(hint + "_byte", c.tensor, b_.divide(at, each, "byte_at"));
    const Number all = b_.as_index(hint + "_bits", byte.name, true);
    // Shift out the indices before it in the byte.
    const Number place = b_.mul(b_.remainder(at, each, "place"), b_.number(width), "shift");
    const Number shifted{b_.give(Opcode::shrsi, "shifted", make_index(), {all.name, b_.use(place)}).name, {}};
    const Number value = b_.remainder(shifted, range, hint.c_str());
    if (!is_signed_integer(c.dtype)) return value;
    const Number half = b_.divide(value, b_.number(int64_t{1} << (width - 1)), "negative");
    return b_.sub(value, b_.mul(half, range, "range"), hint.c_str());
  }

  /// -1 for a negative number, else 0.
  Number sign(const Number& value) { return b_.min(b_.max(value, b_.number(-1), "sign"), b_.number(0), "sign"); }

  /// The value clamped to [0, limit], and in `outside` whether it is not in there: 1 or 0.
  Number clamp(const Number& value, const Number& limit, Number& outside) {
    // `near` is the value clamped to [-1, limit + 1], so that nothing overflows. Its distance from [0, limit] is 0 inside and
    // 1 or -1 outside.
    const Number beyond = b_.add(limit, b_.number(1), "beyond");
    const Number near = b_.min(b_.max(value, b_.number(-1), "near"), beyond, "near");
    const Number inside = b_.min(b_.max(near, b_.number(0), "inside"), limit, "inside");
    const Number off = b_.sub(near, inside, "off");
    outside = b_.mul(off, off, "outside");
    return inside;
  }

  /// Component `k` of the index vector at `position`, as a number.
  Number load_index(size_t k) {
    const Component& c = source_.components[k];
    Number at = b_.add(frame_.number(c.index_offset), frame_.origin(c.tensor), "index_at");
    for (size_t i = 0; i < plan_.positions.size(); ++i)
      at = b_.add(at, b_.mul(position_[i], frame_.number(plan_.positions[i].strides[static_cast<size_t>(c.tensor)]), "index_at"),
                  "index_at");
    const DType dtype = c.dtype;
    const std::string stem = &source_ == &plan_.primary() ? "index" : "lookup";
    const std::string hint = source_.components.size() > 1 ? stem + "_" + std::to_string(k) : stem;
    if (bits(dtype) < 8) return packed_index(c, at, hint);
    if (frame_.words(c.tensor).count == 1)
      return b_.as_index(hint, frame_.load_word(hint + "_word", c.tensor, at).name, !is_signed_integer(dtype));
    // The value is the low word plus 2^32 times the high word.
    const Number low_at = b_.mul(at, b_.number(2), "low_at");
    const Named low = frame_.load_word(hint + "_low", c.tensor, low_at);
    const Named high = frame_.load_word(hint + "_high", c.tensor, b_.add(low_at, b_.number(1), "high_at"));
    const Number low_part = b_.as_index(hint + "_low_part", low.name, true);
    if (!is_signed_integer(dtype) && source_.oob == OobPolicy::wrap) {
      // A u64 may not fit an index. Policy wrap needs only its remainder by dim, which low + (high mod dim) * (2^32 mod
      // dim) has, too.
      const Number dim = divisor(k), two = b_.number(int64_t{1} << 32);
      const Number high_part = b_.as_index(hint + "_high_part", high.name, true);
      const Number word_rest = b_.remainder(two, dim, "word_rest"), high_rest = b_.remainder(high_part, dim, "high_rest");
      return b_.add(low_part, b_.mul(high_rest, word_rest, "high_value"), hint.c_str());
    }
    const Number high_part = b_.as_index(hint + "_high_part", high.name);
    const Number value = b_.add(low_part, b_.mul(high_part, b_.number(int64_t{1} << 32), "high_value"), hint.c_str());
    if (is_signed_integer(dtype)) return value;
    // A u64 of 2^63 or more is negative as i64: it is replaced by 2^62, which is out of bounds, too.
    return b_.max(value, b_.mul(sign(value), b_.number(-(int64_t{1} << 62)), "large"), hint.c_str());
  }

  /// Drops the window if there is no coordinate at which it could start.
  void drop_if_no_place(const Number& places) {
    if (places.value && *places.value > 0) return;
    valid = b_.mul(valid, frame_.any(places), "valid");
  }

  /// The divisor of policy wrap: the extent, or 1 for an extent of 0, for which nothing is written.
  Number divisor(size_t k) { return b_.max(frame_.number(source_.components[k].dim), b_.number(1), "divisor"); }

  Number start(size_t k) {
    const Number value = load_index(k);
    const Component& c = source_.components[k];
    const Number dim = frame_.number(c.dim);
    return c.normalize_negative ? b_.sub(value, b_.mul(sign(value), dim, "from_end"), "normal") : value;
  }

  /// Applies the policy to a component's start, and computes which part of the window is left.
  void bound(size_t k, const Number& value) {
    const Component& c = source_.components[k];
    const Number dim = frame_.number(c.dim), window = frame_.number(c.window), zero = b_.number(0);
    const Number last = frame_.last_start(c);
    Number at = value;
    LoopSpan left{zero, window};
    switch (rule_of(source_, k)) {
      case PlaceRule::fits:
      case PlaceRule::inside: {
        Number outside;
        at = clamp(value, last, outside);
        valid = b_.mul(valid, b_.sub(b_.number(1), outside, "here"), "valid");
        break;
      }
      case PlaceRule::clamped:
        at = b_.min(b_.max(value, zero, "clamped"), last, "clamped");
        if (!last.value) at = b_.max(at, zero, "clamped");
        drop_if_no_place(b_.add(last, b_.number(1), "places"));
        break;
      case PlaceRule::cut:
        at = b_.min(b_.max(value, b_.sub(zero, window, "before"), "near"), dim, "near");
        left = {b_.max(b_.sub(zero, at, "cut"), zero, "lower"), b_.min(b_.sub(dim, at, "room"), window, "upper")};
        break;
      case PlaceRule::wrapped:
      case PlaceRule::split: {
        const Number by = divisor(k), rest = b_.remainder(value, by, "rest");
        at = b_.remainder(b_.add(rest, by, "raised"), by, "wrapped");
        drop_if_no_place(dim);
        break;
      }
      case PlaceRule::trusted:
        break;
    }
    starts.push_back(at);
    spans.push_back(left);
  }

  Frame& frame_;
  const Plan& plan_;
  ProgramBuilder& b_;
  const IndexSource& source_;
  const std::vector<Number>& position_;
};

/// Reads and writes tiles of the table by plain loads and stores.
class WindowWriter final : public TileMover {
 public:
  WindowWriter(Frame& frame, WindowWalk walk, Combine combine, RowValues values)
      : TileMover(frame, std::move(combine), {frame, TileForm::rows, walk.has_axis ? frame.attempt.rows : 1, walk.cols}),
        walk_(std::move(walk)),
        values_(std::move(values)),
        start_(frame, 0, position_) {
    for (size_t s = 1; s < plan_.sources.size(); ++s) lookups_.emplace_back(frame, s, position_);
  }

  Status run() {
    spread_ = spread_windows(frame_, walk_);
    if (walk_.has_axis) frame_.pitch = walk_.axis.strides[static_cast<size_t>(frame_.table(0))];
    make_grids();
    write_window_check(frame_);
    const PositionLoops loops{plan_.positions, spread_, "position", "position"};
    const auto all = [&] {
      return write_positions(frame_, loops, position_, [&] {
        position();
        return failed_;
      });
    };
    STREW_TRY(frame_.launches() ? in_launches(all) : write_spread(frame_, spread_, all));
    frame_.program.tiles = tiles_.describe("copy", split_of(spread_));
    return {};
  }

 private:
  /// Writes a program of two launches: in the first one each core makes its part of the results, in the second one windows are moved.
  Status in_launches(const std::function<Status()>& all) {
    const Number launch = frame_.add_launch(2), elements = frame_.elements(frame_.table(0));
    const Named makes = b_.equal(launch, b_.number(0)), moves = b_.equal(launch, b_.number(1));
    // Every element has a byte or more, so two cores never write into one line of the cache.
    const Number line = b_.number(kCacheLine), lines = b_.ceil_div(elements, line, "lines");
    const Number each = b_.mul(b_.ceil_div(lines, b_.cores(), "share"), line, "share_elements");
    const Number begin = b_.min(b_.mul(b_.core(), each, "core_element"), elements, "begin");
    const Number end = b_.min(b_.add(begin, each, "next_element"), elements, "end");
    Status made, moved;
    b_.note("the first launch makes what is there before updates");
    b_.when(makes, [&] { made = write_init(frame_, begin, end); });
    b_.note("the second launch moves the windows");
    b_.when(moves, [&] { moved = write_spread(frame_, spread_, all); });
    STREW_TRY(made);
    return moved;
  }

  bool current_first() const override { return true; }

  Named current(int pair) override {
    const int table = frame_.table(pair);
    if (!filling_) return tiles_.load("current", table, part_);
    const Named tile = tiles_.tile("fill", table, part_);
    const Number words = b_.mul(part_.width, b_.number(frame_.words(table).count), "words");
    write_fill(frame_, frame_.words(table), tile, part_.count, words, whole_bytes(frame_, table, plan_.primary().fill));
    return tile;
  }

  Named update(int pair) override { return read("update", slices_of(plan_, pair)); }

  /// Loads the part of a tensor for the tile at `part_`. Where a look-up fills, the tile is filled first, and loaded only if the window is there.
  Named read(const char* hint, int tensor) {
    const int source = lookup_source(plan_, tensor);
    if (source == 0 || !is_fill(plan_.sources[static_cast<size_t>(source)].oob)) return tiles_.load(hint, tensor, part_);
    const StartCode& lookup = lookups_[static_cast<size_t>(source) - 1];
    const Named tile = tiles_.tile(hint, tensor, part_);
    b_.note("the fill value, for an index out of bounds");
    write_fill(frame_, frame_.words(tensor), tile, part_.count,
               b_.mul(part_.width, b_.number(frame_.words(tensor).count), "words"),
               whole_bytes(frame_, tensor, lookup.source().fill));
    b_.when(b_.equal(lookup.valid, b_.number(1)),
            [&] { b_.load(tiles_.part(std::string(hint) + "_part", tensor, part_), tile); });
    return tile;
  }

  Named extra(int tensor) override {
    const auto t = static_cast<size_t>(tensor);
    if (in_tiles(plan_.tensors[t]) || frame_.attempt.single) return read("extra", tensor);
    // A scalar that holds for the whole window.
    Number at = frame_.origin(tensor);
    const auto move = [&](const Number& variable, const Term& stride) {
      at = b_.add(at, b_.mul(variable, frame_.number(stride), "extra_at"), "extra_at");
    };
    for (size_t i = 0; i < plan_.positions.size(); ++i) move(position_[i], plan_.positions[i].strides[t]);
    if (const int source = lookup_source(plan_, tensor); source > 0) {
      const StartCode& lookup = lookups_[static_cast<size_t>(source) - 1];
      for (size_t k = 0; k < lookup.starts.size(); ++k) move(lookup.starts[k], lookup.source().components[k].strides[t]);
    }
    return frame_.load_word(frame_.pointer(tensor) + "_number", tensor, at);
  }

  void put(int pair, const Named& data) override {
    const bool scatter = frame_.scatter();
    const int into = scatter ? frame_.table(pair) : slices_of(plan_, pair);
    b_.store(data, tiles_.part(scatter ? "table_part" : "result_part", into, part_));
  }

  void make_grids() {
    const auto add = [&](int tensor) {
      tiles_.add(tensor, walk_.has_axis ? walk_.axis.strides[static_cast<size_t>(tensor)] : constant(0));
    };
    for (int pair = 0; pair < plan_.pairs; ++pair) {
      add(frame_.table(pair));
      add(slices_of(plan_, pair));
    }
    for (size_t t = 0; t < plan_.tensors.size(); ++t)
      if (in_tiles(plan_.tensors[t]) || (frame_.attempt.single && plan_.tensors[t].role == Role::extra)) add(static_cast<int>(t));
  }

  /// Policy wrap: visits the window in two pieces per component, up to the end of the dim and from its beginning.
  void pieces(size_t k) {
    if (k == plan_.primary().components.size()) return has_row_values(plan_) ? row() : around(0);
    const Component& c = plan_.primary().components[k];
    if (rule_of(plan_.primary(), k) != PlaceRule::split) return pieces(k + 1);
    const Number dim = frame_.number(c.dim), window = frame_.number(c.window), start = start_.starts[k];
    const Number cut = b_.min(b_.sub(dim, start, "room"), window, "cut");
    b_.note("a window that runs over the end goes on at the beginning");
    b_.loop("piece", b_.number(0), b_.number(2), b_.number(1), [&](const Number& piece) {
      const Number rest = b_.sub(window, cut, "rest");
      start_.spans[k] = {b_.mul(piece, cut, "lower"), b_.add(cut, b_.mul(piece, rest, "more"), "upper")};
      start_.starts[k] = b_.sub(start, b_.mul(piece, dim, "turn"), "piece_start");
      pieces(k + 1);
      start_.starts[k] = start;
    });
  }

  /// Writes what happens to the window of a position whose row has values of its own: to its elements, or to the one value that results hold
  /// of it. Nothing cuts such a window.
  void row() {
    const Number zero = b_.number(0), one = b_.number(1);
    Number reached = frame_.guarded(start_.valid);
    for (const Loop& loop : walk_.around)
      if (loop.extent.is_static() ? loop.extent.is(0) : plan_.per_row)
        reached = b_.mul(reached, frame_.any(frame_.number(loop.extent)), "reached");
    b_.loop("row", zero, reached, one, [&](const Number&) {
      const auto elements = [&](const std::function<void(const Number&)>& body) {
        std::vector<Number> at;
        write_nest(frame_, walk_.around, "element", at, [&] {
          Number element = zero;
          for (size_t i = 0; i < at.size(); ++i)
            element = b_.add(b_.mul(element, frame_.number(walk_.around[i].extent), "element"), at[i], "element");
          around_at_ = at;
          set_part(zero, one);
          body(element);
        });
        around_at_.clear();
      };
      const auto read_input = [&](const lowered::Graph::Input& input) {
        const bool is_update = input.op == ExprOp::update;
        const int tensor = is_update ? slices_of(plan_, input.index) : plan_.extra(input.index);
        const Named tile = is_update ? update(input.index) : extra(tensor);
        return RowValues::Input{tile, frame_.per_word(tensor) > 1 ? std::optional(tiles_.shift(tensor, part_)) : std::nullopt};
      };
      row_values_ = values_.write(frame_, elements, read_input);
      if (!plan_.per_row) return around(0);
      around_at_.assign(walk_.around.size(), zero);
      rows();
      around_at_.clear();
    });
  }

  /// The iterations of a window loop that the policy does not drop.
  LoopSpan span(const Loop& loop) const {
    if (!loop.move().is_bounded) return {b_.number(0), frame_.number(loop.extent)};
    return start_.spans[static_cast<size_t>(loop.move().component)];
  }

  void around(size_t depth) {
    if (depth == walk_.around.size()) return rows();
    const LoopSpan left = span(walk_.around[depth]);
    b_.loop("part", left.from, left.to, b_.number(1), [&](const Number& variable) {
      around_at_.push_back(variable);
      around(depth + 1);
      around_at_.pop_back();
    });
  }

  void rows() {
    const LoopSpan left = span(walk_.axis);
    const Number height = b_.number(frame_.attempt.rows);
    const bool is_split = spread_ == Spread::tiles && walk_.has_axis;
    const bool even = left.from.is(0) && left.to.value && *left.to.value % frame_.attempt.rows == 0;
    // Rows are counted from the window's start, which may lie before the table; the loop begins at the first row that is
    // not dropped.
    const Number to = b_.mul(frame_.guarded(left.to), start_.valid, "upper");
    const LoopTurns turns = turns_of(frame_, is_split, {left.from, height}, {"first_tile", "first_row", "stride"});
    b_.loop("row", turns.from, to, turns.step,
            [&](const Number& first) { columns(first, b_.left(first, left.to, height, even)); });
  }

  void set_part(const Number& first, const Number& count) {
    const int64_t wide = walk_.cols;
    part_ = {first, walk_.has_axis ? count : b_.number(1), b_.number(0), b_.number(wide), {}};
    for (size_t i = 0; i < plan_.positions.size(); ++i) part_.movers.push_back({position_[i], plan_.positions[i].strides});
    for (size_t i = 0; i < walk_.around.size(); ++i) part_.movers.push_back({around_at_[i], walk_.around[i].strides});
    for (size_t k = 0; k < plan_.primary().components.size(); ++k)
      part_.movers.push_back({start_.starts[k], plan_.primary().components[k].strides});
    for (const StartCode& lookup : lookups_)
      for (size_t k = 0; k < lookup.starts.size(); ++k)
        part_.movers.push_back({lookup.starts[k], lookup.source().components[k].strides});
  }

  void columns(const Number& first, const Number& count) {
    const LoopSpan left = span(walk_.run);
    const int64_t wide = walk_.cols;
    set_part(first, count);
    if (left.from.is(0) && left.to.is(wide)) return move();
    const bool is_split = spread_ == Spread::tiles && !walk_.has_axis;
    const Number step = b_.number(wide);
    const bool even = left.from.is(0) && left.to.value && *left.to.value % wide == 0;
    const LoopTurns turns = turns_of(frame_, is_split, {left.from, step}, {"first_piece", "first_col", "col_stride"});
    b_.loop("col", turns.from, left.to, turns.step, [&](const Number& col) {
      part_.col = col;
      part_.width = b_.left(col, left.to, step, even, "width", "cols_left");
      move();
    });
  }

  void move() {
    if (frame_.attempt.single || (combine_.way == CombineWay::compute && frame_.one_by_one())) return move_elements();
    for (int pair = 0; pair < plan_.pairs && failed_.ok(); ++pair) failed_ = move_tile(pair);
  }

  void position() {
    start_.read_all();
    start_.valid = b_.mul(start_.valid, frame_.reached(), "valid");
    for (StartCode& lookup : lookups_) {
      lookup.read_all();
      if (!is_fill(lookup.source().oob)) start_.valid = b_.mul(start_.valid, lookup.valid, "valid");
    }
    if (plan_.gather && is_fill(plan_.primary().oob)) {
      // First fill the whole window, then copy the part that is in bounds.
      const std::vector<LoopSpan> left = start_.spans;
      const Number valid = start_.valid;
      for (size_t k = 0; k < start_.spans.size(); ++k)
        start_.spans[k] = {b_.number(0), frame_.number(plan_.primary().components[k].window)};
      start_.valid = b_.number(1);
      filling_ = true;
      around(0);
      filling_ = false;
      start_.spans = left;
      start_.valid = valid;
    }
    // A dropped window has no rows. Elements dropped on both sides may make a range negative, which is empty, too.
    pieces(0);
  }

  const WindowWalk walk_;
  const RowValues values_;
  std::vector<Number> position_;  ///< the variables of the position loops
  StartCode start_;
  std::vector<StartCode> lookups_;  ///< by source, which begin with number 1
  Spread spread_ = Spread::single;
  std::vector<Number> around_at_;
  bool filling_ = false;
};

/// Fails unless extra inputs can be read: as tiles that have a row per iteration of the axis, or as numbers that hold for a whole window.
Status check_extras(const Frame& frame, const WindowWalk& walk) {
  for (size_t t = 0; t < frame.plan.tensors.size(); ++t) {
    const PlanTensor& extra = frame.plan.tensors[t];
    if (extra.role != Role::extra) continue;
    const auto refuse = [&](const std::string& why) {
      return unsupported("an extra input is " + std::string(name(extra.extra)) + " of " + std::string(name(extra.dtype)) + why);
    };
    const DType dtype = frame.words(static_cast<int>(t)).element.dtype;
    if (in_tiles(extra) && walk.has_axis && walk.axis.strides[t].is(0))
      return refuse(" that repeats along a window, expected per_element: tiles have no broadcast");
    if (!in_tiles(extra) && !frame.has(Opcode::load_scalar, dtype))
      return refuse(", of which " + std::string(name(frame.chip)) + " reads no numbers, expected per_element or another type");
  }
  return {};
}

/// Fails unless there is code for what look-ups fill.
Status check_fills(const Frame& frame) {
  for (size_t s = 1; s < frame.plan.sources.size(); ++s) {
    const IndexSource& source = frame.plan.sources[s];
    if (!is_fill(source.oob)) continue;
    const int tensor = table_of(frame.plan, s);
    const PlanTensor& table = frame.plan.tensors[static_cast<size_t>(tensor)];
    const std::string what = "the look-up of " + std::string(name(table.role)) + " " + std::to_string(table.index) +
                             " fills (policy " + std::string(name(source.oob)) + ")";
    if (table.role == Role::extra && !in_tiles(table) && !frame.attempt.single)
      return unsupported(what +
                         " what is one number per position, expected another policy: a number is not read under a condition");
    if (!can_fill(frame, frame.words(tensor), source.fill))
      return unsupported(what + " elements of " + std::string(name(table.dtype)) +
                         ", which ptoas has no way to, expected another policy or output pto-cpp");
  }
  return {};
}

}  // namespace

void write_window_check(Frame& frame) {
  std::vector<Number> position;
  std::vector<StartCode> judged;
  for (size_t s = 0; s < frame.plan.sources.size(); ++s)
    if (frame.plan.sources[s].checks_first || (s == 0 && frame.judges_signs())) judged.emplace_back(frame, s, position);
  if (judged.empty()) return;
  write_check(frame, [&](const Named& cell) {
    write_nest(frame, frame.plan.positions, "checked", position, [&] {
      Number fault = judged.front().faults();
      for (size_t i = 1; i < judged.size(); ++i) fault = frame.build.max(fault, judged[i].faults(), "fault");
      add_fault(frame, cell, frame.build.i32(fault));
    });
  });
}

Status write_windows(Frame& frame) {
  STREW_TRY(check_fills(frame));
  // Tiles are read, combined and written one after another, so there are no atomics here.
  STREW_ASSIGN(Combine combine, start_combine(frame, false));
  STREW_ASSIGN(RowValues values, RowValues::of(frame.plan));
  WindowWalk walk = window_walk(frame);
  if (combine.way == CombineWay::compute && !frame.attempt.single) STREW_TRY(check_extras(frame, walk));
  int64_t& rows = frame.attempt.rows;
  if (walk.axis.extent.is_static()) rows = std::clamp<int64_t>(walk.axis.extent.factor, 1, rows);
  return WindowWriter(frame, std::move(walk), std::move(combine), std::move(values)).run();
}

}  // namespace strew::inline v0::pto
