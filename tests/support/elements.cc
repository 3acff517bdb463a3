// Elements in memory: see elements.h. Covered by tests/unit/support/guarded_test.cc and by every differential run.
#include "tests/support/elements.h"

#include <fmt/format.h>

#include <algorithm>

namespace strew::test {
namespace {

uint64_t low_mask(int width) { return width >= 64 ? ~0ull : (1ull << width) - 1; }

/// Floor division and remainder by the elements in a byte.
int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

DType part_dtype(DType dtype) { return dtype == DType::complex64 ? DType::f32 : DType::f64; }

}  // namespace

Scalar load_element(const std::byte* origin, DType dtype, int64_t element) {
  Scalar out;
  out.dtype = dtype;
  const int width = bits(dtype);
  if (width < 8) {
    const int64_t per_byte = 8 / width;
    const int64_t byte = floor_div(element, per_byte);
    const auto shift = static_cast<int>((element - byte * per_byte) * width);
    out.bits[0] = (static_cast<uint64_t>(origin[byte]) >> shift) & low_mask(width);
    return out;
  }
  const int bytes = width / 8;
  for (int i = 0; i < bytes; ++i) {
    out.bits[static_cast<size_t>(i / 8)] |= static_cast<uint64_t>(origin[element * bytes + i]) << (8 * (i % 8));
  }
  return out;
}

void store_element(std::byte* origin, const Scalar& value, int64_t element) {
  const int width = bits(value.dtype);
  if (width < 8) {
    const int64_t per_byte = 8 / width;
    const int64_t byte = floor_div(element, per_byte);
    const auto shift = static_cast<int>((element - byte * per_byte) * width);
    const auto mask = static_cast<unsigned>(low_mask(width) << shift);
    const unsigned old = static_cast<unsigned>(origin[byte]);
    origin[byte] = static_cast<std::byte>((old & ~mask) | ((static_cast<unsigned>(value.bits[0]) << shift) & mask));
    return;
  }
  const int bytes = width / 8;
  for (int i = 0; i < bytes; ++i) {
    origin[element * bytes + i] = static_cast<std::byte>(value.bits[static_cast<size_t>(i / 8)] >> (8 * (i % 8)));
  }
}

int64_t count_of(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  return count;
}

std::vector<int64_t> contiguous_strides(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

std::vector<int64_t> strides_of(const TensorType& type) {
  return type.strides.empty() ? contiguous_strides(type.dims) : type.strides;
}

std::vector<int64_t> element_numbers(std::span<const int64_t> dims, std::span<const int64_t> strides) {
  const int64_t count = count_of(dims);
  std::vector<int64_t> numbers;
  numbers.reserve(static_cast<size_t>(count));
  std::vector<int64_t> at(dims.size(), 0);
  int64_t number = 0;
  for (int64_t n = 0; n < count; ++n) {
    numbers.push_back(number);
    for (size_t d = dims.size(); d-- > 0;) {
      number += strides[d];
      if (++at[d] < dims[d]) break;
      number -= strides[d] * dims[d];
      at[d] = 0;
    }
  }
  return numbers;
}

Extent byte_extent(const TensorType& type) {
  if (count_of(type.dims) == 0) return {};
  const std::vector<int64_t> strides = strides_of(type);
  int64_t low = 0, high = 0;
  for (size_t d = 0; d < type.dims.size(); ++d) {
    const int64_t reach = strides[d] * (type.dims[d] - 1);
    (reach < 0 ? low : high) += reach;
  }
  const int width = bits(type.dtype);
  if (width < 8) return {floor_div(low, 8 / width), floor_div(high, 8 / width) + 1};
  return {low * (width / 8), (high + 1) * (width / 8)};
}

bool is_nan(DType dtype, uint64_t value) {
  const DTypeInfo& row = info(dtype);
  const int mantissa = row.mantissa_bits, exponent = row.exponent_bits;
  const uint64_t magnitude = value & low_mask(mantissa + exponent);
  switch (row.codes) {
    case FloatCodes::ieee:
      return magnitude > (low_mask(exponent) << mantissa);
    case FloatCodes::fn:
      return magnitude == low_mask(mantissa + exponent);
    case FloatCodes::fnuz:
      return value == 1ull << (mantissa + exponent);
    case FloatCodes::e8m0:
      return value == 0xff;
    case FloatCodes::none:
    case FloatCodes::finite:
    case FloatCodes::opaque:
      return false;
  }
  return false;
}

bool same_value(const Scalar& a, const Scalar& b) {
  if (a == b) return true;
  if (a.dtype != b.dtype) return false;
  if (is_float(a.dtype)) return is_nan(a.dtype, a.bits[0]) && is_nan(b.dtype, b.bits[0]);
  if (!is_complex(a.dtype)) return false;
  const DType part = part_dtype(a.dtype);
  for (int i = 0; i < 2; ++i) {
    const bool whole = part == DType::f64;
    const uint64_t x = whole ? a.bits[static_cast<size_t>(i)] : (a.bits[0] >> (32 * i)) & 0xffffffffu;
    const uint64_t y = whole ? b.bits[static_cast<size_t>(i)] : (b.bits[0] >> (32 * i)) & 0xffffffffu;
    if (x != y && !(is_nan(part, x) && is_nan(part, y))) return false;
  }
  return true;
}

std::string bits_text(const Scalar& value) {
  const int digits = (bits(value.dtype) + 3) / 4;
  if (digits > 16) return fmt::format("0x{:0{}x}{:016x} ({})", value.bits[1], digits - 16, value.bits[0], name(value.dtype));
  return fmt::format("0x{:0{}x} ({})", value.bits[0], digits, name(value.dtype));
}

}  // namespace strew::test
