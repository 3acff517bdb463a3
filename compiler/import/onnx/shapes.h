// What the indexed operators of opset 1 to 18 share: element types, index types, axes, reductions, extents that must agree. Every failure
// names the node, the input and what was expected.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/onnx/graph.h"
#include "compiler/op/op.h"

namespace strew::onnx {

/// One input: its value's number, its type as known so far, and its name in messages.
struct Operand {
  int value = 0;
  TensorType type;
  std::string role;
};

Expected<Operand> read_operand(const Node& node, int input, std::string_view role);

/// The element types of ONNX's "all tensor types": no 4-bit and 8-bit floats, bf16 since opset 13. Rank at least 1.
Status check_data(const Node& node, const Operand& data);
/// i64, with `i32` also i32; rank at least `min_rank`.
Status check_indices(const Node& node, const Operand& indices, bool i32, int min_rank);
/// The dtype of `data`.
Status check_same_dtype(const Node& node, const Operand& operand, const Operand& data);
Status check_rank(const Node& node, const Operand& operand, int64_t rank, const std::string& expected);

/// Attribute axis, counted from 0.
Expected<int64_t> read_axis(const Node& node, const Operand& data, int64_t otherwise);
/// Attribute reduction. Knows none before opset 16, none, add and mul before 18. `data`: what is reduced.
Expected<CombinerKind> read_reduction(const Node& node, const Operand& data);

/// Makes the two extents one: what is known on one side only becomes known on both, what is known on neither is written to `ties` and
/// checked at the call.
Status unify_extents(const Node& node, Operand& a, int64_t dim_a, Operand& b, int64_t dim_b, std::vector<EqualExtents>& ties);
/// All dims of both, which have the same rank.
Status unify_shapes(const Node& node, Operand& a, Operand& b, std::vector<EqualExtents>& ties);

/// ScatterElements, GatherElements: indices is no larger than data in any dim but `axis`.
Status check_smaller(const Node& node, const Operand& indices, const Operand& data, int64_t axis);

/// What `explain` says about every scatter: where the result may live, and what duplicates mean.
std::vector<std::string> scatter_notes(const Node& node, const Operand& data, CombinerKind kind);

/// The length of the index vectors: the last dim of `indices`, or `otherwise` (-1: unknown) where the file leaves it open.
Expected<int64_t> index_components(const Node& node, Operand& indices, int64_t most, int64_t otherwise);

}  // namespace strew::onnx
