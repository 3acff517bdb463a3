// The operators that move whole tensors: reshapes, transposes, repetitions, concatenations, reversals, padding. Quantized tensors keep their
// integers where all tensors have the same scales. Tested by tests/unit/compiler/import/tflite/tflite_compute_test.cc and tests/models.
#include <algorithm>

#include "compiler/import/builder/forms.h"
#include "compiler/import/tflite/graph.h"
#include "compiler/import/tflite/tflite.h"
#include "strew/text.h"

namespace strew::inline v0::tflite {
namespace {

using Builtin = schema::BuiltinOperator;
using Options = schema::BuiltinOptions;

/// The operand that is moved.
Expected<int> operand(const Node& node, uint32_t inputs, uint32_t at = 0) {
  STREW_TRY(node.check_signature(inputs, 1));
  STREW_TRY(node.check_same_quantization());
  return node.input(at, "operand");
}

/// The shape is an input, or in old files an option. A 0 in it is an extent of 0, except as the only element of the option, which stands for a
/// scalar.
Status import_reshape(Node& node) {
  STREW_ASSIGN(const int value, operand(node, node.inputs() == 1 ? 1 : 2));
  ProgramBuilder builder = node.builder();
  const auto* options = node.options<schema::ReshapeOptions>(Options::ReshapeOptions);
  if (node.inputs() == 2) {
    STREW_ASSIGN(const int shape, node.input(1, "shape"));
    STREW_TRY(node.check_index_type(shape, "shape"));
    if (node.type(shape).rank() == 1) return node.give(builder.reshape_to(value, shape, /*allow_zero=*/true));
  }
  if (options == nullptr) return node.error("it has neither a shape of rank 1 nor ReshapeOptions, expected one");
  std::vector<int64_t> dims = list_of(options->new_shape());
  if (dims == std::vector<int64_t>{0}) dims.clear();
  return node.give(builder.reshape_to(value, builder.integers(dims), /*allow_zero=*/true));
}

/// STABLEHLO_RESHAPE has the shape of its output.
Status import_same_elements(Node& node) {
  STREW_ASSIGN(const int value, operand(node, 1));
  STREW_ASSIGN(const schema::Tensor* output, node.output_tensor(0));
  return node.give(node.builder().reshape(value, list_of(output->shape())));
}

Status import_squeeze(Node& node) {
  STREW_ASSIGN(const int value, operand(node, 1));
  const std::vector<int64_t> dims = node.type(value).dims;
  const auto* options = node.options<schema::SqueezeOptions>(Options::SqueezeOptions);
  std::vector<bool> is_named(dims.size());
  const std::vector<int64_t> given = list_of(options == nullptr ? nullptr : options->squeeze_dims());
  for (const int64_t each : given) {
    STREW_ASSIGN(const int64_t dim, node.dim_of(each, static_cast<int>(dims.size()), "an entry of squeeze_dims"));
    is_named[static_cast<size_t>(dim)] = true;
  }
  std::vector<int64_t> kept;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (given.empty() && dims[d] == kDynamic)
      return node.refuse("it removes all dims of 1 of a tensor with open dims, expected squeeze_dims");
    if (is_named[d] && dims[d] != 1 && dims[d] != kDynamic)
      return node.error("dim " + std::to_string(d) + " is " + std::to_string(dims[d]) + ", expected 1 to be removed");
    if (!is_named[d] && (!given.empty() || dims[d] != 1)) kept.push_back(dims[d]);
  }
  return node.give(node.builder().reshape_units(value, kept));
}

Status import_expand_dims(Node& node) {
  STREW_ASSIGN(const int value, operand(node, 2));
  STREW_ASSIGN(const int64_t given, node.constant_integer(1, "axis"));
  std::vector<int64_t> dims = node.type(value).dims;
  STREW_ASSIGN(const int64_t axis, node.dim_of(given, static_cast<int>(dims.size()) + 1, "axis"));
  dims.insert(dims.begin() + axis, 1);
  return node.give(node.builder().reshape_units(value, dims));
}

Status import_transpose(Node& node) {
  STREW_ASSIGN(const int value, operand(node, 2));
  STREW_ASSIGN(std::vector<int64_t> permutation, node.constant_integers(1, "perm"));
  for (int64_t& dim : permutation) {
    STREW_ASSIGN(dim, node.dim_of(dim, node.type(value).rank(), "an entry of perm"));
  }
  return node.give(node.builder().transpose(value, permutation));
}

Status import_broadcast_to(Node& node) {
  STREW_ASSIGN(const int value, operand(node, 2));
  STREW_ASSIGN(const int shape, node.input(1, "shape"));
  STREW_TRY(node.check_index_type(shape, "shape"));
  return node.give(node.builder().broadcast_to(value, shape));
}

Status import_tile(Node& node) {
  STREW_ASSIGN(const int value, operand(node, 2));
  STREW_ASSIGN(const int multiples, node.input(1, "multiples"));
  ProgramBuilder builder = node.builder();
  return node.give(tile(builder, value, multiples));
}

Status import_concatenation(Node& node) {
  STREW_TRY(node.check_signature(node.inputs(), 1));
  STREW_TRY(node.check_same_quantization());
  STREW_ASSIGN(const std::vector<int> values, node.all_inputs());
  if (values.empty()) return node.error("it has no inputs, expected one at least");
  const auto* options = node.options<schema::ConcatenationOptions>(Options::ConcatenationOptions);
  if (options != nullptr && options->fused_activation_function() != 0)
    return node.refuse("its fused activation is number " + std::to_string(options->fused_activation_function()) +
                       ", expected none (0)");
  STREW_ASSIGN(const int64_t axis, node.dim_of(options == nullptr ? 0 : options->axis(), node.type(values[0]).rank(), "axis"));
  return node.give(node.builder().concatenate(values, axis));
}

/// Tensors of one shape side by side, along a new dim.
Status import_pack(Node& node) {
  STREW_TRY(node.check_signature(node.inputs(), 1));
  STREW_TRY(node.check_same_quantization());
  STREW_ASSIGN(std::vector<int> values, node.all_inputs());
  if (values.empty()) return node.error("it has no inputs, expected one at least");
  const auto* options = node.options<schema::PackOptions>(Options::PackOptions);
  ProgramBuilder builder = node.builder();
  const TensorType type = node.type(values[0]);
  STREW_ASSIGN(const int64_t axis, node.dim_of(options == nullptr ? 0 : options->axis(), type.rank() + 1, "axis"));
  const bool is_list = std::all_of(values.begin(), values.end(),
                                   [&](int v) { return node.type(v).rank() == 0 && node.type(v).dtype == type.dtype; });
  if (is_list && type.dtype != DType::string) return node.give(builder.stack(values, type.dtype));
  for (int& value : values) {
    std::vector<int64_t> dims = node.type(value).dims;
    if (dims.size() != type.dims.size())
      return node.error("tensors " + print(type) + " and " + print(node.type(value)) + ", expected one shape");
    dims.insert(dims.begin() + axis, 1);
    STREW_ASSIGN(value, builder.reshape_units(value, dims));
  }
  return node.give(builder.concatenate(values, axis));
}

Status import_reverse(Node& node) {
  STREW_ASSIGN(const int value, operand(node, 2));
  STREW_ASSIGN(std::vector<int64_t> dims, node.constant_integers(1, "axis"));
  for (int64_t& dim : dims) {
    STREW_ASSIGN(dim, node.dim_of(dim, node.type(value).rank(), "an entry of axis"));
  }
  return node.give(node.builder().reverse(value, dims));
}

/// PAD and PADV2. Paddings are [rank, 2]: before and after each dim.
Status import_pad(Node& node) {
  STREW_ASSIGN(const int value, operand(node, node.code() == Builtin::PAD ? 2 : 3));
  STREW_ASSIGN(const int paddings, node.input(1, "paddings"));
  ProgramBuilder builder = node.builder();
  const int64_t rank = node.type(value).rank();
  if (node.type(paddings).dims != std::vector<int64_t>{rank, 2})
    return node.error("paddings are " + print(node.type(paddings)) + ", expected [" + std::to_string(rank) + ",2]");
  const Expected<int> flat = builder.reshape(paddings, {rank * 2});
  if (!flat.ok()) return node.at(flat.status());
  const auto numbers = builder.integers(*flat);
  if (!numbers) return node.refuse("paddings are computed when the model runs, expected constants");
  std::vector<int64_t> before, after;
  for (size_t d = 0; d < static_cast<size_t>(rank); ++d) {
    before.push_back((*numbers)[2 * d]);
    after.push_back((*numbers)[2 * d + 1]);
    if (std::min(before.back(), after.back()) < 0)
      return node.error("dim " + std::to_string(d) + " is padded by a negative number, expected 0 or more");
  }
  int with = builder.scalar(Scalar::of(node.type(value).dtype, 0));
  if (node.code() == Builtin::PADV2) {
    STREW_ASSIGN(const int values, node.input(2, "constant_values"));
    const Expected<int> scalar = builder.reshape(values, {});
    if (!scalar.ok()) return node.at(scalar.status());
    with = *scalar;
  } else {
    STREW_TRY(node.check_not_quantized());
  }
  return node.give(pad(builder, value, before, after, std::vector<int64_t>(before.size(), 0), with));
}

}  // namespace

const std::vector<Operator>& movement_operators() {
  static const auto& list = *new const std::vector<Operator>{
      {"BROADCAST_TO", Builtin::BROADCAST_TO, import_broadcast_to},
      {"CONCATENATION", Builtin::CONCATENATION, import_concatenation},
      {"EXPAND_DIMS", Builtin::EXPAND_DIMS, import_expand_dims},
      {"PACK", Builtin::PACK, import_pack},
      {"PAD", Builtin::PAD, import_pad},
      {"PADV2", Builtin::PADV2, import_pad},
      {"RESHAPE", Builtin::RESHAPE, import_reshape},
      {"REVERSE_V2", Builtin::REVERSE_V2, import_reverse},
      {"SQUEEZE", Builtin::SQUEEZE, import_squeeze},
      {"STABLEHLO_RESHAPE", Builtin::STABLEHLO_RESHAPE, import_same_elements},
      {"TILE", Builtin::TILE, import_tile},
      {"TRANSPOSE", Builtin::TRANSPOSE, import_transpose},
  };
  return list;
}

}  // namespace strew::inline v0::tflite
