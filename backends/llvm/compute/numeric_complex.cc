// See numeric.h. This file has complex numbers. Their compute form is an LLVM struct {re, im} of scalars or vectors; their storage form is one
// integer with the bits of both, so a pure move never takes them apart. As docs/semantics.md section 4 says, every operation on a part rounds
// on its own, and division is Smith's method; both arms of its branch are computed, and the right one is selected. Tested by tests/differential.
#include <llvm/IR/Constants.h>

#include "backends/llvm/compute/numeric.h"

namespace strew::inline v0 {
using llvm::Value;

namespace {
DType part_dtype(DType dtype) { return dtype == DType::complex64 ? DType::f32 : DType::f64; }
}  // namespace

Value* Numeric::make_complex(Value* re, Value* im) {
  llvm::Type* type = llvm::StructType::get(e_.context(), {re->getType(), im->getType()});
  return e_.b.CreateInsertValue(e_.b.CreateInsertValue(llvm::PoisonValue::get(type), re, 0), im, 1);
}
Value* Numeric::real(Value* complex) { return e_.b.CreateExtractValue(complex, 0); }
Value* Numeric::imag(Value* complex) { return e_.b.CreateExtractValue(complex, 1); }

Value* Numeric::decode_complex(DType dtype, Value* storage) {
  const DType part = part_dtype(dtype);
  llvm::Type* half = like(e_.b.getIntNTy(static_cast<unsigned>(bits(part))), storage);
  llvm::Type* value = like(storage_type(part, 1), storage);
  Value* high = e_.b.CreateLShr(storage, splat(storage->getType(), static_cast<uint64_t>(bits(part))));
  Value* im = e_.b.CreateBitCast(e_.b.CreateTrunc(high, half), value);
  return make_complex(e_.b.CreateBitCast(e_.b.CreateTrunc(storage, half), value), im);
}

Value* Numeric::encode_complex(DType dtype, Value* complex) {
  const DType part = part_dtype(dtype);
  llvm::Type* half = like(e_.b.getIntNTy(static_cast<unsigned>(bits(part))), real(complex));
  llvm::Type* whole = like(e_.b.getIntNTy(static_cast<unsigned>(bits(dtype))), real(complex));
  Value* low = e_.b.CreateZExt(e_.b.CreateBitCast(real(complex), half), whole);
  Value* high = e_.b.CreateZExt(e_.b.CreateBitCast(imag(complex), half), whole);
  return e_.b.CreateOr(low, e_.b.CreateShl(high, splat(whole, static_cast<uint64_t>(bits(part)))));
}

Value* Numeric::convert_complex(DType from, DType to, Value* value) {
  const DType part = part_dtype(to);
  if (is_complex(from)) {
    Value* im = convert(part_dtype(from), part, imag(value));
    return make_complex(convert(part_dtype(from), part, real(value)), im);
  }
  Value* re = convert(from, part, value);
  return make_complex(re, llvm::Constant::getNullValue(re->getType()));
}

Value* Numeric::select_complex(Value* condition, Value* a, Value* b) {
  Value *bi = imag(b), *ai = imag(a);
  Value* im = e_.b.CreateSelect(condition, ai, bi);
  Value *br = real(b), *ar = real(a);
  return make_complex(e_.b.CreateSelect(condition, ar, br), im);
}

Value* Numeric::compare_complex(ExprOp op, Value* a, Value* b) {
  Value *bi = imag(b), *ai = imag(a);
  Value* imaginary = e_.b.CreateFCmpOEQ(ai, bi);
  Value *br = real(b), *ar = real(a);
  Value* equal = e_.b.CreateAnd(e_.b.CreateFCmpOEQ(ar, br), imaginary);
  return op == ExprOp::eq ? equal : e_.b.CreateNot(equal);
}

Value* Numeric::binary_complex(ExprOp op, Value* a, Value* b) {
  auto& ir = e_.b;
  Value *ar = real(a), *ai = imag(a), *br = real(b), *bi = imag(b);
  switch (op) {
    case ExprOp::add: {
      Value* im = ir.CreateFAdd(ai, bi);
      return make_complex(ir.CreateFAdd(ar, br), im);
    }
    case ExprOp::sub: {
      Value* im = ir.CreateFSub(ai, bi);
      return make_complex(ir.CreateFSub(ar, br), im);
    }
    case ExprOp::mul: {
      Value *ai_br = ir.CreateFMul(ai, br), *ar_bi = ir.CreateFMul(ar, bi);
      Value* im = ir.CreateFAdd(ar_bi, ai_br);
      Value *ai_bi = ir.CreateFMul(ai, bi), *ar_br = ir.CreateFMul(ar, br);
      return make_complex(ir.CreateFSub(ar_br, ai_bi), im);
    }
    case ExprOp::div:
      break;
    case ExprOp::rem:
    case ExprOp::min:
    case ExprOp::max:
    case STREW_EACH_OP(BINARY_MATH):
    case STREW_EACH_OP(BINARY_BITS):
    case STREW_EACH_OP(SHIFT):
    case STREW_EACH_OP(INPUT):
    case STREW_EACH_OP(CAST):
    case STREW_EACH_OP(UNARY):
    case STREW_EACH_OP(COMPLEX):
    case STREW_EACH_OP(TEST):
    case STREW_EACH_OP(COMPARE):
    case STREW_EACH_OP(SELECT):
      return nullptr;  // verify() admits no other operator of two complex numbers
  }
  const auto magnitude = [&](Value* v) { return ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v); };
  Value *size_of_bi = magnitude(bi), *size_of_br = magnitude(br);
  Value* real_is_larger = ir.CreateFCmpOGE(size_of_br, size_of_bi);
  Value* r = ir.CreateFDiv(bi, br);
  Value* d = ir.CreateFAdd(br, ir.CreateFMul(bi, r));
  Value* im = ir.CreateFDiv(ir.CreateFSub(ai, ir.CreateFMul(ar, r)), d);
  Value* first = make_complex(ir.CreateFDiv(ir.CreateFAdd(ar, ir.CreateFMul(ai, r)), d), im);
  r = ir.CreateFDiv(br, bi);
  d = ir.CreateFAdd(ir.CreateFMul(br, r), bi);
  im = ir.CreateFDiv(ir.CreateFSub(ir.CreateFMul(ai, r), ar), d);
  Value* second = make_complex(ir.CreateFDiv(ir.CreateFAdd(ir.CreateFMul(ar, r), ai), d), im);
  return select_complex(real_is_larger, first, second);
}

}  // namespace strew::inline v0
