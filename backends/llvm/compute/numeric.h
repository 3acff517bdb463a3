// Numeric: arithmetic on strew's dtypes as LLVM IR, for scalars and vectors alike.
//
// Every dtype has a storage form (the bits in memory: iN, float, double; 16-bit floats and bool are integers) and a compute form (bool:
// i1, integers: iN, floats of at most 32 bits: float, f64: double, complex: {re, im}).
// decode and encode go between them; encode of a narrow float rounds
// to nearest even in integer code that keeps subnormals. LLVM's half only appears where the hardware converts it exactly (F16C), bfloat never.
#pragma once

#include "backends/llvm/codegen/emitter.h"
#include "base/dtype.h"
#include "compiler/op/expr.h"

namespace strew {

class Numeric {
 public:
  Numeric(Emitter& emitter, bool f16c) : e_(emitter), f16c_(f16c) {}

  /// Storage type of one element, or a vector of `lanes` of them.
  llvm::Type* storage_type(DType dtype, int lanes);
  llvm::Type* compute_type(DType dtype, int lanes);

  llvm::Value* decode(DType dtype, llvm::Value* storage);
  llvm::Value* encode(DType dtype, llvm::Value* compute);
  llvm::Value* literal(const Scalar& scalar, int lanes);  ///< compute form
  llvm::Value* literal_storage(const Scalar& scalar, int lanes);

  /// One rounding from the exact value. The result is in compute form; for narrow floats it is encode()'s operand, not yet
  /// rounded to their width, but such that encode() rounds it once.
  llvm::Value* convert(DType from, DType to, llvm::Value* value);

  llvm::Value* unary(ExprOp op, DType dtype, llvm::Value* a);
  llvm::Value* binary(ExprOp op, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* compare(ExprOp op, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* bitcast(DType from, DType to, llvm::Value* compute);
  llvm::Value* make_complex(llvm::Value* re, llvm::Value* im);
  llvm::Value* real(llvm::Value* complex);
  llvm::Value* imag(llvm::Value* complex);

  /// Does arithmetic in this dtype need a rounding after each node?
  static bool rounds_after(DType dtype) { return is_float(dtype) && bits(dtype) <= 16; }

 private:
  llvm::Value* int_binary(ExprOp op, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* int_divide(ExprOp op, bool is_signed, llvm::Value* a, llvm::Value* b);
  llvm::Value* int_shift(ExprOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* float_binary(ExprOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* float_extremum(bool is_max, llvm::Value* a, llvm::Value* b);
  llvm::Value* int_to_float(DType from, DType to, llvm::Value* value);
  llvm::Value* double_to_odd_float(llvm::Value* value);
  llvm::Value* float_to_bf16(llvm::Value* value);
  llvm::Value* decode_small(DType dtype, llvm::Value* storage);  // numeric_small.cc
  llvm::Value* encode_small(DType dtype, llvm::Value* compute);
  llvm::Value* decode_complex(DType dtype, llvm::Value* storage);  // numeric_complex.cc
  llvm::Value* encode_complex(DType dtype, llvm::Value* complex);
  llvm::Value* convert_complex(DType from, DType to, llvm::Value* value);
  llvm::Value* select_complex(llvm::Value* condition, llvm::Value* a, llvm::Value* b);
  llvm::Value* compare_complex(ExprOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* binary_complex(ExprOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* call_math(ExprOp op, std::initializer_list<llvm::Value*> arguments);
  llvm::Type* like(llvm::Type* element, llvm::Value* shape);
  llvm::Value* splat(llvm::Type* type, uint64_t value);

  Emitter& e_;
  bool f16c_;
};

}  // namespace strew
