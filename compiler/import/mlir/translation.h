// Translation: the state of one import, and the functions that the handlers of operations use. An operation that has no handler, or that its
// handler refuses, becomes an Opaque, and its regions are translated for the kernels in them.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/ADT/StringSet.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/IR/Operation.h>
#include <mlir/IR/Value.h>

#include <set>
#include <string>
#include <vector>

#include "compiler/import/mlir/parse.h"
#include "strew/import.h"

namespace strew::inline v0 {

struct OpRow;

/// A condition that must hold when the program runs.
struct Assertion {
  int value = 0;  ///< rank-0 i32: 1 if it holds
  std::string message, location;
};

class Translation {
 public:
  Translation(const ParsedModule& module, const ImportOptions& import_options) : parsed(module), options(import_options) {}

  const ParsedModule& parsed;
  const ImportOptions& options;
  Program out;
  llvm::StringMap<mlir::func::FuncOp> functions;
  std::vector<Assertion> assertions;
  std::string xla_attribute;  ///< an attribute that says that JAX or TensorFlow wrote the module; empty: none does
  bool keeps_calls = false;   ///< calls of functions are opaque

  /// Starts a function: its kernels are named after `name`, and values of earlier functions can no longer be found.
  void begin_function(std::string name);
  /// Translates the function's operations. `results` become the numbers of the values that the function returns.
  Status translate_body(mlir::func::FuncOp function, std::vector<int>& results);
  /// The same of a function of several blocks. Which of them run is not known, so the results are those of an opaque operation.
  Status translate_blocks(mlir::func::FuncOp function, std::vector<int>& results);
  /// Fails unless the function returns as many values as its type says: a block may end without func.return.
  Status check_count(mlir::func::FuncOp function, size_t results) const;
  /// Translates a call of a private function by translating its body in place.
  Status translate_call(mlir::func::CallOp call);

  /// No value but the caller's may have this name.
  void reserve(llvm::StringRef name) { value_names_.insert(name); }
  /// Makes `value` the number of `from`, and gives it the name of `from` in the file if it has none.
  void bind(mlir::Value from, int value);
  /// The value number of operand `index` of `op`.
  int operand(mlir::Operation* op, unsigned index) const { return scopes_.back().lookup(op->getOperand(index)); }
  std::vector<int> operands(mlir::Operation* op) const {
    std::vector<int> out;
    for (const mlir::Value value : op->getOperands()) out.push_back(scopes_.back().lookup(value));
    return out;
  }

  /// Verifies `op`, with StableHLO's stricter constraints, adds its kernel, and binds the results of `from` to the kernel's.
  Status add_kernel(mlir::Operation* from, Op op, const std::vector<int>& arguments, bool fixed_policy = false);
  /// Adds a value that strew does not compute: result `result` of opaque operation `opaque`. The type is unknown if it is neither a ranked tensor nor a scalar.
  void add_opaque_value(mlir::Value from, int opaque, int result);
  /// Why the first operation that is a scatter or gather, or an argument of a function, was refused.
  const Status& first_refusal() const { return first_refusal_; }
  void refused(const Status& status) {
    if (first_refusal_.ok()) first_refusal_ = status;
  }
  /// `FILE:LINE: stablehlo.add`
  std::string location(mlir::Operation* op) const { return parsed.location(op); }
  /// `op` as an operation that is not run, for `reason`.
  Opaque opaque_of(mlir::Operation* op, std::string reason) const;
  /// The function that is called, straight-line code of the call's types.
  Expected<mlir::func::FuncOp> callee(mlir::func::CallOp call) const;

 private:
  Status translate(mlir::Operation* op);
  Status translate_bound(mlir::Operation* op);
  void add_node(mlir::Operation* op, int number);
  Status run_handler(mlir::Operation* op, const OpRow& row);
  Status add_opaque(mlir::Operation* op, std::string reason);
  Status translate_region(mlir::Region& region, int opaque, int& next_result);
  bool is_bound(mlir::Value value) const { return scopes_.back().contains(value); }
  Status fatal(const Status& status) {
    is_fatal_ = is_fatal_ || !status.ok();
    return status;
  }
  std::string kernel_name(mlir::Operation* op);
  std::string value_name(mlir::Value value);

  std::vector<llvm::DenseMap<mlir::Value, int>> scopes_;
  std::string function_;
  std::string path_;                  ///< of the region that is translated, "main/while/body/"; empty outside regions
  int region_ = -1;                   ///< as of FileNode
  int next_node_ = 0;                 ///< the number of the next operation of the region, or of the public functions
  int call_node_ = -1;                ///< the number of the call that is being inlined there; -1: none
  std::vector<std::string> callees_;  ///< the functions that are being inlined
  std::set<std::string> names_;
  llvm::StringSet<> value_names_;
  llvm::StringMap<int> numbers_, kernel_numbers_;  ///< how many names of values, and of kernels, begin with a key
  int operations_ = 0;
  Status first_refusal_;
  bool is_fatal_ = false;  ///< the last error refuses the file: a limit is exceeded
};

}  // namespace strew::inline v0
