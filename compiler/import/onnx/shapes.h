// Checks that the importers of the indexed operators share: element types, index types, axes, reductions, and extents that
// must agree. Every error message names the node, the input and what was expected.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/onnx/graph.h"
#include "strew/op.h"

namespace strew::inline v0::onnx {

/// One input: the number of its value, what is known of its type, and what messages call it.
struct Operand {
  int value = 0;
  TensorType type;
  std::string role;
};

Operand read_operand(const Node& node, size_t input, std::string_view role);

/// Refuses element types that are not in ONNX's "all tensor types" (4-bit and 8-bit floats, bf16 before opset 13), and rank 0.
Status check_data(const Node& node, const Operand& data);
/// Refuses indices that are not i64 (or, if `i32` is set, i32) and ranks below `min_rank`.
Status check_indices(const Node& node, const Operand& indices, bool i32, int min_rank);
/// Refuses an operand whose dtype is not that of `data`.
Status check_same_dtype(const Node& node, const Operand& operand, const Operand& data);
Status check_rank(const Node& node, const Operand& operand, int64_t rank, const std::string& expected);

/// The attribute axis, made non-negative by adding the rank; 0 if the node has none.
Expected<int64_t> read_axis(const Node& node, const Operand& data);
/// The attribute reduction for tensors like `data`. Opsets before 16 have no reductions, opsets before 18 none but add and mul.
Expected<CombinerKind> read_reduction(const Node& node, const Operand& data);

/// Requires two extents to be equal. If one is known, the other gets its value; if neither is known, `arguments` gets an entry, so that the call
/// checks them.
Status unify_extents(const Node& node, Operand& a, int64_t dim_a, Operand& b, int64_t dim_b, KernelArguments& arguments);

/// For ScatterElements and GatherElements: indices must not be larger than data in any dim but `axis`.
Status check_smaller(const Node& node, const Operand& indices, const Operand& data, int64_t axis);

/// The notes of a scatter for `strew explain`: whether the result may share memory with the operand, and how duplicate indices are
/// combined.
std::vector<std::string> scatter_notes(const Node& node, const Operand& data, CombinerKind kind);

/// The length of the index vectors: the last dim of `indices`. If the file leaves that dim open, `otherwise` takes its place; -1 means that
/// the length is unknown.
Expected<int64_t> index_components(const Node& node, Operand& indices, int64_t most, int64_t otherwise);

}  // namespace strew::inline v0::onnx
