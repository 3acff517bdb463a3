// Numeric: arithmetic on strew's dtypes as LLVM IR, for scalars and vectors alike.
//
// Every dtype has a storage form, which is the type of its bits in memory: float, double, or iN for all others, 16-bit floats and bool included.
// Its compute form is the type that operators work on: i1 for bool, iN for integers, float for floats of at most 32 bits, double for f64, and
// {re, im} for complex. decode() turns storage into compute form, encode() the reverse. For narrow floats, encode() rounds to nearest even in
// integer code that keeps subnormals. LLVM's type half is used only if the target converts it exactly (F16C), and bfloat never.
// Tested by tests/differential and tests/oracle/narrow_floats.
#pragma once

#include "backends/llvm/codegen/emitter.h"
#include "strew/dtype.h"
#include "strew/expr.h"
#include "strew/target.h"

namespace strew::inline v0 {

class Numeric {
 public:
  Numeric(Emitter& emitter, const Target& target) : e_(emitter), f16c_(target.f16c), has_extrema_(target.arch == "aarch64") {}

  /// The storage type of one element, or of a vector of `lanes` elements.
  llvm::Type* storage_type(DType dtype, int lanes);
  llvm::Type* compute_type(DType dtype, int lanes);

  llvm::Value* decode(DType dtype, llvm::Value* storage);
  llvm::Value* encode(DType dtype, llvm::Value* compute);
  llvm::Value* literal(const Scalar& scalar, int lanes);  ///< compute form
  llvm::Value* literal_storage(const Scalar& scalar, int lanes);

  /// Converts with one rounding from the exact value. The result is in compute form. A narrow float is not yet rounded to its width then, but
  /// is such that encode() gives what one rounding from the exact value would.
  llvm::Value* convert(DType from, DType to, llvm::Value* value);

  llvm::Value* unary(ExprOp op, DType dtype, llvm::Value* a);
  llvm::Value* binary(ExprOp op, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* compare(ExprOp op, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* bitcast(DType from, DType to, llvm::Value* compute);
  llvm::Value* make_complex(llvm::Value* re, llvm::Value* im);
  llvm::Value* real(llvm::Value* complex);
  llvm::Value* imag(llvm::Value* complex);

  /// Must the results of operators in this dtype be rounded, because they are computed in a wider type?
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
  llvm::Value* inverse_root(llvm::Value* a);
  llvm::Value* call_math(ExprOp op, std::initializer_list<llvm::Value*> arguments);
  llvm::Type* like(llvm::Type* element, llvm::Value* shape);
  llvm::Value* splat(llvm::Type* type, uint64_t value);

  Emitter& e_;
  bool f16c_;
  bool has_extrema_;  ///< has instructions for IEEE 754's minimum and maximum
};

}  // namespace strew::inline v0
