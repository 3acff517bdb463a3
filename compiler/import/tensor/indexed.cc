// tensor.gather and tensor.scatter: kernels. They index a tensor (source or dest) in the dims `gather_dims` or `scatter_dims`, with one
// coordinate each; all other dims are full slices. The small tensor (result or source) has the dims of the indices without the last one,
// followed by the dims of the indexed tensor, which at the indexed dims are 1 or, in the rank-reduced form, absent. MLIR's verifier has checked
// that. Tested by tests/unit/compiler/import/tensor/tensor_import_test.cc and tests/error/tensor_error_test.cc.
#include <mlir/Dialect/Tensor/IR/Tensor.h>

#include <numeric>

#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/translation.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/tensor/forms.h"
#include "compiler/import/tensor/op_list.h"
#include "compiler/op/message.h"

namespace strew::inline v0 {
namespace {

/// The dimension numbers of an operation that MLIR has verified: its windows are full slices, with unit dims at `dims` or without them.
DimensionNumbers numbers_of(llvm::ArrayRef<int64_t> dims, const TensorType& indexed, const TensorType& indices,
                            const TensorType& small) {
  DimensionNumbers out;
  const int positions = indices.rank() - 1;
  out.window_dims.resize(static_cast<size_t>(small.rank() - positions));
  std::iota(out.window_dims.begin(), out.window_dims.end(), positions);
  out.index_map = dims.vec();
  if (small.rank() < positions + indexed.rank()) out.removed_dims = out.index_map;
  out.index_vector_dim = positions;
  return out;
}

Expected<TensorType> indices_type(mlir::Operation* op, unsigned index) {
  STREW_ASSIGN(TensorType type, operand_type(op, index));
  if (type.dtype != DType::boolean) return type;
  return invalid_argument("indices {}: strew has no index type of 1 bit, expected i4 to i64 or index",
                          text_of(op->getOperand(index).getType()));
}

Expected<Gather> read_gather(mlir::tensor::GatherOp op) {
  Gather out;
  STREW_ASSIGN(out.operand, operand_type(op, 0));
  STREW_ASSIGN(out.indices, indices_type(op, 1));
  STREW_ASSIGN(out.result, result_type(op, 0));
  out.dims = numbers_of(op.getGatherDims(), out.operand, out.indices, out.result);
  out.slice_sizes = out.operand.dims;
  for (const int64_t d : op.getGatherDims()) out.slice_sizes[d] = 1;
  out.oob = OobPolicy::undefined;
  return out;
}

Expected<Scatter> read_scatter(mlir::tensor::ScatterOp op) {
  if (op.getType() != op.getDestType())
    return invalid_argument("result {}, expected the type of dest, {}", text_of(op.getType()), text_of(op.getDestType()));
  Scatter out;
  STREW_ASSIGN(out.updates.emplace_back(), operand_type(op, 0));
  STREW_ASSIGN(out.operands.emplace_back(), operand_type(op, 1));
  STREW_ASSIGN(out.indices, indices_type(op, 2));
  out.results = out.operands;
  out.dims = numbers_of(op.getScatterDims(), out.operands[0], out.indices, out.updates[0]);
  out.oob = OobPolicy::undefined;
  out.unique_indices = !op->hasAttr(kMayRepeat);
  return out;
}

}  // namespace

Status import_tensor_gather(Translation& t, mlir::Operation* op) {
  STREW_ASSIGN(Gather gather, read_gather(llvm::cast<mlir::tensor::GatherOp>(op)));
  return t.add_kernel(op, std::move(gather), {t.operand(op, 0), t.operand(op, 1)});
}

Status import_tensor_scatter(Translation& t, mlir::Operation* op) {
  STREW_ASSIGN(Scatter scatter, read_scatter(llvm::cast<mlir::tensor::ScatterOp>(op)));
  return t.add_kernel(op, std::move(scatter), {t.operand(op, 1), t.operand(op, 2), t.operand(op, 0)});
}

}  // namespace strew::inline v0
