// A scatter or gather as mscatter and mgather of rows. The loops of a program, from outside in: position loops around the axis, tiles along
// it (one row per position), window loops outside of a row.
//
// Cores. A gather, and a scatter whose updates cannot meet or may in any order, is split by tiles. Where order counts, or the result is
// made from an operand first, destinations are owned: by slab (the outermost batching loop) where there are enough, else by ranges of
// rows: every core then sees every update and `skip` drops what is not its own, which keeps the order. Ranges are multiples of 64
// bytes, since a3 writes elements through a cache of such lines.
//
// Order inside one mscatter: a3 takes rows in turn; a5 does for assignments (scatterConflict last) and for nothing else, so that sums of
// floats whose order counts go row by row there. Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#include "backends/pto/rows.h"

#include <algorithm>
#include <numeric>

#include "backends/pto/check.h"
#include "backends/pto/combine.h"
#include "backends/pto/indices.h"
#include "backends/pto/init.h"
#include "backends/pto/l1.h"
#include "compiler/pto/instructions.h"
#include "compiler/pto/types.h"

namespace strew::pto {
namespace {

constexpr int64_t kLine = 64;
constexpr int64_t kMaxRows = int64_t{1} << 30;
constexpr int64_t kFractalRows = 16, kFractalBytes = 32;
constexpr int64_t kMostParts = 64;  // of a row that windows start inside of

Loop no_loop(size_t tensors) {
  Loop loop;
  loop.extent = constant(1);
  loop.strides.assign(tensors, constant(0));
  loop.scale = constant(1);
  return loop;
}

/// A component's loop that steps over `scale` elements at a time, cut into the coordinate's and what is left inside.
void split_scales(std::vector<Loop>& window) {
  for (size_t i = 0; i < window.size(); ++i) {
    if (window[i].component < 0 || window[i].scale.is(1)) continue;
    Loop inner = window[i];
    Term outer_extent;
    if (!divide(window[i].extent, window[i].scale, outer_extent)) continue;
    inner.extent = window[i].scale;
    inner.component = -1;
    inner.scale = constant(1);
    for (Term& stride : window[i].strides) stride = stride * window[i].scale;
    window[i].extent = outer_extent;
    window[i].scale = constant(1);
    window.insert(window.begin() + static_cast<ptrdiff_t>(i) + 1, std::move(inner));
  }
}

/// Rows that no step starts in the middle of: the run of the window, or equal parts of it.
void cut_rows(const Plan& plan, const std::vector<int>& tensors, RowWalk& walk) {
  const auto table = static_cast<size_t>(plan.gather ? plan.operand(0) : plan.result(0));
  int64_t unit = walk.width;
  for (const Component& c : plan.components) unit = std::gcd(unit, c.strides[table].factor);
  for (const Loop& loop : walk.window) unit = std::gcd(unit, loop.strides[table].factor);
  for (const Loop& loop : walk.outer) unit = std::gcd(unit, loop.strides[table].factor);
  unit = std::gcd(unit, walk.axis.strides[table].factor);
  if (unit == walk.width || unit == 0 || walk.width / unit > kMostParts) return;
  Loop part = no_loop(plan.tensors.size());
  part.extent = constant(walk.width / unit);
  for (const int t : tensors) part.strides[static_cast<size_t>(t)] = constant(unit);
  walk.width = unit;
  walk.window.push_back(std::move(part));
}

/// The tensors that rows move between: tables, and updates or the result.
std::vector<int> row_tensors(const Plan& plan) {
  std::vector<int> out;
  for (size_t t = 0; t < plan.tensors.size(); ++t) {
    const PlanTensor& tensor = plan.tensors[t];
    const bool moves = tensor.role == Role::updates || tensor.role == Role::result ||
                       (plan.gather && tensor.role == Role::operand) ||
                       (tensor.role == Role::extra && tensor.extra == ExtraKind::per_element);
    if (moves && tensor.bound) out.push_back(static_cast<int>(t));
  }
  return out;
}

/// The other side of the table: the updates, or a gather's result.
int side(const Plan& plan, int pair) { return plan.gather ? plan.result(0) : plan.update(pair); }

Status check_policy(const Frame& frame, const RowWalk& walk) {
  const Plan& plan = frame.plan;
  if (plan.oob == OobPolicy::wrap && !walk.slab) return unsupported("policy wrap where more than one component names a row");
  if (plan.oob == OobPolicy::wrap && bits(plan.index_dtype) == 64) return unsupported("policy wrap of 64-bit indices");
  const bool fills = plan.oob == OobPolicy::fill_element || plan.oob == OobPolicy::fill_window;
  if (fills && (plan.gather_fill.bits[0] != 0 || plan.gather_fill.bits[1] != 0))
    return unsupported("a fill value other than 0: the chip's mode is zero");
  return {};
}

Status check_steps(const Frame& frame, const RowWalk& walk) {
  const auto table = static_cast<size_t>(frame.table(0));
  const auto whole = [&](const Term& step) { return divides(step, walk.width); };
  bool fits = whole(walk.axis.strides[table]);
  for (const Loop& loop : walk.outer) fits &= whole(loop.strides[table]);
  for (const Loop& loop : walk.window) fits &= whole(loop.strides[table]);
  for (const Component& c : frame.plan.components) fits &= whole(c.strides[table]);
  return fits ? Status() : unsupported("windows that start inside of a row of " + std::to_string(walk.width) + " elements");
}

/// A table [columns, rows, 32 bytes] indexed in its rows, updates likewise, is a matrix in fractals, which a3's header has instructions
/// for: one moves whole rows of the matrix. ptoas has none of them.
void find_fractals(const Frame& frame, RowWalk& walk) {
  const Plan& plan = frame.plan;
  if (frame.chip != Chip::a3 || frame.options.output != Output::pto_cpp || plan.pairs != 1 || plan.components.size() != 1) return;
  const Component& c = plan.components[0];
  const auto table = static_cast<size_t>(frame.table(0)), other = static_cast<size_t>(side(plan, 0));
  const Expected<Combine> combine = choose_combine(frame);
  const bool moves = combine.ok() && (plan.gather ? plan.pure_move : combine->way != CombineWay::compute);
  const Words& words = frame.words(static_cast<int>(table));
  const bool wide = walk.width * words.count * bits(words.element.dtype) == kFractalBytes * 8;
  if (!moves || !wide || plan.checks_first || !c.window.is(1) || !walk.outer.empty() || walk.window.size() != 1) return;
  const Term &rows = c.dim, &count = walk.axis.extent;
  const Loop& across = walk.window[0];
  const auto whole = [](const Term& t) { return t.is_static() && t.factor > 0 && t.factor % kFractalRows == 0; };
  const bool shaped = whole(rows) && whole(count) && across.component < 0 && across.extent.is_static() &&
                      c.strides[table].is(walk.width) && walk.axis.strides[table].is(0) &&
                      walk.axis.strides[other].is(walk.width) && across.strides[table].is(rows.factor * walk.width) &&
                      across.strides[other].is(count.factor * walk.width) &&
                      frame.extent(static_cast<int>(table)).is(rows.factor * walk.width * across.extent.factor) &&
                      frame.options.tile_rows % kFractalRows == 0;
  if (!shaped) return;
  walk.fractals = across.extent.factor;
  walk.window.clear();
  walk.slab = true;
}

}  // namespace

namespace {

/// Can an extra input be had as a tile of the updates' shape? Tiles have no broadcast along rows.
Status check_extra(const Frame& frame, const RowWalk& walk, int tensor) {
  const PlanTensor& extra = frame.plan.tensors[static_cast<size_t>(tensor)];
  const DType dtype = frame.words(tensor).element.dtype;
  if (extra.extra == ExtraKind::per_element) return {};
  if (extra.extra == ExtraKind::per_position && walk.elements && walk.axis.strides[static_cast<size_t>(tensor)].is(1)) return {};
  const auto has = [&](Opcode opcode) {
    return allows(*info(opcode).legality, frame.chip, reader_of(frame.options.output), dtype);
  };
  if (extra.extra == ExtraKind::scalar && has(Opcode::texpands) && has(Opcode::load_scalar) &&
      !(is_unsigned_integer(dtype) && frame.options.output != Output::pto_cpp))
    return {};
  return unsupported("an extra input is " + std::string(name(extra.extra)) + " of " + std::string(name(extra.dtype)) +
                     ", expected per_element: tiles have no broadcast; give it the shape of the updates");
}

}  // namespace

std::optional<std::string> own_mode(const Plan& plan) {
  switch (plan.oob) {
    case OobPolicy::undefined:
      return "undefined";
    case OobPolicy::skip_element:
    case OobPolicy::skip_window:
      return "skip";
    case OobPolicy::fill_element:
    case OobPolicy::fill_window:
      return "zero";
    case OobPolicy::clamp:
    case OobPolicy::wrap:
      // The chip reads indices as u32.
      if (is_unsigned_integer(plan.index_dtype)) return std::string(name(plan.oob));
      return std::nullopt;
    case OobPolicy::error:
      break;
  }
  return std::nullopt;
}

/// Elements; shorter parts of a row are not worth an instruction each.
constexpr int64_t kShortestPart = 8;

Expected<RowWalk> row_walk(const Frame& frame, int64_t most) {
  const Plan& plan = frame.plan;
  if (plan.components.empty()) return unsupported("no index component");
  if (plan.positions.empty()) return unsupported("one position");
  if (frame.one_by_one()) return unsupported("integers that the chip combines one by one");
  if (bits(plan.index_dtype) < 32) return unsupported("indices of " + std::string(name(plan.index_dtype)));
  RowWalk walk;
  walk.outer.assign(plan.positions.begin(), plan.positions.end() - 1);
  walk.axis = plan.positions.back();
  walk.window = plan.window;
  split_scales(walk.window);
  const std::vector<int> tensors = row_tensors(plan);
  if (!walk.window.empty() && walk.window.back().component < 0 && walk.window.back().extent.is_static()) {
    const Loop& last = walk.window.back();
    const bool unit =
        std::all_of(tensors.begin(), tensors.end(), [&](int t) { return last.strides[static_cast<size_t>(t)].is(1); });
    if (unit) {
      walk.width = last.extent.factor;
      walk.window.pop_back();
    }
  }
  cut_rows(plan, tensors, walk);
  if (walk.width > most) {
    // The longest equal parts that fit a tile: tried by their length, because a row may have any number of them.
    int64_t each = most;
    while (each >= kShortestPart && walk.width % each != 0) --each;
    if (each < kShortestPart) return unsupported("rows of " + std::to_string(walk.width) + " elements, which no equal parts fit");
    Loop part = no_loop(plan.tensors.size());
    part.extent = constant(walk.width / each);
    for (const int t : tensors) part.strides[static_cast<size_t>(t)] = constant(each);
    walk.width = each;
    walk.window.push_back(std::move(part));
  }
  STREW_TRY(check_steps(frame, walk));
  const auto table = static_cast<size_t>(frame.table(0));
  const bool one_word =
      walk.width == 1 && std::all_of(tensors.begin(), tensors.end(), [&](int t) { return frame.words(t).count == 1; });
  walk.elements = one_word && std::all_of(tensors.begin(), tensors.end(), [&](int t) {
                    return plan.is_indexed(t) || walk.axis.strides[static_cast<size_t>(t)].is(1);
                  });
  walk.slab = plan.components.size() == 1 && plan.components[0].window.is(1) && walk.window.empty() &&
              walk.axis.strides[table].is(0) && plan.components[0].strides[table].is(walk.width);
  if (frame.options.through_l1) STREW_TRY(find_l1(frame, walk));
  find_fractals(frame, walk);
  STREW_TRY(check_policy(frame, walk));
  for (size_t t = 0; t < plan.tensors.size(); ++t)
    if (plan.tensors[t].role == Role::extra) STREW_TRY(check_extra(frame, walk, static_cast<int>(t)));
  if (plan.kind == PlanKind::general && !walk.window.empty() && !plan.unique.holds && !plan.gather) {
    STREW_ASSIGN(const Combine combine, choose_combine(frame));
    if (!combine.any_order) return unsupported("windows that may overlap partly, in order");
  }
  return walk;
}

namespace {

class RowWriter {
 public:
  RowWriter(Frame& frame, const RowWalk& walk, Combine combine)
      : frame_(frame), walk_(walk), plan_(frame.plan), b_(frame.build), combine_(std::move(combine)), code_(frame, walk) {}

