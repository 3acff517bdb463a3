// The operators that move elements without indices: reshapes, transposes, slices, concatenations, repetitions. Tested by
// tests/unit/compiler/import/onnx/onnx_compute_test.cc and tests/models.
#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "compiler/import/builder/forms.h"
#include "compiler/import/onnx/graph.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/onnx/onnx.pb.h"
#include "compiler/op/dims.h"

namespace strew::inline v0::onnx {
namespace {

Status import_identity(Node& node) {
  STREW_TRY(node.check_signature(1, 1, 1, {}));
  return node.give(node.input(0, "input"));
}

/// In inference, Dropout keeps everything. Its mask is not computed.
Status import_dropout(Node& node) {
  if (node.proto().output_size() > 1 && !node.proto().output(1).empty())
    return node.error("its mask is used, expected the output alone");
  if (node.has_input(2)) {
    STREW_ASSIGN(const auto training, node.list_input(2, "training_mode"));
    if (training && training->size() == 1 && (*training)[0] != 0) return node.error("training_mode is true, expected false");
  }
  return node.give(node.input(0, "data"));
}

Status import_reshape(Node& node) {
  STREW_TRY(node.check_signature(1, 2, 1, {"allowzero", "shape"}));
  STREW_ASSIGN(const int data, node.input(0, "data"));
  STREW_ASSIGN(const int64_t allow_zero, node.attribute("allowzero", int64_t{0}));
  ProgramBuilder builder = node.builder();
  STREW_ASSIGN(const auto attribute, node.list_attribute("shape"));
  if (attribute) return node.give(builder.reshape_to(data, builder.integers(*attribute), false));
  STREW_ASSIGN(const int shape, node.input(1, "shape"));
  return node.give(builder.reshape_to(data, shape, allow_zero != 0));
}

/// The number of elements of dims [begin, end), or kDynamic if one is open.
Expected<int64_t> merged(const Node& node, const std::vector<int64_t>& dims, size_t begin, size_t end) {
  const std::span<const int64_t> some(dims.data() + begin, end - begin);
  if (std::find(some.begin(), some.end(), kDynamic) != some.end()) return kDynamic;
  const std::optional<int64_t> product = checked::product(some);
  if (!product) return node.error("the product of dims of " + dims_text(dims) + " does not fit 63 bits");
  return *product;
}

Status import_flatten(Node& node) {
  STREW_TRY(node.check_signature(1, 1, 1, {"axis"}));
  STREW_ASSIGN(const int data, node.input(0, "input"));
  const std::vector<int64_t> dims = node.type(data).dims;
  const auto rank = static_cast<int64_t>(dims.size());
  STREW_ASSIGN(int64_t axis, node.attribute("axis", int64_t{1}));
  if (axis < -rank || axis > rank)
    return node.error("axis is " + std::to_string(axis) + ", expected " + std::to_string(-rank) + " to " + std::to_string(rank));
  if (axis < 0) axis += rank;
  const auto at = static_cast<size_t>(axis);
  STREW_ASSIGN(const int64_t rows, merged(node, dims, 0, at));
  STREW_ASSIGN(const int64_t columns, merged(node, dims, at, dims.size()));
  return node.give(node.builder().reshape(data, {rows, columns}));
}

/// The dims, sorted, each once; `rank` is that of the tensor that has them.
Expected<std::vector<int64_t>> dims_from(const Node& node, const std::vector<int64_t>& given, int rank) {
  std::vector<int64_t> out;
  for (const int64_t each : given) {
    STREW_ASSIGN(const int64_t dim, node.dim_of(each, rank, "an entry of axes"));
    out.push_back(dim);
  }
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end()) return node.error("axes names a dim twice, expected each once");
  return out;
}

/// A reshape that adds or removes dims of 1. Open dims stay what they are.
Status import_unsqueeze(Node& node) {
  STREW_TRY(node.check_signature(1, 2, 1, {"axes"}));
  STREW_ASSIGN(const int data, node.input(0, "data"));
  STREW_ASSIGN(const auto given, node.list_of("axes", 1));
  if (!given) return node.error("axes is missing, expected the dims to add");
  std::vector<int64_t> dims = node.type(data).dims;
  STREW_ASSIGN(const std::vector<int64_t> axes, dims_from(node, *given, static_cast<int>(dims.size() + given->size())));
  for (const int64_t axis : axes) dims.insert(dims.begin() + axis, 1);
  return node.give(node.builder().reshape_units(data, dims));
}

Status import_squeeze(Node& node) {
  STREW_TRY(node.check_signature(1, 2, 1, {"axes"}));
  STREW_ASSIGN(const int data, node.input(0, "data"));
  STREW_ASSIGN(const auto given, node.list_of("axes", 1));
  std::vector<int64_t> dims = node.type(data).dims;
  if (!given && !is_static(dims)) return node.error("it removes all dims of 1 of a tensor with open dims, expected axes");
  STREW_ASSIGN(const std::vector<int64_t> axes,
               dims_from(node, given.value_or(std::vector<int64_t>()), static_cast<int>(dims.size())));
  std::vector<int64_t> kept;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool is_named = std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) != axes.end();
    if (is_named && dims[d] != 1 && dims[d] != kDynamic)
      return node.error("dim " + std::to_string(d) + " is " + std::to_string(dims[d]) + ", expected 1 to be removed");
    if (!is_named && (given || dims[d] != 1)) kept.push_back(dims[d]);
  }
  return node.give(node.builder().reshape_units(data, kept));
}

