// See program_builder.h: operations that move elements, with the dims of their results. Tested by
// tests/unit/compiler/import/onnx/onnx_compute_test.cc, tests/unit/compiler/import/stablehlo/stablehlo_module_test.cc and
// tests/unit/compiler/import/tensor/tensor_boundary_test.cc.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "compiler/import/builder/program_builder.h"
#include "compiler/op/dims.h"
#include "compiler/op/message.h"
#include "strew/tensor.h"

namespace strew::inline v0 {
namespace {

Status check_count(size_t count, size_t expected, std::string_view what) {
  if (count == expected) return {};
  return invalid_argument("{} {}, expected {}", count, what, expected);
}

/// Numbers can be counted, bools and strings cannot.
Status check_counts(DType dtype) {
  if (info(dtype).arithmetic && dtype != DType::boolean) return {};
  return invalid_argument("the coordinates are {}, expected numbers", dtype);
}

Status check_list(const TensorType& shape) {
  if (shape.rank() != 1 || !is_integer(shape.dtype))
    return invalid_argument("the shape is {}, expected one integer per dim of the result", shape);
  if (shape.dims[0] != kDynamic) return {};
  return unsupported("the shape is {}, expected a rank that is known before the call", shape);
}

/// Checks that dims of the extents `from` become the dims `targets` of a result with the extents `dims`.
Status check_broadcast(const std::vector<int64_t>& from, const std::vector<int64_t>& dims, const std::vector<int64_t>& targets) {
  STREW_TRY(check_count(targets.size(), from.size(), "broadcast dims"));
  STREW_TRY(check_dims(targets, dims.size(), "the list of broadcast dims"));
  for (size_t d = 0; d < from.size(); ++d) {
    const int64_t to = dims[targets[d]];
    if (from[d] != kDynamic && from[d] != 1 && to != kDynamic && from[d] != to)
      return invalid_argument("operand dim {} is {}, expected 1 or {}", d, from[d], to);
  }
  return {};
}

/// NumPy's rule: the dims of the value are the last ones of the result.
std::vector<int64_t> last_dims(size_t count, size_t rank) {
  std::vector<int64_t> out(count);
  std::iota(out.begin(), out.end(), static_cast<int64_t>(rank - count));
  return out;
}

}  // namespace

/// Not worked out, however small: the indices of a kernel that are coordinates become its batching dims.
Expected<int> ProgramBuilder::iota(const TensorType& type, int64_t dim) {
  STREW_TRY(check_dim(dim, type.dims.size(), "the dim of the coordinates"));
  STREW_TRY(check_counts(type.dtype));
  STREW_TRY(element_count(type.dims).status());
  return program_.add_compute({IotaOp{dim}, location_, {}, {{type.dtype, type.dims, {}}}});
}

Expected<int> ProgramBuilder::iota_to(DType dtype, int shape, int64_t dim) {
  STREW_ASSIGN(std::vector<int64_t> dims, extents(shape));
  if (is_static(dims)) return iota({dtype, std::move(dims), {}}, dim);
  STREW_TRY(check_dim(dim, dims.size(), "the dim of the coordinates"));
  STREW_TRY(check_counts(dtype));
  return add(IotaOp{dim, true}, {shape}, {{dtype, std::move(dims), {}}});
}

Expected<std::vector<int64_t>> ProgramBuilder::extents(int shape) {
  STREW_TRY(check_list(type(shape)));
  std::vector<int64_t> dims = known(shape);
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] < 0 && dims[d] != kDynamic) return invalid_argument("dim {} of the shape is {}, expected 0 or more", d, dims[d]);
  return dims;
}