  Status run();

 private:
  void choose_split();
  void make_grids();
  void check_indices();
  Status positions(size_t depth, TilePlace& place);
  Status axis(TilePlace& place);
  void tile(const Number& first, const Number& last, TilePlace& place);
  void windows(size_t depth, TilePlace& place);
  void move(TilePlace& place);
  Status write(int pair, const TilePlace& place, const Named& indices, const Named& table);
  std::vector<Step> steps(int tensor, const TilePlace& place) const;
  Named data_tile(const char* hint, int tensor, const TilePlace& place);
  Named data_part(const std::string& hint, int tensor, const TilePlace& place);
  std::vector<Attribute> scatter_modes(bool assigns) const;
  Expected<Named> fetch(int pair, const TilePlace& place, const Named& indices, const Named& table);

  /// Rows of a tensor's words.
  int64_t cols(int tensor) const { return walk_.width * frame_.words(tensor).count * std::max<int64_t>(walk_.fractals, 1); }
  Named everywhere(int tensor, const TilePlace& place);
  Named table_part(int pair, const Number& first, const Number& rows);
  Status make_results();
  /// Destinations by ranges of rows.
  bool ranges() const { return split_ == CoreSplit::destinations && !by_slab_; }

  Frame& frame_;
  const RowWalk& walk_;
  const Plan& plan_;
  ProgramBuilder& b_;
  Combine combine_;
  IndexCode code_;
  CoreSplit split_ = CoreSplit::updates;
  bool by_slab_ = false;
  bool outer_split_ = false;    ///< the outermost position loop is spread over cores, not the tiles
  Number total_;                ///< rows of the table
  Number begin_, end_, owned_;  ///< rows of this core: from, to, how many
  std::vector<Grid> tables_, sides_;
  Named fractal_table_, fractal_side_;  ///< instead of them
  std::vector<std::pair<int, Grid>> extras_;
  Status failed_;
};

void RowWriter::choose_split() {
  const auto table = static_cast<size_t>(frame_.table(0));
  const bool makes = frame_.scatter() && plan_.init_kind != InitKind::in_place;
  // a3 writes elements through a cache whose lines two cores must not share.
  const bool lines = frame_.scatter() && walk_.elements && frame_.chip == Chip::a3;
  const int64_t around = walk_.outer.empty() ? 1 : frame_.assumed(walk_.outer[0].extent);
  const int64_t tiles = (frame_.assumed(walk_.axis.extent) + frame_.attempt.rows - 1) / frame_.attempt.rows;
  if (!frame_.scatter() || (combine_.any_order && !makes && !lines)) {
    split_ = CoreSplit::updates;
    outer_split_ = around > tiles;
    return;
  }
  split_ = CoreSplit::destinations;
  Term slab;
  const int64_t elements = frame_.elements(frame_.table(0)).value.value_or(-1);
  by_slab_ = !walk_.outer.empty() && !walk_.outer[0].strides[table].is(0) && walk_.outer[0].strides[table].is_static() &&
             walk_.outer[0].extent.is_static() &&
             walk_.outer[0].strides[table].factor * walk_.outer[0].extent.factor == elements &&
             (around * 4 >= b_.planned_cores() || plan_.oob == OobPolicy::wrap) &&
             (!lines || walk_.outer[0].strides[table].factor * bits(plan_.tensors[table].dtype) / 8 % kLine == 0);
  outer_split_ = by_slab_;
  // Skipping what is not owned is in the way of a chip mode that keeps everything; one tile is not worth sharing.
  const bool one_tile = walk_.outer.empty() && walk_.window.empty() && !makes && walk_.axis.extent.is_static() && tiles <= 1;
  // PTO-AS makes all of a result at once.
  const bool at_once = by_slab_ && makes && frame_.options.output == Output::pto_as;
  if (at_once) by_slab_ = outer_split_ = false;
  if (at_once || (!by_slab_ && (plan_.oob == OobPolicy::wrap || one_tile))) split_ = CoreSplit::single;
}

void RowWriter::make_grids() {
  if (walk_.fractals > 0) {
    const int table = frame_.table(0), other = side(plan_, 0);
    const int64_t each = walk_.width * frame_.words(table).count;
    fractal_table_ = b_.fractal_view(frame_.pointer(table) + "_view", frame_.pointer(table),
                                     frame_.number(plan_.components[0].dim), cols(table), each);
    fractal_side_ = b_.fractal_view(frame_.pointer(other) + "_view", frame_.pointer(other), frame_.number(walk_.axis.extent),
                                    cols(other), each);
    return;
  }
  for (int pair = 0; pair < plan_.pairs; ++pair) {
    const int other = side(plan_, pair);
    tables_.emplace_back(frame_, frame_.table(pair), frame_.pointer(frame_.table(pair)) + "_view", constant(walk_.width));
    sides_.emplace_back(frame_, other, frame_.pointer(other) + "_view",
                        walk_.elements ? constant(0) : walk_.axis.strides[static_cast<size_t>(other)]);
  }
  for (size_t t = 0; t < plan_.tensors.size(); ++t) {
    if (plan_.tensors[t].role != Role::extra || plan_.tensors[t].extra == ExtraKind::scalar) continue;
    const int tensor = static_cast<int>(t);
    extras_.emplace_back(
        tensor, Grid(frame_, tensor, frame_.pointer(tensor) + "_view", walk_.elements ? constant(0) : walk_.axis.strides[t]));
  }
}

std::vector<Step> RowWriter::steps(int tensor, const TilePlace& place) const {
  const auto t = static_cast<size_t>(tensor);
  std::vector<Step> out;
  for (size_t i = 0; i < walk_.outer.size(); ++i) out.emplace_back(place.outer[i], walk_.outer[i].strides[t]);
  for (size_t w = 0; w < place.window.size(); ++w) out.emplace_back(place.window[w], walk_.window[w].strides[t]);
  return out;
}

Named RowWriter::data_tile(const char* hint, int tensor, const TilePlace& place) {
  const Element element = frame_.words(tensor).element;
  if (walk_.fractals > 0) return b_.fractal_tile(hint, element, frame_.attempt.rows, cols(tensor), place.count);
  if (walk_.elements) return b_.tile(hint, element, 1, frame_.attempt.rows, b_.number(1), place.count);
  return b_.tile(hint, element, frame_.attempt.rows, cols(tensor), place.count, b_.number(cols(tensor)));
}

Named RowWriter::data_part(const std::string& hint, int tensor, const TilePlace& place) {
  if (walk_.fractals > 0) return b_.fractal_part(hint, fractal_side_, place.first, place.count);
  const Grid* grid = nullptr;
  for (int pair = 0; pair < plan_.pairs; ++pair)
    if (side(plan_, pair) == tensor) grid = &sides_[static_cast<size_t>(pair)];
  for (const auto& [extra, its] : extras_)
    if (extra == tensor) grid = &its;
  if (walk_.elements) return grid->line(hint, place.first, steps(tensor, place), place.count);
  return grid->part(hint, place.first, steps(tensor, place), b_.number(0), place.count, b_.number(walk_.width));
}

std::vector<Attribute> RowWriter::scatter_modes(bool assigns) const {
  std::vector<Attribute> out = {{"coalesce", walk_.elements ? "elem" : "row"},
                                {"scatterAtomicOp", assigns ? "none" : combine_.atomic},
                                {"scatterOob", code_.mode(ranges())}};
  // Where nothing meets, `default` spares a5 the search for the last writer.
  const bool one_row = frame_.attempt.rows == 1;
  if (assigns && frame_.chip == Chip::a5) out.push_back({"scatterConflict", plan_.unique.holds || one_row ? "default" : "last"});
  return out;
}

Expected<Named> RowWriter::fetch(int pair, const TilePlace& place, const Named& indices, const Named& table) {
  const Named current = data_tile("current", frame_.table(pair), place);
  const std::string mode = code_.mode(ranges());
  b_.run(Opcode::mgather, {table.name, indices.name, current.name},
         {{"coalesce", walk_.elements ? "elem" : "row"}, {"gatherOob", mode == "skip" ? "zero" : mode}});
  return current;
}

/// A tile of one number, which lies in memory.
Named RowWriter::everywhere(int tensor, const TilePlace& place) {
  const Element element = frame_.words(tensor).element;
  Type type;
  type.kind = TypeKind::scalar;
  type.element = element;
  const Named number =
      b_.give(Opcode::load_scalar, frame_.pointer(tensor) + "_number", type, {frame_.pointer(tensor), b_.use(b_.number(0))});
  const Named tile = data_tile("extra", tensor, place);
  b_.run(Opcode::texpands, {number.name, tile.name});
  return tile;
}

/// One tile of updates into the table, or of the table into the result.
Status RowWriter::write(int pair, const TilePlace& place, const Named& indices, const Named& table) {
  const int other = side(plan_, pair);
  Named data;
  const auto load_data = [&](const char* hint, int tensor) {
    const Named part = data_part(std::string(hint) + "_part", tensor, place);
    const Named tile = data_tile(hint, tensor, place);
    b_.load(part, tile);
    return tile;
  };
  if (frame_.scatter()) data = load_data("update", other);
  if (combine_.way == CombineWay::compute) {
    CombineTiles tiles;
    tiles.update = data;
    tiles.rows = walk_.elements ? 1 : frame_.attempt.rows;
    tiles.cols = walk_.elements ? frame_.attempt.rows : walk_.width;
    tiles.valid_rows = walk_.elements ? b_.number(1) : place.count;
    tiles.valid_cols = walk_.elements ? place.count : b_.number(walk_.width);
    for (size_t t = 0; t < plan_.tensors.size(); ++t) {
      if (plan_.tensors[t].role != Role::extra) continue;
      const int tensor = static_cast<int>(t);
      tiles.extras.push_back(plan_.tensors[t].extra == ExtraKind::scalar ? everywhere(tensor, place)
                                                                         : load_data("extra", tensor));
    }
    STREW_ASSIGN(tiles.current, fetch(pair, place, indices, table));
    STREW_ASSIGN(data, write_combine(frame_, pair, tiles));
  } else if (!frame_.scatter()) {
    STREW_ASSIGN(data, fetch(pair, place, indices, table));
  }
  if (!frame_.scatter()) {
    b_.store(data, data_part("result_part", other, place));
    return {};
  }
  b_.run(Opcode::mscatter, {data.name, indices.name, table.name}, scatter_modes(combine_.way != CombineWay::atomic));
  return {};
}

Named RowWriter::table_part(int pair, const Number& first, const Number& rows) {
  const std::string hint = frame_.pointer(frame_.table(pair)) + "_rows";
  if (walk_.fractals > 0) return b_.fractal_part(hint, fractal_table_, first, rows);
  return tables_[static_cast<size_t>(pair)].part(hint, first, {}, b_.number(0), rows, b_.number(walk_.width));
}

/// What this core's rows hold before updates; those of a matrix in fractals lie in every block column.
Status RowWriter::make_results() {
  if (plan_.init_kind == InitKind::in_place) return {};
  const Number width = b_.number(walk_.width), first = b_.mul(begin_, width, "first_element"),
               last = b_.mul(end_, width, "last_element");
  if (walk_.fractals == 0) return write_init(frame_, first, last);
  const Number column = b_.mul(total_, width, "block_col");
  Status made;
  b_.loop("block", b_.number(0), b_.number(walk_.fractals), b_.number(1), static_cast<double>(walk_.fractals),
          [&](const Number& at) {
            const Number start = b_.mul(at, column, "block_start");
            const Number to = b_.add(start, last, "to_element"), from = b_.add(start, first, "from_element");
            made = write_init(frame_, from, to);
          });
  return made;
}

/// Everything about one tile of positions at one place of the window loops.
void RowWriter::move(TilePlace& place) {
  Number base = b_.number(0), rows = total_;
  if (walk_.slab) {
    const auto table = static_cast<size_t>(frame_.table(0));
    for (size_t i = 0; i < walk_.outer.size(); ++i)
      base = b_.add(base, b_.mul(place.outer[i], frame_.number(walk_.outer[i].strides[table], walk_.width), "slab"), "slab_row");
    rows = frame_.number(plan_.components[0].dim);
  }
  if (ranges()) {
    // The part of a slab that the core owns; where there is one slab only, and where rows are counted in the whole table, all it owns.
    const bool part = walk_.slab && !(rows.value == total_.value && rows.name == total_.name);
    const Number until = part ? b_.min(b_.add(base, rows, "slab_end"), end_, "until") : end_;
    const Number from = part ? b_.max(base, begin_, "from") : begin_;
    place.base = part ? b_.sub(from, base, "from_in_slab") : from;
    rows = part ? b_.max(b_.sub(until, from, "own"), b_.number(0), "own_rows") : owned_;
    base = from;
  } else {
    place.base = b_.number(0);
  }
  const Named indices = walk_.slab ? code_.slab_rows(place, place.base, ranges()) : code_.rows(place, place.base, total_);
  for (int pair = 0; pair < plan_.pairs && failed_.ok(); ++pair) {
    failed_ = write(pair, place, indices, table_part(pair, base, rows));
  }
}

void RowWriter::windows(size_t depth, TilePlace& place) {
  if (depth == walk_.window.size()) return move(place);
  const Number extent = frame_.number(walk_.window[depth].extent);
  b_.loop("part", b_.number(0), extent, b_.number(1), static_cast<double>(frame_.assumed(walk_.window[depth].extent)),
          [&](const Number& variable) {
            place.window.push_back(variable);
            windows(depth + 1, place);
            place.window.pop_back();
          });
}

void RowWriter::tile(const Number& first, const Number& last, TilePlace& place) {
  const Number rows = b_.number(frame_.attempt.rows);
  const bool whole = last.value && *last.value % frame_.attempt.rows == 0;
  place.first = first;
  place.count = whole ? rows : b_.min(b_.sub(last, first, "left"), rows, "count");
  windows(0, place);
}

Status RowWriter::axis(TilePlace& place) {
  const Number extent = frame_.number(walk_.axis.extent), rows = b_.number(frame_.attempt.rows);
  const bool mine = split_ == CoreSplit::updates && !outer_split_;
  const Number from = mine ? b_.mul(b_.core(), rows, "first_tile") : b_.number(0);
  const Number step = mine ? b_.mul(b_.cores(), rows, "stride") : rows;
  const Number bound = frame_.guarded(extent);
  const double tiles = std::max<double>(
      1, static_cast<double>(frame_.turns(walk_.axis.extent, frame_.attempt.rows)) / (mine ? b_.planned_cores() : 1));
  if (!frame_.attempt.buffered) {
    b_.loop("first", from, bound, step, tiles, [&](const Number& first) { tile(first, extent, place); });
    return failed_;
  }
  b_.note("two tiles a turn, each with buffers of its own");
  b_.loop("first", from, bound, b_.mul(step, b_.number(2), "two_strides"), std::max(1.0, tiles / 2), [&](const Number& first) {
    tile(first, extent, place);
    const Number second = b_.add(first, step, "second");
    if (second.value && extent.value && *second.value >= *extent.value) return;
    b_.when(b_.less(second, bound), [&] { tile(second, extent, place); });
  });
  return failed_;
}

Status RowWriter::positions(size_t depth, TilePlace& place) {
  if (depth == walk_.outer.size()) return axis(place);
  const bool mine = depth == 0 && outer_split_;
  const Number extent = frame_.number(walk_.outer[depth].extent);
  const double trips = static_cast<double>(frame_.assumed(walk_.outer[depth].extent)) / (mine ? b_.planned_cores() : 1);
  const Number step = mine ? b_.cores() : b_.number(1), from = mine ? b_.core() : b_.number(0);
  b_.loop(depth == 0 ? "slab" : "around", from, extent, step, std::max(1.0, trips), [&](const Number& variable) {
    if (mine && by_slab_) {
      const Number each = frame_.number(walk_.outer[0].strides[static_cast<size_t>(frame_.table(0))]);
      const Number start = b_.mul(variable, each, "slab_start");
      failed_ = write_init(frame_, start, b_.add(start, each, "slab_stop"));
    }
    place.outer.push_back(variable);
    if (failed_.ok()) failed_ = positions(depth + 1, place);
    place.outer.pop_back();
  });
  return failed_;
}

/// Policy error: tile by tile. Whole tiles are folded into one of ones and zeros, which is looked through in the end; the elements of
/// tiles that may be partial are looked at right away.
void RowWriter::check_indices() {
  b_.note("check every index before anything is written");
  const Named cell = start_check(frame_);
  const Number extent = frame_.number(walk_.axis.extent), rows = b_.number(frame_.attempt.rows);
  const bool whole = extent.value && *extent.value % frame_.attempt.rows == 0;
  const auto look_through = [&](const Named& tile, const Number& count) {
    b_.loop("seen", b_.number(0), count, b_.number(1), static_cast<double>(frame_.attempt.rows), [&](const Number& at) {
      add_fault(frame_, cell, b_.give(Opcode::tgetval, "bad", make_scalar(DType::i32), {tile.name, b_.use(at)}));
    });
  };
  Named all;
  if (whole) {
    all = b_.tile("any_fault", {DType::i32, false}, 1, frame_.attempt.rows, b_.number(1), rows);
    b_.run(Opcode::texpands, {b_.i32(0).name, all.name});
  }
  TilePlace place;
  const std::function<void(size_t)> around = [&](size_t depth) {
    if (depth < walk_.outer.size()) {
      const Term& outer = walk_.outer[depth].extent;
      b_.loop("around", b_.number(0), frame_.number(outer), b_.number(1), static_cast<double>(frame_.assumed(outer)),
              [&](const Number& variable) {
                place.outer.push_back(variable);
                around(depth + 1);
                place.outer.pop_back();
              });
      return;
    }
    const double tiles = static_cast<double>(frame_.turns(walk_.axis.extent, frame_.attempt.rows));
    b_.loop("first", b_.number(0), extent, rows, tiles, [&](const Number& first) {
      place.first = first;
      place.count = whole ? rows : b_.min(b_.sub(extent, first, "left"), rows, "count");
      const Named bad = code_.faults(place);
      if (whole) {
        b_.run(Opcode::tmax, {all.name, bad.name, all.name});
      } else {
        look_through(bad, place.count);
      }
    });
  };
  around(0);
  if (whole) look_through(all, rows);
  finish_check(frame_, cell);
  code_.set_checked();
}

Status RowWriter::run() {
  choose_split();
  frame_.pitch = constant(walk_.width);
  if (frame_.options.index_column) STREW_TRY(code_.check_column(ranges()));
  make_grids();
  const int64_t words = frame_.words(frame_.table(0)).count;
  const Number elements = frame_.elements(frame_.table(0));
  const Term all = frame_.extent(frame_.table(0));
  if (walk_.fractals > 0) {
    total_ = frame_.number(plan_.components[0].dim);
  } else {
    total_ =
        divides(all, walk_.width) ? frame_.number(all, walk_.width) : b_.ceil_div(elements, b_.number(walk_.width), "table_rows");
  }
  if (total_.value.value_or(0) > kMaxRows)
    return unsupported("the table has " + std::to_string(*total_.value) + " rows, expected at most 2^30: row numbers are i32");
  if (plan_.checks_first) check_indices();
  if (ranges()) {
    const int64_t bytes = walk_.width * words * bits(frame_.words(frame_.table(0)).element.dtype) / 8;
    const int64_t unit = walk_.fractals > 0 ? kFractalRows : kLine / std::gcd(kLine, bytes);
    b_.note("each core owns a range of the table's rows");
    const Number cores = b_.cores(), units = b_.ceil_div(total_, b_.number(unit), "units");
    const Number each = b_.mul(b_.ceil_div(units, cores, "share"), b_.number(unit), "share_rows");
    begin_ = b_.min(b_.mul(b_.core(), each, "core_row"), total_, "begin");
    end_ = b_.min(b_.add(begin_, each, "next_row"), total_, "end");
    owned_ = b_.sub(end_, begin_, "owned_rows");
    STREW_TRY(make_results());
  }
  TilePlace place;
  if (split_ == CoreSplit::single) {
    b_.note("one core does it all");
    b_.when(b_.equal(b_.core(), b_.number(0)), [&] {
      failed_ = write_init(frame_, b_.number(0), elements);
      if (failed_.ok()) failed_ = positions(0, place);
    });
  } else {
    STREW_TRY(positions(0, place));
  }
  STREW_TRY(failed_);
  frame_.program.tiles = {walk_.elements ? "elem" : "row",          split_,
                          walk_.elements ? 1 : frame_.attempt.rows, walk_.elements ? frame_.attempt.rows : cols(frame_.table(0)),
                          walk_.fractals > 0 ? "nz" : "nd",         frame_.attempt.buffered ? 2 : 1};
  return {};
}

}  // namespace

Status write_rows(Frame& frame, const RowWalk& walk) {
  STREW_ASSIGN(Combine combine, choose_combine(frame));
  STREW_TRY(check_computes(frame, combine));
  align_conversions(frame, combine);
  return RowWriter(frame, walk, std::move(combine)).run();
}

}  // namespace strew::pto
