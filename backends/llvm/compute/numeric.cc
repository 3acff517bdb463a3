// See numeric.h. Primitives are instructions of LLVM without flags, so integers wrap, and the rules that lowered them keep arguments within their
// domains. Tested by tests/differential on every dtype.
#include "backends/llvm/compute/numeric.h"

#include <llvm/IR/Constants.h>

#include <vector>

#include "compiler/op/expr_math.h"
#include "schedules/target.h"

namespace strew::inline v0 {
namespace {
using llvm::Type;
using llvm::Value;
using lowered::Primitive;

Type* in_lanes(Type* element, int lanes) {
  return lanes == 1 ? element : llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
}
/// A vector of such elements with as many lanes as `shape` has, or one element.
Type* like(Type* element, Value* shape) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(shape->getType());
  return vector == nullptr ? element : in_lanes(element, static_cast<int>(vector->getNumElements()));
}

}  // namespace

/// AArch64 has instructions for IEEE 754's minimum and maximum; for x86 the lowered rule is shorter than LLVM's. But LLVM may do the rule in integers, which flush nothing.
lowered::Natives Numeric::natives_of(const Target& target) {
  const bool is_arm = target.arch == "aarch64", has_extrema = is_arm || target.host_fp;
  return lowered::Natives::all()
      .set(Primitive::fmin, has_extrema)
      .set(Primitive::fmax, has_extrema)
      .set(Primitive::fma, is_arm || (features_of(target) & feature_bit("fma")) != 0)
      .set(Primitive::code_to_float, false)
      .set(Primitive::float_to_code, false)
      .set(Primitive::half_to_float, target.f16c)
      .set(Primitive::float_to_half, target.f16c);
}

Type* Numeric::storage_type(DType dtype, int lanes) {
  Type* type = e_.b.getIntNTy(static_cast<unsigned>(bits(dtype)));
  if (dtype == DType::f32) type = e_.b.getFloatTy();
  if (dtype == DType::f64) type = e_.b.getDoubleTy();
  return in_lanes(type, lanes);
}

llvm::Constant* Numeric::literal_storage(const Scalar& scalar, int lanes) {
  const auto width = static_cast<unsigned>(bits(scalar.dtype));
  const llvm::APInt bits(width, llvm::ArrayRef<uint64_t>(scalar.bits.data(), width > 64 ? 2 : 1));
  llvm::Constant* value = llvm::ConstantInt::get(e_.context(), bits);
  if (scalar.dtype == DType::f32) value = llvm::ConstantFP::get(e_.context(), llvm::APFloat(llvm::APFloat::IEEEsingle(), bits));
  if (scalar.dtype == DType::f64) value = llvm::ConstantFP::get(e_.context(), llvm::APFloat(llvm::APFloat::IEEEdouble(), bits));
  return lanes == 1 ? value : llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(static_cast<unsigned>(lanes)), value);
}

Value* Numeric::part(DType dtype, Value* storage, int part) {
  Type* type = like(type_of(lowered::part_type(dtype), 1), storage);
  if (storage->getType() == type) return storage;
  if (lowered::part_count(dtype) == 1) return e_.b.CreateZExt(storage, type);
  const auto width = static_cast<unsigned>(bits(dtype)) / 2;
  if (part == 1) storage = e_.b.CreateLShr(storage, llvm::ConstantInt::get(storage->getType(), width));
  return e_.b.CreateBitCast(e_.b.CreateTrunc(storage, like(e_.b.getIntNTy(width), storage)), type);
}

Value* Numeric::whole(DType dtype, Value* first, Value* second) {
  Type* type = like(storage_type(dtype, 1), first);
  if (second == nullptr) return first->getType() == type ? first : e_.b.CreateTrunc(first, type);
  const auto width = static_cast<unsigned>(bits(dtype)) / 2;
  Type* half = like(e_.b.getIntNTy(width), first);
  Value* low = e_.b.CreateZExt(e_.b.CreateBitCast(first, half), type);
  Value* high = e_.b.CreateZExt(e_.b.CreateBitCast(second, half), type);
  return e_.b.CreateOr(low, e_.b.CreateShl(high, llvm::ConstantInt::get(type, width)));
}

Type* Numeric::type_of(lowered::Machine type, int lanes) {
  if (type == lowered::Machine::f32) return in_lanes(e_.b.getFloatTy(), lanes);
  if (type == lowered::Machine::f64) return in_lanes(e_.b.getDoubleTy(), lanes);
  return in_lanes(e_.b.getIntNTy(static_cast<unsigned>(width(type))), lanes);
}

