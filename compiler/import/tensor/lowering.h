// TensorLowering: the state of one import. An elementwise operation makes no kernel when it is met; the gather or scatter that needs it
// takes it in.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <mlir/IR/Operation.h>
#include <mlir/IR/Value.h>

#include <set>
#include <string>
#include <vector>

#include "compiler/import/mlir/parse.h"
#include "compiler/import/tensor/computation.h"
#include "compiler/import/tensor/indexed.h"
#include "strew/import.h"

namespace strew::inline v0 {

class TensorLowering {
 public:
  explicit TensorLowering(const ParsedModule& module) : parsed(module) {}

  const ParsedModule& parsed;
  Imported out;

  /// Starts a function: its kernels are named after `name`.
  void begin_function(std::string name);
  void add_input(mlir::Value value, std::string name, const TensorType& type);
  /// Translates a gather, a scatter, a constant or an elementwise operation; any other operation is refused by name.
  Status lower(mlir::Operation* op);
  /// The value number of `value`, which `reader` reads as a tensor. Adds the kernel that computes it if there is none yet.
  Expected<int> value_of(mlir::Value value, mlir::Operation* reader);

 private:
  struct Kernel {
    mlir::Operation* at;
    mlir::Value result;
    TensorType type;
    Op op;
    std::vector<int> arguments;
    std::vector<std::string> notes;
  };

  Status lower_gather(mlir::Operation* op);
  Status lower_scatter(mlir::Operation* op);
  Expected<int> constant_value(mlir::Operation* op);
  /// Adds a kernel for a gather without an expression.
  Expected<int> plain_gather(const TensorGather& gather);
  /// Adds a gather that computes `c` from each element it gathers.
  Expected<int> gather_computing(const Computation& c, mlir::Operation* reader);
  /// Finds the gather among the leaves of `c` that reads the elements `scatter` writes. `why` says what forbids fusing the three.
  mlir::Operation* idiom_gather(const TensorScatter& scatter, const Computation& c, std::string& why);
  /// Adds the scatter with `c` as its combiner. The result of `current` (null: none) stands for the destination's current value.
  Status scatter_computing(TensorScatter scatter, const Computation& c, mlir::Operation* current, std::string note);
  Status plain_scatter(TensorScatter scatter, std::vector<std::string> notes);

  Expected<int> add_kernel(Kernel kernel);
  int add_value(Value value);
  std::string line_of(mlir::Operation* op) const;

  llvm::DenseMap<mlir::Value, int> values_;
  llvm::DenseMap<mlir::Operation*, TensorGather> gathers_;
  std::string function_;
  std::set<std::string> names_;
  int waiting_ = 0;  ///< the depth of gathers that are made because another kernel reads their result
};

}  // namespace strew::inline v0
