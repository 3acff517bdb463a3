// Every index position is a turn of scalar loops. Its start per component is read from memory, brought in bounds by the policy with
// scalar arithmetic, and what the policy leaves of the window moves as tiles: tload, (combine,) tstore. The longest window loop around
// the innermost run gives a tile its rows; the run gives its columns, as many at a time as fit.
//
// Bounds. Policies that drop elements cut loops to [lower, upper); one that drops windows makes that empty; wrap visits the window in two
// pieces per wrapped dim. So nothing out of bounds is ever named. Cores share a scatter by slab (outermost batching loop), a gather by
// position, a single window by its tiles; everything else is one core's, in order.
// Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#include "backends/pto/windows.h"

#include <algorithm>
#include <array>
#include <functional>

#include "backends/pto/check.h"
#include "backends/pto/combine.h"
#include "backends/pto/grid.h"
#include "backends/pto/init.h"
#include "compiler/pto/types.h"

namespace strew::pto {
namespace {

/// What is left of a loop's iterations.
struct Span {
  Number from, to;
};

/// Is an extra input another one for each element of a window?
bool in_tiles(const PlanTensor& tensor) {
  return tensor.role == Role::extra && (tensor.extra == ExtraKind::per_element || tensor.extra == ExtraKind::per_window);
}

class WindowWriter {
 public:
  WindowWriter(Frame& frame, Combine combine) : frame_(frame), plan_(frame.plan), b_(frame.build), combine_(std::move(combine)) {}
  Status run();

 private:
  void choose_loops();
  void choose_split();
  void make_grids();
  void check_indices();
  void positions(size_t depth);
  void position();
  Number start(size_t k);
  Number divisor(size_t k);
  void exists(const Number& places);
  Number load_index(size_t k);
  Number packed_index(int width, const Number& at, const std::string& hint);
  void bound(size_t k, const Number& start);
  void pieces(size_t k);
  void around(size_t depth);
  void rows();
  void columns(const Number& first, const Number& count);
  void move(const Number& first, const Number& count, const Number& col, const Number& width);
  Status write(int pair, const Number& first, const Number& count, const Number& col, const Number& width);
  std::vector<Step> steps(int tensor) const;
  Named data_part(const std::string& hint, int tensor, const Number& first, const Number& count, const Number& col,
                  const Number& width);
  Named data_tile(const char* hint, int tensor, const Number& count, const Number& width);
  Named extra_number(int tensor);
  Span span(const Loop& loop) const;
  int side(int pair) const { return plan_.gather ? plan_.result(0) : plan_.update(pair); }
  int64_t run_cols() const {
    return std::min<int64_t>(run_.extent.is_static() ? std::max<int64_t>(run_.extent.factor, 1) : most_, most_);
  }

