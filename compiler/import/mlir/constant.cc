// stablehlo.constant and arith.constant: their elements are copied into a constant of the imported program; a scalar of arith has rank 0 there.
// Large splats are one element and a broadcast of it, which becomes part of a kernel where it is an operand or updates. Tested by
// tests/unit/compiler/import/stablehlo/stablehlo_import_test.cc and tests/unit/compiler/import/tensor/tensor_boundary_test.cc.
#include <fmt/format.h>
#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/BuiltinTypes.h>

#include <algorithm>

#include "compiler/import/builder/program_builder.h"
#include "compiler/import/mlir/attributes.h"
#include "compiler/import/mlir/literals.h"
#include "compiler/import/mlir/op_list.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/translation.h"
#include "compiler/import/mlir/types.h"

namespace strew::inline v0 {
namespace {

Expected<TensorType> type_of(mlir::Operation* op) {
  STREW_TRY(Attributes(op).only({"value"}));
  if (op->getNumOperands() != 0 || op->getNumResults() != 1 || op->getNumRegions() != 0)
    return invalid_argument(
        fmt::format("{} operands and {} results, expected none and 1", op->getNumOperands(), op->getNumResults()));
  return result_type(op, 0);
}

/// The value as a tensor of rank 0 if it is a scalar; null if it is none.
mlir::DenseElementsAttr scalar_value(mlir::Operation* op) {
  const auto value = llvm::dyn_cast_or_null<mlir::TypedAttr>(Attributes(op).get("value"));
  if (!value || !llvm::isa<mlir::IntegerAttr, mlir::FloatAttr>(value) || op->getNumResults() != 1) return {};
  if (value.getType() != op->getResult(0).getType()) return {};
  return mlir::DenseElementsAttr::get(mlir::RankedTensorType::get({}, value.getType()), mlir::Attribute(value));
}

Expected<Constant> read_constant(mlir::Operation* op) {
  if (const mlir::DenseElementsAttr scalar = scalar_value(op)) {
    STREW_ASSIGN(const TensorType type, value_type(op->getResult(0).getType()));
    return constant_from(scalar, type);
  }
  STREW_ASSIGN(const TensorType type, type_of(op));
  return constant_from(Attributes(op).get("value"), type);
}

/// The constant without dims that a large splat repeats; null: it is none.
mlir::DenseElementsAttr large_splat(mlir::Operation* op) {
  constexpr int64_t kSmallElements = int64_t{1} << 14;
  auto dense = llvm::dyn_cast_or_null<mlir::DenseElementsAttr>(Attributes(op).get("value"));
  if (!dense || !dense.isSplat() || dense.getNumElements() <= kSmallElements) return {};
  return dense.resizeSplat(mlir::RankedTensorType::get({}, dense.getElementType()));
}

/// The type of the result, which must be that of the value.
Expected<TensorType> splat_type(mlir::Operation* op) {
  STREW_ASSIGN(TensorType type, type_of(op));
  const auto elements = llvm::dyn_cast<mlir::ElementsAttr>(Attributes(op).get("value"));
  if (!elements || !std::equal(type.dims.begin(), type.dims.end(), elements.getShapedType().getShape().begin(),
                               elements.getShapedType().getShape().end()))
    return invalid_argument("value of another type, expected the result's type");
  return type;
}

Status import_splat(Translation& t, mlir::Operation* op, mlir::DenseElementsAttr element) {
  STREW_ASSIGN(const TensorType type, splat_type(op));
  STREW_ASSIGN(Constant constant, constant_from(element, {type.dtype, {}, {}}));
  ProgramBuilder build(t.out, t.location(op));
  STREW_ASSIGN(const int splat, build.broadcast(build.add_constant(std::move(constant)), type.dims));
  t.bind(op->getResult(0), splat);
  return {};
}

}  // namespace

Status import_constant(Translation& t, mlir::Operation* op) {
  if (const mlir::DenseElementsAttr element = large_splat(op)) return import_splat(t, op, element);
  STREW_ASSIGN(Constant constant, read_constant(op));
  t.bind(op->getResult(0), ProgramBuilder(t.out, t.location(op)).add_constant(std::move(constant)));
  return {};
}

}  // namespace strew::inline v0
