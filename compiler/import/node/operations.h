// The operators that ONNX and TensorFlow Lite have in common, and parts of operators that they share. Errors may lack the node's location, which
// GraphNode::translate() adds. Tested by tests/unit/compiler/import/onnx/onnx_compute_test.cc and
// tests/unit/compiler/import/tflite/tflite_compute_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/node/node.h"
#include "compiler/op/dims.h"

namespace strew::inline v0 {

/// The inputs of operators that are one operator of expressions, by its arity.
inline constexpr std::string_view kOperands[] = {"", "operand", "operand operand", "operand operand operand"};

// Import functions.
/// The expression of the operator's row, of all inputs.
Expected<int> import_apply(GraphNode& node);
/// The expression of the operator's row, of the first two inputs, then of that and the third, and so on.
Expected<int> import_chain(GraphNode& node);
/// Inputs: a value, and the shape to which it is repeated as NumPy does.
Expected<int> import_broadcast(GraphNode& node);
/// Inputs: a value, and how often it is repeated along each dim.
Expected<int> import_tile(GraphNode& node);

/// An input: the number of its value, what is known of its type, and its role, by which messages call it.
struct Operand {
  int value = 0;
  TensorType type;
  std::string role;
  std::string text() const { return role + " is " + dims_text(type.dims); }
};
Operand operand(const GraphNode& node, int input);
/// Refuses an operand whose dtype is not that of `like`.
Status check_same_dtype(const GraphNode& node, const Operand& operand, const Operand& like);
/// Refuses an operand of another rank, which is that of `expected`.
Status check_rank(const GraphNode& node, const Operand& operand, int64_t rank, const std::string& expected);
/// Refuses an operand that is larger than `like` in a dim other than `axis`.
Status check_smaller(const GraphNode& node, const Operand& operand, const Operand& like, int64_t axis = -1);

/// The value without the dims `axes`, which must be 1; without all dims of 1 if there are no axes. Messages call the axes `what`.
Expected<int> squeezed(const GraphNode& node, int value, const std::optional<std::vector<int64_t>>& axes, std::string_view what);
/// The value with dims of 1 that have the numbers `axes` in the result.
Expected<int> unsqueezed(const GraphNode& node, int value, std::vector<int64_t> axes, std::string_view what);
/// The extent of the dim along which a value is split; it must be known.
Expected<int64_t> split_extent(const GraphNode& node, int value, int64_t axis);
/// One part for each output, of these sizes along `axis`. Messages call the sizes `what`.
Expected<std::vector<int>> split(const GraphNode& node, int value, int64_t axis, const std::vector<int64_t>& sizes,
                                 std::string_view what);

/// The value not below `least` and not above `most`.
Expected<int> clamped(ProgramBuilder& builder, const Expected<int>& given, double least, std::optional<double> most = {});

/// What the integers of a quantized tensor stand for: values of rank 0, or of the tensor's rank with one extent other than 1.
struct Scales {
  int scale = -1;
  int zero_point = -1;  ///< none
};
/// The elements of a list for dim `dim` of the value: with dims of 1 around it.
Expected<int> along_dim(ProgramBuilder& builder, int list, int value, int64_t dim);
/// saturate(round(x / scale) + zero_point) of f32, rounded by `rounding`, as integers of at most 16 bits.
Expected<int> quantized(ProgramBuilder& builder, int value, Scales scales, ExprOp rounding, DType to);
/// (x - zero_point) * scale. The difference is computed in `exact`, the product in f32.
Expected<int> dequantized(ProgramBuilder& builder, int value, Scales scales, DType exact, DType to);

}  // namespace strew::inline v0
