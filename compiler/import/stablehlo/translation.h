// Translation: the state of one import, and the functions that the handlers of operations use.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringMap.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/IR/Operation.h>
#include <mlir/IR/Value.h>

#include <set>
#include <string>
#include <vector>

#include "compiler/import/mlir/parse.h"
#include "strew/import.h"

namespace strew::inline v0 {

class Translation {
 public:
  Translation(const ParsedModule& module, const ImportOptions& import_options) : parsed(module), options(import_options) {}

  const ParsedModule& parsed;
  const ImportOptions& options;
  Imported out;
  llvm::StringMap<mlir::func::FuncOp> functions;

  /// Starts a function: its kernels are named after `name`, and values of earlier functions can no longer be found.
  void begin_function(std::string name);
  /// Runs the handlers of the function's operations. `results` become the numbers of the values that the function returns.
  Status translate_body(mlir::func::FuncOp function, std::vector<int>& results);
  /// Translates a call of a private function by translating its body in place.
  Status translate_call(mlir::func::CallOp call);

  int add_value(Value value);
  void bind(mlir::Value from, int value) { scopes_.back()[from] = value; }
  /// The value number of operand `index` of `op`.
  int operand(mlir::Operation* op, unsigned index) const { return scopes_.back().lookup(op->getOperand(index)); }

  /// Verifies `op`, with StableHLO's own constraints, adds its kernel, and binds the results of `from` to the kernel's.
  Status add_kernel(mlir::Operation* from, Op op, std::vector<int> arguments, bool fixed_policy = false);
  /// Adds an operation that the interpreter evaluates and binds its results. This function fills in location and arguments.
  Status add_compute(mlir::Operation* from, Compute compute);

 private:
  Status translate(mlir::Operation* op);
  std::string kernel_name();

  std::vector<llvm::DenseMap<mlir::Value, int>> scopes_;
  std::string function_;
  std::set<std::string> names_;
  int next_number_ = 2;  ///< for the next kernel of the function
  int operations_ = 0;
};

}  // namespace strew::inline v0
