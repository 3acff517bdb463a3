// Checks that Scatter, ScatterElements, ScatterND, Gather, GatherElements and GatherND share. Some repeat a check of verify(), because a
// user of ONNX looks for `data` and `reduction` in a message, not for `operand[0]` and `combiner`.
//
// Tested by tests/unit/compiler/import/onnx/onnx_ops_test.cc and tests/error/onnx_error_test.cc.
#include "compiler/import/onnx/shapes.h"

#include "compiler/import/onnx/tensor_proto.h"
#include "compiler/op/combiner.h"

namespace strew::inline v0::onnx {
namespace {

/// The operators' type lists have the types of these numbers.
constexpr int32_t kMostDataType = 16;

std::string shape_text(const Operand& operand) { return operand.role + " is " + dims_text(operand.type.dims); }

}  // namespace

Expected<Operand> read_operand(const Node& node, int input, std::string_view role) {
  STREW_ASSIGN(const int value, node.input(input, role));
  return Operand{value, node.type(value), std::string(role)};
}

Status check_data(const Node& node, const Operand& data) {
  const DType dtype = data.type.dtype;
  if (const int32_t number = element_number(dtype); number == 0 || number > kMostDataType) {
    return node.error(data.role + " has dtype " + std::string(name(dtype)) +
                      ", expected bool, i8 to i64, u8 to u64, f16, bf16, f32, f64, complex64, complex128 or string");
  }
  if (dtype == DType::bf16 && node.opset() < 13) {
    return node.error(data.role + " has dtype bf16, expected a type of opset " + std::to_string(node.opset()) +
                      "; bf16 came with opset 13");
  }
  if (data.type.rank() == 0) return node.error(data.role + " has rank 0, expected at least 1");
  return {};
}

Status check_indices(const Node& node, const Operand& indices, bool i32, int min_rank) {
  const DType dtype = indices.type.dtype;
  if (dtype != DType::i64 && !(i32 && dtype == DType::i32)) {
    return node.error(indices.role + " has dtype " + std::string(name(dtype)) + ", expected " + (i32 ? "i32 or i64" : "i64"));
  }
  if (indices.type.rank() >= min_rank) return {};
  return node.error(indices.role + " has rank " + std::to_string(indices.type.rank()) + ", expected at least " +
                    std::to_string(min_rank));
}

Status check_same_dtype(const Node& node, const Operand& operand, const Operand& data) {
  if (operand.type.dtype == data.type.dtype) return {};
  return node.error(operand.role + " has dtype " + std::string(name(operand.type.dtype)) + ", expected " + data.role + "'s " +
                    std::string(name(data.type.dtype)));
}

Status check_rank(const Node& node, const Operand& operand, int64_t rank, const std::string& expected) {
  if (operand.type.rank() == rank) return {};
  return node.error(operand.role + " has rank " + std::to_string(operand.type.rank()) + ", expected " + std::to_string(rank) +
                    ", " + expected);
}

Expected<int64_t> read_axis(const Node& node, const Operand& data, int64_t otherwise) {
  STREW_ASSIGN(const int64_t given, node.attribute("axis", otherwise));
  const int64_t rank = data.type.rank();
  if (given >= -rank && given < rank) return given < 0 ? given + rank : given;
  return node.error("axis is " + std::to_string(given) + ", expected " + std::to_string(-rank) + " to " +
                    std::to_string(rank - 1) + " for " + data.role + " of rank " + std::to_string(rank));
}

Expected<CombinerKind> read_reduction(const Node& node, const Operand& data) {
  if (node.opset() < 16 && node.has_attribute("reduction")) {
    return node.error("attribute 'reduction' came with opset 16, the model's is " + std::to_string(node.opset()));
  }
  STREW_ASSIGN(const std::string text, node.attribute("reduction", "none"));
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
  if (found == std::end(kReductions)) return node.error("reduction is '" + text + "', expected none, add, mul, max or min");
  if (node.opset() < found->opset) {
    return node.error("reduction is '" + text + "', which came with opset 18; the model's is " + std::to_string(node.opset()));
  }
  const DTypeInfo& row = info(data.type.dtype);
  const CombinerTraits* const combiner = find_combiner(found->kind);
  if (combiner != nullptr && !takes(*combiner, data.type.dtype)) {
    return node.error("reduction is '" + text + "' and " + data.role + " is " + std::string(row.name) + ", expected " +
                      (row.arithmetic ? "none, add or mul: complex numbers have no order" : "none: it has no arithmetic"));
  }
  return found->kind;
}

Status unify_extents(const Node& node, Operand& a, int64_t dim_a, Operand& b, int64_t dim_b, std::vector<EqualExtents>& ties) {
  int64_t& left = a.type.dims[static_cast<size_t>(dim_a)];
  int64_t& right = b.type.dims[static_cast<size_t>(dim_b)];
  const std::string mine = "dim " + std::to_string(dim_a) + " of " + a.role,
                    other = "dim " + std::to_string(dim_b) + " of " + b.role;
  if (!unify(left, right) || !unify(right, left)) {
    return node.error(mine + " is " + std::to_string(left) + ", expected " + std::to_string(right) + ", " + other + ": " +
                      shape_text(a) + " and " + shape_text(b));
  }
  if (left == kDynamic) ties.push_back({a.value, static_cast<int>(dim_a), b.value, static_cast<int>(dim_b), mine, other});
  return {};
}

Status unify_shapes(const Node& node, Operand& a, Operand& b, std::vector<EqualExtents>& ties) {
  for (int64_t d = 0; d < a.type.rank(); ++d) STREW_TRY(unify_extents(node, a, d, b, d, ties));
  return {};
}

Status check_smaller(const Node& node, const Operand& indices, const Operand& data, int64_t axis) {
  for (int64_t d = 0; d < data.type.rank(); ++d) {
    const int64_t have = indices.type.dims[static_cast<size_t>(d)], most = data.type.dims[static_cast<size_t>(d)];
    if (d == axis || have == kDynamic || most == kDynamic || have <= most) continue;
    return node.error("dim " + std::to_string(d) + " of " + indices.role + " is " + std::to_string(have) + ", expected at most " +
                      std::to_string(most) + ", dim " + std::to_string(d) + " of " + data.role + ": " + shape_text(indices) +
                      " and " + shape_text(data));
  }
  return {};
}

std::vector<std::string> scatter_notes(const Node& node, const Operand& data, CombinerKind kind) {
  std::vector<std::string> notes = {"in place if the caller binds " + data.role + " and " + node.proto().output(0) +
                                    " to one buffer"};
  if (kind == CombinerKind::assign) {
    notes.push_back(
        "duplicates: where two updates name one element the last one wins, in row-major order of indices (ONNX leaves it open)");
  } else {
    notes.push_back(
        "duplicates: every update of an element is combined, in row-major order of indices (ONNX leaves the order open)");
  }
  notes.push_back("a negative index counts from the end");
  return notes;
}

Expected<int64_t> index_components(const Node& node, Operand& indices, int64_t most, int64_t otherwise) {
  int64_t& extent = indices.type.dims.back();
  if (extent == kDynamic) {
    if (otherwise < 0) {
      return node.error("the last dim of " + indices.role + ", the length of its index vectors, is open in " +
                        dims_text(indices.type.dims) + ", expected a number or a declared output shape it follows from");
    }
    extent = otherwise;
  }
  if (extent >= 0 && extent <= most) return extent;
  return node.error("the last dim of " + indices.role + ", the length of its index vectors, is " + std::to_string(extent) +
                    ", expected 0 to " + std::to_string(most) + ": " + shape_text(indices));
}

}  // namespace strew::inline v0::onnx
