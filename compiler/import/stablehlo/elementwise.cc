// Elementwise operations outside regions: a Compute with one node per operation (clamp: two). All operations that scalar_op.h knows are
// accepted. Shapes must be equal, except that StableHLO allows a scalar predicate in select and scalar bounds in clamp.
// optimization_barrier and where a tensor lies (sdy.sharding_constraint) leave the operands as they are. Tested by tests/unit/stablehlo_module_test.cc.
#include <fmt/format.h>

#include "compiler/import/mlir/attributes.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/translation.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/stablehlo/op_list.h"
#include "compiler/import/stablehlo/scalar_op.h"
#include "strew/verify.h"

namespace strew::inline v0 {
namespace {

bool may_be_scalar(llvm::StringRef name, unsigned operand) {
  return (name == "stablehlo.select" && operand == 0) || (name == "stablehlo.clamp" && operand != 1);
}

Status read_elementwise(mlir::Operation* op, Compute& compute) {
  const llvm::StringRef name = op->getName().getStringRef();
  if (op->getNumResults() != 1) return invalid_argument(fmt::format("{} results, expected 1", op->getNumResults()));
  STREW_TRY(Attributes(op).only({"comparison_direction", "compare_type", "result_accuracy"}));
  STREW_ASSIGN(TensorType result, result_type(op, 0));
  std::vector<int32_t> nodes;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    STREW_ASSIGN(TensorType operand, operand_type(op, i));
    ExprNode node;
    node.op = ExprOp::extra;
    node.dtype = operand.dtype;
    node.index = static_cast<int32_t>(i);
    nodes.push_back(static_cast<int32_t>(i));
    compute.function.nodes.push_back(std::move(node));
    if (is_quantized(op->getOperand(i).getType()))
      return invalid_argument(fmt::format("operand {} is quantized, expected plain numbers", i));
    if (operand.dims.empty() && may_be_scalar(name, i)) continue;
    STREW_TRY(unify_dims({&result, &operand}, fmt::format("shape of operand {}", i)));
  }
  if (is_quantized(op->getResult(0).getType())) return invalid_argument("the result is quantized, expected plain numbers");
  STREW_ASSIGN(const int32_t last, add_scalar_op(op, result.dtype, std::move(nodes), compute.function));
  compute.function.results = {last};
  const DType dtype = compute.function.nodes[static_cast<size_t>(last)].dtype;
  if (dtype != result.dtype)
    return invalid_argument(fmt::format("the result is {}, expected {}", strew::name(result.dtype), strew::name(dtype)));
  STREW_TRY(verify(compute.function, 1, 0, static_cast<int>(op->getNumOperands())));
  compute.results = {std::move(result)};
  return {};
}

}  // namespace

Status import_elementwise(Translation& t, mlir::Operation* op) {
  Compute compute;
  STREW_TRY(t.parsed.at(op, read_elementwise(op, compute)));
  return t.add_compute(op, std::move(compute));
}

Status import_optimization_barrier(Translation& t, mlir::Operation* op) {
  if (op->getOperandTypes() != op->getResultTypes()) return t.parsed.fail(op, "results of the operands' types are expected");
  for (unsigned i = 0; i < op->getNumOperands(); ++i) t.bind(op->getResult(i), t.operand(op, i));
  return {};
}

}  // namespace strew::inline v0
