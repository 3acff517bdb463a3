// tensor.gather and tensor.scatter as ops, before anything is fused into them.
#pragma once

#include <mlir/IR/Operation.h>

#include <vector>

#include "base/status.h"
#include "compiler/op/op.h"

namespace strew {

struct TensorGather {
  mlir::Operation* op = nullptr;
  mlir::Value source, indices;
  std::vector<int64_t> dims;
  Gather gather;  ///< without expr
};
struct TensorScatter {
  mlir::Operation* op = nullptr;
  mlir::Value source, dest, indices;
  std::vector<int64_t> dims;
  bool unique = false;
  Scatter scatter;  ///< combiner assign
};

/// Checks what MLIR's verifier checks, in its words where it has any. Failures have no place yet.
Expected<TensorGather> read_tensor_gather(mlir::Operation* op);
Expected<TensorScatter> read_tensor_scatter(mlir::Operation* op);

}  // namespace strew
