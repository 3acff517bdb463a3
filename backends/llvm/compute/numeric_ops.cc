// See numeric.h. This file has the operators of expression graphs, as docs/semantics.md section 4 defines them: integer division and shifts are
// guarded against operands for which the machine's instructions trap or are undefined, and float minimum and maximum are those of
// IEEE 754-2019. Tested by tests/differential on every dtype.
#include <llvm/IR/Constants.h>

#include <vector>

#include "backends/llvm/compute/numeric.h"
#include "compiler/op/expr_math.h"

namespace strew::inline v0 {
using llvm::Value;

Value* Numeric::unary(ExprOp op, DType dtype, Value* a) {
  if (is_complex(dtype)) {  // neg: verify() admits no other unary operator
    Value* im = e_.b.CreateFNeg(imag(a));
    return make_complex(e_.b.CreateFNeg(this->real(a)), im);
  }
  using llvm::Intrinsic::ID;
  auto intrinsic = [&](ID id) { return e_.b.CreateUnaryIntrinsic(id, a); };
  const bool real = is_float(dtype);
  llvm::Type* type = a->getType();
  switch (op) {
    case ExprOp::neg:
      return real ? e_.b.CreateFNeg(a) : e_.b.CreateNeg(a);
    case ExprOp::abs:
      if (real) return intrinsic(llvm::Intrinsic::fabs);
      return is_signed_integer(dtype) ? e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, e_.b.getFalse()) : a;
    case ExprOp::sign: {
      Value* zero = llvm::Constant::getNullValue(type);
      if (real) {
        Value* one = e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, llvm::ConstantFP::get(type, 1.0), a);
        return e_.b.CreateSelect(e_.b.CreateFCmpONE(a, zero), one, a);  // zeros keep their sign, NaN stays
      }
      Value* positive = e_.b.CreateZExt(e_.b.CreateICmpNE(a, zero), type);
      if (!is_signed_integer(dtype)) return positive;
      return e_.b.CreateSelect(e_.b.CreateICmpSLT(a, zero), llvm::Constant::getAllOnesValue(type), positive);
    }
    case ExprOp::bit_not:
      return e_.b.CreateNot(a);
    case ExprOp::popcnt:
      return intrinsic(llvm::Intrinsic::ctpop);
    case ExprOp::count_leading_zeros:
      return e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, a, e_.b.getFalse());
    case ExprOp::floor:
      return intrinsic(llvm::Intrinsic::floor);
    case ExprOp::ceil:
      return intrinsic(llvm::Intrinsic::ceil);
    case ExprOp::round_half_even:
      return intrinsic(llvm::Intrinsic::roundeven);
    case ExprOp::round_half_away:
      return intrinsic(llvm::Intrinsic::round);
    case ExprOp::trunc:
      return intrinsic(llvm::Intrinsic::trunc);
    case ExprOp::sqrt:
      return intrinsic(llvm::Intrinsic::sqrt);
    case ExprOp::is_finite:
      return e_.b.CreateFCmpOLT(intrinsic(llvm::Intrinsic::fabs), llvm::ConstantFP::getInfinity(type));
    case STREW_EACH_OP(UNARY_MATH):
      return op == ExprOp::rsqrt ? inverse_root(a) : call_math(op, {a});
    case STREW_EACH_OP(INPUT):
    case STREW_EACH_OP(CAST):
    case STREW_EACH_OP(BINARY):
    case STREW_EACH_OP(COMPLEX):
    case STREW_EACH_OP(COMPARE):
    case STREW_EACH_OP(SELECT):
      break;
  }
  return nullptr;  // verify() admits no other operator of one argument
}

/// The operations of the math table's rsqrt (base/math/math.cc), on all lanes at once: IEEE 754 says what the bits of each of them are. In f32,
/// it is computed in f64 and rounded once.
Value* Numeric::inverse_root(Value* a) {
  llvm::Type* type = a->getType();
  llvm::Type* wide = like(e_.b.getDoubleTy(), a);
  Value* root = e_.b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, e_.b.CreateFPExt(a, wide));
  return e_.b.CreateFPTrunc(e_.b.CreateFDiv(llvm::ConstantFP::get(wide, 1.0), root), type);
}

/// Calls a function of the math table (base/math), lane by lane, because all but rsqrt end in
/// functions of the C library, of which nobody has a vector form with the same bits. Every backend calls the same functions, so the bits agree.
Value* Numeric::call_math(ExprOp op, std::initializer_list<Value*> arguments) {
  const MathFunction* row = find_math_function(op);
  llvm::Type* type = (*arguments.begin())->getType();
  llvm::Type* scalar = type->getScalarType();
  const std::vector<llvm::Type*> parameters(arguments.size(), scalar);
  llvm::FunctionCallee callee = e_.function.getParent()->getOrInsertFunction(
      scalar->isFloatTy() ? row->symbol_f32 : row->symbol_f64, llvm::FunctionType::get(scalar, parameters, false));
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (vector == nullptr) return e_.b.CreateCall(callee, std::vector<Value*>(arguments));
  Value* result = llvm::PoisonValue::get(type);
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    std::vector<Value*> lanes;
    for (Value* argument : arguments) lanes.push_back(e_.b.CreateExtractElement(argument, lane));
    result = e_.b.CreateInsertElement(result, e_.b.CreateCall(callee, lanes), lane);
  }
  return result;
}

