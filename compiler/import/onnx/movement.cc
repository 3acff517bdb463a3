// The operators that move elements without indices (reshapes, transposes, slices, concatenations, repetitions), those that make tensors of
// shapes and numbers, and those that combine elements along dims: Constant, Shape, Size, ConstantOfShape, Range, OneHot, NonZero of a constant,
// CumSum, and the reductions. Tested by tests/unit/compiler/import/onnx/onnx_compute_test.cc, tests/unit/compiler/import/onnx/onnx_import_test.cc and
// tests/models.
#include <algorithm>
#include <span>

#include "base/checked.h"
#include "compiler/import/builder/forms.h"
#include "compiler/import/file_constant.h"
#include "compiler/import/node/operations.h"
#include "compiler/import/onnx/graph.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/onnx/onnx.pb.h"
#include "compiler/import/onnx/tensor_proto.h"
#include "compiler/op/dims.h"

namespace strew::inline v0::onnx {
namespace {

/// In inference, Dropout keeps everything. Its mask is not computed.
Expected<int> import_dropout(Node& node) {
  if (node.has_output(1)) return node.error("its mask is used, expected the output alone");
  STREW_ASSIGN(const auto training, node.find_constants(2));
  if (training && training->size() == 1 && (*training)[0] != 0) return node.error("training_mode is true, expected false");
  return node[0];
}

Expected<int> import_reshape(Node& node) {
  ProgramBuilder& builder = node.builder();
  if (const auto shape = node.list("shape")) return builder.reshape_to(node[0], builder.integers(*shape), false);
  if (node[1] < 0) return node.error("{} is missing", node.describe(1));
  return builder.reshape_to(node[0], node[1], node.flag("allowzero"));
}

/// The number of elements of dims [begin, end), or kDynamic if one is open.
Expected<int64_t> merged(const Node& node, const std::vector<int64_t>& dims, size_t begin, size_t end) {
  const std::span<const int64_t> some(dims.data() + begin, end - begin);
  if (std::find(some.begin(), some.end(), kDynamic) != some.end()) return kDynamic;
  const std::optional<int64_t> product = checked::product(some);
  if (!product) return node.error("the product of dims of {} does not fit 63 bits", dims);
  return *product;
}

Expected<int> import_flatten(Node& node) {
  const std::vector<int64_t> dims = node.type(node[0]).dims;
  const auto rank = static_cast<int64_t>(dims.size());
  int64_t axis = node.integer("axis", 1);
  if (axis < -rank || axis > rank) return node.error("axis is {}, expected {} to {}", axis, -rank, rank);
  if (axis < 0) axis += rank;
  const auto at = static_cast<size_t>(axis);
  STREW_ASSIGN(const int64_t rows, merged(node, dims, 0, at));
  STREW_ASSIGN(const int64_t columns, merged(node, dims, at, dims.size()));
  return node.builder().reshape(node[0], {rows, columns});
}

Expected<int> import_unsqueeze(Node& node) {
  STREW_ASSIGN(const auto axes, node.list_of("axes", 1));
  if (!axes) return node.error("axes is missing, expected the dims to add");
  return unsqueezed(node, node[0], *axes, "an entry of axes");
}

Expected<int> import_squeeze(Node& node) {
  STREW_ASSIGN(const auto axes, node.list_of("axes", 1));
  return squeezed(node, node[0], axes, "axes");
}

Expected<int> import_transpose(Node& node) {
  std::vector<int64_t> reversed = all_dims(node.type(node[0]).dims.size());
  std::reverse(reversed.begin(), reversed.end());
  return node.builder().transpose(node[0], node.list("perm").value_or(reversed));
}

Expected<int> import_concat(Node& node) {
  STREW_ASSIGN(const int64_t axis, node.axis(1, node.type(node[0]).rank()));
  return node.builder().concatenate(node.values(), axis);
}

Expected<std::vector<int>> import_split(Node& node) {
  STREW_ASSIGN(const int64_t axis, node.axis(0, node.type(node[0]).rank()));
  STREW_ASSIGN(auto sizes, node.list_of("split", 1));
  if (!sizes) {
    STREW_ASSIGN(const int64_t extent, split_extent(node, node[0], axis));
    const int64_t count = node.outputs(), each = checked::ceil_div(extent, count);
    sizes = std::vector<int64_t>(static_cast<size_t>(count), each);
    sizes->back() = extent - each * (count - 1);
  }
  return split(node, node[0], axis, *sizes, "split");
}

/// Ranges are attributes before opset 10, and inputs since. A range that is computed when the model runs is followed where it selects one
/// element of a dim, or all from a start that is known.
Expected<int> import_slice(Node& node) {
  const int rank = node.type(node[0]).rank();
  STREW_ASSIGN(const auto starts, node.list_of("starts", 1));
  STREW_ASSIGN(const auto ends, node.list_of("ends", 2));
  STREW_ASSIGN(auto axes, node.list_of("axes", 3));
  STREW_ASSIGN(auto steps, node.find_constants(4));
  if (!starts || !ends || starts->size() != ends->size()) return node.error("starts and ends, expected lists of one length");
  if (!axes) axes = all_dims(starts->size());
  if (!steps) steps = std::vector<int64_t>(starts->size(), 1);
  if (axes->size() != starts->size() || steps->size() != starts->size())
    return node.error("axes and steps, expected lists as long as starts");
  STREW_ASSIGN(axes, node.dims_of(*axes, rank, "an entry of axes"));
  std::vector<ProgramBuilder::Range> ranges(static_cast<size_t>(rank));
  for (size_t i = 0; i < starts->size(); ++i) {
    // Exporters write "to the end" as any number that is large enough.
    constexpr int64_t kLarge = (int64_t{1} << 31) - 1;
    const int64_t end = (*ends)[i] >= kLarge ? ProgramBuilder::Range::kToEnd : (*ends)[i];
    ranges[(*axes)[i]] = {(*starts)[i], end, (*steps)[i]};
  }
  return node.builder().slice(node[0], ranges);
}

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
      return node.error("attribute value is {}, expected one number", constant.type.dims);
    constant.type.dims.clear();
    value = builder.add_constant(std::move(constant));
  }
  return builder.broadcast_to(value, node[0]);
}

