// The operators that make tensors of shapes and numbers, Constant among them, and those that combine elements along dims: Shape, Size, ConstantOfShape, Range,
// OneHot, NonZero of a constant, CumSum, and the reductions. Tested by tests/unit/compiler/import/onnx/onnx_compute_test.cc and
// tests/models.
#include <algorithm>
#include <span>

#include "compiler/import/builder/forms.h"
#include "compiler/import/file_constant.h"
#include "compiler/import/onnx/graph.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/onnx/onnx.pb.h"
#include "compiler/import/onnx/tensor_proto.h"
#include "compiler/op/dims.h"

namespace strew::inline v0::onnx {
namespace {

template <class List>
Constant from_list(DType dtype, const List& list, bool scalar) {
  Constant out;
  out.type.dtype = dtype;
  if (!scalar) out.type.dims = {static_cast<int64_t>(list.size())};
  set_bytes(out, std::as_bytes(std::span(list.data(), static_cast<size_t>(list.size()))), nullptr);
  return out;
}

Expected<Constant> constant_of(const Node& node, const AttributeProto& a) {
  const std::string& n = a.name();
  if (n == "value") return to_constant(a.t(), node.location() + ": attribute value", node.graph().path());
  if (n == "value_float") return from_list(DType::f32, std::vector<float>{a.f()}, true);
  if (n == "value_floats") return from_list(DType::f32, a.floats(), false);
  if (n == "value_int") return from_list(DType::i64, std::vector<int64_t>{a.i()}, true);
  if (n == "value_ints") return from_list(DType::i64, a.ints(), false);
  Constant out{.type = {DType::string, {}, {}}, .strings = {a.strings().begin(), a.strings().end()}};
  if (n == "value_strings") out.type.dims = {a.strings_size()};
  if (n == "value_string") out.strings = {a.s()};
  return out;
}

/// The output is the tensor, number or list in one of the node's attributes. Sparse tensors are refused, since sparse_value is not among the
/// attributes that the row has.
Expected<int> import_constant(Node& node) {
  if (node.proto().attribute_size() != 1) return node.error("it has {} attributes, expected one", node.proto().attribute_size());
  STREW_ASSIGN(Constant constant, constant_of(node, node.proto().attribute(0)));
  return node.builder().add_constant(std::move(constant));
}

Expected<int> import_shape(Node& node) {
  const int64_t rank = node.type(node[0]).rank();
  const auto clamped = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t first = clamped(node.integer("start")), last = std::max(first, clamped(node.integer("end", rank)));
  return node.builder().shape(node[0], static_cast<size_t>(first), static_cast<size_t>(last));
}

Expected<int> import_size(Node& node) {
  ProgramBuilder& builder = node.builder();
  Expected<int> out = builder.integer(1);
  for (int64_t d = 0; d < node.type(node[0]).rank(); ++d) out = builder.apply(ExprOp::mul, {out, builder.extent(node[0], d)});
  return out;
}

Expected<int> import_constant_of_shape(Node& node) {
  ProgramBuilder& builder = node.builder();
  int value = builder.number(0, DType::f32);
  for (const AttributeProto& attribute : node.proto().attribute()) {
    STREW_ASSIGN(Constant constant, to_constant(attribute.t(), node.location() + ": attribute value", node.graph().path()));
    if (constant.type.dims != std::vector<int64_t>{1} || constant.type.dtype == DType::string)
      return node.error("attribute value is {}, expected one number", dims_text(constant.type.dims));
    constant.type.dims.clear();
    value = builder.add_constant(std::move(constant));
  }
  return builder.broadcast_to(value, node[0]);
}

/// values[1] where the number of the element along axis is the index (counted from the end if negative), values[0] elsewhere.
Expected<int> import_one_hot(Node& node) {
  const int indices = node[0], values = node[2];
  STREW_ASSIGN(const auto depth, node.find_constants(1));
  ProgramBuilder& builder = node.builder();
  const TensorType type = builder.type(indices);
  if (!is_integer(type.dtype)) return node.error("indices are {}, expected integers", name(type.dtype));
  if (!depth || depth->size() != 1 || depth->front() < 0) return node.error("depth, expected one number from 0 on");
  STREW_ASSIGN(const int64_t axis, node.axis(-1, type.rank() + 1));
  const Expected<int> is_negative = builder.apply(ExprOp::lt, {indices, builder.integer(0, type.dtype)}),
                      wrapped = builder.apply(ExprOp::add, {indices, builder.integer(depth->front(), type.dtype)});
  STREW_ASSIGN(const int counted, builder.apply(ExprOp::select, {is_negative, wrapped, indices}));
  STREW_ASSIGN(const int off, builder.reshape(builder.slice(values, {{0, 1, 1}}), {}));
  STREW_ASSIGN(const int on, builder.reshape(builder.slice(values, {{1, 2, 1}}), {}));
  return one_hot(builder, counted, depth->front(), axis, on, off);
}

/// A row of coordinates per dim.
Expected<int> import_non_zero(Node& node) {
  STREW_ASSIGN(const int coordinates, nonzero_coordinates(node.builder(), node[0]));
  return node.builder().transpose(coordinates, {1, 0});
}

Expected<int> import_cum_sum(Node& node) {
  STREW_ASSIGN(const int64_t dim, node.dim(1, node.type(node[0]).rank()));
  return node.builder().scan(ExprOp::add, node[0], dim, {node.flag("exclusive"), node.flag("reverse")});
}

/// The dims are an attribute in older opsets, and an input since 13 or 18. Elements are combined in row-major order.
Expected<int> import_reduce(Node& node) {
  STREW_ASSIGN(const auto given, node.list_of("axes", 1));
  const int rank = node.type(node[0]).rank();
  STREW_ASSIGN(std::vector<int64_t> dims, node.dims_of(given.value_or(std::vector<int64_t>()), rank, "an entry of axes"));
  if (dims.empty() && node.flag("noop_with_empty_axes")) return node[0];
  if (dims.empty()) dims = all_dims(static_cast<size_t>(rank));
  return node.builder().reduce(node.form()->expr, node[0], dims, node.flag("keepdims", true));
}

Operator reduction(std::string_view name, ExprOp op) {
  return {name, {"data axes?", op}, 1, {{"axes", AttributeType::list}, "keepdims", "noop_with_empty_axes"}, import_reduce};
}

}  // namespace

std::vector<Operator> shape_operators() {
  constexpr auto kAny = AttributeType::any;  // the import function reads what its name says
  return {
      {"Constant",
       {""},
       1,
       {{"value", kAny},
        {"value_float", kAny},
        {"value_floats", kAny},
        {"value_int", kAny},
        {"value_ints", kAny},
        {"value_string", kAny},
        {"value_strings", kAny}},
       import_constant},
      {"ConstantOfShape", {"input"}, 9, {{"value", AttributeType::tensor}}, import_constant_of_shape},
      {"CumSum", {"x axis"}, 11, {"exclusive", "reverse"}, import_cum_sum},
      {"NonZero", {"x"}, 9, {}, import_non_zero},
      {"OneHot", {"indices depth values"}, 9, {"axis"}, import_one_hot},
      {"Range", {"start limit delta"}, 11, {}, [](Node& node) { return node.builder().range(node[0], node[1], node[2]); }},
      {"Shape", {"data~"}, 1, {"start", "end"}, import_shape},
      {"Size", {"data~"}, 1, {}, import_size},
      reduction("ReduceMax", ExprOp::max),
      reduction("ReduceMin", ExprOp::min),
      reduction("ReduceProd", ExprOp::mul),
      reduction("ReduceSum", ExprOp::add),
  };
}

}  // namespace strew::inline v0::onnx