Value* Numeric::binary(ExprOp op, DType dtype, Value* a, Value* b) {
  if (is_float(dtype)) return float_binary(op, a, b);
  if (is_complex(dtype)) return binary_complex(op, a, b);
  if (dtype == DType::boolean) {
    switch (op) {
      case ExprOp::add:
      case ExprOp::max:
      case ExprOp::bit_or:
        return e_.b.CreateOr(a, b);
      case ExprOp::mul:
      case ExprOp::min:
      case ExprOp::bit_and:
        return e_.b.CreateAnd(a, b);
      case ExprOp::bit_xor:
        return e_.b.CreateXor(a, b);
      case ExprOp::sub:
      case ExprOp::div:
      case ExprOp::rem:
      case STREW_EACH_OP(BINARY_MATH):
      case STREW_EACH_OP(SHIFT):
      case STREW_EACH_OP(INPUT):
      case STREW_EACH_OP(CAST):
      case STREW_EACH_OP(UNARY):
      case STREW_EACH_OP(COMPLEX):
      case STREW_EACH_OP(TEST):
      case STREW_EACH_OP(COMPARE):
      case STREW_EACH_OP(SELECT):
        break;
    }
    return nullptr;  // verify() admits no other operator of two bools
  }
  return int_binary(op, dtype, a, b);
}

/// Minimum and maximum from x86's instructions, which compute a < b ? a : b. That is computed for (a, b) and for (b, a). The two results differ
/// in two cases only. For zeros of different sign one is +0 and one is -0: `or` of the bits gives -0, as min needs, and `and` gives +0, as max
/// needs. If one operand is NaN, one result is that NaN, which `or` keeps; max adds the NaN by an `or` with a mask. This takes three operations
/// for min and five for max, without blends; llvm.minimum and llvm.maximum take five, three of them blends.
/// AArch64 has one instruction for each.
Value* Numeric::float_extremum(bool is_max, Value* a, Value* b) {
  llvm::Type* type = a->getType();
  if (has_extrema_) return e_.b.CreateBinaryIntrinsic(is_max ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, a, b);
  llvm::Type* bits = e_.b.getIntNTy(type->getScalarSizeInBits());
  if (const auto* vector = llvm::dyn_cast<llvm::VectorType>(type)) bits = llvm::VectorType::get(bits, vector->getElementCount());
  const auto one_way = [&](Value* x, Value* y) {
    Value* wins = is_max ? e_.b.CreateFCmpOGT(x, y) : e_.b.CreateFCmpOLT(x, y);
    return e_.b.CreateBitCast(e_.b.CreateSelect(wins, x, y), bits);
  };
  Value *first = one_way(a, b), *second = one_way(b, a);
  if (!is_max) return e_.b.CreateBitCast(e_.b.CreateOr(first, second), type);
  Value* nan = e_.b.CreateSExt(e_.b.CreateFCmpUNO(a, b), bits);
  return e_.b.CreateBitCast(e_.b.CreateOr(e_.b.CreateAnd(first, second), nan), type);
}

Value* Numeric::float_binary(ExprOp op, Value* a, Value* b) {
  switch (op) {
    case ExprOp::add:
      return e_.b.CreateFAdd(a, b);
    case ExprOp::sub:
      return e_.b.CreateFSub(a, b);
    case ExprOp::mul:
      return e_.b.CreateFMul(a, b);
    case ExprOp::div:
      return e_.b.CreateFDiv(a, b);
    case ExprOp::min:
    case ExprOp::max:
      return float_extremum(op == ExprOp::max, a, b);
    case ExprOp::rem:
    case STREW_EACH_OP(BINARY_MATH):
      return call_math(op, {a, b});
    case STREW_EACH_OP(BINARY_BITS):
    case STREW_EACH_OP(SHIFT):
    case STREW_EACH_OP(INPUT):
    case STREW_EACH_OP(CAST):
    case STREW_EACH_OP(UNARY):
    case STREW_EACH_OP(COMPLEX):
    case STREW_EACH_OP(TEST):
    case STREW_EACH_OP(COMPARE):
    case STREW_EACH_OP(SELECT):
      break;
  }
  return nullptr;  // verify() admits no other operator of two floats
}

