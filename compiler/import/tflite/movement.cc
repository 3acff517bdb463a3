// The operators that move elements: reshapes, transposes, repetitions, concatenations, reversals, padding, slices, splits. A SLICE whose begin is
// computed when the model runs is a gather of one window. Quantized tensors keep their integers where all tensors have the same scales. Tested
// by tests/unit/compiler/import/tflite/tflite_compute_test.cc and tests/models.
#include <algorithm>
#include <bit>

#include "base/checked.h"
#include "compiler/import/builder/forms.h"
#include "compiler/import/node/operations.h"
#include "compiler/import/tflite/graph.h"
#include "compiler/import/tflite/tflite.h"
#include "strew/forms.h"

namespace strew::inline v0::tflite {
namespace {

using Builtin = schema::BuiltinOperator;
using Options = schema::BuiltinOptions;
using Range = ProgramBuilder::Range;

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
      return node.error("tensors {} and {}, expected one shape", type, node.type(value));
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
    return node.error("paddings are {}, expected [{},2]", node.type(node[1]), rank);
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

/// A size of -1 reaches to the end of the dim. At a start that is known at the call, it is a gather of one window; LiteRT refuses a window that
/// does not fit, so the policy is error.
Expected<int> import_slice(Node& node) {
  const int value = node[0], begin = node[1];
  STREW_ASSIGN(const std::vector<int64_t> sizes, node.constants(2));
  const TensorType type = node.type(value);
  const size_t rank = type.dims.size();
  if (sizes.size() != rank || node.type(begin).dims != std::vector<int64_t>{type.rank()})
    return node.error("begin is {} and size has {} elements, expected one per dim: {}", node.type(begin), sizes.size(), rank);
  const auto starts = node.builder().integers(begin);
  if (!starts) {
    STREW_TRY(node.check_index_type(begin, "begin"));
    if (std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size < 0; }))
      return node.refuse("begin is computed when the model runs, and a size is to the end, expected known sizes");
    return node.kernel(dynamic_slice(type, node.type(begin), sizes).oob(OobPolicy::error).build(), {value, begin});
  }
  std::vector<Range> ranges;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t start = (*starts)[d], size = sizes[d], extent = type.dims[d];
    const bool is_inside = extent == kDynamic || (start <= extent && size <= extent - start);
    if (start < 0 || size < -1 || !is_inside)
      return node.error("dim {} is sliced from {}, {} elements, expected within {}", d, start, size, type);
    ranges.push_back({start, size == -1 ? Range::kToEnd : checked::add(start, size).value_or(Range::kToEnd), 1});
  }
  return node.builder().slice(value, ranges);
}

/// Entry `i` of begin, end and strides, for dim `d` of the operand.
Expected<Range> range_of(const Node& node, const schema::StridedSliceOptions& options, const std::vector<int64_t> (&lists)[3],
                         size_t i, int64_t extent) {
  const int bit = 1 << i;
  Range range{lists[0][i], lists[1][i], lists[2][i]};
  if (range.step == 0) return node.error("stride {} is 0, expected another number", i);
  if (options.offset()) {
    const std::optional<int64_t> end = checked::add(range.start, range.end);
    if (!end) return node.error("end {} does not fit 64 bits", i);
    range.end = *end;
  }
  if ((options.shrink_axis_mask() & bit) != 0) {
    if (range.start < 0 && extent != kDynamic) range.start += extent;
    if (range.start < 0 || (extent != kDynamic && range.start >= extent))
      return node.error("begin {} is {}, expected an element of the dim of {}", i, lists[0][i],
                        extent == kDynamic ? "an open extent, from its start on" : std::to_string(extent));
    return Range{range.start, range.start + 1, 1};
  }
  if ((options.begin_mask() & bit) != 0) range.start = range.step < 0 ? INT64_MAX : 0;
  if ((options.end_mask() & bit) != 0) range.end = range.step < 0 ? INT64_MIN : Range::kToEnd;
  return range;
}

