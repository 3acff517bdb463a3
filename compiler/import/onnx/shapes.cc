// Checks that Scatter, ScatterElements, ScatterND, Gather, GatherElements and GatherND share. Some repeat a check of verify(), because a
// user of ONNX looks for `data` and `reduction` in a message, not for `operand[0]` and `combiner`.
//
// Tested by tests/unit/compiler/import/onnx/onnx_ops_test.cc and tests/error/onnx_error_test.cc.
#include "compiler/import/onnx/shapes.h"

#include <algorithm>

#include "compiler/import/onnx/tensor_proto.h"
#include "compiler/op/combiner.h"
#include "compiler/op/dims.h"

namespace strew::inline v0::onnx {
namespace {

/// The operators' type lists have the types of these numbers.
constexpr int32_t kMostDataType = 16;

std::string shape_text(const Operand& operand) { return operand.role + " is " + dims_text(operand.type.dims); }

}  // namespace

Operand read_operand(const Node& node, size_t input, std::string_view role) {
  return {node[input], node.type(node[input]), std::string(role)};
}

Status check_data(const Node& node, const Operand& data) {
  const DType dtype = data.type.dtype;
  if (const int32_t number = element_number(dtype); number == 0 || number > kMostDataType)
    return node.error(
        "{} has dtype {}, expected bool, i8 to i64, u8 to u64, f16, bf16, f32, f64, complex64, complex128 or string", data.role,
        name(dtype));
  if (dtype == DType::bf16 && node.opset() < 13)
    return node.error("{} has dtype bf16, expected a type of opset {}; bf16 came with opset 13", data.role, node.opset());
  if (data.type.rank() == 0) return node.error("{} has rank 0, expected at least 1", data.role);
  return {};
}

Status check_indices(const Node& node, const Operand& indices, bool i32, int min_rank) {
  const DType dtype = indices.type.dtype;
  if (dtype != DType::i64 && !(i32 && dtype == DType::i32))
    return node.error("{} has dtype {}, expected {}", indices.role, name(dtype), i32 ? "i32 or i64" : "i64");
  if (indices.type.rank() >= min_rank) return {};
  return node.error("{} has rank {}, expected at least {}", indices.role, indices.type.rank(), min_rank);
}

Status check_same_dtype(const Node& node, const Operand& operand, const Operand& data) {
  if (operand.type.dtype == data.type.dtype) return {};
  return node.error("{} has dtype {}, expected {}'s {}", operand.role, name(operand.type.dtype), data.role,
                    name(data.type.dtype));
}

Status check_rank(const Node& node, const Operand& operand, int64_t rank, const std::string& expected) {
  if (operand.type.rank() == rank) return {};
  return node.error("{} has rank {}, expected {}, {}", operand.role, operand.type.rank(), rank, expected);
}

Expected<int64_t> read_axis(const Node& node, const Operand& data) {
  const Expected<int64_t> axis = node.axis(0, data.type.rank());
  if (axis.ok()) return axis;
  return invalid_argument(fmt::format("{} for {} of rank {}", axis.status().message(), data.role, data.type.rank()));
}

Expected<CombinerKind> read_reduction(const Node& node, const Operand& data) {
  const std::string text = node.text("reduction", "none");
  struct Reduction {
    std::string_view text;
    CombinerKind kind;
    int64_t opset;
  };
  static constexpr Reduction kReductions[] = {{"none", CombinerKind::assign, 1},
                                              {"add", CombinerKind::add, 16},
                                              {"mul", CombinerKind::mul, 16},
                                              {"max", CombinerKind::max, 18},
                                              {"min", CombinerKind::min, 18}};
  const auto* found =
      std::find_if(std::begin(kReductions), std::end(kReductions), [&](const Reduction& r) { return r.text == text; });
  if (found == std::end(kReductions)) return node.error("reduction is '{}', expected none, add, mul, max or min", text);
  if (node.opset() < found->opset)
    return node.error("reduction is '{}', which came with opset 18; the model's is {}", text, node.opset());
  const DTypeInfo& row = info(data.type.dtype);
  const CombinerTraits* const combiner = find_combiner(found->kind);
  if (combiner != nullptr && !takes(*combiner, data.type.dtype))
    return node.error("reduction is '{}' and {} is {}, expected {}", text, data.role, row.name,
                      row.arithmetic ? "none, add or mul: complex numbers have no order" : "none: it has no arithmetic");
  return found->kind;
}

Status unify_extents(const Node& node, Operand& a, int64_t dim_a, Operand& b, int64_t dim_b, std::vector<EqualExtents>& ties) {
  int64_t& left = a.type.dims[static_cast<size_t>(dim_a)];
  int64_t& right = b.type.dims[static_cast<size_t>(dim_b)];
  const std::string mine = fmt::format("dim {} of {}", dim_a, a.role), other = fmt::format("dim {} of {}", dim_b, b.role);
  if (!unify(left, right) || !unify(right, left))
    return node.error("{} is {}, expected {}, {}: {} and {}", mine, left, right, other, shape_text(a), shape_text(b));
  if (left == kDynamic) ties.push_back({a.value, static_cast<int>(dim_a), b.value, static_cast<int>(dim_b), mine, other});
  return {};
}

Status check_smaller(const Node& node, const Operand& indices, const Operand& data, int64_t axis) {
  for (int64_t d = 0; d < data.type.rank(); ++d) {
    const int64_t have = indices.type.dims[static_cast<size_t>(d)], most = data.type.dims[static_cast<size_t>(d)];
    if (d == axis || have == kDynamic || most == kDynamic || have <= most) continue;
    return node.error("dim {} of {} is {}, expected at most {}, dim {} of {}: {} and {}", d, indices.role, have, most, d,
                      data.role, shape_text(indices), shape_text(data));
  }
  return {};
}

std::vector<std::string> scatter_notes(const Node& node, const Operand& data, CombinerKind kind) {
  return {fmt::format("in place if the caller binds {} and {} to one buffer", data.role, node.proto().output(0)),
          kind == CombinerKind::assign
              ? "duplicates: where two updates name one element the last one wins, in row-major order of indices (ONNX leaves it "
                "open)"
              : "duplicates: every update of an element is combined, in row-major order of indices (ONNX leaves the order open)",
          "a negative index counts from the end"};
}

Expected<int64_t> index_components(const Node& node, Operand& indices, int64_t most, int64_t otherwise) {
  int64_t& extent = indices.type.dims.back();
  const std::string what = "the last dim of " + indices.role + ", the length of its index vectors,";
  if (extent == kDynamic) {
    if (otherwise < 0)
      return node.error("{} is open in {}, expected a number or a declared output shape it follows from", what,
                        dims_text(indices.type.dims));
    extent = otherwise;
  }
  if (extent >= 0 && extent <= most) return extent;
  return node.error("{} is {}, expected 0 to {}: {}", what, extent, most, shape_text(indices));
}

}  // namespace strew::inline v0::onnx
