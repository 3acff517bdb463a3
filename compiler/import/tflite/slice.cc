// The operators that take parts of a tensor: SLICE, STRIDED_SLICE, SPLIT, SPLIT_V, UNPACK. A SLICE whose begin is computed when the model runs
// is a gather of one window. Tested by tests/unit/compiler/import/tflite/tflite_compute_test.cc and tests/models.
#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "compiler/import/builder/forms.h"
#include "compiler/import/tflite/graph.h"
#include "compiler/import/tflite/tflite.h"
#include "strew/forms.h"
#include "strew/text.h"

namespace strew::inline v0::tflite {
namespace {

using Builtin = schema::BuiltinOperator;
using Options = schema::BuiltinOptions;
using Range = ProgramBuilder::Range;

/// One window at a start that is known at the call. LiteRT refuses a window that does not fit, so the policy is error.
Status gather_window(Node& node, int value, int begin, const std::vector<int64_t>& sizes) {
  STREW_TRY(node.check_index_type(begin, "begin"));
  const TensorType type = node.type(value);
  for (const int64_t size : sizes)
    if (size < 0) return node.refuse("begin is computed when the model runs, and a size is to the end, expected known sizes");
  return node.add_kernel(dynamic_slice(type, node.type(begin), sizes).oob(OobPolicy::error).build(),
                         {.arguments = {value, begin}});
}

/// A size of -1 reaches to the end of the dim.
Status import_slice(Node& node) {
  STREW_TRY(node.check_signature(3, 1));
  STREW_TRY(node.check_same_quantization());
  STREW_ASSIGN(const int value, node.input(0, "operand"));
  STREW_ASSIGN(const int begin, node.input(1, "begin"));
  STREW_ASSIGN(const std::vector<int64_t> sizes, node.constant_integers(2, "size"));
  ProgramBuilder builder = node.builder();
  const std::vector<int64_t> dims = node.type(value).dims;
  if (sizes.size() != dims.size() || node.type(begin).dims != std::vector<int64_t>{static_cast<int64_t>(dims.size())})
    return node.error("begin is " + print(node.type(begin)) + " and size has " + std::to_string(sizes.size()) +
                      " elements, expected one per dim: " + std::to_string(dims.size()));
  const auto starts = builder.integers(begin);
  if (!starts) return gather_window(node, value, begin, sizes);
  std::vector<Range> ranges;
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t start = (*starts)[d], size = sizes[d];
    const bool is_inside = dims[d] == kDynamic || (start <= dims[d] && size <= dims[d] - start);
    if (start < 0 || size < -1 || !is_inside)
      return node.error("dim " + std::to_string(d) + " is sliced from " + std::to_string(start) + ", " + std::to_string(size) +
                        " elements, expected within " + print(node.type(value)));
    ranges.push_back({start, size == -1 ? Range::kToEnd : checked::add(start, size).value_or(Range::kToEnd), 1});
  }
  return node.give(builder.slice(value, ranges));
}

/// What STRIDED_SLICE takes: ranges of the operand's dims, and the shape of the result without what the ranges leave.
struct Strided {
  std::vector<Range> ranges;
  std::vector<int> result;  ///< per dim of the result: the operand's dim, or -1 for a new dim of 1
};

/// Entry `i` of begin, end and strides, for dim `d` of the operand.
Expected<Range> range_of(const Node& node, const schema::StridedSliceOptions& options, const std::vector<int64_t> (&lists)[3],
                         size_t i, int64_t extent) {
  const int bit = 1 << i;
  Range range{lists[0][i], lists[1][i], lists[2][i]};
  if (range.step == 0) return node.error("stride " + std::to_string(i) + " is 0, expected another number");
  if (options.offset()) {
    const std::optional<int64_t> end = checked::add(range.start, range.end);
    if (!end) return node.error("end " + std::to_string(i) + " does not fit 64 bits");
    range.end = *end;
  }
  if ((options.shrink_axis_mask() & bit) != 0) {
    if (range.start < 0 && extent != kDynamic) range.start += extent;
    if (range.start < 0 || (extent != kDynamic && range.start >= extent))
      return node.error("begin " + std::to_string(i) + " is " + std::to_string(lists[0][i]) +
                        ", expected an element of the dim of " +
                        (extent == kDynamic ? "an open extent, from its start on" : std::to_string(extent)));
    return Range{range.start, range.start + 1, 1};
  }
  if ((options.begin_mask() & bit) != 0) range.start = range.step < 0 ? INT64_MAX : 0;
  if ((options.end_mask() & bit) != 0) range.end = range.step < 0 ? INT64_MIN : Range::kToEnd;
  return range;
}

Expected<Strided> read_ranges(const Node& node, const schema::StridedSliceOptions& options,
                              const std::vector<int64_t> (&lists)[3], const std::vector<int64_t>& dims) {
  Strided out;
  const size_t entries = lists[0].size();
  if (lists[1].size() != entries || lists[2].size() != entries || entries > 31)
    return node.error("begin, end and strides have " + std::to_string(entries) + ", " + std::to_string(lists[1].size()) +
                      " and " + std::to_string(lists[2].size()) + " elements, expected lists of one length");
  size_t apart = 0;  // entries that stand for no dim of their own
  for (size_t i = 0; i < entries; ++i) apart += ((options.new_axis_mask() | options.ellipsis_mask()) & (1 << i)) != 0 ? 1 : 0;
  if (entries - apart > dims.size())
    return node.error("it names " + std::to_string(entries - apart) + " dims, expected at most " + std::to_string(dims.size()));
  const auto whole = [&](size_t until) {
    for (size_t d = out.ranges.size(); d < until; ++d) {
      out.result.push_back(static_cast<int>(d));
      out.ranges.push_back({});
    }
  };
  size_t named = 0;
  for (size_t i = 0; i < entries; ++i) {
    if ((options.ellipsis_mask() & (1 << i)) != 0) {
      whole(dims.size() - (entries - apart - named));
    } else if ((options.new_axis_mask() & (1 << i)) != 0) {
      out.result.push_back(-1);
    } else {
      const size_t d = out.ranges.size();
      STREW_ASSIGN(const Range range, range_of(node, options, lists, i, dims[d]));
      if ((options.shrink_axis_mask() & (1 << i)) == 0) out.result.push_back(static_cast<int>(d));
      out.ranges.push_back(range);
      ++named;
    }
  }
  whole(dims.size());
  return out;
}

Status import_strided_slice(Node& node) {
  STREW_TRY(node.check_signature(4, 1));
  STREW_TRY(node.check_same_quantization());
  STREW_ASSIGN(const int value, node.input(0, "operand"));
  std::vector<int64_t> lists[3];
  const char* const roles[] = {"begin", "end", "strides"};
  for (uint32_t i = 0; i < 3; ++i) {
    STREW_ASSIGN(lists[i], node.constant_integers(i + 1, roles[i]));
  }
  const auto* options = node.options<schema::StridedSliceOptions>(Options::StridedSliceOptions);
  if (options == nullptr) return node.error("it has no StridedSliceOptions, expected them in builtin_options");
  STREW_ASSIGN(const Strided strided, read_ranges(node, *options, lists, node.type(value).dims));
  ProgramBuilder builder = node.builder();
  const Expected<int> part = builder.slice(value, strided.ranges);
  if (!part.ok()) return node.give(part);
  std::vector<int64_t> dims;
  for (const int d : strided.result) dims.push_back(d < 0 ? 1 : node.type(*part).dims[static_cast<size_t>(d)]);
  return node.give(builder.reshape_units(*part, dims));
}

/// Parts of these sizes along `axis`, one for each output.
Status give_parts(Node& node, int value, int64_t axis, const std::vector<int64_t>& sizes) {
  int64_t at = 0;
  std::vector<int> parts;
  for (const int64_t size : sizes) {
    std::vector<Range> ranges(node.type(value).dims.size());
    ranges[static_cast<size_t>(axis)] = {at, at + size, 1};
    at += size;
    const Expected<int> part = node.builder().slice(value, ranges);
    if (!part.ok()) return node.at(part.status());
    parts.push_back(*part);
  }
  return node.give_all(parts);
}

Expected<int64_t> known_extent(const Node& node, int value, int64_t axis) {
  const int64_t extent = node.type(value).dims[static_cast<size_t>(axis)];
  if (extent != kDynamic) return extent;
  return node.refuse("dim " + std::to_string(axis) + " is open, expected a known one to split");
}

Status import_split(Node& node) {
  STREW_TRY(node.check_signature(2, node.outputs()));
  STREW_TRY(node.check_same_quantization());
  STREW_ASSIGN(const int64_t given, node.constant_integer(0, "axis"));
  STREW_ASSIGN(const int value, node.input(1, "value"));
  STREW_ASSIGN(const int64_t axis, node.dim_of(given, node.type(value).rank(), "axis"));
  STREW_ASSIGN(const int64_t extent, known_extent(node, value, axis));
  const int64_t count = node.outputs();
  if (count == 0 || extent % count != 0)
    return node.error("dim " + std::to_string(axis) + " is " + std::to_string(extent) + ", expected a multiple of the " +
                      std::to_string(count) + " outputs");
  return give_parts(node, value, axis, std::vector<int64_t>(static_cast<size_t>(count), extent / count));
}

/// One size may be -1: what the others leave.
Status import_split_v(Node& node) {
  STREW_TRY(node.check_signature(3, node.outputs()));
  STREW_TRY(node.check_same_quantization());
  STREW_ASSIGN(const int value, node.input(0, "value"));
  STREW_ASSIGN(std::vector<int64_t> sizes, node.constant_integers(1, "size_splits"));
  STREW_ASSIGN(const int64_t given, node.constant_integer(2, "axis"));
  STREW_ASSIGN(const int64_t axis, node.dim_of(given, node.type(value).rank(), "axis"));
  STREW_ASSIGN(const int64_t extent, known_extent(node, value, axis));
  int64_t rest = extent;
  for (const int64_t size : sizes) rest -= std::clamp<int64_t>(size, 0, extent + 1);
  if (const auto open = std::find(sizes.begin(), sizes.end(), -1); open != sizes.end()) {
    *open = rest;
    rest = 0;
  }
  if (sizes.size() != node.outputs() || rest != 0 || std::any_of(sizes.begin(), sizes.end(), [](int64_t s) { return s < 0; }))
    return node.error("size_splits has " + std::to_string(sizes.size()) + " entries, expected " + std::to_string(node.outputs()) +
                      " that sum up to " + std::to_string(extent));
  return give_parts(node, value, axis, sizes);
}

Status import_unpack(Node& node) {
  STREW_TRY(node.check_signature(1, node.outputs()));
  STREW_TRY(node.check_same_quantization());
  STREW_ASSIGN(const int value, node.input(0, "value"));
  const auto* options = node.options<schema::PackOptions>(Options::UnpackOptions);
  std::vector<int64_t> dims = node.type(value).dims;
  STREW_ASSIGN(const int64_t axis, node.dim_of(options == nullptr ? 0 : options->axis(), static_cast<int>(dims.size()), "axis"));
  STREW_ASSIGN(const int64_t extent, known_extent(node, value, axis));
  if (extent != node.outputs())
    return node.error("dim " + std::to_string(axis) + " is " + std::to_string(extent) +
                      ", expected one per output: " + std::to_string(node.outputs()));
  dims.erase(dims.begin() + axis);
  ProgramBuilder builder = node.builder();
  if (dims.empty()) {
    if (const auto list = builder.elements(value)) return node.give_all(*list);
  }
  std::vector<int> parts;
  for (int64_t i = 0; i < extent; ++i) {
    std::vector<Range> ranges(dims.size() + 1);
    ranges[static_cast<size_t>(axis)] = {i, i + 1, 1};
    Expected<int> part = builder.slice(value, ranges);
    if (part.ok()) part = builder.reshape_units(*part, dims);
    if (!part.ok()) return node.at(part.status());
    parts.push_back(*part);
  }
  return node.give_all(parts);
}

}  // namespace

const std::vector<Operator>& slice_operators() {
  static const auto& list = *new const std::vector<Operator>{
      {"SLICE", Builtin::SLICE, import_slice},       {"SPLIT", Builtin::SPLIT, import_split},
      {"SPLIT_V", Builtin::SPLIT_V, import_split_v}, {"STRIDED_SLICE", Builtin::STRIDED_SLICE, import_strided_slice},
      {"UNPACK", Builtin::UNPACK, import_unpack},
  };
  return list;
}

}  // namespace strew::inline v0::tflite