Expected<int> ProgramBuilder::reshape(const Expected<int>& given, std::vector<int64_t> dims) {
  STREW_ASSIGN(const int value, given);
  const std::vector<int64_t> from = type(value).dims;
  const auto open = std::count(dims.begin(), dims.end(), kDynamic);
  if (open > 1) return invalid_argument("the shape leaves several dims open, expected one at most");
  if (is_static(from)) {
    STREW_ASSIGN(const int64_t all, element_count(from));
    std::vector<int64_t> others = dims;
    std::erase(others, kDynamic);
    STREW_ASSIGN(const int64_t known, element_count(others));
    if (open == 0 ? known != all : known == 0 || all % known != 0)
      return invalid_argument("{} has {} elements, expected {}{}", type(value), all, open == 0 ? "" : "a multiple of ", known);
    for (int64_t& dim : dims) dim = dim == kDynamic ? all / known : dim;
  }
  if (dims == from) return value;
  if (const std::optional<std::vector<int>> list = elements(value);
      list && is_integer(type(value).dtype) && !is_constant(value)) {
    if (dims.empty() && list->size() == 1) return list->front();
    if (dims.size() == 1 && dims[0] == static_cast<int64_t>(list->size())) return stack(*list, type(value).dtype);
  }
  return add(ReshapeOp{}, {value}, {{type(value).dtype, std::move(dims), {}}});
}

/// The dims other than 1 correspond in order.
Expected<int> ProgramBuilder::reshape_units(int value, const std::vector<int64_t>& dims) {
  if (std::count(dims.begin(), dims.end(), kDynamic) <= 1) return reshape(value, dims);
  const std::vector<int64_t> from = type(value).dims;
  std::vector<int> extents;
  size_t at = 0;
  for (const int64_t dim : dims) {
    if (dim == 1) {
      extents.push_back(integer(1));
      continue;
    }
    while (at < from.size() && from[at] != dim) ++at;
    if (at == from.size()) return internal_error("a reshape that changes other dims than those of 1");
    extents.push_back(extent(value, static_cast<int64_t>(at++)));
  }
  return reshape_to(value, stack(extents, DType::i64), true);
}

Expected<int> ProgramBuilder::reshape_to(int value, int shape, bool allow_zero) {
  STREW_TRY(check_list(type(shape)));
  std::vector<int64_t> dims = known(shape);
  const auto follows = std::count(dims.begin(), dims.end(), -1);
  size_t open = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] < -1 && dims[d] != kDynamic) return invalid_argument("the shape's dim {} is {}, expected -1 or more", d, dims[d]);
    if (dims[d] == 0 && !allow_zero) {
      if (d >= type(value).dims.size()) return invalid_argument("the shape's dim {} is 0, expected a dim of {}", d, type(value));
      dims[d] = type(value).dims[d];
    }
    open += dims[d] == kDynamic ? 1 : 0;
    if (dims[d] == -1) dims[d] = kDynamic;
  }
  if (follows > 1) return invalid_argument("the shape has several dims of -1, expected one at most");
  if (open == 0) return reshape(value, std::move(dims));
  return add(ReshapeOp{true, allow_zero}, {value, shape}, {{type(value).dtype, std::move(dims), {}}});
}

Expected<int> ProgramBuilder::transpose(int value, const std::vector<int64_t>& permutation) {
  const std::vector<int64_t> from = type(value).dims;
  STREW_TRY(check_count(permutation.size(), from.size(), "dims of the permutation"));
  STREW_TRY(check_dims(permutation, from.size(), "the permutation"));
  if (std::is_sorted(permutation.begin(), permutation.end())) return value;
  std::vector<int64_t> dims;
  for (const int64_t d : permutation) dims.push_back(from[d]);
  return add(TransposeOp{permutation}, {value}, {{type(value).dtype, std::move(dims), {}}});
}

Expected<int> ProgramBuilder::broadcast(int value, const std::vector<int64_t>& dims, const std::vector<int64_t>& targets) {
  const std::vector<int64_t> from = type(value).dims;
  STREW_TRY(check_broadcast(from, dims, targets));
  if (from == dims && std::is_sorted(targets.begin(), targets.end())) return value;
  return add(BroadcastOp{targets}, {value}, {{type(value).dtype, dims, {}}});
}

Expected<int> ProgramBuilder::broadcast_to(int value, int shape, const std::vector<int64_t>& targets) {
  STREW_ASSIGN(std::vector<int64_t> dims, extents(shape));
  if (is_static(dims)) return broadcast(value, dims, targets);
  STREW_TRY(check_broadcast(type(value).dims, dims, targets));
  return add(BroadcastOp{targets, true}, {value, shape}, {{type(value).dtype, std::move(dims), {}}});
}

Expected<int> ProgramBuilder::broadcast(int value, const std::vector<int64_t>& dims) {
  const size_t own = type(value).dims.size();
  if (own > dims.size()) return invalid_argument("{} has rank {}, expected at most {}", type(value), own, dims.size());
  return broadcast(value, dims, last_dims(own, dims.size()));
}