/// The operand's ranges, and then the shape of the result without what they leave.
Expected<int> import_strided_slice(Node& node) {
  std::vector<int64_t> lists[3];
  for (int i = 0; i < 3; ++i) STREW_TRY(assign(lists[i], node.constants(i + 1)));
  const auto* options = node.options<schema::StridedSliceOptions>(Options::StridedSliceOptions);
  if (options == nullptr) return node.error("it has no StridedSliceOptions, expected them in builtin_options");
  const std::vector<int64_t> from = node.type(node[0]).dims;
  const size_t entries = lists[0].size();
  if (lists[1].size() != entries || lists[2].size() != entries || entries > 31)
    return node.error("begin, end and strides have {}, {} and {} elements, expected lists of one length", entries,
                      lists[1].size(), lists[2].size());
  const auto apart = static_cast<unsigned>(options->new_axis_mask() | options->ellipsis_mask());  // entries that stand for no dim
  size_t named = entries - static_cast<size_t>(std::popcount(apart & ((1U << entries) - 1)));
  if (named > from.size()) return node.error("it names {} dims, expected at most {}", named, from.size());
  std::vector<Range> ranges;
  std::vector<int> result;  // per dim of the result: the operand's dim, or -1 for a new dim of 1
  const auto whole = [&](size_t until) {
    for (size_t d = ranges.size(); d < until; ++d) result.push_back(static_cast<int>(d));
    ranges.resize(until);
  };
  for (size_t i = 0; i < entries; ++i) {
    const int bit = 1 << i;
    if ((options->ellipsis_mask() & bit) != 0) {
      whole(from.size() - named);
    } else if ((options->new_axis_mask() & bit) != 0) {
      result.push_back(-1);
    } else {
      const size_t d = ranges.size();
      STREW_ASSIGN(const Range range, range_of(node, *options, lists, i, from[d]));
      if ((options->shrink_axis_mask() & bit) == 0) result.push_back(static_cast<int>(d));
      ranges.push_back(range);
      --named;
    }
  }
  whole(from.size());
  STREW_ASSIGN(const int part, node.builder().slice(node[0], ranges));
  std::vector<int64_t> dims;
  for (const int d : result) dims.push_back(d < 0 ? 1 : node.type(part).dims[d]);
  return node.builder().reshape_units(part, dims);
}

Expected<std::vector<int>> import_split(Node& node) {
  STREW_ASSIGN(const int64_t axis, node.dim(0, node.type(node[1]).rank()));
  STREW_ASSIGN(const int64_t extent, split_extent(node, node[1], axis));
  const int64_t count = node.outputs();
  if (extent % count != 0) return node.error("dim {} is {}, expected a multiple of the {} outputs", axis, extent, count);
  return split(node, node[1], axis, std::vector<int64_t>(static_cast<size_t>(count), extent / count), "a part");
}

/// One size may be -1: what the others leave.
Expected<std::vector<int>> import_split_v(Node& node) {
  STREW_ASSIGN(std::vector<int64_t> sizes, node.constants(1));
  STREW_ASSIGN(const int64_t axis, node.dim(2, node.type(node[0]).rank()));
  STREW_ASSIGN(int64_t rest, split_extent(node, node[0], axis));
  const int64_t most = rest + 1;
  for (const int64_t size : sizes) rest -= std::clamp<int64_t>(size, 0, most);
  if (const auto open = std::find(sizes.begin(), sizes.end(), -1); open != sizes.end()) *open = rest;
  return split(node, node[0], axis, sizes, "size_splits");
}

Expected<std::vector<int>> import_unpack(Node& node) {
  std::vector<int64_t> dims = node.type(node[0]).dims;
  const int32_t given = node.option(Options::UnpackOptions, &schema::PackOptions::axis);
  STREW_ASSIGN(const int64_t axis, node.dim_of(given, static_cast<int>(dims.size()), "axis"));
  STREW_ASSIGN(const int64_t extent, split_extent(node, node[0], axis));
  if (extent != node.outputs()) return node.error("dim {} is {}, expected one per output: {}", axis, extent, node.outputs());
  dims.erase(dims.begin() + axis);
  if (dims.empty())
    if (const auto list = node.builder().elements(node[0])) return *list;
  STREW_ASSIGN(std::vector<int> parts,
               split(node, node[0], axis, std::vector<int64_t>(static_cast<size_t>(extent), 1), "a part"));
  for (int& part : parts) STREW_TRY(assign(part, node.builder().reshape_units(part, dims)));
  return parts;
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
      {Builtin::SLICE, {"operand begin size#"}, kSame, import_slice},
      {Builtin::SPLIT, {.inputs = "axis# value", .several_outputs = true}, kSame, import_split},
      {Builtin::SPLIT_V, {.inputs = "value size_splits# axis#", .several_outputs = true}, kSame, import_split_v},
      {Builtin::STRIDED_SLICE, {"operand begin# end# strides#"}, kSame, import_strided_slice},
      {Builtin::UNPACK, {.inputs = "value", .several_outputs = true}, kSame, import_unpack},
  };
}

}  // namespace strew::inline v0::tflite
