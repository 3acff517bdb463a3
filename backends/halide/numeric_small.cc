// See numeric.h. This file converts floats narrower than 32 bits to and from f32, with the widths of exponent and mantissa from the traits table
// (base/dtype). The method is explained in backends/llvm/compute/numeric_small.cc. Tested by tests/differential.
#include <bit>

#include "backends/halide/numeric.h"
#include "backends/halide/numeric_bits.h"

namespace strew::inline v0 {
using namespace halide_bits;
using Halide::cast;
using Halide::select;
using Halide::UInt;

namespace {
HExpr u32(int64_t value) { return unsigned_constant(32, static_cast<uint64_t>(value) & 0xffffffffu); }
HExpr f32(uint32_t bits) { return as_float(unsigned_constant(32, bits)); }
}  // namespace

HExpr HalideNumeric::decode_small(DType dtype, const HExpr& storage) const {
  const DTypeInfo& t = info(dtype);
  const int width = t.exponent_bits + t.mantissa_bits;
  const HExpr wide = cast(UInt(32), storage);
  const HExpr code = wide & u32((int64_t{1} << width) - 1);
  const HExpr magnitude = code << u32(23 - t.mantissa_bits);
  HExpr value = as_unsigned(as_float(magnitude) * f32(static_cast<uint32_t>(127 + 127 - t.bias) << 23));
  const int64_t top = (int64_t{1} << width) - (int64_t{1} << t.mantissa_bits);  // all exponent bits set
  const HExpr quiet_nan = u32(0x7fc00000);
  if (t.codes == FloatCodes::ieee) value = select(code >= u32(top), magnitude | u32(0x7f800000), value);
  if (t.codes == FloatCodes::fn) value = select(code == u32((int64_t{1} << width) - 1), quiet_nan, value);
  value = value | ((wide >> u32(width)) << u32(31));
  if (t.codes == FloatCodes::fnuz) value = select(wide == u32(int64_t{1} << width), quiet_nan, value);
  return as_float(value);
}

HExpr HalideNumeric::encode_small(DType dtype, const HExpr& compute) const {
  const DTypeInfo& t = info(dtype);
  const int width = t.exponent_bits + t.mantissa_bits, dropped = 23 - t.mantissa_bits;
  const HExpr bits = as_unsigned(compute);
  const HExpr magnitude = bits & u32(0x7fffffff);

  const HExpr lowest = (magnitude >> u32(dropped)) & u32(1);
  const HExpr rounded = magnitude + (lowest + u32((int64_t{1} << (dropped - 1)) - 1));
  const HExpr normal = (rounded >> u32(dropped)) - u32(int64_t{127 - t.bias} << t.mantissa_bits);
  const auto aligner = static_cast<uint32_t>(127 + 1 - t.bias - t.mantissa_bits + 23) << 23;
  const HExpr subnormal = as_unsigned(as_float(magnitude) + f32(aligner)) - u32(aligner);
  const HExpr code = select(magnitude < u32(int64_t{127 + 1 - t.bias} << 23), subnormal, normal);

  const int64_t all = (int64_t{1} << width) - 1;
  const int64_t infinity = all + 1 - (int64_t{1} << t.mantissa_bits);
  // The largest bit pattern of a finite number, and the patterns that stand for larger values and for NaN.
  int64_t largest = all, beyond = all, nan = all;
  if (t.codes == FloatCodes::ieee) {
    largest = beyond = infinity;
    nan = infinity | (int64_t{1} << (t.mantissa_bits - 1));
  } else if (t.codes == FloatCodes::fn) {
    largest = all - 1;
  } else if (t.codes == FloatCodes::fnuz) {
    beyond = nan = int64_t{1} << width;
  } else {
    nan = int64_t{1} << width;  // f4: NaN has no code; the negative zero stands for it (semantics.md section 4)
  }
  HExpr sign = (bits >> u32(31)) << u32(width);
  if (t.codes == FloatCodes::fnuz) sign = select(code == u32(0), u32(0), sign);
  const HExpr too_big = as_signed(code) > as_signed(u32(largest)) || magnitude >= u32(0x7f800000);
  HExpr result = select(too_big, u32(beyond), code) | sign;
  result = select(magnitude > u32(0x7f800000), u32(nan), result);
  return cast(UInt(halide_bits::container(dtype)), result);
}

}  // namespace strew::inline v0
