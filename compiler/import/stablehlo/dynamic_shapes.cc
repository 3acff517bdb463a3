// Shapes that are known at the call only, as jax.export writes them: get_dimension_size, and the operations whose last operand is the shape of
// the result (Compute::takes_shape). If the shape is a constant, the result's extents are known. A shape_assertion (call.cc) is about extents
// too. Tested by tests/unit/stablehlo_dynamic_test.cc.
#include <fmt/format.h>
#include <mlir/IR/BuiltinAttributes.h>

#include "base/number.h"
#include "compiler/import/mlir/attributes.h"
#include "compiler/import/mlir/literals.h"
#include "compiler/import/mlir/operands.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/translation.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/stablehlo/op_list.h"

namespace strew::inline v0 {
namespace {

/// Checks operand `index`, the shape of the result, and takes what it tells of open extents.
Status read_shape(mlir::Operation* op, unsigned index, TensorType& result) {
  STREW_ASSIGN(const TensorType shape, operand_type(op, index));
  const bool is_list = is_integer(shape.dtype) && bits(shape.dtype) >= 8 && shape.rank() == 1;
  if (!is_list || (shape.dims[0] != kDynamic && shape.dims[0] != result.rank()))
    return invalid_argument(fmt::format("the shape is {}, expected one integer per dim of the result: {}",
                                        text_of(op->getOperand(index).getType()), result.rank()));
  mlir::Operation* source = op->getOperand(index).getDefiningOp();
  if (source == nullptr || source->getName().getStringRef() != "stablehlo.constant") return {};
  STREW_ASSIGN(const Constant constant, constant_from(Attributes(source).get("value"), shape));
  for (int64_t d = 0; d < result.rank(); ++d) {
    const int64_t extent = decode_i64(shape.dtype, load_element(shape.dtype, constant.data.data(), d).bits[0]);
    int64_t& own = result.dims[static_cast<size_t>(d)];
    if (extent < 0 || (own != kDynamic && own != extent))
      return invalid_argument(
          fmt::format("dim {} of the shape is {}, expected {}", d, extent, own == kDynamic ? "0 or more" : std::to_string(own)));
    own = extent;
  }
  return {};
}

Status read_dynamic_broadcast(mlir::Operation* op, Compute& compute) {
  const Attributes attributes(op);
  STREW_TRY(attributes.only({"broadcast_dimensions", "known_expanding_dimensions", "known_nonexpanding_dimensions"}));
  STREW_TRY(counts(op, 2));
  STREW_TRY(same_element(op->getOperand(0).getType(), op->getResult(0).getType(), "result"));
  STREW_ASSIGN(const TensorType operand, operand_type(op, 0));
  STREW_ASSIGN(TensorType result, result_type(op, 0));
  STREW_TRY(read_shape(op, 1, result));
  STREW_ASSIGN(compute.dims, attributes.integers("broadcast_dimensions"));
  STREW_TRY(check_dims(compute.dims, operand.dims.size(), result.rank(), "broadcast_dimensions"));
  for (size_t d = 0; d < operand.dims.size(); ++d) {
    const int64_t extent = operand.dims[d], target = result.dims[static_cast<size_t>(compute.dims[d])];
    if (extent != kDynamic && target != kDynamic && extent != 1 && extent != target)
      return invalid_argument(fmt::format("operand dim {} is {}, expected 1 or {}", d, extent, target));
  }
  compute.op = ComputeOp::broadcast;
  compute.takes_shape = true;
  compute.results = {std::move(result)};
  return {};
}

Status read_dynamic_reshape(mlir::Operation* op, Compute& compute) {
  STREW_TRY(Attributes(op).only({}));
  STREW_TRY(counts(op, 2));
  STREW_TRY(same_element(op->getOperand(0).getType(), op->getResult(0).getType(), "result"));
  STREW_TRY(operand_type(op, 0).status());
  STREW_ASSIGN(TensorType result, result_type(op, 0));
  STREW_TRY(read_shape(op, 1, result));
  compute.op = ComputeOp::reshape;
  compute.dims = {1};  // 0 is an extent of 0
  compute.takes_shape = true;
  compute.results = {std::move(result)};
  return {};
}

Status read_dynamic_iota(mlir::Operation* op, Compute& compute) {
  STREW_TRY(Attributes(op).only({"iota_dimension"}));
  STREW_TRY(counts(op, 1));
  STREW_ASSIGN(TensorType result, result_type(op, 0));
  STREW_TRY(read_shape(op, 0, result));
  STREW_ASSIGN(const int64_t dim, dim_attribute(op, "iota_dimension", result.rank()));
  if (!info(result.dtype).arithmetic || result.dtype == DType::boolean || is_quantized(op->getResult(0).getType()))
    return invalid_argument(fmt::format("result {}, expected numbers", text_of(op->getResult(0).getType())));
  compute.op = ComputeOp::iota;
  compute.dims = {dim};
  compute.takes_shape = true;
  compute.results = {std::move(result)};
  return {};
}

/// The function that converts an extent, an i64, to `to`.
Expr conversion(DType to) {
  Expr out;
  ExprNode from, convert;
  from.op = ExprOp::extra;
  from.dtype = DType::i64;
  convert.op = ExprOp::convert;
  convert.dtype = to;
  convert.args = {0};
  out.nodes = {from, convert};
  out.results = {1};
  return out;
}

Expected<int64_t> read_dimension_size(mlir::Operation* op, TensorType& result) {
  STREW_TRY(Attributes(op).only({"dimension"}));
  STREW_TRY(counts(op, 1));
  STREW_ASSIGN(const TensorType operand, operand_type(op, 0));
  STREW_ASSIGN(result, result_type(op, 0));
  if (result.rank() != 0 || (result.dtype != DType::i32 && result.dtype != DType::i64))
    return invalid_argument(fmt::format("result {}, expected tensor<i32>", text_of(op->getResult(0).getType())));
  return dim_attribute(op, "dimension", operand.rank());
}

}  // namespace

Status import_get_dimension_size(Translation& t, mlir::Operation* op) {
  TensorType result;
  const Expected<int64_t> dim = read_dimension_size(op, result);
  if (!dim.ok()) return t.parsed.at(op, dim.status());
  Value extent;
  extent.kind = ValueKind::extent;
  extent.type = {DType::i64, {}, {}};
  extent.like = t.operand(op, 0);
  extent.like_dim = static_cast<int>(*dim);
  int value = t.add_value(std::move(extent));
  if (result.dtype != DType::i64) {
    Compute convert;
    convert.function = conversion(result.dtype);
    convert.arguments = {value};
    convert.results = {result};
    value = t.add_step(op, std::move(convert));
  }
  t.bind(op->getResult(0), value);
  return {};
}

Status import_dynamic_broadcast_in_dim(Translation& t, mlir::Operation* op) { return import_with(t, op, read_dynamic_broadcast); }
Status import_dynamic_reshape(Translation& t, mlir::Operation* op) { return import_with(t, op, read_dynamic_reshape); }
Status import_dynamic_iota(Translation& t, mlir::Operation* op) { return import_with(t, op, read_dynamic_iota); }

}  // namespace strew::inline v0