Value* Numeric::int_binary(ExprOp op, DType dtype, Value* a, Value* b) {
  const bool is_signed = is_signed_integer(dtype);
  switch (op) {
    case ExprOp::add:
      return e_.b.CreateAdd(a, b);
    case ExprOp::sub:
      return e_.b.CreateSub(a, b);
    case ExprOp::mul:
      return e_.b.CreateMul(a, b);
    case ExprOp::div:
    case ExprOp::rem:
      return int_divide(op, is_signed, a, b);
    case ExprOp::min:
      return e_.b.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, b);
    case ExprOp::max:
      return e_.b.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, b);
    case ExprOp::bit_and:
      return e_.b.CreateAnd(a, b);
    case ExprOp::bit_or:
      return e_.b.CreateOr(a, b);
    case ExprOp::bit_xor:
      return e_.b.CreateXor(a, b);
    case ExprOp::shift_left:
    case ExprOp::shift_right_logical:
    case ExprOp::shift_right_arithmetic:
      return int_shift(op, a, b);
    case STREW_EACH_OP(BINARY_MATH):
    case STREW_EACH_OP(INPUT):
    case STREW_EACH_OP(CAST):
    case STREW_EACH_OP(UNARY):
    case STREW_EACH_OP(COMPLEX):
    case STREW_EACH_OP(TEST):
    case STREW_EACH_OP(COMPARE):
    case STREW_EACH_OP(SELECT):
      break;
  }
  return nullptr;  // verify() admits no other operator of two integers
}

Value* Numeric::int_divide(ExprOp op, bool is_signed, Value* a, Value* b) {
  llvm::Type* type = a->getType();
  Value* zero = llvm::Constant::getNullValue(type);
  Value* one = llvm::ConstantInt::get(type, 1);
  Value* by_zero = e_.b.CreateICmpEQ(b, zero);
  Value* special = by_zero;
  if (is_signed) {
    // x / -1 is -x, which wraps, and x rem -1 is 0. Both are computed by dividing by 1, because the hardware traps on MIN / -1.
    Value* by_minus_one = e_.b.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(type));
    special = e_.b.CreateOr(by_zero, by_minus_one);
    Value* safe = e_.b.CreateSelect(special, one, b);
    if (op == ExprOp::rem) return e_.b.CreateSelect(by_zero, a, e_.b.CreateSRem(a, safe));
    Value *divided = e_.b.CreateSDiv(a, safe), *negated = e_.b.CreateNeg(a);
    Value* quotient = e_.b.CreateSelect(by_minus_one, negated, divided);
    return e_.b.CreateSelect(by_zero, llvm::Constant::getAllOnesValue(type), quotient);
  }
  Value* safe = e_.b.CreateSelect(special, one, b);
  if (op == ExprOp::rem) return e_.b.CreateSelect(by_zero, a, e_.b.CreateURem(a, safe));
  return e_.b.CreateSelect(by_zero, llvm::Constant::getAllOnesValue(type), e_.b.CreateUDiv(a, safe));
}

Value* Numeric::int_shift(ExprOp op, Value* a, Value* b) {
  llvm::Type* type = a->getType();
  const unsigned width = type->getScalarSizeInBits();
  Value* last = llvm::ConstantInt::get(type, width - 1);
  Value* too_far = e_.b.CreateICmpUGT(b, last);
  Value* amount = e_.b.CreateSelect(too_far, last, b);
  if (op == ExprOp::shift_right_arithmetic) return e_.b.CreateAShr(a, amount);
  Value* shifted = op == ExprOp::shift_left ? e_.b.CreateShl(a, amount) : e_.b.CreateLShr(a, amount);
  return e_.b.CreateSelect(too_far, llvm::Constant::getNullValue(type), shifted);
}

Value* Numeric::compare(ExprOp op, DType dtype, Value* a, Value* b) {
  using P = llvm::CmpInst::Predicate;
  if (is_complex(dtype)) return compare_complex(op, a, b);
  const bool is_signed = is_signed_integer(dtype);
  const bool real = is_float(dtype);
  P p = P::ICMP_EQ;
  switch (op) {
    case ExprOp::eq:
      p = real ? P::FCMP_OEQ : P::ICMP_EQ;
      break;
    case ExprOp::ne:
      p = real ? P::FCMP_UNE : P::ICMP_NE;
      break;
    case ExprOp::lt:
      p = real ? P::FCMP_OLT : is_signed ? P::ICMP_SLT : P::ICMP_ULT;
      break;
    case ExprOp::le:
      p = real ? P::FCMP_OLE : is_signed ? P::ICMP_SLE : P::ICMP_ULE;
      break;
    case ExprOp::gt:
      p = real ? P::FCMP_OGT : is_signed ? P::ICMP_SGT : P::ICMP_UGT;
      break;
    case ExprOp::ge:
      p = real ? P::FCMP_OGE : is_signed ? P::ICMP_SGE : P::ICMP_UGE;
      break;
    case STREW_EACH_OP(INPUT):
    case STREW_EACH_OP(CAST):
    case STREW_EACH_OP(BINARY):
    case STREW_EACH_OP(UNARY):
    case STREW_EACH_OP(COMPLEX):
    case STREW_EACH_OP(TEST):
    case STREW_EACH_OP(SELECT):
      return nullptr;  // no comparison
  }
  return e_.b.CreateCmp(p, a, b);
}

}  // namespace strew::inline v0
