// Reads tensor.gather and tensor.scatter as ops, before elementwise operations are fused into them.
#pragma once

#include <mlir/IR/Operation.h>

#include <vector>

#include "strew/op.h"
#include "strew/status.h"

namespace strew::inline v0 {

struct TensorGather {
  mlir::Operation* op = nullptr;
  mlir::Value source, indices;
  std::vector<int64_t> dims;
  Gather gather;  ///< without an expression
};
struct TensorScatter {
  mlir::Operation* op = nullptr;
  mlir::Value source, dest, indices;
  std::vector<int64_t> dims;
  bool unique = false;
  Scatter scatter;  ///< with combiner assign
};

/// Both check what MLIR's verifier checks, with its wording where it has a message. Error messages have no location; the caller adds it.
Expected<TensorGather> read_tensor_gather(mlir::Operation* op);
Expected<TensorScatter> read_tensor_scatter(mlir::Operation* op);

}  // namespace strew::inline v0
