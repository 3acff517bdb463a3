// Elementwise operations outside regions: a Compute with one node per operation (clamp: two). All operations that scalar_op.h knows are
// accepted. Shapes must be equal, except that StableHLO allows a scalar predicate in select and scalar bounds in clamp.
// optimization_barrier and where a tensor lies (sdy.sharding_constraint) leave the operands as they are. Tested by
// tests/unit/compiler/import/stablehlo/stablehlo_module_test.cc.

#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/stablehlo/op_list.h"
#include "compiler/import/stablehlo/scalar_op.h"
#include "compiler/op/dims.h"
#include "compiler/op/message.h"
#include "strew/expr_builder.h"

namespace strew::inline v0 {
namespace {

bool may_be_scalar(llvm::StringRef name, unsigned operand) {
  return (name == "stablehlo.select" && operand == 0) || (name == "stablehlo.clamp" && operand != 1);
}

}  // namespace

Expected<int> read_elementwise(OpReader& r) {
  mlir::Operation* const op = r.op();
  if (op->getNumResults() != 1) return invalid_argument("{} results, expected 1", op->getNumResults());
  STREW_TRY(r.attributes.only({"comparison_direction", "compare_type", "result_accuracy"}));
  STREW_ASSIGN(const TensorType result, result_type(op, 0));
  ExprBuilder graph;
  std::vector<int32_t> nodes;
  std::vector<int64_t> dims = result.dims;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    STREW_ASSIGN(const TensorType operand, operand_type(op, i));
    nodes.push_back(graph.extra(static_cast<int32_t>(i), operand.dtype));
    if (is_quantized(r.operand_type(i))) return invalid_argument("operand {} is quantized, expected plain numbers", i);
    if (operand.dims.empty() && may_be_scalar(op->getName().getStringRef(), i)) continue;
    STREW_TRY(unify_dims(dims, operand.dims, fmt::format("shape of operand {}", i)));
  }
  if (is_quantized(r.result_type())) return invalid_argument("the result is quantized, expected plain numbers");
  STREW_ASSIGN(const int32_t last, add_scalar_op(op, result.dtype, std::move(nodes), graph));
  return r.build.map(graph.returns({last}), r.operands());
}

Status import_optimization_barrier(Translation& t, mlir::Operation* op) {
  if (op->getOperandTypes() != op->getResultTypes()) return invalid_argument("results of the operands' types are expected");
  for (unsigned i = 0; i < op->getNumOperands(); ++i) t.bind(op->getResult(i), t.operand(op, i));
  return {};
}

}  // namespace strew::inline v0
