// OpReader: what a handler reads of an operation that becomes no kernel: its attributes and operands, checked, and the builder of what the
// operation means. Error messages have no location.
#pragma once

#include <mlir/IR/Operation.h>

#include <initializer_list>
#include <vector>

#include "compiler/import/builder/program_builder.h"
#include "compiler/import/mlir/attributes.h"
#include "compiler/import/mlir/translation.h"

namespace strew::inline v0 {

class OpReader {
 public:
  OpReader(Translation& t, mlir::Operation* op);

  ProgramBuilder build;
  const Attributes attributes;

  Translation& translation() const { return t_; }
  mlir::Operation* op() const { return op_; }
  int operand(unsigned index) const { return t_.operand(op_, index); }
  std::vector<int> operands() const { return t_.operands(op_); }
  mlir::Type operand_type(unsigned index) const { return op_->getOperand(index).getType(); }
  mlir::Type result_type() const { return op_->getResult(0).getType(); }

  /// Refuses an operation that has not `operands` operands, one result and no region, or attributes other than `known`.
  Status has(unsigned operands, std::initializer_list<llvm::StringRef> known) const;
  /// has(), of an operation that only moves elements: refuses operands of other element types than the result's, and types that are no tensors.
  Status moves(unsigned operands, std::initializer_list<llvm::StringRef> known) const;
  /// The attribute `name`, a dim of a tensor of the rank.
  Expected<int64_t> dim(llvm::StringRef name, int rank) const;
  /// The attribute `name`, different dims of a tensor of the rank.
  Expected<std::vector<int64_t>> dims(llvm::StringRef name, int rank) const;
  int operand_rank(unsigned index) const { return build.type(operand(index)).rank(); }
  /// The type of the result, whose extents must be known.
  Expected<TensorType> static_result() const;

 private:
  Translation& t_;
  mlir::Operation* op_;
};

/// Binds the results of `op` to what `values` are, with what the file declares of their types.
Status bind_results(Translation& t, ProgramBuilder& build, mlir::Operation* op, const std::vector<int>& values);

/// Binds the one result of the operation to the value that `read` makes of the operation.
Status import_with(Translation& t, mlir::Operation* op, Expected<int> (*read)(OpReader&));

/// The handler of an operation that `read` reads.
template <Expected<int> (*read)(OpReader&)>
Status import_as(Translation& t, mlir::Operation* op) {
  return import_with(t, op, read);
}

}  // namespace strew::inline v0
