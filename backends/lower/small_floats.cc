// See families.h: floats of at most 16 bits to and from f32. All dtypes take the same code, which reads the widths of exponent and mantissa from
// the traits table (base/dtype); encoding bf16 is shorter.
//
// Decoding shifts the bits into the exponent and mantissa fields of an f32, where they read as the value times 2^(bias - 127), and multiplies by
// the inverse of that factor. This is exact, for subnormals too. Encoding rounds normal results in integers, by adding one less than half of the
// last place plus the lowest bit that is kept. It rounds subnormal results by adding a power of two whose last place is the last place of the
// narrow float, so that the FPU rounds. The instruction vcvtneps2bf16 is not used, because it flushes subnormals to zero.
// Tested exhaustively by tests/unit/backends/lower and against ml_dtypes by tests/oracle/narrow_floats.
#include "backends/lower/families.h"

namespace strew::inline v0::lowered {
namespace {
using enum Primitive;

constexpr uint64_t kInfinity = 0x7f800000, kQuietNan = 0x7fc00000;

/// The bits of a code without its sign.
int digits(const DTypeInfo& t) { return t.exponent_bits + t.mantissa_bits; }

}  // namespace

Value decode_small(Builder& e, DType dtype, Value code) {
  const DTypeInfo& t = info(dtype);
  const auto u32 = [&](uint64_t v) { return e.constant(Machine::i32, v); };
  const Value wide = e.to(Machine::i32, zext, code);
  if (dtype == DType::bf16) return e.float_of(e(shl, wide, u32(16)));
  const uint64_t all = (uint64_t{1} << digits(t)) - 1,
                 top = all + 1 - (uint64_t{1} << t.mantissa_bits);  // top: all exponent bits set
  const Value low = e(bit_and, wide, u32(all));
  const Value magnitude = e(shl, low, u32(static_cast<uint64_t>(23 - t.mantissa_bits)));
  const Value factor = e.constant(Machine::f32, static_cast<uint64_t>(127 + 127 - t.bias) << 23);
  Value value = e.bits_of(e(mul, e.float_of(magnitude), factor));
  if (t.codes == FloatCodes::ieee) value = e(select, e(ult, low, u32(top)), value, e(bit_or, magnitude, u32(kInfinity)));
  if (t.codes == FloatCodes::fn) value = e(select, e(eq, low, u32(all)), u32(kQuietNan), value);
  const Value sign = e(shl, e(lshr, wide, u32(static_cast<uint64_t>(digits(t)))), u32(31));
  value = e(bit_or, value, sign);
  if (t.codes == FloatCodes::fnuz) value = e(select, e(eq, wide, u32(all + 1)), u32(kQuietNan), value);
  return e.float_of(value);
}

Value encode_bf16(Builder& e, Value a) {
  const auto u32 = [&](uint64_t v) { return e.constant(Machine::i32, v); };
  const Value bits = e.bits_of(a);
  const Value lowest = e(bit_and, e(lshr, bits, u32(16)), u32(1));
  const Value rounded = e(add, bits, e(add, lowest, u32(0x7fff)));
  const Value chosen = e(select, e(unordered, a, a), e(bit_or, bits, u32(0x400000)), rounded);
  return e.to(Machine::i16, itrunc, e(lshr, chosen, u32(16)));
}

Value encode_small(Builder& e, DType dtype, Value a) {
  const DTypeInfo& t = info(dtype);
  const int dropped = 23 - t.mantissa_bits;
  const auto i32 = [&](int64_t v) { return e.constant(Machine::i32, static_cast<uint64_t>(v)); };
  const Value bits = e.bits_of(a), magnitude = e(bit_and, bits, i32(0x7fffffff));

  const Value lowest = e(bit_and, e(lshr, magnitude, i32(dropped)), i32(1));
  const Value rounded = e(add, magnitude, e(add, lowest, i32((int64_t{1} << (dropped - 1)) - 1)));
  const Value normal = e(sub, e(lshr, rounded, i32(dropped)), i32(int64_t{127 - t.bias} << t.mantissa_bits));
  const int64_t aligner = static_cast<int64_t>(127 + 1 - t.bias - t.mantissa_bits + 23) << 23;
  const Value aligned = e(add, e.float_of(magnitude), e.constant(Machine::f32, static_cast<uint64_t>(aligner)));
  const Value subnormal = e(sub, e.bits_of(aligned), i32(aligner));
  const Value is_subnormal = e(ult, magnitude, i32(int64_t{127 + 1 - t.bias} << 23));
  const Value code = e(select, is_subnormal, subnormal, normal);

  const int64_t all = (int64_t{1} << digits(t)) - 1, infinity = all + 1 - (int64_t{1} << t.mantissa_bits);
  // The largest code of a finite number, and the codes that stand for larger values and for NaN.
  int64_t largest = all, beyond = all, nan = all;
  if (t.codes == FloatCodes::ieee) {
    largest = beyond = infinity;
    nan = infinity | (int64_t{1} << (t.mantissa_bits - 1));
  } else if (t.codes == FloatCodes::fn) {
    largest = all - 1;
  } else if (t.codes == FloatCodes::fnuz) {
    beyond = nan = all + 1;
  } else {
    nan = all + 1;  // f4: NaN has no code; the negative zero stands for it (docs/semantics.md section 4)
  }
  Value sign = e(shl, e(lshr, bits, i32(31)), i32(digits(t)));
  if (t.codes == FloatCodes::fnuz) sign = e(select, e(eq, code, i32(0)), i32(0), sign);
  const Value finite = e(ult, magnitude, i32(kInfinity)), too_big = e(bit_or, e(slt, i32(largest), code), e.negate(finite));
  const Value number = e(bit_or, e(select, too_big, i32(beyond), code), sign);
  const Value result = e(select, e(ult, i32(kInfinity), magnitude), i32(nan), number);
  return e.to(part_type(dtype), itrunc, result);
}

}  // namespace strew::inline v0::lowered
