// See forms.h. Tested by tests/unit/compiler/import/tflite/tflite_compute_test.cc and tests/unit/compiler/import/onnx/onnx_compute_test.cc.
#include "compiler/import/builder/forms.h"

#include <algorithm>

#include "base/checked.h"
#include "base/number.h"
#include "base/strides.h"
#include "compiler/op/dims.h"
#include "compiler/op/message.h"
#include "strew/tensor.h"

namespace strew::inline v0 {
namespace {

/// Is the remainder other than zero and its sign not that of the divisor?
Expected<int> crosses_zero(ProgramBuilder& builder, int rest, int divisor) {
  const int zero = builder.number(0, builder.type(rest).dtype);
  const Expected<int> is_rest = builder.apply(ExprOp::ne, {rest, zero}),
                      rest_is_negative = builder.apply(ExprOp::lt, {rest, zero});
  const Expected<int> differ = builder.apply(ExprOp::bit_xor, {rest_is_negative, builder.apply(ExprOp::lt, {divisor, zero})});
  return builder.apply(ExprOp::bit_and, {is_rest, differ});
}

/// Puts `count` times `with` between the elements along dim `d`: each becomes a block of itself and `count` more, of which the last ends early.
Expected<int> spread(ProgramBuilder& builder, int value, size_t d, int64_t count, int with) {
  std::vector<int64_t> dims = builder.type(value).dims, apart = dims;
  const std::optional<int64_t> whole = checked::mul(dims[d], count + 1);
  if (!whole) return invalid_argument("dim {} is too large", d);
  apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(d) + 1, 1);
  STREW_ASSIGN(const int elements, builder.reshape(value, apart));
  apart[d + 1] = count;
  STREW_ASSIGN(const int between, builder.broadcast(with, apart));
  dims[d] = *whole;
  STREW_ASSIGN(const int joined, builder.reshape(builder.concatenate({elements, between}, static_cast<int64_t>(d) + 1), dims));
  std::vector<ProgramBuilder::Range> ranges(dims.size());
  ranges[d].end = *whole - count;
  return builder.slice(joined, ranges);
}

/// Takes away what negative padding says.
Expected<int> cropped(ProgramBuilder& builder, int value, const std::vector<int64_t>& low, const std::vector<int64_t>& high) {
  const std::vector<int64_t> dims = builder.type(value).dims;
  std::vector<ProgramBuilder::Range> ranges(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t before = std::max<int64_t>(-low[d], 0), after = std::max<int64_t>(-high[d], 0);
    if (dims[d] == kDynamic && before + after > 0)
      return unsupported("dim {} is open and padded by a negative number, expected a known extent", d);
    if (dims[d] != kDynamic && dims[d] < before + after)
      return invalid_argument("dim {} of {} is padded by {} and {}, which leaves less than nothing", d, builder.type(value),
                              low[d], high[d]);
    ranges[d].start = before;
    if (after > 0) ranges[d].end = dims[d] - after;
  }
  return builder.slice(value, ranges);
}

}  // namespace

Expected<int> floor_div(ProgramBuilder& builder, int a, int b) {
  const DType dtype = builder.type(a).dtype;
  if (is_float(dtype)) {
    const Expected<int> quotient = builder.apply(ExprOp::div, {builder.convert(a, DType::f64), builder.convert(b, DType::f64)});
    return builder.convert(builder.apply(ExprOp::floor, {quotient}), dtype);
  }
  STREW_ASSIGN(const int quotient, builder.apply(ExprOp::div, {a, b}));
  if (is_unsigned_integer(dtype)) return quotient;
  STREW_ASSIGN(const int rest, builder.apply(ExprOp::rem, {a, b}));
  const Expected<int> crosses = crosses_zero(builder, rest, b);
  return builder.apply(ExprOp::select, {crosses, builder.apply(ExprOp::sub, {quotient, builder.integer(1, dtype)}), quotient});
}

Expected<int> floor_rem(ProgramBuilder& builder, int a, int b) {
  STREW_ASSIGN(const int rest, builder.apply(ExprOp::rem, {a, b}));
  if (is_unsigned_integer(builder.type(a).dtype)) return rest;
  return builder.apply(ExprOp::select, {crosses_zero(builder, rest, b), builder.apply(ExprOp::add, {rest, b}), rest});
}

/// A dim that is repeated is a dim of 1 beside it that is broadcast, and the two become one.
Expected<int> tile(ProgramBuilder& builder, int value, int repeats) {
  const std::vector<int64_t> dims = builder.type(value).dims;
  const TensorType list = builder.type(repeats);
  if (!is_integer(list.dtype) || list.dims != std::vector<int64_t>{static_cast<int64_t>(dims.size())})
    return invalid_argument("repeats is {}, expected one integer per dim: {}", list, dims.size());
  const std::vector<int64_t> times = builder.known(repeats);
  if (std::all_of(times.begin(), times.end(), [](int64_t r) { return r == 1; })) return value;
  std::vector<int64_t> apart;
  std::vector<int> wide, whole;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (times[d] != kDynamic && times[d] < 0) return invalid_argument("a number of repeats is {}, expected 0 or more", times[d]);
    if (times[d] != kDynamic && dims[d] != kDynamic && !checked::mul(times[d], dims[d]))
      return invalid_argument("dim {} is too large", d);
    STREW_ASSIGN(const int count, builder.element(repeats, static_cast<int64_t>(d)));
    const int extent = builder.extent(value, static_cast<int64_t>(d));
    STREW_ASSIGN(const int all, builder.apply(ExprOp::mul, {count, extent}));
    apart.insert(apart.end(), {1, dims[d]});
    wide.insert(wide.end(), {count, extent});
    whole.push_back(all);
  }
  STREW_ASSIGN(const int units, builder.reshape_units(value, apart));
  STREW_ASSIGN(const int out, builder.broadcast_to(units, builder.stack(wide, DType::i64)));
  return builder.reshape_to(out, builder.stack(whole, DType::i64), /*allow_zero=*/true);
}

