// stablehlo.constant and arith.constant: their elements are copied into a constant of the imported program; a scalar of arith has rank 0 there.
// Large splats are one element and a broadcast of it, which becomes part of a kernel where it is an operand or updates. Tested by
// tests/unit/compiler/import/stablehlo/stablehlo_import_test.cc and tests/unit/compiler/import/tensor/tensor_boundary_test.cc.
#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/BuiltinTypes.h>

#include "compiler/import/mlir/literals.h"
#include "compiler/import/mlir/op_list.h"
#include "compiler/import/mlir/operands.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/types.h"

namespace strew::inline v0 {
namespace {

/// The value as a tensor of rank 0 if it is a scalar; null if it is none.
mlir::DenseElementsAttr scalar_value(mlir::Operation* op) {
  const auto value = llvm::dyn_cast_or_null<mlir::TypedAttr>(Attributes(op).get("value"));
  if (!value || !llvm::isa<mlir::IntegerAttr, mlir::FloatAttr>(value) || op->getNumResults() != 1) return {};
  if (value.getType() != op->getResult(0).getType()) return {};
  return mlir::DenseElementsAttr::get(mlir::RankedTensorType::get({}, value.getType()), mlir::Attribute(value));
}

Expected<int> read_constant(OpReader& r) {
  constexpr int64_t kSmallElements = int64_t{1} << 14;
  if (const mlir::DenseElementsAttr scalar = scalar_value(r.op())) {
    STREW_ASSIGN(const TensorType type, value_type(r.result_type()));
    STREW_ASSIGN(Constant constant, constant_from(scalar, type));
    return r.build.add_constant(std::move(constant));
  }
  STREW_TRY(r.has(0, {"value"}));
  STREW_ASSIGN(const TensorType type, result_type(r.op(), 0));
  const mlir::Attribute value = r.attributes.get("value");
  auto dense = llvm::dyn_cast_or_null<mlir::DenseElementsAttr>(value);
  if (!dense || !dense.isSplat() || dense.getNumElements() <= kSmallElements) {
    STREW_ASSIGN(Constant constant, constant_from(value, type));
    return r.build.add_constant(std::move(constant));
  }
  if (dense.getType().getShape() != llvm::ArrayRef(type.dims))
    return invalid_argument("value of another type, expected the result's type");
  const mlir::DenseElementsAttr element = dense.resizeSplat(mlir::RankedTensorType::get({}, dense.getElementType()));
  STREW_ASSIGN(Constant constant, constant_from(element, {type.dtype, {}, {}}));
  return r.build.broadcast(r.build.add_constant(std::move(constant)), type.dims);
}

}  // namespace

Status import_constant(Translation& t, mlir::Operation* op) { return import_with(t, op, read_constant); }

}  // namespace strew::inline v0
