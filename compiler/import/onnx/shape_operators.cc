// The operators that make tensors of shapes and numbers, and those that combine elements along dims: Shape, Size, ConstantOfShape, Range,
// OneHot, NonZero of a constant, CumSum, and the reductions. Tested by tests/unit/compiler/import/onnx/onnx_compute_test.cc and
// tests/models.
#include <algorithm>
#include <array>

#include "compiler/import/builder/forms.h"
#include "compiler/import/onnx/graph.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/onnx/onnx.pb.h"
#include "compiler/import/onnx/tensor_proto.h"
#include "compiler/op/dims.h"

namespace strew::inline v0::onnx {
namespace {

Status import_shape(Node& node) {
  STREW_TRY(node.check_signature(1, 1, 1, {"start", "end"}));
  STREW_ASSIGN(const int data, node.input(0, "data", /*optional=*/true));
  const int64_t rank = node.type(data).rank();
  STREW_ASSIGN(const int64_t start, node.attribute("start", int64_t{0}));
  STREW_ASSIGN(const int64_t end, node.attribute("end", rank));
  const auto clamped = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t first = clamped(start), last = std::max(first, clamped(end));
  return node.give(node.builder().shape(data, static_cast<size_t>(first), static_cast<size_t>(last)));
}

Status import_size(Node& node) {
  STREW_TRY(node.check_signature(1, 1, 1, {}));
  STREW_ASSIGN(const int data, node.input(0, "data", /*optional=*/true));
  ProgramBuilder builder = node.builder();
  int out = builder.integer(1);
  for (int64_t d = 0; d < builder.type(data).rank(); ++d) {
    STREW_ASSIGN(out, builder.apply(ExprOp::mul, {out, builder.extent(data, d)}));
  }
  return node.give(out);
}

Status import_constant_of_shape(Node& node) {
  STREW_TRY(node.check_signature(1, 1, 1, {"value"}));
  STREW_ASSIGN(const int shape, node.input(0, "input"));
  ProgramBuilder builder = node.builder();
  int value = builder.scalar(Scalar::of(DType::f32, 0));
  for (const AttributeProto& attribute : node.proto().attribute()) {
    STREW_ASSIGN(Constant constant, to_constant(attribute.t(), node.location() + ": attribute value", node.graph().path()));
    if (constant.type.dims != std::vector<int64_t>{1} || constant.type.dtype == DType::string)
      return node.error("attribute value is " + dims_text(constant.type.dims) + ", expected one number");
    constant.type.dims.clear();
    value = builder.add_constant(std::move(constant));
  }
  return node.give(builder.broadcast_to(value, shape));
}

Status import_range(Node& node) {
  STREW_TRY(node.check_signature(3, 3, 1, {}));
  STREW_ASSIGN(const int start, node.input(0, "start"));
  STREW_ASSIGN(const int limit, node.input(1, "limit"));
  STREW_ASSIGN(const int delta, node.input(2, "delta"));
  return node.give(node.builder().range(start, limit, delta));
}

/// values[1] where the number of the element along axis is the index (counted from the end if negative), values[0] elsewhere.
Status import_one_hot(Node& node) {
  STREW_TRY(node.check_signature(3, 3, 1, {"axis"}));
  STREW_ASSIGN(const int indices, node.input(0, "indices"));
  STREW_ASSIGN(const auto depth, node.list_input(1, "depth"));
  STREW_ASSIGN(const int values, node.input(2, "values"));
  ProgramBuilder builder = node.builder();
  const TensorType type = builder.type(indices);
  if (!is_integer(type.dtype)) return node.error("indices are " + std::string(name(type.dtype)) + ", expected integers");
  if (!depth || depth->size() != 1 || depth->front() < 0) return node.error("depth, expected one number from 0 on");
  STREW_ASSIGN(const int64_t given, node.attribute("axis", int64_t{-1}));
  STREW_ASSIGN(const int64_t axis, node.dim_of(given, type.rank() + 1, "axis"));
  STREW_ASSIGN(const int is_negative, builder.apply(ExprOp::lt, {indices, builder.integer(0, type.dtype)}));
  STREW_ASSIGN(const int wrapped, builder.apply(ExprOp::add, {indices, builder.integer(depth->front(), type.dtype)}));
  STREW_ASSIGN(const int counted, builder.apply(ExprOp::select, {is_negative, wrapped, indices}));
  STREW_ASSIGN(int off, builder.slice(values, {{0, 1, 1}}));
  STREW_ASSIGN(int on, builder.slice(values, {{1, 2, 1}}));
  STREW_ASSIGN(off, builder.reshape(off, {}));
  STREW_ASSIGN(on, builder.reshape(on, {}));
  return node.give(one_hot(builder, counted, depth->front(), axis, on, off));
}

/// A row of coordinates per dim.
Status import_non_zero(Node& node) {
  STREW_TRY(node.check_signature(1, 1, 1, {}));
  STREW_ASSIGN(const int x, node.input(0, "x"));
  ProgramBuilder builder = node.builder();
  const Expected<int> coordinates = nonzero_coordinates(builder, x);
  if (!coordinates.ok()) return node.give(coordinates);
  return node.give(builder.transpose(*coordinates, {1, 0}));
}

Status import_cum_sum(Node& node) {
  STREW_TRY(node.check_signature(2, 2, 1, {"exclusive", "reverse"}));
  STREW_ASSIGN(const int x, node.input(0, "x"));
  STREW_ASSIGN(const auto axis, node.list_input(1, "axis"));
  if (!axis || axis->size() != 1) return node.error("axis, expected one number");
  STREW_ASSIGN(const int64_t dim, node.dim_of(axis->front(), node.type(x).rank(), "axis"));
  STREW_ASSIGN(const int64_t exclusive, node.attribute("exclusive", int64_t{0}));
  STREW_ASSIGN(const int64_t reverse, node.attribute("reverse", int64_t{0}));
  return node.give(node.builder().scan(ExprOp::add, x, dim, {exclusive != 0, reverse != 0}));
}

struct Reduction {
  std::string_view op_type;
  ExprOp op;
};
constexpr std::array kReductions{Reduction{"ReduceMax", ExprOp::max}, Reduction{"ReduceMin", ExprOp::min},
                                 Reduction{"ReduceProd", ExprOp::mul}, Reduction{"ReduceSum", ExprOp::add}};

/// The dims are an attribute in older opsets, and an input since 13 or 18. Elements are combined in row-major order.
Status import_reduce(Node& node) {
  STREW_TRY(node.check_signature(1, 2, 1, {"axes", "keepdims", "noop_with_empty_axes"}));
  STREW_ASSIGN(const int data, node.input(0, "data"));
  STREW_ASSIGN(const auto given, node.list_of("axes", 1));
  STREW_ASSIGN(const int64_t keep, node.attribute("keepdims", int64_t{1}));
  STREW_ASSIGN(const int64_t noop, node.attribute("noop_with_empty_axes", int64_t{0}));
  const int rank = node.type(data).rank();
  std::vector<int64_t> dims;
  for (const int64_t each : given.value_or(std::vector<int64_t>())) {
    STREW_ASSIGN(const int64_t dim, node.dim_of(each, rank, "an entry of axes"));
    dims.push_back(dim);
  }
  if (dims.empty() && noop != 0) return node.give(data);
  if (dims.empty()) dims = all_dims(static_cast<size_t>(rank));
  const auto* found = std::find_if(kReductions.begin(), kReductions.end(),
                                   [&](const Reduction& r) { return r.op_type == node.proto().op_type(); });
  return node.give(node.builder().reduce(found->op, data, dims, keep != 0));
}

}  // namespace

const std::vector<Operator>& shape_operators() {
  static const auto& list = *new const std::vector<Operator>([] {
    std::vector<Operator> all = {
        {"ConstantOfShape", "", 9, kEveryLater, import_constant_of_shape},
        {"CumSum", "", 11, kEveryLater, import_cum_sum},
        {"NonZero", "", 9, kEveryLater, import_non_zero},
        {"OneHot", "", 9, kEveryLater, import_one_hot},
        {"Range", "", 11, kEveryLater, import_range},
        {"Shape", "", 1, kEveryLater, import_shape},
        {"Size", "", 1, kEveryLater, import_size},
    };
    for (const Reduction& each : kReductions) all.push_back({each.op_type, "", 1, kEveryLater, import_reduce});
    return all;
  }());
  return list;
}

}  // namespace strew::inline v0::onnx
