// TensorLowering: the state of one import. Elementwise operations wait until something reads them, and become part of it.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <mlir/IR/Operation.h>
#include <mlir/IR/Value.h>

#include <set>
#include <string>
#include <vector>

#include "compiler/import/importer.h"
#include "compiler/import/mlir/parse.h"
#include "compiler/import/tensor/computation.h"
#include "compiler/import/tensor/indexed.h"

namespace strew {

class TensorLowering {
 public:
  explicit TensorLowering(const ParsedModule& module) : parsed(module) {}

  const ParsedModule& parsed;
  Imported out;

  /// Kernels that follow are named after `name`.
  void begin_function(std::string name);
  void add_input(mlir::Value value, std::string name, const TensorType& type);
  /// A gather, a scatter, a constant or an elementwise operation; anything else fails by name.
  Status lower(mlir::Operation* op);
  /// The value number of `value`, which `reader` reads as a tensor; makes the kernel that computes it where there is none yet.
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
  /// A kernel for a gather as it stands.
  Expected<int> plain_gather(const TensorGather& gather);
  /// A gather that computes `c` from what it gathers.
  Expected<int> gather_computing(const Computation& c, mlir::Operation* reader);
  /// The gather of `c` that reads what `scatter` writes, and whether the idiom may be fused: `why` says what forbids it.
  mlir::Operation* idiom_gather(const TensorScatter& scatter, const Computation& c, std::string& why);
  /// The scatter with `c` as what it does to an update, whose results `current` (null: none) stand for the destination.
  Status scatter_computing(TensorScatter scatter, const Computation& c, mlir::Operation* current, std::string note);
  Status plain_scatter(TensorScatter scatter, std::vector<std::string> notes);

  Expected<int> add_kernel(Kernel kernel);
  int add_value(Value value);
  std::string line_of(mlir::Operation* op) const;

  llvm::DenseMap<mlir::Value, int> values_;
  llvm::DenseMap<mlir::Operation*, TensorGather> gathers_;
  std::string function_;
  std::set<std::string> names_;
  int waiting_ = 0;  ///< gathers under way because a kernel reads what is computed from them
};

}  // namespace strew