Expected<int> ProgramBuilder::broadcast_to(int value, int shape) {
  STREW_TRY(check_list(type(shape)));
  const std::vector<int64_t> from = type(value).dims;
  std::vector<int64_t> dims = known(shape);
  const size_t length = dims.size(), rank = std::max(length, from.size());
  dims.insert(dims.begin(), rank - length, 1);
  for (size_t d = rank - from.size(); d < rank; ++d) {
    const int64_t own = from[d - (rank - from.size())];
    if (dims[d] == 1 || (own != 1 && own != kDynamic)) dims[d] = own;
  }
  if (is_static(dims)) return broadcast(value, dims);
  if (length < rank) {  // dims of 1 in front, which keep the value's
    const std::optional<std::vector<int>> list = elements(shape);
    if (!list) return unsupported("the shape has {} elements, expected {}", length, rank);
    std::vector<int> longer(rank - length, integer(1, type(shape).dtype));
    longer.insert(longer.end(), list->begin(), list->end());
    shape = stack(longer, type(shape).dtype);
  }
  return add(BroadcastOp{last_dims(from.size(), rank), true}, {value, shape}, {{type(value).dtype, std::move(dims), {}}});
}

Expected<int> ProgramBuilder::concatenate(const std::vector<int>& values, int64_t dim) {
  if (values.empty()) return invalid_argument("no tensors, expected one at least");
  TensorType result = type(values[0]);
  STREW_TRY(check_dim(dim, result.dims.size(), "the dim along which tensors are concatenated"));
  const auto along = static_cast<size_t>(dim);
  std::vector<int> list;
  bool is_list = result.rank() == 1 && is_integer(result.dtype);
  std::vector<int64_t> others = result.dims;
  int64_t total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const TensorType own = type(values[i]);
    if (own.dtype != result.dtype || own.rank() != result.rank())
      return invalid_argument("tensors {} and {}, expected the same dtype and rank", type(values[0]), own);
    const bool is_open = own.dims[along] == kDynamic || total == kDynamic;
    const std::optional<int64_t> sum = is_open ? kDynamic : checked::add(total, own.dims[along]);
    if (!sum) return invalid_argument("the sum of the extents in dim {} does not fit 63 bits", dim);
    total = *sum;
    others[along] = own.dims[along];
    STREW_TRY(unify_dims(others, own.dims, fmt::format("shape of operand {}", i)));
    const std::optional<std::vector<int>> own_list = is_list ? elements(values[i]) : std::nullopt;
    is_list = own_list.has_value();
    if (is_list) list.insert(list.end(), own_list->begin(), own_list->end());
  }
  if (values.size() == 1) return values[0];
  if (is_list) return stack(list, result.dtype);
  result.dims = std::move(others);
  result.dims[along] = total;
  return add(ConcatenateOp{dim}, values, {std::move(result)});
}

Expected<int> ProgramBuilder::reverse(int value, const std::vector<int64_t>& dims) {
  STREW_TRY(check_dims(dims, type(value).dims.size(), "the list of reversed dims"));
  if (dims.empty()) return value;
  return add(ReverseOp{dims}, {value}, {type(value)});
}

Expected<int> ProgramBuilder::slice(int value, const std::vector<Range>& ranges) {
  const std::vector<int64_t> from = type(value).dims;
  if (ranges.size() < from.size()) return invalid_argument("{} is sliced in {} dims, expected all", type(value), ranges.size());
  std::vector<int64_t> starts, sizes, strides, reversed;
  for (size_t d = 0; d < from.size(); ++d) {
    const Range& range = ranges[d];
    if (range.step == 0) return invalid_argument("the step in dim {} is 0, expected another number", d);
    if (from[d] == kDynamic) {
      if (range.step < 0 || range.start < 0 || range.end != Range::kToEnd)
        return unsupported("dim {} is open and sliced from {} to {}, expected a start from 0 on and no end", d, range.start,
                           range.end);
      starts.push_back(range.start);
      sizes.push_back(kDynamic);
      strides.push_back(range.step);
      continue;
    }
    const int64_t extent = from[d];
    const bool is_backwards = range.step < 0;
    const int64_t low = is_backwards ? -1 : 0;
    const auto clamped = [&](int64_t at) { return std::clamp(at < 0 && at != INT64_MIN ? at + extent : at, low, extent + low); };
    // Longer steps than the dim take one element at most, as one of the dim's extent does.
    const auto step =
        static_cast<int64_t>(std::min(checked::magnitude(range.step), static_cast<uint64_t>(std::max<int64_t>(extent, 1))));
    const int64_t start = clamped(range.start), end = clamped(range.end);
    const int64_t count = checked::ceil_div(is_backwards ? start - end : end - start, step);
    if (is_backwards) reversed.push_back(static_cast<int64_t>(d));
    starts.push_back(count == 0 ? 0 : is_backwards ? start - (count - 1) * step : start);
    sizes.push_back(count);
    strides.push_back(step);
  }
  STREW_ASSIGN(const int sliced, slice(value, std::move(starts), std::move(sizes), std::move(strides)));
  return reverse(sliced, reversed);
}

