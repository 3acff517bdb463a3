// See tiles.h. Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#include "backends/pto/tiles.h"

namespace strew::inline v0::pto {

void TileWriter::add(int tensor, const Term& pitch) {
  grids_.emplace_back(tensor, Grid(frame_, tensor, frame_.pointer(tensor) + "_view", pitch));
}

void TileWriter::add_matrix(int tensor, const Number& rows) {
  const Words& its = frame_.words(tensor);
  const int64_t each = kFractalBytes * 8 / bits(its.element.dtype);
  matrices_.emplace_back(
      tensor, frame_.build.fractal_view(frame_.pointer(tensor) + "_view", frame_.pointer(tensor), rows, words(tensor), each));
}

const Grid& TileWriter::grid(int tensor) const {
  size_t i = 0;
  while (grids_[i].first != tensor) ++i;
  return grids_[i].second;
}

std::vector<Step> TileWriter::steps(int tensor, const TileAt& at) {
  std::vector<Step> out;
  for (const Mover& mover : at.movers) out.emplace_back(mover.variable, mover.strides[static_cast<size_t>(tensor)]);
  return out;
}

Named TileWriter::tile(const char* hint, int tensor, const TileAt& at) const {
  ProgramBuilder& b = frame_.build;
  const Words& its = frame_.words(tensor);
  switch (form_) {
    case TileForm::fractals:
      return b.fractal_tile(hint, its.element, lines_, words(tensor), at.count);
    case TileForm::elements:
      return b.tile(hint, its.element, 1, lines_, b.number(1), at.count);
    case TileForm::rows:
      break;
  }
  const Number wide = b.mul(at.width, b.number(its.count), "words");
  return b.tile(hint, its.element, lines_, words(tensor), at.count, wide);
}

Named TileWriter::part(const std::string& hint, int tensor, const TileAt& at) const {
  switch (form_) {
    case TileForm::fractals:
      return table(hint, tensor, at.first, at.count);
    case TileForm::elements:
      return grid(tensor).line(hint, at.first, steps(tensor, at), at.count);
    case TileForm::rows:
      break;
  }
  return grid(tensor).part(hint, at.first, steps(tensor, at), at.col, at.count, at.width);
}

Named TileWriter::table(const std::string& hint, int tensor, const Number& first, const Number& rows) const {
  ProgramBuilder& b = frame_.build;
  if (form_ != TileForm::fractals) return grid(tensor).part(hint, first, {}, b.number(0), rows, b.number(cols_));
  size_t i = 0;
  while (matrices_[i].first != tensor) ++i;
  return b.fractal_part(hint, matrices_[i].second, first, rows);
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

Status write_tile(Frame& frame, const Combine& combine, const TileWriter& layout, const TileAt& at, int pair,
                  TileAccess& access) {
  const Plan& plan = frame.plan;
  const bool computes = combine.way == CombineWay::compute;
  CombineTiles tiles = layout.shape(at);
  Named data;
  if (frame.scatter()) data = tiles.update = layout.load("update", slices_of(plan, pair), at);
  const bool reads = computes || !frame.scatter();
  if (reads && (access.current_first() || !computes)) data = tiles.current = access.current(pair);
  if (computes) {
    for (size_t t = 0; t < plan.tensors.size(); ++t)
      if (plan.tensors[t].role == Role::extra) tiles.extras.push_back(access.extra(static_cast<int>(t)));
    if (!access.current_first()) tiles.current = access.current(pair);
    STREW_ASSIGN(data, write_combine(frame, pair, tiles));
  }
  access.put(pair, data);
  return {};
}

}  // namespace strew::inline v0::pto
