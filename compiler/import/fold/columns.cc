// See columns.h. Tested by tests/unit/compiler/import/fold/fold_test.cc and tests/unit/compiler/import/fold/fold_rows_test.cc.
#include "compiler/import/fold/columns.h"

#include <utility>

namespace strew::inline v0::fold {

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
    const bool unit = own[d] == 1 && frame[static_cast<size_t>(position)] == 1;
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
    if (reader.type(first.value).dims[static_cast<size_t>(a)] != count) continue;
    bool fits = true;
    for (int64_t c = 0; c < count && fits; ++c) {
      const Element& element = columns[static_cast<size_t>(c)];
      fits = element.at[static_cast<size_t>(a)] == Coord{-1, c} && covers(reader, frame, element, a);
    }
    if (fits) return a;
  }
  return -1;
}

int add_movement(const FoldContext& context, int kernel, ComputeOp op, std::vector<int> arguments, TensorType result,
                 std::vector<int64_t> dims, std::vector<int64_t> strides) {
  Compute compute;
  compute.op = op;
  compute.location = context.kernel(kernel).location + ", its indices";
  compute.arguments = std::move(arguments);
  compute.results = {std::move(result)};
  compute.dims = std::move(dims);
  compute.strides = std::move(strides);
  return context.program.add_compute(std::move(compute));
}

int add_column(const FoldContext& context, int kernel, int value, const Element& column, const std::vector<int64_t>& dims,
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
    placed.push_back(targets[static_cast<size_t>(at[d].dim)]);
  }
  const std::vector<int64_t> steps(at.size(), 1);
  if (slices) value = add_movement(context, kernel, ComputeOp::slice, {value}, {dtype, sliced, {}}, starts, steps);
  if (kept.size() != sliced.size()) value = add_movement(context, kernel, ComputeOp::reshape, {value}, {dtype, kept, {}});
  return add_movement(context, kernel, ComputeOp::broadcast, {value}, {dtype, dims, {}}, placed);
}

}  // namespace strew::inline v0::fold
