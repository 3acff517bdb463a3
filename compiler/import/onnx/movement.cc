// The operators that move elements without indices: reshapes, transposes, slices, concatenations, repetitions. Tested by
// tests/unit/compiler/import/onnx/onnx_compute_test.cc and tests/models.
#include <algorithm>
#include <span>

#include "base/checked.h"
#include "compiler/import/node/operations.h"
#include "compiler/import/onnx/graph.h"
#include "compiler/import/onnx/onnx.h"
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
  if (!product) return node.error("the product of dims of {} does not fit 63 bits", dims_text(dims));
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
    ranges[static_cast<size_t>((*axes)[i])] = {(*starts)[i], end, (*steps)[i]};
  }
  return node.builder().slice(node[0], ranges);
}

}  // namespace

std::vector<Operator> movement_operators() {
  constexpr auto kList = AttributeType::list;
  const Attribute axes{"axes", kList};
  return {
      {"Concat", {"input..."}, 4, {"axis"}, import_concat},
      {"Dropout",
       {.inputs = "data ratio? training_mode?", .several_outputs = true},
       7,
       {{"ratio", AttributeType::any}, {"seed", AttributeType::any}},
       import_dropout},
      {"Expand", {"input shape"}, 8, {}, import_broadcast},
      {"Flatten", {"input"}, 1, {"axis"}, import_flatten},
      {"Identity", {"input"}, 1, {}, [](Node& node) { return Expected<int>(node[0]); }},
      {"Reshape", {"data shape?"}, 1, {"allowzero", {"shape", kList}}, import_reshape},
      {"Slice", {"data starts? ends? axes? steps?"}, 1, {{"starts", kList}, {"ends", kList}, axes}, import_slice},
      {"Split",
       {.inputs = "input split?", .several_outputs = true},
       2,
       {"axis", {"split", kList}, {"num_outputs", AttributeType::any}},
       import_split},
      {"Squeeze", {"data axes?"}, 1, {axes}, import_squeeze},
      {"Tile", {"input repeats"}, 6, {}, import_tile},
      {"Transpose", {"data"}, 1, {{"perm", kList}}, import_transpose},
      {"Unsqueeze", {"data axes?"}, 1, {axes}, import_unsqueeze},
  };
}

}  // namespace strew::inline v0::onnx