  Frame& frame_;
  const Plan& plan_;
  ProgramBuilder& b_;
  Combine combine_;
  std::vector<Loop> around_;  ///< window loops outside of a tile
  Loop axis_, run_;           ///< rows and columns of a tile
  bool has_axis_ = false;
  int64_t most_ = 1;  ///< columns of a tile
  enum class Spread : uint8_t { single, position, slab, tiles } spread_ = Spread::single;
  CoreSplit split_ = CoreSplit::single;
  std::vector<Grid> tables_, sides_;
  std::vector<std::pair<int, Grid>> extras_;
  std::vector<Number> position_, around_at_;
  std::vector<Number> starts_;  ///< per component, in bounds
  std::vector<Span> spans_;     ///< per component: which of the window's coordinates remain
  bool filling_ = false;
  Number valid_;  ///< 0: the whole window is dropped
  Status failed_;
};

Loop unit_loop(size_t tensors) {
  Loop loop;
  loop.extent = constant(1);
  loop.strides.assign(tensors, constant(0));
  loop.scale = constant(1);
  return loop;
}

void WindowWriter::choose_loops() {
  around_ = plan_.window;
  axis_ = run_ = unit_loop(plan_.tensors.size());
  const auto moved = [&](const Loop& loop) {
    for (int pair = 0; pair < plan_.pairs; ++pair)
      if (!loop.strides[static_cast<size_t>(frame_.table(pair))].is(1) || !loop.strides[static_cast<size_t>(side(pair))].is(1))
        return false;
    for (size_t t = 0; t < plan_.tensors.size(); ++t)
      if (in_tiles(plan_.tensors[t]) && !loop.strides[t].is(1)) return false;
    return true;
  };
  // A component's loop over whole rows of what lies inside: rows of that width.
  for (size_t i = 0; i < around_.size(); ++i) {
    Loop& loop = around_[i];
    Term coordinates;
    if (loop.component < 0 || loop.scale.is(1) || !divide(loop.extent, loop.scale, coordinates)) continue;
    Loop inner = loop;
    inner.extent = loop.scale;
    inner.component = -1;
    inner.scale = constant(1);
    for (Term& stride : loop.strides) stride = stride * loop.scale;
    loop.extent = coordinates;
    loop.scale = constant(1);
    around_.insert(around_.begin() + static_cast<ptrdiff_t>(i) + 1, std::move(inner));
  }
  if (!around_.empty() && moved(around_.back())) {
    run_ = around_.back();
    around_.pop_back();
  }
  // The longest loop that is left gives rows.
  auto longest = around_.end();
  for (auto at = around_.begin(); at != around_.end(); ++at)
    if (longest == around_.end() || frame_.assumed(at->extent) >= frame_.assumed(longest->extent)) longest = at;
  if (longest == around_.end()) return;
  axis_ = *longest;
  has_axis_ = true;
  around_.erase(longest);
}

void WindowWriter::choose_split() {
  const bool makes = frame_.scatter() && plan_.init_kind != InitKind::in_place;
  const bool one = plan_.positions.empty();
  Term covered;
  const auto table = static_cast<size_t>(frame_.table(0));
  const int64_t elements = frame_.elements(frame_.table(0)).value.value_or(-1);
  const bool slabs = !one && !plan_.positions[0].strides[table].is(0);
  const bool whole = slabs && plan_.positions[0].extent.is_static() && plan_.positions[0].strides[table].is_static() &&
                     plan_.positions[0].extent.factor * plan_.positions[0].strides[table].factor == elements;
  if (!frame_.scatter() && !one) {
    spread_ = Spread::position;
  } else if (one && !makes) {
    // A window that is one piece is one core's.
    const bool pieces = has_axis_ || !run_.extent.is_static() || run_.extent.factor > run_cols();
    spread_ = pieces ? Spread::tiles : Spread::single;
  } else if ((whole && !(makes && frame_.options.output == Output::pto_as)) || (slabs && !makes)) {
    spread_ = Spread::slab;
  } else if (!makes && plan_.unique.holds && !one) {
    spread_ = Spread::position;
  }
  split_ = spread_ == Spread::single ? CoreSplit::single : spread_ == Spread::slab ? CoreSplit::destinations : CoreSplit::updates;
}

void WindowWriter::make_grids() {
  const auto pitch = [&](int tensor) { return has_axis_ ? axis_.strides[static_cast<size_t>(tensor)] : constant(0); };
  for (int pair = 0; pair < plan_.pairs; ++pair) {
    const int table = frame_.table(pair), other = side(pair);
    tables_.emplace_back(frame_, table, frame_.pointer(table) + "_view", pitch(table));
    sides_.emplace_back(frame_, other, frame_.pointer(other) + "_view", pitch(other));
  }
  for (size_t t = 0; t < plan_.tensors.size(); ++t) {
    if (!in_tiles(plan_.tensors[t])) continue;
    const int tensor = static_cast<int>(t);
    extras_.emplace_back(tensor, Grid(frame_, tensor, frame_.pointer(tensor) + "_view", pitch(tensor)));
  }
}

/// An index of `width` bits, several to a byte, the first lowest.
Number WindowWriter::packed_index(int width, const Number& at, const std::string& hint) {
  const Number each = b_.number(8 / width), range = b_.number(int64_t{1} << width);
  const Named byte = b_.give(Opcode::load_scalar, hint + "_byte", make_scalar(DType::i8),
                             {frame_.pointer(plan_.indices()), b_.use(b_.divide(at, each, "byte_at"))});
  const Number all{b_.give(Opcode::index_castui, hint + "_bits", make_index(), {byte.name}).name, {}};
  // The ones in front of it: so many times divided by what one takes.
  const Number place = b_.mul(b_.remainder(at, each, "place"), b_.number(width), "shift");
  const Number shifted{b_.give(Opcode::shrsi, "shifted", make_index(), {all.name, b_.use(place)}).name, {}};
  const Number value = b_.remainder(shifted, range, hint.c_str());
  if (!is_signed_integer(plan_.index_dtype)) return value;
  const Number half = b_.divide(value, b_.number(int64_t{1} << (width - 1)), "negative");
  return b_.sub(value, b_.mul(half, range, "range"), hint.c_str());
}

/// The element `k` of the index vector at this position, as index.
Number WindowWriter::load_index(size_t k) {
  const auto indices = static_cast<size_t>(plan_.indices());
  Number at = frame_.number(plan_.components[k].index_offset);
  for (size_t i = 0; i < plan_.positions.size(); ++i)
    at = b_.add(at, b_.mul(position_[i], frame_.number(plan_.positions[i].strides[indices]), "index_at"), "index_at");
  const Words& words = frame_.words(plan_.indices());
  const DType dtype = plan_.index_dtype;
  const bool wide = words.count > 1;
  const Type element = make_scalar(words.element.dtype);
  const int width = bits(dtype);
  const std::string hint = plan_.components.size() > 1 ? "index_" + std::to_string(k) : "index";
  const auto read = [&](const Number& place, const std::string& name) {
    return b_.give(Opcode::load_scalar, name, element, {frame_.pointer(plan_.indices()), b_.use(place)});
  };
  if (width < 8) return packed_index(width, at, hint);
  if (!wide) {
    const Opcode cast = is_signed_integer(dtype) ? Opcode::index_cast : Opcode::index_castui;
    return {b_.give(cast, hint, make_index(), {read(at, hint + "_word").name}).name, {}};
  }
  // Low word plus 2^32 times the high one.
  const Number low_at = b_.mul(at, b_.number(2), "low_at");
  const Named low = read(low_at, hint + "_low"), high = read(b_.add(low_at, b_.number(1), "high_at"), hint + "_high");
  const Number low_part{b_.give(Opcode::index_castui, hint + "_low_part", make_index(), {low.name}).name, {}};
  if (!is_signed_integer(dtype) && plan_.oob == OobPolicy::wrap) {
    // Beyond what an index holds, and only its remainder is wanted: low + (high mod dim) * (2^32 mod dim).
    const Number dim = divisor(k), two = b_.number(int64_t{1} << 32);
    const Number high_part{b_.give(Opcode::index_castui, hint + "_high_part", make_index(), {high.name}).name, {}};
    const Number word_rest = b_.remainder(two, dim, "word_rest"), high_rest = b_.remainder(high_part, dim, "high_rest");
    return b_.add(low_part, b_.mul(high_rest, word_rest, "high_value"), hint.c_str());
  }
  const Number high_part{b_.give(Opcode::index_cast, hint + "_high_part", make_index(), {high.name}).name, {}};
  const Number value = b_.add(low_part, b_.mul(high_part, b_.number(int64_t{1} << 32), "high_value"), hint.c_str());
  if (is_signed_integer(dtype)) return value;
  // From 2^63 on: the largest there is. 0 or -1 by the sign, then the maximum of both readings.
  const Number sign = b_.min(b_.max(value, b_.number(-1), "sign"), b_.number(0), "sign");
  return b_.max(value, b_.mul(sign, b_.number(-(int64_t{1} << 62)), "large"), hint.c_str());
}

/// Where there are no places, nothing is written.
void WindowWriter::exists(const Number& places) {
  if (places.value && *places.value > 0) return;
  valid_ = b_.mul(valid_, b_.max(b_.min(places, b_.number(1), "any"), b_.number(0), "any"), "valid");
}

/// What wrap divides by: the extent, which may be 0 where nothing is written.
Number WindowWriter::divisor(size_t k) { return b_.max(frame_.number(plan_.components[k].dim), b_.number(1), "divisor"); }

Number WindowWriter::start(size_t k) {
  Number value = load_index(k);
  const Number dim = frame_.number(plan_.components[k].dim);
  if (plan_.normalize_negative) {
    const Number sign = b_.min(b_.max(value, b_.number(-1), "sign"), b_.number(0), "sign");
    value = b_.sub(value, b_.mul(sign, dim, "from_end"), "normal");
  }
  return value;
}

/// Brings a start in bounds by the policy and says what of the window is left.
void WindowWriter::bound(size_t k, const Number& value) {
  const Component& c = plan_.components[k];
  const Number dim = frame_.number(c.dim), window = frame_.number(c.window), zero = b_.number(0);
  const Number last = b_.sub(dim, window, "last_start");
  Number at = value;
  Span left{zero, window};
  const auto drop_outside = [&](const Number& limit) {
    // The distance from [0, limit], taken where it cannot overflow, is 0 or 1 at either side.
    const Number beyond = b_.add(limit, b_.number(1), "beyond");
    const Number near = b_.min(b_.max(value, b_.number(-1), "near"), beyond, "near");
    at = b_.min(b_.max(near, zero, "inside"), limit, "inside");
    const Number off = b_.sub(near, at, "off");
    valid_ = b_.mul(valid_, b_.sub(b_.number(1), b_.mul(off, off, "outside"), "here"), "valid");
  };
  switch (plan_.oob) {
    case OobPolicy::clamp:
      at = b_.min(b_.max(value, zero, "clamped"), last, "clamped");
      if (!last.value) at = b_.max(at, zero, "clamped");
      exists(b_.add(last, b_.number(1), "places"));
      break;
    case OobPolicy::wrap: {
      const Number by = divisor(k), rest = b_.remainder(value, by, "rest");
      at = b_.remainder(b_.add(rest, by, "raised"), by, "wrapped");
      exists(dim);
      break;
    }
    case OobPolicy::skip_window:
    case OobPolicy::fill_window:
      drop_outside(last);
      break;
    case OobPolicy::skip_element:
    case OobPolicy::fill_element:
      if (window.is(1)) {
        drop_outside(last);
        break;
      }
      at = b_.min(b_.max(value, b_.sub(zero, window, "before"), "near"), dim, "near");
      left = {b_.max(b_.sub(zero, at, "cut"), zero, "lower"), b_.min(b_.sub(dim, at, "room"), window, "upper")};
      break;
    default:
      break;
  }
  starts_.push_back(at);
  spans_.push_back(left);
}

/// A wrapped window in two pieces: up to the end of the dim, and from its beginning.
void WindowWriter::pieces(size_t k) {
  if (k == plan_.components.size()) return around(0);
  const Component& c = plan_.components[k];
  if (plan_.oob != OobPolicy::wrap || c.window.is(1)) return pieces(k + 1);
  const Number dim = frame_.number(c.dim), window = frame_.number(c.window), start = starts_[k];
  const Number cut = b_.min(b_.sub(dim, start, "room"), window, "cut");
  b_.note("a window that runs over the end goes on at the beginning");
  b_.loop("piece", b_.number(0), b_.number(2), b_.number(1), 1.0, [&](const Number& piece) {
    const Number rest = b_.sub(window, cut, "rest");
    spans_[k] = {b_.mul(piece, cut, "lower"), b_.add(cut, b_.mul(piece, rest, "more"), "upper")};
    starts_[k] = b_.sub(start, b_.mul(piece, dim, "turn"), "piece_start");
    pieces(k + 1);
    starts_[k] = start;
  });
}

/// The iterations of a window loop that are left.
Span WindowWriter::span(const Loop& loop) const {
  if (loop.component < 0) return {b_.number(0), frame_.number(loop.extent)};
  return spans_[static_cast<size_t>(loop.component)];
}

void WindowWriter::around(size_t depth) {
  if (depth == around_.size()) return rows();
  const Span left = span(around_[depth]);
  b_.loop("part", left.from, left.to, b_.number(1), static_cast<double>(frame_.assumed(around_[depth].extent)),
          [&](const Number& variable) {
            around_at_.push_back(variable);
            around(depth + 1);
            around_at_.pop_back();
          });
}

void WindowWriter::rows() {
  const Span left = span(axis_);
  const Number height = b_.number(frame_.attempt.rows);
  const bool mine = spread_ == Spread::tiles && has_axis_;
  const bool even = left.from.is(0) && left.to.value && *left.to.value % frame_.attempt.rows == 0;
  // Rows are counted from 0, so that a start in front of the table counts from the first that is left.
  const Number to = b_.mul(frame_.guarded(left.to), valid_, "upper");
  const Number from = mine ? b_.add(left.from, b_.mul(b_.core(), height, "first_tile"), "first_row") : left.from;
  const Number step = mine ? b_.mul(b_.cores(), height, "stride") : height;
  const double tiles = static_cast<double>(frame_.turns(axis_.extent, frame_.attempt.rows));
  b_.loop("row", from, to, step, std::max(1.0, mine ? tiles / b_.planned_cores() : tiles),
          [&](const Number& first) { columns(first, even ? height : b_.min(b_.sub(left.to, first, "left"), height, "count")); });
}

void WindowWriter::columns(const Number& first, const Number& count) {
  const Span left = span(run_);
  const int64_t wide = run_cols();
  if (left.from.is(0) && left.to.is(wide)) return move(first, count, b_.number(0), b_.number(wide));
  const bool mine = spread_ == Spread::tiles && !has_axis_;
  const Number step = b_.number(wide);
  const bool even = left.from.is(0) && left.to.value && *left.to.value % wide == 0;
  const Number from = mine ? b_.add(left.from, b_.mul(b_.core(), step, "first_piece"), "first_col") : left.from;
  const double turns = static_cast<double>(frame_.turns(run_.extent, wide));
  b_.loop("col", from, left.to, mine ? b_.mul(b_.cores(), step, "col_stride") : step,
          std::max(1.0, mine ? turns / b_.planned_cores() : turns), [&](const Number& col) {
            move(first, count, col, even ? step : b_.min(b_.sub(left.to, col, "cols_left"), step, "width"));
          });
}

std::vector<Step> WindowWriter::steps(int tensor) const {
  const auto t = static_cast<size_t>(tensor);
  std::vector<Step> out;
  for (size_t i = 0; i < plan_.positions.size(); ++i) out.emplace_back(position_[i], plan_.positions[i].strides[t]);
  for (size_t i = 0; i < around_.size(); ++i) out.emplace_back(around_at_[i], around_[i].strides[t]);
  for (size_t k = 0; k < plan_.components.size(); ++k) out.emplace_back(starts_[k], plan_.components[k].strides[t]);
  return out;
}

Named WindowWriter::data_part(const std::string& hint, int tensor, const Number& first, const Number& count, const Number& col,
                              const Number& width) {
  const Grid* grid = nullptr;
  for (int pair = 0; pair < plan_.pairs; ++pair) {
    if (frame_.table(pair) == tensor) grid = &tables_[static_cast<size_t>(pair)];
    if (side(pair) == tensor) grid = &sides_[static_cast<size_t>(pair)];
  }
  for (const auto& [extra, its] : extras_)
    if (extra == tensor) grid = &its;
  return grid->part(hint, first, steps(tensor), col, has_axis_ ? count : b_.number(1), width);
}

Named WindowWriter::data_tile(const char* hint, int tensor, const Number& count, const Number& width) {
  const Words& words = frame_.words(tensor);
  return b_.tile(hint, words.element, has_axis_ ? frame_.attempt.rows : 1, run_cols() * words.count,
                 has_axis_ ? count : b_.number(1), b_.mul(width, b_.number(words.count), "words"));
}

/// An extra input that all of a window has in common.
Named WindowWriter::extra_number(int tensor) {
  const auto t = static_cast<size_t>(tensor);
  Number at = b_.number(0);
  for (size_t i = 0; i < plan_.positions.size(); ++i)
    at = b_.add(at, b_.mul(position_[i], frame_.number(plan_.positions[i].strides[t]), "extra_at"), "extra_at");
  Type type;
  type.kind = TypeKind::scalar;
  type.element = frame_.words(tensor).element;
  return b_.give(Opcode::load_scalar, frame_.pointer(tensor) + "_number", type, {frame_.pointer(tensor), b_.use(at)});
}

Status WindowWriter::write(int pair, const Number& first, const Number& count, const Number& col, const Number& width) {
  const int table = frame_.table(pair), other = side(pair);
  const auto load = [&](const char* hint, int tensor) {
    const Named part = data_part(std::string(hint) + "_part", tensor, first, count, col, width);
    const Named tile = data_tile(hint, tensor, count, width);
    b_.load(part, tile);
    return tile;
  };
  Named data;
  CombineTiles tiles;
  if (frame_.scatter()) data = tiles.update = load("update", other);
  if (filling_) {
    data = tiles.current = data_tile("fill", table, count, width);
    write_fill(frame_, table, data, has_axis_ ? count : b_.number(1),
               b_.mul(width, b_.number(frame_.words(table).count), "words"), plan_.gather_fill);
  } else if (!frame_.scatter()) {
    data = tiles.current = load("current", table);
  }
  if (combine_.way != CombineWay::assign) {
    if (frame_.scatter()) tiles.current = load("current", table);
    tiles.rows = has_axis_ ? frame_.attempt.rows : 1;
    tiles.cols = run_cols();
    tiles.valid_rows = has_axis_ ? count : b_.number(1);
    tiles.valid_cols = width;
    for (size_t t = 0; t < plan_.tensors.size(); ++t) {
      if (plan_.tensors[t].role != Role::extra) continue;
      const int tensor = static_cast<int>(t);
      tiles.extras.push_back(in_tiles(plan_.tensors[t]) ? load("extra", tensor) : extra_number(tensor));
    }
    STREW_ASSIGN(data, write_combine(frame_, pair, tiles));
  }
  const int into = frame_.scatter() ? table : other;
  b_.store(data, data_part(frame_.scatter() ? "table_part" : "result_part", into, first, count, col, width));
  return {};
}

void WindowWriter::move(const Number& first, const Number& count, const Number& col, const Number& width) {
  for (int pair = 0; pair < plan_.pairs && failed_.ok(); ++pair) failed_ = write(pair, first, count, col, width);
}

void WindowWriter::position() {
  starts_.clear();
  spans_.clear();
  valid_ = b_.number(1);
  for (size_t k = 0; k < plan_.components.size(); ++k) bound(k, start(k));
  if (plan_.gather && (plan_.oob == OobPolicy::fill_element || plan_.oob == OobPolicy::fill_window)) {
    // The value everywhere first, then what there is.
    const std::vector<Span> left = spans_;
    const Number valid = valid_;
    for (size_t k = 0; k < spans_.size(); ++k) spans_[k] = {b_.number(0), frame_.number(plan_.components[k].window)};
    valid_ = b_.number(1);
    filling_ = true;
    around(0);
    filling_ = false;
    spans_ = left;
    valid_ = valid;
  }
  // A window dropped whole has no rows; elements dropped on both sides may leave less than none.
  pieces(0);
}

void WindowWriter::positions(size_t depth) {
  if (depth == plan_.positions.size()) return position();
  const bool mine = depth == 0 && (spread_ == Spread::position || spread_ == Spread::slab);
  const Number extent = frame_.number(plan_.positions[depth].extent);
  const double trips = static_cast<double>(frame_.assumed(plan_.positions[depth].extent)) / (mine ? b_.planned_cores() : 1);
  const Number step = mine ? b_.cores() : b_.number(1), from = mine ? b_.core() : b_.number(0);
  b_.loop("position", from, extent, step, std::max(1.0, trips), [&](const Number& variable) {
    if (mine && spread_ == Spread::slab && plan_.init_kind != InitKind::in_place) {
      const Number each = frame_.number(plan_.positions[0].strides[static_cast<size_t>(frame_.table(0))]);
      const Number begin = b_.mul(variable, each, "slab_start");
      failed_ = write_init(frame_, begin, b_.add(begin, each, "slab_stop"));
    }
    position_.push_back(variable);
    positions(depth + 1);
    position_.pop_back();
  });
}

/// Policy error: window by window, in scalar arithmetic.
void WindowWriter::check_indices() {
  b_.note("check every index before anything is written");
  const Named cell = start_check(frame_);
  const std::function<void(size_t)> every = [&](size_t depth) {
    if (depth < plan_.positions.size()) {
      const Term& extent = plan_.positions[depth].extent;
      b_.loop("checked", b_.number(0), frame_.number(extent), b_.number(1), static_cast<double>(frame_.assumed(extent)),
              [&](const Number& variable) {
                position_.push_back(variable);
                every(depth + 1);
                position_.pop_back();
              });
      return;
    }
    Number faults = b_.number(0);
    for (size_t k = 0; k < plan_.components.size(); ++k) {
      const Number value = start(k), last = frame_.last_start(plan_.components[k]);
      const Number beyond = b_.add(last, b_.number(1), "beyond");
      const Number near = b_.min(b_.max(value, b_.number(-1), "near"), beyond, "near");
      const Number off = b_.sub(near, b_.min(b_.max(near, b_.number(0), "inside"), last, "inside"), "off");
      faults = b_.max(faults, b_.mul(off, off, "outside"), "fault");
    }
    add_fault(frame_, cell, b_.i32(faults));
  };
  every(0);
  finish_check(frame_, cell);
}

Status WindowWriter::run() {
  choose_loops();
  if (axis_.extent.is_static()) frame_.attempt.rows = std::clamp<int64_t>(axis_.extent.factor, 1, frame_.attempt.rows);
  most_ = std::max<int64_t>(8, (int64_t{16} << 10) * 8 / frame_.widest());
  choose_split();
  if (has_axis_) frame_.pitch = axis_.strides[static_cast<size_t>(frame_.table(0))];
  make_grids();
  if (plan_.checks_first) check_indices();
  const bool makes = frame_.scatter() && plan_.init_kind != InitKind::in_place;
  if (spread_ == Spread::single) {
    b_.note("one core does it all");
    b_.when(b_.equal(b_.core(), b_.number(0)), [&] {
      if (makes) failed_ = write_init(frame_, b_.number(0), frame_.elements(frame_.table(0)));
      if (failed_.ok()) positions(0);
    });
  } else {
    positions(0);
  }
  STREW_TRY(failed_);
  const int64_t words = frame_.words(frame_.table(0)).count;
  frame_.program.tiles = {"copy", split_, has_axis_ ? frame_.attempt.rows : 1, run_cols() * words, "nd", 1};
  return {};
}

}  // namespace

Status write_windows(Frame& frame) {
  STREW_ASSIGN(Combine combine, choose_combine(frame));
  // Tiles are read, combined and written in turn, whatever the combiner.
  if (combine.way == CombineWay::atomic) combine.way = CombineWay::compute;
  STREW_TRY(check_computes(frame, combine));
  align_conversions(frame, combine);
  return WindowWriter(frame, std::move(combine)).run();
}

}  // namespace strew::pto
