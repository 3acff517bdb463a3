// stablehlo.scatter: N operands, indices, N updates and a region. The constraints on element types and operand counts
// (C5, C6, C23, C25) are checked here, on MLIR's types, which still show quantization; an Op allows more. verify()
// checks the other constraints. The policy is the specification's, skip_element, or XLA's (translation.cc). Tested by
// tests/unit/compiler/import/stablehlo/stablehlo_import_test.cc and tests/error/stablehlo_error_test.cc.
#include <mlir/Dialect/Quant/IR/QuantTypes.h>

#include "compiler/import/mlir/attributes.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/translation.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/stablehlo/dimension_numbers.h"
#include "compiler/import/stablehlo/op_list.h"
#include "compiler/import/stablehlo/region.h"
#include "compiler/op/combiner.h"
#include "compiler/op/message.h"

namespace strew::inline v0 {
namespace {

/// The specification's is_promotable: both types are of the same family, and `to` is not narrower. Quantized types have one scale and
/// zero point besides, so that promoting converts the storage.
bool is_promotable(mlir::Type from, mlir::Type to, DType from_dtype, DType to_dtype) {
  if (from == to) return true;
  bool family = info(from_dtype).kind == info(to_dtype).kind || (is_integer(from_dtype) && is_integer(to_dtype));
  if (llvm::isa<mlir::quant::QuantizedType>(from) || llvm::isa<mlir::quant::QuantizedType>(to)) {
    const auto a = llvm::dyn_cast<mlir::quant::UniformQuantizedType>(from),
               b = llvm::dyn_cast<mlir::quant::UniformQuantizedType>(to);
    family = a && b && a.getScale() == b.getScale() && a.getZeroPoint() == b.getZeroPoint() && a.isSigned() == b.isSigned() &&
             a.getExpressedType() == b.getExpressedType();
  }
  return family && bits(from_dtype) <= bits(to_dtype);
}

Status read_tensors(mlir::Operation* op, Scatter& scatter) {
  const unsigned count = op->getNumOperands(), n = (count - 1) / 2;
  if (count < 3 || count % 2 == 0)
    return violated("scatter_c5", "{} operands, expected N inputs, scatter_indices and N updates, N >= 1", count);
  if (op->getNumResults() != n) return violated("scatter_c25", "{} results, expected {}", op->getNumResults(), n);
  std::vector<TensorType*> shaped, updates;
  for (unsigned i = 0; i < n; ++i) {
    STREW_ASSIGN(scatter.operands.emplace_back(), operand_type(op, i));
    STREW_ASSIGN(scatter.updates.emplace_back(), operand_type(op, n + 1 + i));
    STREW_ASSIGN(scatter.results.emplace_back(), result_type(op, i));
    STREW_TRY(same_element(op->getOperand(i).getType(), op->getOperand(n + 1 + i).getType(), fmt::format("updates[{}]", i),
                           "scatter_c6"));
  }
  STREW_ASSIGN(scatter.indices, operand_type(op, n));
  for (TensorType& type : scatter.operands) shaped.push_back(&type);
  STREW_TRY(unify_dims(shaped, "shape of inputs", "scatter_c1"));
  for (TensorType& type : scatter.results) shaped.push_back(&type);
  STREW_TRY(unify_dims(shaped, "shape of results", "scatter_c24"));
  for (TensorType& type : scatter.updates) updates.push_back(&type);
  return unify_dims(updates, "shape of updates", "scatter_c3");
}

/// Checks C23 and C25 on the region's arguments.
Status check_region(mlir::Operation* op, const Scatter& scatter) {
  const auto n = static_cast<unsigned>(scatter.operands.size());
  STREW_ASSIGN(mlir::Block * block, only_block(op, "update_computation", 2 * n, "scatter_c23"));
  for (unsigned i = 0; i < 2 * n; ++i) {
    const mlir::Type type = block->getArgument(i).getType(), current = block->getArgument(i % n).getType(),
                     input = op->getOperand(i % n).getType();
    STREW_ASSIGN(const TensorType own, tensor_type(type));
    if (own.rank() != 0 || type != current)
      return violated("scatter_c23", "update_computation argument {} is {}, expected {}", i, text_of(type),
                      own.rank() != 0 ? "rank 0" : text_of(current));
    if (!is_promotable(element_of(input), element_of(type), scatter.operands[i % n].dtype, own.dtype))
      return violated("scatter_c23", "update_computation argument {} is {}, expected a type that {} promotes to", i,
                      text_of(type), text_of(element_of(input)));
    if (i < n) STREW_TRY(same_element(type, op->getResult(i).getType(), fmt::format("results[{}]", i), "scatter_c25"));
  }
  return {};
}

Status check_results(const Expr& expr, const std::vector<DType>& elements) {
  if (expr.results.size() != elements.size())
    return violated("scatter_c23", "update_computation returns {} values, expected {}", expr.results.size(), elements.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    const DType got = expr.result(i).dtype;
    if (got != elements[i])
      return violated("scatter_c23", "update_computation returns {} as value {}, expected {}", name(got), i, name(elements[i]));
  }
  return {};
}

}  // namespace

Status import_scatter(Translation& t, mlir::Operation* op) {
  Scatter scatter;
  const Attributes attributes(op);
  STREW_TRY(attributes.only({"scatter_dimension_numbers", "indices_are_sorted", "unique_indices"}));
  STREW_TRY(read_tensors(op, scatter));
  STREW_ASSIGN(scatter.dims, scatter_dims_from(attributes.get("scatter_dimension_numbers")));
  infer_index_vector(scatter.indices, scatter.dims.index_vector_dim, scatter.dims.index_map.size());
  STREW_ASSIGN(scatter.indices_are_sorted, attributes.flag("indices_are_sorted"));
  STREW_ASSIGN(scatter.unique_indices, attributes.flag("unique_indices"));
  scatter.oob = OobPolicy::skip_element;
  STREW_TRY(check_region(op, scatter));
  std::vector<DType> elements, updates;
  for (const TensorType& type : scatter.results) elements.push_back(type.dtype);
  for (const TensorType& type : scatter.updates) updates.push_back(type.dtype);
  STREW_ASSIGN(Expr expr, region_to_expr(t, op->getRegion(0), elements, updates));
  STREW_TRY(check_results(expr, elements));
  if (t.options.refuses)
    if (std::string reason = t.options.refuses(t.out, -1, expr); !reason.empty()) return unsupported(std::move(reason));
  set_combiner(scatter, std::move(expr));
  return t.add_kernel(op, std::move(scatter), t.operands(op));
}

}  // namespace strew::inline v0
