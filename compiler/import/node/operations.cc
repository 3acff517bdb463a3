// See operations.h.
#include "compiler/import/node/operations.h"

#include <algorithm>

#include "base/checked.h"
#include "compiler/import/builder/forms.h"
#include "compiler/op/dims.h"

namespace strew::inline v0 {

Expected<int> import_apply(GraphNode& node) { return node.builder().apply(node.form()->expr, node.values()); }

Expected<int> import_chain(GraphNode& node) {
  Expected<int> out = node[0];
  for (size_t i = 1; i < node.values().size(); ++i) out = node.builder().apply(node.form()->expr, {out, node[i]});
  return out;
}

Expected<int> import_broadcast(GraphNode& node) { return node.builder().broadcast_to(node[0], node[1]); }

Expected<int> import_tile(GraphNode& node) { return tile(node.builder(), node[0], node[1]); }

Operand operand(const GraphNode& node, int input) {
  const int value = node[input];
  return {value, node.type(value), node.role(input)};
}

Status check_same_dtype(const GraphNode& node, const Operand& operand, const Operand& like) {
  if (operand.type.dtype == like.type.dtype) return {};
  return node.error("{} has dtype {}, expected {}'s {}", operand.role, operand.type.dtype, like.role, like.type.dtype);
}

Status check_rank(const GraphNode& node, const Operand& operand, int64_t rank, const std::string& expected) {
  if (operand.type.rank() == rank) return {};
  return node.error("{} has rank {}, expected {}, {}", operand.role, operand.type.rank(), rank, expected);
}

Status check_smaller(const GraphNode& node, const Operand& operand, const Operand& like, int64_t axis) {
  for (size_t d = 0; d < like.type.dims.size(); ++d) {
    const int64_t have = operand.type.dims[d], most = like.type.dims[d];
    if (static_cast<int64_t>(d) == axis || have == kDynamic || most == kDynamic || have <= most) continue;
    return node.error("dim {} of {} is {}, expected at most {}, dim {} of {}: {} and {}", d, operand.role, have, most, d,
                      like.role, operand.text(), like.text());
  }
  return {};
}

Expected<int> squeezed(const GraphNode& node, int value, const std::optional<std::vector<int64_t>>& axes, std::string_view what) {
  const std::vector<int64_t> dims = node.type(value).dims;
  if (!axes && !is_static(dims)) return node.refuse("it removes all dims of 1 of a tensor with open dims, expected {}", what);
  STREW_ASSIGN(
      const std::vector<int64_t> named,
      node.dims_of(axes.value_or(std::vector<int64_t>()), static_cast<int>(dims.size()), fmt::format("an entry of {}", what)));
  for (const int64_t d : named)
    if (const int64_t extent = dims[d]; extent != 1 && extent != kDynamic)
      return node.error("dim {} is {}, expected 1 to be removed", d, extent);
  std::vector<int64_t> kept = ProgramBuilder::reduced(dims, named, false);
  if (!axes) std::erase(kept, 1);
  return node.builder().reshape_units(value, kept);
}

Expected<int> unsqueezed(const GraphNode& node, int value, std::vector<int64_t> axes, std::string_view what) {
  std::vector<int64_t> dims = node.type(value).dims;
  const auto rank = static_cast<int>(dims.size() + axes.size());
  STREW_ASSIGN(axes, node.dims_of(std::move(axes), rank, what));
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) return node.error("axes names a dim twice, expected each once");
  for (const int64_t axis : axes) dims.insert(dims.begin() + axis, 1);
  return node.builder().reshape_units(value, dims);
}

Expected<int64_t> split_extent(const GraphNode& node, int value, int64_t axis) {
  const int64_t extent = node.type(value).dims[axis];
  if (extent != kDynamic) return extent;
  return node.refuse("dim {} is open, expected a known one to split", axis);
}

Expected<std::vector<int>> split(const GraphNode& node, int value, int64_t axis, const std::vector<int64_t>& sizes,
                                 std::string_view what) {
  STREW_ASSIGN(const int64_t extent, split_extent(node, value, axis));
  std::optional<int64_t> sum = 0;
  for (const int64_t size : sizes) sum = sum && size >= 0 ? checked::add(*sum, size) : std::nullopt;
  if (static_cast<int>(sizes.size()) != node.outputs() || sum != extent)
    return node.error("{} is {}, expected {} numbers, 0 or more, that sum up to {}", what, sizes, node.outputs(), extent);
  int64_t at = 0;
  std::vector<int> parts;
  for (const int64_t size : sizes) {
    std::vector<ProgramBuilder::Range> ranges(node.type(value).dims.size());
    ranges[axis] = {at, at + size, 1};
    at += size;
    STREW_ASSIGN(parts.emplace_back(), node.builder().slice(value, ranges));
  }
  return parts;
}

Expected<int> clamped(ProgramBuilder& builder, const Expected<int>& given, double least, std::optional<double> most) {
  STREW_ASSIGN(const int value, given);
  const DType dtype = builder.type(value).dtype;
  const Expected<int> raised = builder.apply(ExprOp::max, {value, builder.number(least, dtype)});
  return most ? builder.apply(ExprOp::min, {raised, builder.number(*most, dtype)}) : raised;
}

Expected<int> along_dim(ProgramBuilder& builder, int list, int value, int64_t dim) {
  std::vector<int64_t> dims(builder.type(value).dims.size(), 1);
  dims[dim] = builder.type(list).dims[0];
  return builder.reshape(list, std::move(dims));
}

Expected<int> quantized(ProgramBuilder& builder, int value, Scales scales, ExprOp rounding, DType to) {
  const DType from = builder.type(value).dtype;
  if (from != DType::f32 || !is_integer(to) || bits(to) > 16)
    return unsupported("it makes {} of {}, expected integers of at most 16 bits of f32", to, from);
  Expected<int> out = builder.apply(rounding, {builder.apply(ExprOp::div, {value, scales.scale})});
  if (scales.zero_point >= 0) out = builder.apply(ExprOp::add, {out, builder.convert(scales.zero_point, from)});
  const double least = is_signed_integer(to) ? -static_cast<double>(int64_t{1} << (bits(to) - 1)) : 0;
  return builder.convert(clamped(builder, out, least, least + static_cast<double>((int64_t{1} << bits(to)) - 1)), to);
}

Expected<int> dequantized(ProgramBuilder& builder, int value, Scales scales, DType exact, DType to) {
  Expected<int> out = builder.convert(value, exact);
  if (scales.zero_point >= 0) out = builder.apply(ExprOp::sub, {out, builder.convert(scales.zero_point, exact)});
  out = builder.apply(ExprOp::mul, {builder.convert(out, DType::f32), builder.convert(scales.scale, DType::f32)});
  return builder.convert(out, to);
}

}  // namespace strew::inline v0
