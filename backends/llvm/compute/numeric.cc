// See numeric.h. This file has storage and compute forms and the conversions between dtypes; numeric_ops.cc has the operators.
//
// bf16 is rounded in integers, by adding 0x7fff plus the lowest bit that is kept; the instruction vcvtneps2bf16 is not used, because it flushes
// subnormals to zero. f64 and 64-bit integers are converted to floats of 16 bits and less in two steps, of which the first rounds to odd: the
// f32 with an odd last bit is taken wherever the value lies between two. Its 24 bits tell the second step enough to round as if from the exact
// value. Tested exhaustively for bf16 and f16 by tests/oracle/narrow_floats, and by tests/differential.
#include "backends/llvm/compute/numeric.h"

#include <llvm/IR/Constants.h>

namespace strew::inline v0 {
using llvm::Type;
using llvm::Value;

Type* Numeric::like(Type* element, Value* shape) {
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(shape->getType()))
    return llvm::FixedVectorType::get(element, vector->getNumElements());
  return element;
}

Value* Numeric::splat(Type* type, uint64_t value) { return llvm::ConstantInt::get(type, value); }

Type* Numeric::storage_type(DType dtype, int lanes) {
  Type* type = e_.b.getIntNTy(static_cast<unsigned>(bits(dtype)));
  if (dtype == DType::f32) type = e_.b.getFloatTy();
  if (dtype == DType::f64) type = e_.b.getDoubleTy();
  return lanes == 1 ? type : llvm::FixedVectorType::get(type, static_cast<unsigned>(lanes));
}

Type* Numeric::compute_type(DType dtype, int lanes) {
  Type* type = storage_type(dtype, 1);
  if (dtype == DType::boolean) type = e_.b.getInt1Ty();
  if (rounds_after(dtype)) type = e_.b.getFloatTy();
  return lanes == 1 ? type : llvm::FixedVectorType::get(type, static_cast<unsigned>(lanes));
}

Value* Numeric::decode(DType dtype, Value* storage) {
  switch (dtype) {
    case DType::boolean:
      return e_.b.CreateICmpNE(storage, splat(storage->getType(), 0));
    case DType::bf16: {
      Type* i32 = like(e_.b.getInt32Ty(), storage);
      return e_.b.CreateBitCast(e_.b.CreateShl(e_.b.CreateZExt(storage, i32), splat(i32, 16)), like(e_.b.getFloatTy(), storage));
    }
    case DType::f16:
      if (!f16c_) return decode_small(dtype, storage);
      return e_.b.CreateFPExt(e_.b.CreateBitCast(storage, like(e_.b.getHalfTy(), storage)), like(e_.b.getFloatTy(), storage));
    case DType::complex64:
    case DType::complex128:
      return decode_complex(dtype, storage);
    case STREW_EACH_DTYPE(SMALL_FLOAT):
      return decode_small(dtype, storage);
    case STREW_EACH_DTYPE(PACKED_INTEGER):
    case STREW_EACH_DTYPE(INTEGER):
    case STREW_EACH_DTYPE(FLOAT):
    case STREW_EACH_DTYPE(STRING):
      break;
  }
  return storage;
}

Value* Numeric::encode(DType dtype, Value* compute) {
  switch (dtype) {
    case DType::boolean:
      return e_.b.CreateZExt(compute, like(e_.b.getInt8Ty(), compute));
    case DType::bf16:
      return float_to_bf16(compute);
    case DType::f16:
      if (!f16c_) return encode_small(dtype, compute);
      return e_.b.CreateBitCast(e_.b.CreateFPTrunc(compute, like(e_.b.getHalfTy(), compute)), like(e_.b.getInt16Ty(), compute));
    case DType::complex64:
    case DType::complex128:
      return encode_complex(dtype, compute);
    case STREW_EACH_DTYPE(SMALL_FLOAT):
      return encode_small(dtype, compute);
    case STREW_EACH_DTYPE(PACKED_INTEGER):
    case STREW_EACH_DTYPE(INTEGER):
    case STREW_EACH_DTYPE(FLOAT):
    case STREW_EACH_DTYPE(STRING):
      break;
  }
  return compute;
}

Value* Numeric::literal_storage(const Scalar& scalar, int lanes) {
  llvm::Constant* value = e_.b.getIntN(static_cast<unsigned>(bits(scalar.dtype)), scalar.bits[0]);
  if (scalar.dtype == DType::f32)
    value = llvm::ConstantFP::get(e_.context(), llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, scalar.bits[0])));
  if (scalar.dtype == DType::f64)
    value = llvm::ConstantFP::get(e_.context(), llvm::APFloat(llvm::APFloat::IEEEdouble(), llvm::APInt(64, scalar.bits[0])));
  if (bits(scalar.dtype) > 64) value = llvm::ConstantInt::get(e_.context(), llvm::APInt(128, {scalar.bits[0], scalar.bits[1]}));
  return lanes == 1 ? value : llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(static_cast<unsigned>(lanes)), value);
}