/// Calls a function of the math table (base/math), lane by lane, because all of them end in functions of the C library, of which nobody has a
/// vector form with the same bits. Every backend calls the same functions, so the bits agree.
Value* Numeric::call_math(const lowered::Node& node, llvm::ArrayRef<Value*> arguments) {
  const MathFunction* row = find_math_function(node.function);
  Type* type = arguments[0]->getType();
  const std::vector<Type*> parameters(arguments.size(), type->getScalarType());
  llvm::FunctionCallee callee =
      e_.function.getParent()->getOrInsertFunction(node.type == lowered::Machine::f32 ? row->symbol_f32 : row->symbol_f64,
                                                   llvm::FunctionType::get(type->getScalarType(), parameters, false));
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (vector == nullptr) return e_.b.CreateCall(callee, arguments);
  Value* result = llvm::PoisonValue::get(type);
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    std::vector<Value*> lanes;
    for (Value* argument : arguments) lanes.push_back(e_.b.CreateExtractElement(argument, lane));
    result = e_.b.CreateInsertElement(result, e_.b.CreateCall(callee, lanes), lane);
  }
  return result;
}

Value* Numeric::arithmetic(Primitive op, Value* x, Value* y) {
  auto& b = e_.b;
  const bool real = x->getType()->isFPOrFPVectorTy();
  switch (op) {
    case Primitive::add:
      return real ? b.CreateFAdd(x, y) : b.CreateAdd(x, y);
    case Primitive::sub:
      return real ? b.CreateFSub(x, y) : b.CreateSub(x, y);
    case Primitive::mul:
      return real ? b.CreateFMul(x, y) : b.CreateMul(x, y);
    case Primitive::fdiv:
      return b.CreateFDiv(x, y);
    case Primitive::udiv:
      return b.CreateUDiv(x, y);
    case Primitive::urem:
      return b.CreateURem(x, y);
    case Primitive::bit_and:
      return b.CreateAnd(x, y);
    case Primitive::bit_or:
      return b.CreateOr(x, y);
    case Primitive::bit_xor:
      return b.CreateXor(x, y);
    case Primitive::shl:
      return b.CreateShl(x, y);
    case Primitive::lshr:
      return b.CreateLShr(x, y);
    case Primitive::ashr:
      return b.CreateAShr(x, y);
    case Primitive::eq:
      return real ? b.CreateFCmpOEQ(x, y) : b.CreateICmpEQ(x, y);
    case Primitive::flt:
      return b.CreateFCmpOLT(x, y);
    case Primitive::slt:
      return b.CreateICmpSLT(x, y);
    case Primitive::ult:
      return b.CreateICmpULT(x, y);
      STREW_PRIMITIVE_SPECIAL(STREW_PRIMITIVE_CASE)
      STREW_PRIMITIVE_CASTS(STREW_PRIMITIVE_CASE)
      STREW_PRIMITIVE_FUNCTIONS(STREW_PRIMITIVE_CASE)
      STREW_COMPOUNDS(STREW_PRIMITIVE_CASE)
      break;
  }
  return nullptr;
}

Value* Numeric::cast(Primitive op, Type* type, Value* x) {
  auto& b = e_.b;
  switch (op) {
    case Primitive::bitcast:
      return b.CreateBitCast(x, type);
    case Primitive::itrunc:
      return b.CreateTrunc(x, type);
    case Primitive::zext:
      return b.CreateZExt(x, type);
    case Primitive::sext:
      return b.CreateSExt(x, type);
    case Primitive::fptrunc:
      return b.CreateFPTrunc(x, type);
    case Primitive::fpext:
      return b.CreateFPExt(x, type);
    case Primitive::sitofp:
      return b.CreateSIToFP(x, type);
    case Primitive::uitofp:
      return b.CreateUIToFP(x, type);
    case Primitive::fptoui:
      return b.CreateFPToUI(x, type);
      STREW_PRIMITIVE_SPECIAL(STREW_PRIMITIVE_CASE)
      STREW_PRIMITIVE_ARITHMETIC(STREW_PRIMITIVE_CASE)
      STREW_PRIMITIVE_FUNCTIONS(STREW_PRIMITIVE_CASE)
      STREW_COMPOUNDS(STREW_PRIMITIVE_CASE)
      break;
  }
  return nullptr;
}

