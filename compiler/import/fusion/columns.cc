// See columns.h. Tested by tests/unit/compiler/import/fusion/fusion_test.cc and tests/unit/compiler/import/fusion/fusion_rows_test.cc.
#include "compiler/import/fusion/columns.h"

#include <utility>

namespace strew::inline v0::fusion {

IndexSide index_side(Op& op) {
  if (auto* s = std::get_if<Scatter>(&op)) return {&s->indices, &s->dims, &s->operands[0].dims};
  auto& g = std::get<Gather>(op);
  return {&g.indices, &g.dims, &g.operand.dims};
}

/// Do the dims of the element's value, without dim `skip`, run over all positions, in order?
bool IndexColumns::covers(const Reader& reader, const std::vector<int64_t>& frame, const Element& element, int skip) const {
  const std::vector<int64_t>& own = reader.type(element.value).dims;
  size_t p = 0;
  for (size_t d = 0; d < own.size(); ++d) {
    if (static_cast<int>(d) == skip) continue;
    if (p == positions.size()) return false;
    const int64_t position = positions[p++];
    const bool unit = own[d] == 1 && frame[position] == 1;
    if (!unit && element.at[d].dim != static_cast<int>(position)) return false;
  }
  return p == positions.size();
}

int IndexColumns::direct(const Reader& reader, const std::vector<int64_t>& frame) const {
  const Element& first = columns[0];
  const int rank = reader.type(first.value).rank();
  const auto count = static_cast<int64_t>(columns.size());
  for (const Element& column : columns)
    if (column.value != first.value) return -1;
  if (count == 1 && covers(reader, frame, first, rank)) return rank;
  for (int a = 0; a < rank; ++a) {
    if (reader.type(first.value).dims[a] != count) continue;
    bool fits = true;
    for (int64_t c = 0; c < count && fits; ++c) {
      const Element& element = columns[c];
      fits = element.at[a] == Coord{-1, c} && covers(reader, frame, element, a);
    }
    if (fits) return a;
  }
  return -1;
}

int add_movement(const FusionContext& context, int kernel, ComputeOp op, std::vector<int> arguments, TensorType result) {
  return context.program.add_compute(
      {std::move(op), context.kernel(kernel).location + ", its indices", std::move(arguments), {std::move(result)}});
}

int add_column(const FusionContext& context, int kernel, int value, const Element& column, const std::vector<int64_t>& dims,
               const std::vector<int64_t>& targets) {
  const DType dtype = context.reader.type(value).dtype;
  const std::vector<Coord>& at = column.at;
  std::vector<int64_t> starts, sliced, kept, placed;
  bool slices = false;
  for (size_t d = 0; d < at.size(); ++d) {
    const bool fixed = at[d].dim < 0;
    const int64_t extent = context.reader.type(value).dims[d];
    starts.push_back(fixed ? at[d].fixed : 0);
    sliced.push_back(fixed ? 1 : extent);
    slices = slices || sliced.back() != extent;
    if (fixed) continue;
    kept.push_back(extent);
    placed.push_back(targets[at[d].dim]);
  }
  const std::vector<int64_t> steps(at.size(), 1);
  if (slices) value = add_movement(context, kernel, SliceOp{starts, steps}, {value}, {dtype, sliced, {}});
  if (kept.size() != sliced.size()) value = add_movement(context, kernel, ReshapeOp{}, {value}, {dtype, kept, {}});
  return add_movement(context, kernel, BroadcastOp{placed}, {value}, {dtype, dims, {}});
}

}  // namespace strew::inline v0::fusion
