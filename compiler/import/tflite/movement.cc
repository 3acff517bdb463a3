// The operators that move whole tensors: reshapes, transposes, repetitions, concatenations, reversals, padding. Quantized tensors keep their
// integers where all tensors have the same scales. Tested by tests/unit/compiler/import/tflite/tflite_compute_test.cc and tests/models.
#include <algorithm>

#include "compiler/import/builder/forms.h"
#include "compiler/import/node/operations.h"
#include "compiler/import/tflite/graph.h"
#include "compiler/import/tflite/tflite.h"
#include "strew/text.h"

namespace strew::inline v0::tflite {
namespace {

using Builtin = schema::BuiltinOperator;
using Options = schema::BuiltinOptions;

/// The shape is an input, or in old files an option. A 0 in it is an extent of 0, except as the only element of the option, which stands for a
/// scalar.
Expected<int> import_reshape(Node& node) {
  ProgramBuilder& builder = node.builder();
  if (node[1] >= 0 && node.type(node[1]).rank() == 1) return builder.reshape_to(node[0], node[1], /*allow_zero=*/true);
  const auto* options = node.options<schema::ReshapeOptions>(Options::ReshapeOptions);
  if (options == nullptr) return node.error("it has neither a shape of rank 1 nor ReshapeOptions, expected one");
  std::vector<int64_t> dims = list_of(options->new_shape());
  if (dims == std::vector<int64_t>{0}) dims.clear();
  return builder.reshape_to(node[0], builder.integers(dims), /*allow_zero=*/true);
}

/// STABLEHLO_RESHAPE has the shape of its output.
Expected<int> import_same_elements(Node& node) {
  STREW_ASSIGN(const schema::Tensor* output, node.output_tensor(0));
  return node.builder().reshape(node[0], list_of(output->shape()));
}

Expected<int> import_squeeze(Node& node) {
  std::optional<std::vector<int64_t>> dims = list_of(node.option(Options::SqueezeOptions, &schema::SqueezeOptions::squeeze_dims));
  if (dims->empty()) dims.reset();
  return squeezed(node, node[0], dims, "squeeze_dims");
}

Expected<int> import_expand_dims(Node& node) {
  STREW_ASSIGN(const int64_t axis, node.constant(1));
  return unsqueezed(node, node[0], {axis}, "axis");
}

Expected<int> import_transpose(Node& node) {
  STREW_ASSIGN(const std::vector<int64_t> permutation, node.dims(1, node.type(node[0]).rank()));
  return node.builder().transpose(node[0], permutation);
}

Expected<int> import_concatenation(Node& node) {
  const int activation = node.option(Options::ConcatenationOptions, &schema::ConcatenationOptions::fused_activation_function);
  if (activation != 0) return node.refuse("its fused activation is number {}, expected none (0)", activation);
  const int32_t given = node.option(Options::ConcatenationOptions, &schema::ConcatenationOptions::axis);
  STREW_ASSIGN(const int64_t axis, node.dim_of(given, node.type(node[0]).rank(), "axis"));
  return node.builder().concatenate(node.values(), axis);
}

/// Tensors of one shape side by side, along a new dim.
Expected<int> import_pack(Node& node) {
  std::vector<int> values = node.values();
  const TensorType type = node.type(values[0]);
  const int32_t given = node.option(Options::PackOptions, &schema::PackOptions::axis);
  STREW_ASSIGN(const int64_t axis, node.dim_of(given, type.rank() + 1, "axis"));
  const bool is_list = std::all_of(values.begin(), values.end(),
                                   [&](int v) { return node.type(v).rank() == 0 && node.type(v).dtype == type.dtype; });
  if (is_list && type.dtype != DType::string) return node.builder().stack(values, type.dtype);
  for (int& value : values) {
    if (node.type(value).rank() != type.rank())
      return node.error("tensors {} and {}, expected one shape", print(type), print(node.type(value)));
    STREW_ASSIGN(value, unsqueezed(node, value, {axis}, "axis"));
  }
  return node.builder().concatenate(values, axis);
}

Expected<int> import_reverse(Node& node) {
  STREW_ASSIGN(const std::vector<int64_t> dims, node.dims(1, node.type(node[0]).rank()));
  return node.builder().reverse(node[0], dims);
}

/// PAD and PADV2. Paddings are [rank, 2]: before and after each dim.
Expected<int> import_pad(Node& node) {
  ProgramBuilder& builder = node.builder();
  const int64_t rank = node.type(node[0]).rank();
  if (node.type(node[1]).dims != std::vector<int64_t>{rank, 2})
    return node.error("paddings are {}, expected [{},2]", print(node.type(node[1])), rank);
  STREW_ASSIGN(const int flat, builder.reshape(node[1], {rank * 2}));
  const auto numbers = builder.integers(flat);
  if (!numbers) return node.refuse("paddings are computed when the model runs, expected constants");
  std::vector<int64_t> before, after;
  for (size_t d = 0; d < static_cast<size_t>(rank); ++d) {
    before.push_back((*numbers)[2 * d]);
    after.push_back((*numbers)[2 * d + 1]);
    if (std::min(before.back(), after.back()) < 0)
      return node.error("dim {} is padded by a negative number, expected 0 or more", d);
  }
  STREW_ASSIGN(const int with, node[2] < 0 ? builder.number(0, node.type(node[0]).dtype) : builder.reshape(node[2], {}));
  return pad(builder, node[0], before, after, std::vector<int64_t>(before.size(), 0), with);
}

}  // namespace

std::vector<Operator> movement_operators() {
  constexpr auto kSame = Quantized::same;
  return {
      {Builtin::BROADCAST_TO, {"operand shape#"}, kSame, import_broadcast},
      {Builtin::CONCATENATION, {"operand..."}, kSame, import_concatenation},
      {Builtin::EXPAND_DIMS, {"operand axis#"}, kSame, import_expand_dims},
      {Builtin::PACK, {"operand..."}, kSame, import_pack},
      {Builtin::PAD, {"operand paddings"}, Quantized::refused, import_pad},
      {Builtin::PADV2, {"operand paddings constant_values"}, kSame, import_pad},
      {Builtin::RESHAPE, {"operand shape?#"}, kSame, import_reshape},
      {Builtin::REVERSE_V2, {"operand axis#"}, kSame, import_reverse},
      {Builtin::SQUEEZE, {"operand"}, kSame, import_squeeze},
      {Builtin::STABLEHLO_RESHAPE, {"operand"}, kSame, import_same_elements},
      {Builtin::TILE, {"operand multiples"}, kSame, import_tile},
      {Builtin::TRANSPOSE, {"operand perm#"}, kSame, import_transpose},
  };
}

}  // namespace strew::inline v0::tflite
