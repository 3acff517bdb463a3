// The operators that make tensors of shapes and numbers, and those that combine elements along dims: SHAPE, RANK, FILL, RANGE, ZEROS_LIKE,
// WHERE of a constant, ONE_HOT, CUMSUM, and the reductions. Tested by tests/unit/compiler/import/tflite/tflite_compute_test.cc and
// tests/models.
#include <algorithm>

#include "compiler/import/builder/forms.h"
#include "compiler/import/tflite/graph.h"
#include "compiler/import/tflite/tflite.h"

namespace strew::inline v0::tflite {
namespace {

using Builtin = schema::BuiltinOperator;
using Options = schema::BuiltinOptions;

Expected<int> import_shape(Node& node) {
  STREW_ASSIGN(const TensorType type, node.declared_type());
  if (type.dtype != DType::i32 && type.dtype != DType::i64) return node.error("output 0 is {}, expected i32 or i64", type);
  return node.builder().convert(node.builder().shape(node[0], 0, node.type(node[0]).dims.size()), type.dtype);
}

Expected<int> import_fill(Node& node) {
  if (node.type(node[1]).rank() != 0) return node.error("value is {}, expected one number", node.type(node[1]));
  return node.builder().broadcast_to(node[1], node[0]);
}

Expected<int> import_range(Node& node) {
  for (const int value : node.values())
    if (node.type(value).rank() != 0 || node.type(value).dtype != node.type(node[0]).dtype)
      return node.error("start, limit and delta, expected three numbers of one element type");
  return node.builder().range(node[0], node[1], node[2]);
}

Expected<int> import_zeros_like(Node& node) {
  const TensorType type = node.type(node[0]);
  if (type.dtype == DType::string) return node.refuse("its input is strings, expected numbers");
  const int zero = node.builder().number(0, type.dtype);
  return node.builder().broadcast_to(zero, node.builder().shape(node[0], 0, type.dims.size()));
}

Expected<int> import_one_hot(Node& node) {
  STREW_ASSIGN(const int64_t depth, node.constant(1));
  const TensorType on = node.type(node[2]), off = node.type(node[3]);
  if (on.rank() != 0 || off.rank() != 0) return node.error("on_value is {} and off_value {}, expected numbers", on, off);
  const int32_t given = node.option(Options::OneHotOptions, &schema::OneHotOptions::axis);
  STREW_ASSIGN(const int64_t axis, node.dim_of(given, node.type(node[0]).rank() + 1, "axis"));
  return one_hot(node.builder(), node[0], depth, axis, node[2], node[3]);
}

Expected<int> import_cumsum(Node& node) {
  STREW_ASSIGN(const int64_t axis, node.dim(1, node.type(node[0]).rank()));
  const bool exclusive = node.option(Options::CumsumOptions, &schema::CumsumOptions::exclusive);
  const bool reverse = node.option(Options::CumsumOptions, &schema::CumsumOptions::reverse);
  return node.builder().scan(ExprOp::add, node[0], axis, {exclusive, reverse});
}

/// Elements are combined in row-major order. No axes: nothing is reduced.
Expected<int> import_reduce(Node& node) {
  STREW_ASSIGN(std::vector<int64_t> dims, node.dims(1, node.type(node[0]).rank()));
  std::sort(dims.begin(), dims.end());
  dims.erase(std::unique(dims.begin(), dims.end()), dims.end());
  if (dims.empty()) return node[0];
  const bool keep = node.option(Options::ReducerOptions, &schema::ReducerOptions::keep_dims);
  return node.builder().reduce(node.form()->expr, node[0], dims, keep);
}

Operator reduction(Builtin code, ExprOp op) { return {code, {"input axes#", op}, Quantized::refused, import_reduce}; }

}  // namespace

std::vector<Operator> shape_operators() {
  constexpr auto kRefused = Quantized::refused, kStored = Quantized::as_stored;
  return {
      {Builtin::CUMSUM, {"input axis#"}, kRefused, import_cumsum},
      {Builtin::FILL, {"dims# value"}, Quantized::same, import_fill},
      {Builtin::ONE_HOT, {"indices depth# on_value off_value"}, kRefused, import_one_hot},
      {Builtin::RANGE, {"operand operand operand"}, kStored, import_range},
      {Builtin::RANK,
       {"input"},
       kStored,
       [](Node& node) { return Expected<int>(node.builder().integer(node.type(node[0]).rank(), DType::i32)); }},
      {Builtin::SHAPE, {"input"}, kStored, import_shape},
      {Builtin::WHERE, {"condition"}, kStored, [](Node& node) { return nonzero_coordinates(node.builder(), node[0]); }},
      {Builtin::ZEROS_LIKE, {"input"}, kRefused, import_zeros_like},
      reduction(Builtin::REDUCE_ALL, ExprOp::bit_and),
      reduction(Builtin::REDUCE_ANY, ExprOp::bit_or),
      reduction(Builtin::REDUCE_MAX, ExprOp::max),
      reduction(Builtin::REDUCE_MIN, ExprOp::min),
      reduction(Builtin::REDUCE_PROD, ExprOp::mul),
      reduction(Builtin::SUM, ExprOp::add),
  };
}

}  // namespace strew::inline v0::tflite
