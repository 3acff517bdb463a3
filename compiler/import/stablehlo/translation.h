// Translation: the state of one import, and what every operation's handler may ask of it.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringMap.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/IR/Operation.h>
#include <mlir/IR/Value.h>

#include <set>
#include <string>
#include <vector>

#include "compiler/import/importer.h"
#include "compiler/import/mlir/parse.h"

namespace strew {

class Translation {
 public:
  Translation(const ParsedModule& module, const ImportOptions& import_options) : parsed(module), options(import_options) {}

  const ParsedModule& parsed;
  const ImportOptions& options;
  Imported out;
  llvm::StringMap<mlir::func::FuncOp> functions;

  /// Kernels that follow are named after `name`; values of earlier functions are out of sight.
  void begin_function(std::string name);
  /// Runs the handlers of the function's operations; `results` are the value numbers it returns.
  Status translate_body(mlir::func::FuncOp function, std::vector<int>& results);
  /// A call of a private function: its body, here.
  Status translate_call(mlir::func::CallOp call);

  int add_value(Value value);
  void bind(mlir::Value from, int value) { scopes_.back()[from] = value; }
  /// The value number of operand `index` of `op`.
  int operand(mlir::Operation* op, unsigned index) const { return scopes_.back().lookup(op->getOperand(index)); }

  /// Verifies the op with StableHLO's own constraints, adds its kernel and binds its results.
  Status add_kernel(mlir::Operation* from, Op op, std::vector<int> arguments, bool fixed_policy = false);
  /// Adds an operation that the interpreter evaluates; location and arguments are filled in here. Binds its results.
  Status add_compute(mlir::Operation* from, Compute compute);

 private:
  Status translate(mlir::Operation* op);
  std::string kernel_name();

  std::vector<llvm::DenseMap<mlir::Value, int>> scopes_;
  std::string function_;
  std::set<std::string> names_;
  int next_number_ = 2;  ///< of the function's kernels
  int operations_ = 0;
};

}  // namespace strew