Expected<int> ProgramBuilder::slice(int value, std::vector<int64_t> starts, std::vector<int64_t> sizes,
                                    std::vector<int64_t> strides) {
  const TensorType from = type(value);
  const size_t rank = from.dims.size();
  if (starts.size() != rank || sizes.size() != rank || strides.size() != rank)
    return invalid_argument("{} starts, {} sizes and {} strides, expected {} of each", starts.size(), sizes.size(),
                            strides.size(), rank);
  bool is_whole = true;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t start = starts[d], size = sizes[d], stride = strides[d], extent = from.dims[d];
    const bool is_open = extent == kDynamic || size == kDynamic;
    const bool fits =
        is_open || stride < 1 || (size == 0 ? start <= extent : start < extent && (size - 1) <= (extent - 1 - start) / stride);
    if (start < 0 || (size < 0 && size != kDynamic) || stride < 1 || !fits)
      return invalid_argument("dim {}: {} elements from {} on with stride {} are not inside {}", d, size, start, stride, from);
    is_whole = is_whole && start == 0 && stride == 1 && size == extent;
  }
  if (is_whole) return value;
  if (const auto list = elements(value); list && rank == 1 && !is_constant(value)) {
    std::vector<int> some;
    for (int64_t i = 0; i < sizes[0]; ++i) some.push_back((*list)[starts[0] + i * strides[0]]);
    return stack(some, from.dtype);
  }
  return add(SliceOp{std::move(starts), std::move(strides)}, {value}, {{from.dtype, std::move(sizes), {}}});
}

Expected<int> ProgramBuilder::slice_from(int value, const std::vector<int>& starts, const std::vector<int64_t>& sizes) {
  std::vector<int> arguments{value};
  arguments.insert(arguments.end(), starts.begin(), starts.end());
  const size_t rank = sizes.size();
  return add(SliceOp{std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 1)}, std::move(arguments),
             {{type(value).dtype, sizes, {}}});
}

Expected<int> ProgramBuilder::update(int into, int part, std::vector<int64_t> starts) {
  const TensorType whole = type(into), own = type(part);
  if (own.dtype != whole.dtype || own.rank() != whole.rank() || starts.size() != whole.dims.size())
    return invalid_argument("{} is written into {} from {} on, expected the same dtype and rank", own, whole, starts);
  for (size_t d = 0; d < starts.size(); ++d) {
    const int64_t extent = whole.dims[d], size = own.dims[d];
    const bool is_open = extent == kDynamic || size == kDynamic;
    if (starts[d] < 0 || (!is_open && (size > extent || starts[d] > extent - size)))
      return invalid_argument("dim {}: {} elements from {} on are not inside {}", d, is_open ? "?" : std::to_string(size),
                              starts[d], whole);
  }
  if (own.dims == whole.dims && is_static(own.dims)) return part;
  return add(UpdateOp{std::move(starts)}, {into, part}, {whole});
}

Expected<int> ProgramBuilder::update_from(int into, int part, const std::vector<int>& starts) {
  std::vector<int> arguments{into, part};
  arguments.insert(arguments.end(), starts.begin(), starts.end());
  return add(UpdateOp{std::vector<int64_t>(starts.size(), 0)}, std::move(arguments), {type(into)});
}

}  // namespace strew::inline v0