/// values[1] where the number of the element along axis is the index (counted from the end if negative), values[0] elsewhere.
Expected<int> import_one_hot(Node& node) {
  const int indices = node[0], values = node[2];
  STREW_ASSIGN(const int64_t depth, node.constant(1));
  ProgramBuilder& builder = node.builder();
  const TensorType type = builder.type(indices);
  if (!is_integer(type.dtype)) return node.error("indices are {}, expected integers", type.dtype);
  STREW_ASSIGN(const int64_t axis, node.axis(-1, type.rank() + 1));
  const Expected<int> is_negative = builder.apply(ExprOp::lt, {indices, builder.integer(0, type.dtype)}),
                      wrapped = builder.apply(ExprOp::add, {indices, builder.integer(depth, type.dtype)});
  STREW_ASSIGN(const int counted, builder.apply(ExprOp::select, {is_negative, wrapped, indices}));
  STREW_ASSIGN(const int off, builder.reshape(builder.slice(values, {{0, 1, 1}}), {}));
  STREW_ASSIGN(const int on, builder.reshape(builder.slice(values, {{1, 2, 1}}), {}));
  return one_hot(builder, counted, depth, axis, on, off);
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

std::vector<Operator> movement_operators() {
  constexpr auto kAny = AttributeType::any;  // not read, or by what the attribute's name says
  constexpr auto kList = AttributeType::list;
  const Attribute axes{"axes", kList};
  return {
      {"Concat", {"input..."}, 4, {"axis"}, import_concat},
      {"Dropout",
       {.inputs = "data ratio? training_mode?", .several_outputs = true},
       7,
       {{"ratio", kAny}, {"seed", kAny}},
       import_dropout},
      {"Expand", {"input shape"}, 8, {}, import_broadcast},
      {"Flatten", {"input"}, 1, {"axis"}, import_flatten},
      {"Identity", {"input"}, 1, {}, [](Node& node) { return Expected<int>(node[0]); }},
      {"Reshape", {"data shape?"}, 1, {"allowzero", {"shape", kList}}, import_reshape},
      {"Slice", {"data starts? ends? axes? steps?"}, 1, {{"starts", kList}, {"ends", kList}, axes}, import_slice},
      {"Split",
       {.inputs = "input split?", .several_outputs = true},
       2,
       {"axis", {"split", kList}, {"num_outputs", kAny}},
       import_split},
      {"Squeeze", {"data axes?"}, 1, {axes}, import_squeeze},
      {"Tile", {"input repeats"}, 6, {}, import_tile},
      {"Transpose", {"data"}, 1, {{"perm", kList}}, import_transpose},
      {"Unsqueeze", {"data axes?"}, 1, {axes}, import_unsqueeze},
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
