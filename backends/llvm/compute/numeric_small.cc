// See numeric.h. This file converts floats narrower than 32 bits to and from f32, all dtypes by the same code, which reads the widths of
// exponent and mantissa from the traits table (base/dtype). f16 is among them if the target has no F16C; bf16 has shorter code of its own.
//
// Decoding shifts the bits into the exponent and mantissa fields of an f32, where they read as the value times 2^(bias - 127), and multiplies by
// the inverse of that factor. This is exact, for subnormals too. Encoding rounds normal results in integers, by adding one less than half of the
// last place plus the lowest bit that is kept. It rounds subnormal results by adding a power of two whose last place is the last place of the
// narrow float, so that the FPU rounds.
// Tested exhaustively against ml_dtypes through the reference (tests/oracle/narrow_floats) and tests/differential.
#include <llvm/IR/Constants.h>

#include <bit>

#include "backends/llvm/compute/numeric.h"

namespace strew::inline v0 {
using llvm::Type;
using llvm::Value;

Value* Numeric::decode_small(DType dtype, Value* storage) {
  const DTypeInfo& t = info(dtype);
  const int width = t.exponent_bits + t.mantissa_bits;
  Type* i32 = like(e_.b.getInt32Ty(), storage);
  Type* f32 = like(e_.b.getFloatTy(), storage);
  Value* wide = e_.b.CreateZExt(storage, i32);
  Value* code = e_.b.CreateAnd(wide, splat(i32, (uint64_t{1} << width) - 1));
  Value* magnitude = e_.b.CreateShl(code, splat(i32, static_cast<uint64_t>(23 - t.mantissa_bits)));
  const double rescale = std::bit_cast<float>(static_cast<uint32_t>(127 + 127 - t.bias) << 23);
  Value* value =
      e_.b.CreateBitCast(e_.b.CreateFMul(e_.b.CreateBitCast(magnitude, f32), llvm::ConstantFP::get(f32, rescale)), i32);
  const uint64_t top = (uint64_t{1} << width) - (uint64_t{1} << t.mantissa_bits);  // all exponent bits set
  Value* quiet_nan = splat(i32, 0x7fc00000);
  if (t.codes == FloatCodes::ieee) {
    Value* special = e_.b.CreateOr(magnitude, splat(i32, 0x7f800000));
    value = e_.b.CreateSelect(e_.b.CreateICmpUGE(code, splat(i32, top)), special, value);
  }
  if (t.codes == FloatCodes::fn)
    value = e_.b.CreateSelect(e_.b.CreateICmpEQ(code, splat(i32, (uint64_t{1} << width) - 1)), quiet_nan, value);
  Value* sign = e_.b.CreateShl(e_.b.CreateLShr(wide, splat(i32, static_cast<uint64_t>(width))), splat(i32, 31));
  value = e_.b.CreateOr(value, sign);
  if (t.codes == FloatCodes::fnuz)
    value = e_.b.CreateSelect(e_.b.CreateICmpEQ(wide, splat(i32, uint64_t{1} << width)), quiet_nan, value);
  return e_.b.CreateBitCast(value, f32);
}

Value* Numeric::encode_small(DType dtype, Value* compute) {
  const DTypeInfo& t = info(dtype);
  const int width = t.exponent_bits + t.mantissa_bits, dropped = 23 - t.mantissa_bits;
  Type* i32 = like(e_.b.getInt32Ty(), compute);
  Type* f32 = like(e_.b.getFloatTy(), compute);
  const auto constant = [&](int64_t v) { return splat(i32, static_cast<uint64_t>(v) & 0xffffffffu); };
  Value* bits = e_.b.CreateBitCast(compute, i32);
  Value* magnitude = e_.b.CreateAnd(bits, constant(0x7fffffff));

  Value* lowest = e_.b.CreateAnd(e_.b.CreateLShr(magnitude, constant(dropped)), constant(1));
  Value* rounded = e_.b.CreateAdd(magnitude, e_.b.CreateAdd(lowest, constant((int64_t{1} << (dropped - 1)) - 1)));
  Value* normal = e_.b.CreateSub(e_.b.CreateLShr(rounded, constant(dropped)), constant(int64_t{127 - t.bias} << t.mantissa_bits));
  const auto aligner = static_cast<uint32_t>(127 + 1 - t.bias - t.mantissa_bits + 23) << 23;
  Value* aligned = e_.b.CreateFAdd(e_.b.CreateBitCast(magnitude, f32), llvm::ConstantFP::get(f32, std::bit_cast<float>(aligner)));
  Value* subnormal = e_.b.CreateSub(e_.b.CreateBitCast(aligned, i32), constant(aligner));
  Value* is_subnormal = e_.b.CreateICmpULT(magnitude, constant(int64_t{127 + 1 - t.bias} << 23));
  Value* code = e_.b.CreateSelect(is_subnormal, subnormal, normal);

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
  Value* sign = e_.b.CreateShl(e_.b.CreateLShr(bits, constant(31)), constant(width));
  if (t.codes == FloatCodes::fnuz) sign = e_.b.CreateSelect(e_.b.CreateICmpEQ(code, constant(0)), constant(0), sign);
  Value* infinite = e_.b.CreateICmpUGE(magnitude, constant(0x7f800000));
  Value* too_big = e_.b.CreateOr(e_.b.CreateICmpSGT(code, constant(largest)), infinite);
  Value* result = e_.b.CreateOr(e_.b.CreateSelect(too_big, constant(beyond), code), sign);
  result = e_.b.CreateSelect(e_.b.CreateICmpUGT(magnitude, constant(0x7f800000)), constant(nan), result);
  return e_.b.CreateTrunc(result, like(storage_type(dtype, 1), compute));
}

}  // namespace strew::inline v0