Status import_transpose(Node& node) {
  STREW_TRY(node.check_signature(1, 1, 1, {"perm"}));
  STREW_ASSIGN(const int data, node.input(0, "data"));
  STREW_ASSIGN(auto given, node.list_attribute("perm"));
  if (!given) {
    given = std::vector<int64_t>(node.type(data).dims.size());
    std::iota(given->rbegin(), given->rend(), int64_t{0});
  }
  return node.give(node.builder().transpose(data, *given));
}

Status import_expand(Node& node) {
  STREW_TRY(node.check_signature(2, 2, 1, {}));
  STREW_ASSIGN(const int input, node.input(0, "input"));
  STREW_ASSIGN(const int shape, node.input(1, "shape"));
  return node.give(node.builder().broadcast_to(input, shape));
}

Status import_tile(Node& node) {
  STREW_TRY(node.check_signature(2, 2, 1, {}));
  STREW_ASSIGN(const int input, node.input(0, "input"));
  STREW_ASSIGN(const int repeats, node.input(1, "repeats"));
  ProgramBuilder builder = node.builder();
  return node.give(tile(builder, input, repeats));
}

Status import_concat(Node& node) {
  STREW_TRY(node.check_signature(1, 1 << 16, 1, {"axis"}));
  std::vector<int> values;
  for (int i = 0; i < node.proto().input_size(); ++i) {
    STREW_ASSIGN(const int value, node.input(i, "input"));
    values.push_back(value);
  }
  STREW_ASSIGN(const int64_t given, node.attribute("axis", int64_t{1}));
  STREW_ASSIGN(const int64_t axis, node.dim_of(given, node.type(values[0]).rank(), "axis"));
  return node.give(node.builder().concatenate(values, axis));
}