Value* Numeric::function(Primitive op, Type* type, const std::array<Value*, 3>& args) {
  auto& b = e_.b;
  Value *x = args[0], *y = args[1];
  const auto unary = [&](llvm::Intrinsic::ID id) { return b.CreateUnaryIntrinsic(id, x); };
  const auto binary = [&](llvm::Intrinsic::ID id) { return b.CreateBinaryIntrinsic(id, x, y); };
  const auto saturated = [&](llvm::Intrinsic::ID id) { return b.CreateIntrinsic(id, {type, x->getType()}, {x}); };
  switch (op) {
    case Primitive::floor:
      return unary(llvm::Intrinsic::floor);
    case Primitive::ceil:
      return unary(llvm::Intrinsic::ceil);
    case Primitive::ftrunc:
      return unary(llvm::Intrinsic::trunc);
    case Primitive::roundeven:
      return unary(llvm::Intrinsic::roundeven);
    case Primitive::fma:
      return b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {x, y, args[2]});
    case Primitive::round:
      return unary(llvm::Intrinsic::round);
    case Primitive::sqrt:
      return unary(llvm::Intrinsic::sqrt);
    case Primitive::sdiv:
      return b.CreateSDiv(x, y);
    case Primitive::srem:
      return b.CreateSRem(x, y);
    case Primitive::smin:
      return binary(llvm::Intrinsic::smin);
    case Primitive::smax:
      return binary(llvm::Intrinsic::smax);
    case Primitive::umin:
      return binary(llvm::Intrinsic::umin);
    case Primitive::umax:
      return binary(llvm::Intrinsic::umax);
    case Primitive::iabs:
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b.getFalse());
    case Primitive::popcount:
      return unary(llvm::Intrinsic::ctpop);
    case Primitive::clz:
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, x, b.getFalse());
    case Primitive::fneg:
      return b.CreateFNeg(x);
    case Primitive::fabs:
      return unary(llvm::Intrinsic::fabs);
    case Primitive::copysign:
      return binary(llvm::Intrinsic::copysign);
    case Primitive::unordered:
      return b.CreateFCmpUNO(x, y);
    case Primitive::fmin:
      return binary(llvm::Intrinsic::minimum);
    case Primitive::fmax:
      return binary(llvm::Intrinsic::maximum);
    case Primitive::fptosi_sat:
      return saturated(llvm::Intrinsic::fptosi_sat);
    case Primitive::fptoui_sat:
      return saturated(llvm::Intrinsic::fptoui_sat);
    case Primitive::half_to_float:
      return b.CreateFPExt(b.CreateBitCast(x, like(b.getHalfTy(), x)), type);
    case Primitive::float_to_half:
      return b.CreateBitCast(b.CreateFPTrunc(x, like(b.getHalfTy(), x)), type);
    case Primitive::code_to_float:  // not among the natives
    case Primitive::float_to_code:
      STREW_PRIMITIVE_SPECIAL(STREW_PRIMITIVE_CASE)
      STREW_PRIMITIVE_ARITHMETIC(STREW_PRIMITIVE_CASE)
      STREW_PRIMITIVE_CASTS(STREW_PRIMITIVE_CASE)
      break;
  }
  return nullptr;
}

Value* Numeric::compute(const lowered::Node& node, const std::array<Value*, 3>& args, int lanes) {
  llvm::Type* type = type_of(node.type, lanes);
  switch (node.op) {
    case Primitive::constant:
      if (node.type == lowered::Machine::f32)
        return llvm::ConstantFP::get(type, llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, node.bits)));
      if (node.type == lowered::Machine::f64)
        return llvm::ConstantFP::get(type, llvm::APFloat(llvm::APFloat::IEEEdouble(), llvm::APInt(64, node.bits)));
      return llvm::ConstantInt::get(type, node.bits);
    case Primitive::select:
      return e_.b.CreateSelect(args[0], args[1], args[2]);
    case Primitive::call1:
      return call_math(node, {args[0]});
    case Primitive::call2:
      return call_math(node, {args[0], args[1]});
    case Primitive::call3:
      return call_math(node, args);
    case Primitive::input:  // the caller's
      break;
      STREW_PRIMITIVE_ARITHMETIC(STREW_PRIMITIVE_CASE)
      return arithmetic(node.op, args[0], args[1]);
      STREW_PRIMITIVE_CASTS(STREW_PRIMITIVE_CASE)
      return cast(node.op, type, args[0]);
      STREW_PRIMITIVE_FUNCTIONS(STREW_PRIMITIVE_CASE)
      STREW_COMPOUNDS(STREW_PRIMITIVE_CASE)
      return function(node.op, type, args);
  }
  return nullptr;
}

}  // namespace strew::inline v0
