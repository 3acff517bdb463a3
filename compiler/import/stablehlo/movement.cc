// Operations that only move elements: iota, broadcast_in_dim, reshape, transpose, slice, reverse, concatenate. They become Computes. Ranks, element
// types and static extents are checked here, because the interpreter relies on them to stay in bounds. Tested by
// tests/unit/stablehlo_module_test.cc.
#include <fmt/format.h>
#include <mlir/IR/BuiltinAttributes.h>

#include <algorithm>

#include "compiler/import/mlir/attributes.h"
#include "compiler/import/mlir/operands.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/stablehlo/op_list.h"

namespace strew::inline v0 {
namespace {

/// The result's type, which must be static: no operand determines its extents.
Expected<TensorType> static_result(mlir::Operation* op) {
  STREW_ASSIGN(TensorType type, result_type(op, 0));
  if (is_static(type)) return type;
  return invalid_argument(fmt::format("result {}, expected static extents", text_of(op->getResult(0).getType())));
}

Status read_iota(mlir::Operation* op, Compute& compute) {
  STREW_TRY(Attributes(op).only({"iota_dimension"}));
  STREW_TRY(counts(op, 0));
  STREW_ASSIGN(const TensorType result, static_result(op));
  STREW_ASSIGN(const int64_t dim, dim_attribute(op, "iota_dimension", result.rank()));
  if (!info(result.dtype).arithmetic || result.dtype == DType::boolean || is_quantized(op->getResult(0).getType()))
    return invalid_argument(fmt::format("result {}, expected numbers", text_of(op->getResult(0).getType())));
  compute.op = ComputeOp::iota;
  compute.dims = {dim};
  compute.results = {result};
  return {};
}

Status read_broadcast(mlir::Operation* op, Compute& compute) {
  const Attributes attributes(op);
  STREW_TRY(attributes.only({"broadcast_dimensions"}));
  STREW_TRY(counts(op, 1));
  STREW_TRY(same_elements(op));
  STREW_ASSIGN(const TensorType operand, operand_type(op, 0));
  STREW_ASSIGN(const TensorType result, static_result(op));
  STREW_ASSIGN(compute.dims, attributes.integers("broadcast_dimensions"));
  STREW_TRY(check_dims(compute.dims, operand.dims.size(), result.rank(), "broadcast_dimensions"));
  for (size_t d = 0; d < operand.dims.size(); ++d) {
    const int64_t extent = operand.dims[d], target = result.dims[static_cast<size_t>(compute.dims[d])];
    if (extent != kDynamic && extent != 1 && extent != target)
      return invalid_argument(fmt::format("operand dim {} is {}, expected 1 or {}", d, extent, target));
  }
  compute.op = ComputeOp::broadcast;
  compute.results = {result};
  return {};
}

Status read_reshape(mlir::Operation* op, Compute& compute) {
  STREW_TRY(Attributes(op).only({}));
  STREW_TRY(counts(op, 1));
  STREW_TRY(same_elements(op));
  STREW_ASSIGN(const TensorType operand, operand_type(op, 0));
  STREW_ASSIGN(const TensorType result, static_result(op));
  if (is_static(operand)) STREW_TRY(same_count(operand, result));
  compute.op = ComputeOp::reshape;
  compute.results = {result};
  return {};
}

Status read_transpose(mlir::Operation* op, Compute& compute) {
  const Attributes attributes(op);
  STREW_TRY(attributes.only({"permutation"}));
  STREW_TRY(counts(op, 1));
  STREW_TRY(same_elements(op));
  STREW_ASSIGN(const TensorType operand, operand_type(op, 0));
  STREW_ASSIGN(TensorType result, result_type(op, 0));
  STREW_ASSIGN(compute.dims, attributes.integers("permutation"));
  STREW_TRY(check_dims(compute.dims, operand.dims.size(), operand.rank(), "permutation"));
  TensorType moved{operand.dtype, {}, {}};
  for (const int64_t d : compute.dims) moved.dims.push_back(operand.dims[static_cast<size_t>(d)]);
  STREW_TRY(unify_dims({&moved, &result}, "shape of the result"));
  compute.op = ComputeOp::transpose;
  compute.results = {std::move(result)};
  return {};
}

Status read_slice(mlir::Operation* op, Compute& compute) {
  const Attributes attributes(op);
  STREW_TRY(attributes.only({"start_indices", "limit_indices", "strides"}));
  STREW_TRY(counts(op, 1));
  STREW_TRY(same_elements(op));
  STREW_ASSIGN(const TensorType operand, operand_type(op, 0));
  STREW_ASSIGN(TensorType result, result_type(op, 0));
  STREW_ASSIGN(compute.dims, attributes.integers("start_indices"));
  STREW_ASSIGN(const std::vector<int64_t> limits, attributes.integers("limit_indices"));
  STREW_ASSIGN(compute.strides, attributes.integers("strides"));
  const size_t rank = operand.dims.size();
  if (compute.dims.size() != rank || limits.size() != rank || compute.strides.size() != rank)
    return invalid_argument(fmt::format("start_indices, limit_indices and strides, expected {} entries each", rank));
  TensorType window{operand.dtype, {}, {}};
  for (size_t d = 0; d < rank; ++d) {
    const int64_t start = compute.dims[d], limit = limits[d], stride = compute.strides[d];
    if (start < 0 || limit < start || stride < 1 || (operand.dims[d] != kDynamic && limit > operand.dims[d]))
      return invalid_argument(
          fmt::format("dim {}: {}:{}:{}, expected 0 <= start <= limit <= extent and stride >= 1", d, start, limit, stride));
    window.dims.push_back(limit == start ? 0 : (limit - start - 1) / stride + 1);
  }
  STREW_TRY(unify_dims({&window, &result}, "shape of the result"));
  compute.op = ComputeOp::slice;
  compute.results = {std::move(result)};
  return {};
}

Status read_reverse(mlir::Operation* op, Compute& compute) {
  const Attributes attributes(op);
  STREW_TRY(attributes.only({"dimensions"}));
  STREW_TRY(counts(op, 1));
  STREW_TRY(same_elements(op));
  STREW_ASSIGN(TensorType operand, operand_type(op, 0));
  STREW_ASSIGN(TensorType result, result_type(op, 0));
  STREW_TRY(unify_dims({&operand, &result}, "shape of the result"));
  STREW_ASSIGN(compute.dims, attributes.integers("dimensions"));
  STREW_TRY(check_dims(compute.dims, compute.dims.size(), operand.rank(), "dimensions"));
  compute.op = ComputeOp::reverse;
  compute.results = {std::move(result)};
  return {};
}

Status read_concatenate(mlir::Operation* op, Compute& compute) { return read_concatenation(op, "dimension", compute); }

}  // namespace

Status import_iota(Translation& t, mlir::Operation* op) { return import_with(t, op, read_iota); }
Status import_broadcast_in_dim(Translation& t, mlir::Operation* op) { return import_with(t, op, read_broadcast); }
Status import_reshape(Translation& t, mlir::Operation* op) { return import_with(t, op, read_reshape); }
Status import_transpose(Translation& t, mlir::Operation* op) { return import_with(t, op, read_transpose); }
Status import_slice(Translation& t, mlir::Operation* op) { return import_with(t, op, read_slice); }
Status import_reverse(Translation& t, mlir::Operation* op) { return import_with(t, op, read_reverse); }
Status import_concatenate(Translation& t, mlir::Operation* op) { return import_with(t, op, read_concatenate); }

}  // namespace strew::inline v0