Status import_split(Node& node) {
  const int count = node.proto().output_size();
  if (count == 0) return node.error("it has no outputs, expected at least one");
  STREW_TRY(node.check_signature(1, 2, count, {"axis", "split", "num_outputs"}));
  STREW_ASSIGN(const int input, node.input(0, "input"));
  const std::vector<int64_t> dims = node.type(input).dims;
  STREW_ASSIGN(const int64_t given, node.attribute("axis", int64_t{0}));
  STREW_ASSIGN(const int64_t axis, node.dim_of(given, static_cast<int>(dims.size()), "axis"));
  STREW_ASSIGN(auto parts, node.list_of("split", 1));
  const int64_t extent = dims[static_cast<size_t>(axis)];
  if (extent == kDynamic)
    return unsupported(node.location() + ": dim " + std::to_string(axis) + " is open, expected a known one to split");
  if (!parts) {
    const int64_t each = checked::ceil_div(extent, count);
    parts = std::vector<int64_t>(static_cast<size_t>(count), each);
    parts->back() = extent - each * (count - 1);
  }
  std::optional<int64_t> sum = 0;
  for (const int64_t part : *parts) sum = sum && part >= 0 ? checked::add(*sum, part) : std::nullopt;
  if (static_cast<int>(parts->size()) != count || sum != extent)
    return node.error("split is " + dims_text(*parts) + ", expected " + std::to_string(count) +
                      " numbers, 0 or more, that sum up to " + std::to_string(extent));
  int64_t at = 0;
  for (int i = 0; i < count; ++i) {
    std::vector<ProgramBuilder::Range> ranges(dims.size());
    ranges[static_cast<size_t>(axis)] = {at, at + (*parts)[static_cast<size_t>(i)], 1};
    at += (*parts)[static_cast<size_t>(i)];
    STREW_TRY(node.give(node.builder().slice(input, ranges), i));
  }
  return {};
}

/// Ranges are attributes before opset 10, and inputs since. A range that is computed when the model runs is followed where it selects one
/// element of a dim, or all from a start that is known.
Status import_slice(Node& node) {
  STREW_TRY(node.check_signature(1, 5, 1, {"starts", "ends", "axes"}));
  STREW_ASSIGN(const int data, node.input(0, "data"));
  const std::vector<int64_t> dims = node.type(data).dims;
  const int rank = static_cast<int>(dims.size());
  STREW_ASSIGN(const auto starts, node.list_of("starts", 1));
  STREW_ASSIGN(const auto ends, node.list_of("ends", 2));
  STREW_ASSIGN(auto axes, node.list_of("axes", 3));
  STREW_ASSIGN(auto steps, node.list_input(4, "steps"));
  if (!starts || !ends || starts->size() != ends->size()) return node.error("starts and ends, expected lists of one length");
  if (!axes) {
    axes = all_dims(starts->size());
  }
  if (!steps) steps = std::vector<int64_t>(starts->size(), 1);
  if (axes->size() != starts->size() || steps->size() != starts->size())
    return node.error("axes and steps, expected lists as long as starts");
  std::vector<ProgramBuilder::Range> ranges(dims.size());
  for (size_t i = 0; i < starts->size(); ++i) {
    STREW_ASSIGN(const int64_t dim, node.dim_of((*axes)[i], rank, "an entry of axes"));
    // Exporters write "to the end" as any number that is large enough.
    constexpr int64_t kLarge = (int64_t{1} << 31) - 1;
    const int64_t end = (*ends)[i] >= kLarge ? ProgramBuilder::Range::kToEnd : (*ends)[i];
    ranges[static_cast<size_t>(dim)] = {(*starts)[i], end, (*steps)[i]};
  }
  return node.give(node.builder().slice(data, ranges));
}

}  // namespace

const std::vector<Operator>& movement_operators() {
  static const auto& list = *new const std::vector<Operator>{
      {"Concat", "", 4, kEveryLater, import_concat},       {"Dropout", "", 7, kEveryLater, import_dropout},
      {"Expand", "", 8, kEveryLater, import_expand},       {"Flatten", "", 1, kEveryLater, import_flatten},
      {"Identity", "", 1, kEveryLater, import_identity},   {"Reshape", "", 1, kEveryLater, import_reshape},
      {"Slice", "", 1, kEveryLater, import_slice},         {"Split", "", 2, kEveryLater, import_split},
      {"Squeeze", "", 1, kEveryLater, import_squeeze},     {"Tile", "", 6, kEveryLater, import_tile},
      {"Transpose", "", 1, kEveryLater, import_transpose}, {"Unsqueeze", "", 1, kEveryLater, import_unsqueeze},
  };
  return list;
}

}  // namespace strew::inline v0::onnx