Expected<int> pad(ProgramBuilder& builder, int value, const std::vector<int64_t>& low, const std::vector<int64_t>& high,
                  const std::vector<int64_t>& interior, int with) {
  constexpr int64_t kMostPadding = int64_t{1} << 31;  // of one dim
  const TensorType type = builder.type(value);
  const size_t rank = type.dims.size();
  if (low.size() != rank || high.size() != rank || interior.size() != rank)
    return invalid_argument("{} numbers before, {} after and {} between, expected {} of each", low.size(), high.size(),
                            interior.size(), rank);
  if (!builder.type(with).dims.empty() || builder.type(with).dtype != type.dtype)
    return invalid_argument("the padding value is {}, expected {} of rank 0", builder.type(with), type.dtype);
  for (size_t d = 0; d < rank; ++d) {
    const bool is_small = std::max(checked::magnitude(low[d]), checked::magnitude(high[d])) <= kMostPadding;
    if (!is_small || interior[d] < 0 || interior[d] > kMostPadding)
      return invalid_argument("dim {}: low {}, high {}, interior {}, expected numbers below 2^31", d, low[d], high[d],
                              interior[d]);
    if (interior[d] == 0 || (type.dims[d] != kDynamic && type.dims[d] <= 1)) continue;
    if (!is_static(type.dims)) return unsupported("a tensor with open dims is padded between elements, expected known dims");
    STREW_ASSIGN(value, spread(builder, value, d, interior[d], with));
  }
  STREW_ASSIGN(value, cropped(builder, value, low, high));
  for (size_t d = 0; d < rank; ++d) {
    std::vector<int> parts{value};
    for (const int64_t count : {low[d], high[d]}) {
      if (count <= 0) continue;
      std::vector<int64_t> block = builder.type(value).dims;
      block[d] = count;
      if (!is_static(block)) return unsupported("a tensor with open dims is padded, expected known dims");
      STREW_ASSIGN(parts.emplace_back(), builder.broadcast(with, block));
    }
    if (low[d] > 0) std::swap(parts[0], parts[1]);
    STREW_ASSIGN(value, builder.concatenate(parts, static_cast<int64_t>(d)));
  }
  return value;
}

Expected<int> one_hot(ProgramBuilder& builder, int indices, int64_t depth, int64_t axis, int on, int off) {
  const TensorType type = builder.type(indices);
  if (!is_integer(type.dtype)) return invalid_argument("indices are {}, expected integers", type.dtype);
  if (depth < 0) return invalid_argument("depth is {}, expected 0 or more", depth);
  std::vector<int64_t> apart = type.dims, along(type.dims.size() + 1, 1);
  apart.insert(apart.begin() + axis, 1);
  along[axis] = depth;
  const Expected<int> wide = builder.reshape_units(indices, apart);
  const auto number = [&](int64_t value) { return builder.integer(value, type.dtype); };
  const Expected<int> numbers = builder.reshape(builder.range(number(0), number(depth), number(1)), std::move(along));
  return builder.apply(ExprOp::select, {builder.apply(ExprOp::eq, {wide, numbers}), on, off});
}

Expected<int> nonzero_coordinates(ProgramBuilder& builder, int value) {
  constexpr size_t kMostNumbers = 1 << 20;
  const Constant* const constant = builder.find_constant(value);
  if (constant == nullptr || constant->type.dtype == DType::string)
    return unsupported("its input is computed when the model runs, expected a constant: the number of coordinates is not known");
  const std::vector<int64_t> dims = constant->type.dims;
  if (dims.empty()) return unsupported("its input has rank 0, expected dims");
  STREW_ASSIGN(const int64_t count, element_count(dims));
  std::vector<int64_t> numbers;
  Walk walk(dims);
  for (int64_t i = 0; i < count; ++i, walk.next()) {
    const Scalar element = load_element(constant->type.dtype, constant->bytes().data(), i);
    const DType part = part_dtype(element.dtype);
    const bool is_zero = decode(part, real_bits(element)) == 0 && decode(part, imaginary_bits(element)) == 0;
    if (!is_zero) numbers.insert(numbers.end(), walk.at().begin(), walk.at().end());
    if (numbers.size() > kMostNumbers) return unsupported("its input has more elements other than 0 than strew lists");
  }
  const auto rank = static_cast<int64_t>(dims.size()), found = static_cast<int64_t>(numbers.size()) / rank;
  return builder.reshape(builder.integers(numbers), {found, rank});
}

}  // namespace strew::inline v0
