// See grid.h. Tensors are contiguous, so of any two strides one divides the other: a step that the pitch divides moves
// rows, a smaller step moves columns. Tested by tests/golden/pto_program_test.cc.
#include "backends/pto/grid.h"

#include <algorithm>

namespace strew::inline v0::pto {

Grid::Grid(Frame& frame, int tensor, const std::string& hint, const Term& pitch) : frame_(frame), tensor_(tensor), pitch_(pitch) {
  ProgramBuilder& build = frame.build;
  const Number words = build.number(frame.words(tensor).count);
  const Number all = build.mul(frame.elements(tensor), words, "extent");
  if (pitch_.is(0)) {
    view_ = build.view(hint, frame.pointer(tensor), build.number(1), all, all);
    return;
  }
  const Number wide = build.mul(frame.number(pitch_), words, "pitch");
  // An open extent may be 0 at the call. Nothing is moved then, but the program still divides by the pitch to count the
  // rows.
  const Number divisor = wide.value ? wide : build.max(wide, build.number(1), "pitch");
  view_ = build.view(hint, frame.pointer(tensor), build.ceil_div(all, divisor, "rows"), wide, wide);
}

Named Grid::part(const std::string& hint, const Number& first_row, const std::vector<Step>& steps, const Number& col,
                 const Number& rows, const Number& cols) const {
  ProgramBuilder& build = frame_.build;
  const Number words = build.number(frame_.words(tensor_).count);
  Number row = first_row, at = col;
  for (const auto& [variable, step] : steps) {
    if (const std::optional<Term> rows_moved = quotient(step, pitch_)) {
      row = build.add(row, build.mul(variable, frame_.number(*rows_moved), "rows_in"), "row");
    } else {
      at = build.add(at, build.mul(variable, frame_.number(step), "cols_in"), "col");
    }
  }
  const Number wide = build.mul(cols, words), from = build.mul(at, words);
  return build.part(hint, view_, row, from, rows, wide);
}

Named Grid::line(const std::string& hint, const Number& first, const std::vector<Step>& steps, const Number& count) const {
  ProgramBuilder& build = frame_.build;
  Number at = first;
  for (const auto& [variable, step] : steps) at = build.add(at, build.mul(variable, frame_.number(step), "moved"), "at");
  return build.part(hint, view_, build.number(0), at, build.number(1), count);
}

}  // namespace strew::inline v0::pto
