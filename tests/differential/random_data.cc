// See random_data.h. Values are made from the traits table, so a new dtype needs no change here. Tested by
// tests/unit/differential/differential_test.cc (every special class occurs) and every differential run.
#include "tests/differential/random_data.h"

#include <algorithm>

#include "tests/support/elements.h"

namespace strew::test {
namespace {

uint64_t low_mask(int width) { return width >= 64 ? ~0ull : (1ull << width) - 1; }

/// Is it a binary float with sign, exponent and mantissa fields? The other dtypes are only moved as bits.
bool has_fields(const DTypeInfo& row) {
  return row.codes == FloatCodes::ieee || row.codes == FloatCodes::fn || row.codes == FloatCodes::fnuz ||
         row.codes == FloatCodes::finite;
}

uint64_t pack(const DTypeInfo& row, uint64_t sign, uint64_t exponent, uint64_t mantissa) {
  return (sign << (row.exponent_bits + row.mantissa_bits)) | (exponent << row.mantissa_bits) | mantissa;
}

/// `width` bits at, or one step beside, the middle between two values of a narrower format: here rounding twice gives
/// a different result than rounding once.
uint64_t near_tie(Rng& rng, int width) {
  static constexpr int kKept[] = {1, 2, 3, 7, 10, 23};
  const int kept = kKept[rng.below(6)];
  if (kept >= width) return rng.next() & low_mask(width);
  const uint64_t half = 1ull << (width - kept - 1);
  const uint64_t top = rng.next() & low_mask(width) & ~(2 * half - 1);
  return (top + half + static_cast<uint64_t>(rng.between(-1, 1))) & low_mask(width);
}

uint64_t ordinary_float(Rng& rng, const DTypeInfo& row) {
  const int64_t top = static_cast<int64_t>(low_mask(row.exponent_bits)) - 1;
  const int64_t exponent = std::clamp<int64_t>(row.bias + rng.between(-4, 4), 1, std::max<int64_t>(top, 1));
  const uint64_t mantissa = rng.chance(12) ? near_tie(rng, row.mantissa_bits) : rng.next() & low_mask(row.mantissa_bits);
  return pack(row, rng.next() & 1, static_cast<uint64_t>(exponent), mantissa);
}

uint64_t small_float(Rng& rng, const DTypeInfo& row) {
  const int64_t value = rng.between(-8, 8);
  const auto magnitude = static_cast<uint64_t>(value < 0 ? -value : value);
  if (magnitude == 0) return 0;
  int exponent = 0;
  while ((magnitude >> (exponent + 1)) != 0) ++exponent;
  const uint64_t rest = magnitude - (1ull << exponent);
  const uint64_t mantissa =
      exponent <= row.mantissa_bits ? rest << (row.mantissa_bits - exponent) : rest >> (exponent - row.mantissa_bits);
  const int64_t biased = std::min<int64_t>(exponent + row.bias, static_cast<int64_t>(low_mask(row.exponent_bits)) - 1);
  return pack(row, value < 0, static_cast<uint64_t>(std::max<int64_t>(biased, 0)), mantissa);
}

uint64_t special_float(Rng& rng, const DTypeInfo& row) {
  const uint64_t sign = rng.next() & 1, top = low_mask(row.exponent_bits), full = low_mask(row.mantissa_bits);
  const uint64_t quiet = row.mantissa_bits > 0 ? 1ull << (row.mantissa_bits - 1) : 0;
  switch (rng.below(12)) {
    case 0:
      return pack(row, sign, top, 0);  // infinity, if the format has one
    case 1:
      return pack(row, sign, top, quiet | (rng.next() & full));  // quiet NaN with a payload
    case 2:
      return pack(row, sign, top, std::max<uint64_t>(rng.next() & full & ~quiet, 1));  // signalling NaN
    case 3:
      return pack(row, sign, top, full);  // NaN; in finite formats the largest number
    case 4:
      return pack(row, 0, 0, 0);
    case 5:
      return pack(row, 1, 0, 0);  // -0; in fnuz formats NaN
    case 6:
      return pack(row, sign, 0, rng.next() & full);  // subnormal
    case 7:
      return pack(row, sign, 0, 1);
    case 8:
      return pack(row, sign, 1, 0);  // smallest normal
    case 9:
      return pack(row, sign, top - 1, full);  // largest finite number of IEEE formats
    case 10:
      return pack(row, sign, static_cast<uint64_t>(row.bias), 0);  // one
    default:
      return pack(row, sign, std::min(top - 1, static_cast<uint64_t>(row.bias + row.mantissa_bits + 1)), rng.next() & full);
  }
}

uint64_t float_bits(Rng& rng, const DTypeInfo& row, DataMode mode) {
  if (!has_fields(row) || mode == DataMode::bits) return rng.next() & low_mask(row.bits);
  if (mode == DataMode::small) return small_float(rng, row);
  if (mode == DataMode::nasty && rng.chance(35)) return special_float(rng, row);
  if (mode == DataMode::nasty && rng.chance(10)) return rng.next() & low_mask(row.bits);
  return ordinary_float(rng, row);
}

uint64_t integer_bits(Rng& rng, const DTypeInfo& row, DataMode mode) {
  const uint64_t mask = low_mask(row.bits), sign = 1ull << (row.bits - 1);
  if (mode == DataMode::small)
    return static_cast<uint64_t>(rng.between(row.kind == DTypeKind::signed_integer ? -2 : 0, 3)) & mask;
  if (mode == DataMode::nasty && rng.chance(45)) {
    const uint64_t specials[] = {0, 1, mask, sign, sign - 1, sign + 1, mask - 1, 2};
    return specials[rng.below(8)] & mask;
  }
  if (mode != DataMode::bits && rng.chance(8))
    return (near_tie(rng, row.bits - 2) | 1ull << (row.bits - 2)) >> rng.below(row.bits - 1);
  if (mode == DataMode::ordinary && rng.chance(30)) return static_cast<uint64_t>(rng.between(-9, 9)) & mask;
  return rng.next() & mask;
}

}  // namespace

Scalar random_value(Rng& rng, DType dtype, DataMode mode) {
  const DTypeInfo& row = info(dtype);
  Scalar out;
  out.dtype = dtype;
  switch (row.kind) {
    case DTypeKind::boolean:
      out.bits[0] = rng.next() & 1;
      break;
    case DTypeKind::signed_integer:
    case DTypeKind::unsigned_integer:
      out.bits[0] = integer_bits(rng, row, mode);
      break;
    case DTypeKind::floating:
      out.bits[0] = float_bits(rng, row, mode);
      break;
    case DTypeKind::complex: {
      const DTypeInfo& part = info(dtype == DType::complex64 ? DType::f32 : DType::f64);
      const uint64_t re = float_bits(rng, part, mode), im = float_bits(rng, part, mode);
      if (dtype == DType::complex64) {
        out.bits[0] = re | (im << 32);
      } else {
        out.bits = {re, im};
      }
      break;
    }
    case DTypeKind::string:
      out.bits = {rng.next(), rng.next()};
      break;
  }
  return out;
}

void fill_tensor(Rng& rng, std::byte* origin, const TensorType& type, DataMode mode) {
  for (int64_t element : element_numbers(type.dims, strides_of(type))) {
    store_element(origin, random_value(rng, type.dtype, mode), element);
  }
}

}  // namespace strew::test
