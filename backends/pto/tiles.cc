// See tiles.h. Of any two strides of a contiguous tensor one divides the other: a step that the pitch of a grid divides moves rows, a smaller
// step moves columns. Of a tensor with strides, only the loop that has the pitch moves rows, and all others move columns: the rows of its view
// are as long as its memory and overlap. Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#include "backends/pto/tiles.h"

namespace strew::inline v0::pto {

Grid::Grid(Frame& frame, int tensor, const std::string& hint, const Term& pitch) : frame_(frame), tensor_(tensor), pitch_(pitch) {
  ProgramBuilder& build = frame.build;
  const Number words = build.number(frame.words(tensor).count);
  const Number all = build.mul(frame.words_in(tensor), words, "extent");
  if (pitch_.is(0)) {
    view_ = build.view(hint, frame.pointer(tensor), build.number(1), all, all);
    return;
  }
  const Number wide = build.mul(frame.number(pitch_), words, "pitch");
  // An open extent may be 0 at the call. Nothing is moved then, but the program still divides by the pitch to count the
  // rows.
  const Number divisor = wide.value ? wide : build.max(wide, build.number(1), "pitch");
  const Number rows = build.ceil_div(all, divisor, "rows");
  view_ = build.view(hint, frame.pointer(tensor), rows, frame.has_strides(tensor) ? all : wide, wide);
}

Named Grid::part(const std::string& hint, const Number& first_row, const std::vector<Mover>& movers, const Number& col,
                 const Number& rows, const Number& cols) const {
  ProgramBuilder& build = frame_.build;
  const Number words = build.number(frame_.words(tensor_).count);
  Number row = first_row, at = build.add(col, frame_.origin(tensor_), "col");
  for (const auto& [variable, strides] : movers) {
    const Term& step = strides[static_cast<size_t>(tensor_)];
    const std::optional<Term> rows_moved = frame_.has_strides(tensor_) ? std::nullopt : quotient(step, pitch_);
    if (rows_moved) {
      row = build.add(row, build.mul(variable, frame_.number(*rows_moved), "rows_in"), "row");
    } else {
      at = build.add(at, build.mul(variable, frame_.number(step), "cols_in"), "col");
    }
  }
  const Number wide = build.mul(cols, words),
               from = build.mul(build.divide(at, build.number(frame_.per_word(tensor_)), "packed_at"), words);
  return build.part(hint, view_, row, from, rows, wide);
}

Number Grid::shift(const std::vector<Mover>& movers) const {
  ProgramBuilder& build = frame_.build;
  const int64_t each = frame_.per_word(tensor_);
  Number at = frame_.origin(tensor_);
  for (const auto& [variable, strides] : movers)
    at = build.add(at, build.mul(variable, frame_.number(strides[static_cast<size_t>(tensor_)]), "moved"), "at");
  return build.mul(build.remainder(at, build.number(each), "place"), build.number(8 / each), "shift");
}

Named Grid::line(const std::string& hint, const Number& first, const std::vector<Mover>& movers, const Number& count) const {
  ProgramBuilder& build = frame_.build;
  Number at = build.add(first, frame_.origin(tensor_), "at");
  for (const auto& [variable, strides] : movers)
    at = build.add(at, build.mul(variable, frame_.number(strides[static_cast<size_t>(tensor_)]), "moved"), "at");
  return build.part(hint, view_, build.number(0), at, build.number(1), count);
}

void TileWriter::add(int tensor, const Term& pitch) {
  grids_.emplace(tensor, Grid(frame_, tensor, frame_.pointer(tensor) + "_view", pitch));
}

void TileWriter::add_matrix(int tensor, const Number& rows) {
  const Words& its = frame_.words(tensor);
  const int64_t each = kFractalBytes * 8 / bits(its.element.dtype);
  matrices_.emplace(
      tensor, frame_.build.fractal_view(frame_.pointer(tensor) + "_view", frame_.pointer(tensor), rows, words(tensor), each));
}

Named TileWriter::tile(const char* hint, int tensor, const TileAt& at) const {
  ProgramBuilder& b = frame_.build;
  const Words& its = frame_.words(tensor);
  if (form_ == TileForm::fractals) return b.fractal_tile(hint, its.element, lines_, words(tensor), at.count);
  if (form_ == TileForm::elements) return b.tile(hint, its.element, 1, lines_, b.number(1), at.count);
  const Number wide = b.mul(at.width, b.number(its.count), "words");
  return b.tile(hint, its.element, lines_, words(tensor), at.count, wide);
}

Named TileWriter::part(const std::string& hint, int tensor, const TileAt& at) const {
  if (form_ == TileForm::fractals) return table(hint, tensor, at.first, at.count);
  if (form_ == TileForm::elements) return grids_.at(tensor).line(hint, at.first, at.movers, at.count);
  return grids_.at(tensor).part(hint, at.first, at.movers, at.col, at.count, at.width);
}

Named TileWriter::table(const std::string& hint, int tensor, const Number& first, const Number& rows) const {
  ProgramBuilder& b = frame_.build;
  if (form_ != TileForm::fractals) return grids_.at(tensor).part(hint, first, {}, b.number(0), rows, b.number(cols_));
  return b.fractal_part(hint, matrices_.at(tensor), first, rows);
}

Named TileWriter::load(const char* hint, int tensor, const TileAt& at) const {
  const Named from = part(std::string(hint) + "_part", tensor, at);
  const Named out = tile(hint, tensor, at);
  frame_.build.load(from, out);
  return out;
}

CombineTiles TileWriter::shape(const TileAt& at) const {
  CombineTiles out;
  const bool line = form_ == TileForm::elements;
  out.rows = line ? 1 : lines_;
  out.cols = line ? lines_ : cols_;
  out.valid_rows = line ? frame_.build.number(1) : at.count;
  out.valid_cols = line ? at.count : at.width;
  return out;
}

TilePlan TileWriter::describe(const char* mode, CoreSplit split) const {
  const bool line = form_ == TileForm::elements;
  return {mode,
          split,
          line ? 1 : lines_,
          line ? lines_ : words(frame_.table(0)),
          form_ == TileForm::fractals ? "nz" : "nd",
          frame_.attempt.buffered ? 2 : 1};
}

void TileMover::move_elements() {
  const CombineTiles shape = tiles_.shape(part_);
  ElementTiles all{{}, {}, {}, shape.rows, shape.cols, shape.valid_rows, shape.valid_cols, {}};
  const auto kept = [&](const Named& tile, int tensor) {
    if (frame_.per_word(tensor) > 1) all.shifts[tile.name] = tiles_.shift(tensor, part_);
    return tile;
  };
  for (int pair = 0; pair < plan_.pairs; ++pair) {
    if (frame_.scatter()) all.updates.push_back(kept(update(pair), slices_of(plan_, pair)));
    all.currents.push_back(kept(current(pair), frame_.table(pair)));
  }
  for (size_t t = 0; t < plan_.tensors.size(); ++t)
    if (plan_.tensors[t].role == Role::extra) all.extras.push_back(kept(extra(static_cast<int>(t)), static_cast<int>(t)));
  all.extras.insert(all.extras.end(), row_values_.begin(), row_values_.end());
  std::vector<Named> into;
  for (int pair = 0; pair < plan_.pairs; ++pair) {
    if (frame_.per_word(plan_.result(pair)) > 1 && !frame_.scatter()) {
      // Of the result's byte, other elements stay as they are.
      into.push_back(kept(tiles_.load("beside", plan_.result(pair), part_), plan_.result(pair)));
      continue;
    }
    const Words& words = frame_.words(plan_.result(pair));
    const Named& current = all.currents[static_cast<size_t>(pair)];
    const bool same = current.type.element == words.element &&
                      frame_.per_word(frame_.table(pair)) == frame_.per_word(plan_.result(pair)) &&
                      frame_.words(frame_.table(pair)).count == words.count;
    const Number wide = b_.mul(shape.valid_cols, b_.number(words.count), "words");
    into.push_back(same ? current
                        : b_.tile("combined", words.element, shape.rows, shape.cols * words.count, shape.valid_rows, wide));
  }
  write_scalars(b_, *frame_.attempt.scalars, all, into);
  for (int pair = 0; pair < plan_.pairs; ++pair) {
    b_.moves_data(into[static_cast<size_t>(pair)]);
    put(pair, into[static_cast<size_t>(pair)]);
  }
}

Status TileMover::move_tile(int pair) {
  const bool computes = combine_.way == CombineWay::compute;
  CombineTiles tiles = tiles_.shape(part_);
  Named data;
  if (frame_.scatter()) data = tiles.update = update(pair);
  if (combine_.way == CombineWay::atomic) {
    STREW_ASSIGN(data, write_addend(frame_, pair, tiles));
  }
  const bool reads = computes || !frame_.scatter();
  if (reads && (current_first() || !computes)) data = tiles.current = current(pair);
  if (computes) {
    for (size_t t = 0; t < plan_.tensors.size(); ++t)
      if (plan_.tensors[t].role == Role::extra) tiles.extras.push_back(extra(static_cast<int>(t)));
    if (!current_first()) tiles.current = current(pair);
    STREW_ASSIGN(data, write_combine(frame_, pair, tiles));
  }
  b_.moves_data(data);
  put(pair, data);
  return {};
}

}  // namespace strew::inline v0::pto
