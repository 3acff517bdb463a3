// The operators that make tensors of shapes and numbers, and those that combine elements along dims: SHAPE, RANK, FILL, RANGE, ZEROS_LIKE,
// WHERE of a constant, ONE_HOT, CUMSUM, and the reductions. Tested by tests/unit/compiler/import/tflite/tflite_compute_test.cc and
// tests/models.
#include <algorithm>
#include <array>

#include "base/number.h"
#include "compiler/import/builder/forms.h"
#include "compiler/import/tflite/graph.h"
#include "compiler/import/tflite/tensor.h"
#include "compiler/import/tflite/tflite.h"
#include "strew/text.h"

namespace strew::inline v0::tflite {
namespace {

using Builtin = schema::BuiltinOperator;
using Options = schema::BuiltinOptions;

Status import_shape(Node& node) {
  STREW_TRY(node.check_signature(1, 1));
  STREW_ASSIGN(const int value, node.input(0, "input"));
  STREW_ASSIGN(const schema::Tensor* output, node.output_tensor(0));
  STREW_ASSIGN(const TensorType type, tensor_type(*output, node.location() + ": output 0"));
  if (type.dtype != DType::i32 && type.dtype != DType::i64)
    return node.error("output 0 is " + print(type) + ", expected i32 or i64");
  ProgramBuilder builder = node.builder();
  return node.give(builder.convert(builder.shape(value, 0, node.type(value).dims.size()), type.dtype));
}

Status import_rank(Node& node) {
  STREW_TRY(node.check_signature(1, 1));
  STREW_ASSIGN(const int value, node.input(0, "input"));
  return node.give(node.builder().integer(node.type(value).rank(), DType::i32));
}

Status import_fill(Node& node) {
  STREW_TRY(node.check_signature(2, 1));
  STREW_TRY(node.check_same_quantization());
  STREW_ASSIGN(const int dims, node.input(0, "dims"));
  STREW_ASSIGN(const int value, node.input(1, "value"));
  STREW_TRY(node.check_index_type(dims, "dims"));
  if (node.type(value).rank() != 0) return node.error("value is " + print(node.type(value)) + ", expected one number");
  return node.give(node.builder().broadcast_to(value, dims));
}

Status import_range(Node& node) {
  STREW_TRY(node.check_signature(3, 1));
  STREW_ASSIGN(const std::vector<int> values, node.all_inputs());
  for (const int value : values)
    if (node.type(value).rank() != 0 || node.type(value).dtype != node.type(values[0]).dtype)
      return node.error("start, limit and delta, expected three numbers of one element type");
  return node.give(node.builder().range(values[0], values[1], values[2]));
}

Status import_zeros_like(Node& node) {
  STREW_TRY(node.check_signature(1, 1));
  STREW_TRY(node.check_not_quantized());
  STREW_ASSIGN(const int value, node.input(0, "input"));
  if (node.type(value).dtype == DType::string) return node.refuse("its input is strings, expected numbers");
  ProgramBuilder builder = node.builder();
  const int zero = builder.scalar(Scalar{node.type(value).dtype});
  return node.give(builder.broadcast_to(zero, builder.shape(value, 0, node.type(value).dims.size())));
}

Status import_where(Node& node) {
  STREW_TRY(node.check_signature(1, 1));
  STREW_ASSIGN(const int value, node.input(0, "condition"));
  ProgramBuilder builder = node.builder();
  return node.give(nonzero_coordinates(builder, value));
}

Status import_one_hot(Node& node) {
  STREW_TRY(node.check_signature(4, 1));
  STREW_TRY(node.check_not_quantized());
  STREW_ASSIGN(const int indices, node.input(0, "indices"));
  STREW_ASSIGN(const int64_t depth, node.constant_integer(1, "depth"));
  STREW_ASSIGN(const int on, node.input(2, "on_value"));
  STREW_ASSIGN(const int off, node.input(3, "off_value"));
  if (node.type(on).rank() != 0 || node.type(off).rank() != 0)
    return node.error("on_value is " + print(node.type(on)) + " and off_value " + print(node.type(off)) + ", expected numbers");
  const auto* options = node.options<schema::OneHotOptions>(Options::OneHotOptions);
  STREW_ASSIGN(const int64_t axis, node.dim_of(options == nullptr ? 0 : options->axis(), node.type(indices).rank() + 1, "axis"));
  ProgramBuilder builder = node.builder();
  return node.give(one_hot(builder, indices, depth, axis, on, off));
}

Status import_cumsum(Node& node) {
  STREW_TRY(node.check_signature(2, 1));
  STREW_TRY(node.check_not_quantized());
  STREW_ASSIGN(const int value, node.input(0, "input"));
  STREW_ASSIGN(const int64_t given, node.constant_integer(1, "axis"));
  STREW_ASSIGN(const int64_t axis, node.dim_of(given, node.type(value).rank(), "axis"));
  const auto* options = node.options<schema::CumsumOptions>(Options::CumsumOptions);
  const bool exclusive = options != nullptr && options->exclusive(), reverse = options != nullptr && options->reverse();
  return node.give(node.builder().scan(ExprOp::add, value, axis, {exclusive, reverse}));
}

struct Reduction {
  std::string_view name;
  Builtin code;
  ExprOp op;
};
constexpr std::array kReductions{
    Reduction{"REDUCE_ALL", Builtin::REDUCE_ALL, ExprOp::bit_and}, Reduction{"REDUCE_ANY", Builtin::REDUCE_ANY, ExprOp::bit_or},
    Reduction{"REDUCE_MAX", Builtin::REDUCE_MAX, ExprOp::max},     Reduction{"REDUCE_MIN", Builtin::REDUCE_MIN, ExprOp::min},
    Reduction{"REDUCE_PROD", Builtin::REDUCE_PROD, ExprOp::mul},   Reduction{"SUM", Builtin::SUM, ExprOp::add},
};

/// Elements are combined in row-major order. No axes: nothing is reduced.
Status import_reduce(Node& node) {
  STREW_TRY(node.check_signature(2, 1));
  STREW_TRY(node.check_not_quantized());
  STREW_ASSIGN(const int value, node.input(0, "input"));
  STREW_ASSIGN(std::vector<int64_t> dims, node.constant_integers(1, "axes"));
  for (int64_t& dim : dims) {
    STREW_ASSIGN(dim, node.dim_of(dim, node.type(value).rank(), "an entry of axes"));
  }
  std::sort(dims.begin(), dims.end());
  dims.erase(std::unique(dims.begin(), dims.end()), dims.end());
  if (dims.empty()) return node.give(value);
  const auto* options = node.options<schema::ReducerOptions>(Options::ReducerOptions);
  const auto* row =
      std::find_if(kReductions.begin(), kReductions.end(), [&](const Reduction& r) { return r.code == node.code(); });
  return node.give(node.builder().reduce(row->op, value, dims, options != nullptr && options->keep_dims()));
}

}  // namespace

const std::vector<Operator>& shape_operators() {
  static const auto& list = *new const std::vector<Operator>([] {
    std::vector<Operator> all = {
        {"CUMSUM", Builtin::CUMSUM, import_cumsum},    {"FILL", Builtin::FILL, import_fill},
        {"ONE_HOT", Builtin::ONE_HOT, import_one_hot}, {"RANGE", Builtin::RANGE, import_range},
        {"RANK", Builtin::RANK, import_rank},          {"SHAPE", Builtin::SHAPE, import_shape},
        {"WHERE", Builtin::WHERE, import_where},       {"ZEROS_LIKE", Builtin::ZEROS_LIKE, import_zeros_like},
    };
    for (const Reduction& each : kReductions) all.emplace_back(each.name, each.code, import_reduce);
    return all;
  }());
  return list;
}

}  // namespace strew::inline v0::tflite
