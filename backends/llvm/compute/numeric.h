// Numeric: elements of strew's dtypes, and the operations of lowered graphs (backends/lower) on them, as LLVM IR, for scalars and vectors alike.
//
// The storage form of a dtype is the type of its bits in memory: float, double, or iN for all others. LLVM's type half is used only if the target
// converts it exactly (F16C), and bfloat never. Tested by tests/differential and tests/oracle/narrow_floats.
#pragma once

#include <array>

#include "backends/llvm/codegen/emitter.h"
#include "backends/lower/graph.h"
#include "strew/dtype.h"
#include "strew/scalar.h"
#include "strew/target.h"

namespace strew::inline v0 {

class Numeric {
 public:
  Numeric(Emitter& emitter, const Target& target) : e_(emitter), natives_(natives_of(target)) {}

  /// The storage type of one element, or of a vector of `lanes` elements.
  llvm::Type* storage_type(DType dtype, int lanes);
  llvm::Constant* literal_storage(const Scalar& scalar, int lanes);

  /// The compounds for which LLVM has short code.
  lowered::Natives natives() const { return natives_; }
  /// A part of a storage form (lowered::part_type), and the storage form of the parts; the second is null where there is one part.
  llvm::Value* part(DType dtype, llvm::Value* storage, int part);
  llvm::Value* whole(DType dtype, llvm::Value* first, llvm::Value* second);
  /// A node other than an input, of the values of its arguments.
  llvm::Value* compute(const lowered::Node& node, const std::array<llvm::Value*, 3>& args, int lanes);

 private:
  static lowered::Natives natives_of(const Target& target);
  llvm::Type* type_of(lowered::Machine type, int lanes);
  llvm::Value* arithmetic(lowered::Primitive op, llvm::Value* x, llvm::Value* y);
  llvm::Value* cast(lowered::Primitive op, llvm::Type* type, llvm::Value* x);
  llvm::Value* function(lowered::Primitive op, llvm::Type* type, const std::array<llvm::Value*, 3>& args);  ///< and compounds
  llvm::Value* call_math(const lowered::Node& node, llvm::ArrayRef<llvm::Value*> arguments);

  Emitter& e_;
  lowered::Natives natives_;
};

}  // namespace strew::inline v0