Value* Numeric::literal(const Scalar& scalar, int lanes) { return decode(scalar.dtype, literal_storage(scalar, lanes)); }

Value* Numeric::float_to_bf16(Value* value) {
  Type* i32 = like(e_.b.getInt32Ty(), value);
  Value* bits = e_.b.CreateBitCast(value, i32);
  Value* lowest = e_.b.CreateAnd(e_.b.CreateLShr(bits, splat(i32, 16)), splat(i32, 1));
  Value* rounded = e_.b.CreateAdd(bits, e_.b.CreateAdd(lowest, splat(i32, 0x7fff)));
  Value* quiet_nan = e_.b.CreateOr(bits, splat(i32, 0x400000));
  Value* chosen = e_.b.CreateSelect(e_.b.CreateFCmpUNO(value, value), quiet_nan, rounded);
  return e_.b.CreateTrunc(e_.b.CreateLShr(chosen, splat(i32, 16)), like(e_.b.getInt16Ty(), value));
}

Value* Numeric::double_to_odd_float(Value* value) {
  Type* f32 = like(e_.b.getFloatTy(), value);
  Type* i32 = like(e_.b.getInt32Ty(), value);
  Value* nearest = e_.b.CreateFPTrunc(value, f32);
  Value* back = e_.b.CreateFPExt(nearest, value->getType());
  auto magnitude = [&](Value* v) { return e_.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v); };
  Value* limit = magnitude(value);
  Value* too_far = e_.b.CreateFCmpOGT(magnitude(back), limit);
  Value* inexact = e_.b.CreateFCmpONE(back, value);
  Value* bits = e_.b.CreateBitCast(nearest, i32);
  Value* toward_zero = e_.b.CreateSub(bits, e_.b.CreateZExt(too_far, i32));
  Value* odd = e_.b.CreateOr(toward_zero, e_.b.CreateZExt(inexact, i32));
  return e_.b.CreateBitCast(odd, f32);
}

Value* Numeric::int_to_float(DType from, DType to, Value* value) {
  const bool is_signed = is_signed_integer(from);
  auto direct = [&](Type* type) { return is_signed ? e_.b.CreateSIToFP(value, type) : e_.b.CreateUIToFP(value, type); };
  if (to == DType::f64) return direct(like(e_.b.getDoubleTy(), value));
  if (to == DType::f32 || bits(from) <= 16) return direct(like(e_.b.getFloatTy(), value));
  if (bits(from) == 64) {
    // From 2^53 on, a double cannot hold all bits. So the lowest 11 are cleared first, and the bit above them is set if any of them was.
    Type* i64 = value->getType();
    Value* magnitude = is_signed ? e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, value, e_.b.getFalse()) : value;
    Value* low = e_.b.CreateAnd(value, splat(i64, 0x7ff));
    Value* sticky = e_.b.CreateShl(e_.b.CreateZExt(e_.b.CreateICmpNE(low, splat(i64, 0)), i64), splat(i64, 11));
    Value* folded = e_.b.CreateOr(e_.b.CreateAnd(value, splat(i64, ~uint64_t{0x7ff})), sticky);
    value = e_.b.CreateSelect(e_.b.CreateICmpUGE(magnitude, splat(i64, uint64_t{1} << 53)), folded, value);
  }
  return double_to_odd_float(direct(like(e_.b.getDoubleTy(), value)));
}

Value* Numeric::convert(DType from, DType to, Value* value) {
  if (from == to) return value;
  if (is_complex(to)) return convert_complex(from, to, value);
  const bool from_float = is_float(from);
  if (to == DType::boolean) {
    if (from_float) return e_.b.CreateFCmpUNE(value, llvm::Constant::getNullValue(value->getType()));
    return e_.b.CreateICmpNE(value, splat(value->getType(), 0));
  }
  Type* type = like(compute_type(to, 1), value);
  if (from == DType::boolean) return is_float(to) ? e_.b.CreateUIToFP(value, type) : e_.b.CreateZExt(value, type);
  if (!from_float && !is_float(to)) return e_.b.CreateIntCast(value, type, is_signed_integer(from));
  if (!from_float) return int_to_float(from, to, value);
  if (!is_float(to)) {
    const auto id = is_signed_integer(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return e_.b.CreateIntrinsic(id, {type, value->getType()}, {value});
  }
  if (from == DType::f64) return to == DType::f32 ? e_.b.CreateFPTrunc(value, type) : double_to_odd_float(value);
  return to == DType::f64 ? e_.b.CreateFPExt(value, type) : value;
}

Value* Numeric::bitcast(DType from, DType to, Value* compute) {
  return decode(to, e_.b.CreateBitCast(encode(from, compute), like(storage_type(to, 1), compute)));
}

}  // namespace strew::inline v0
