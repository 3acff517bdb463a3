// stablehlo.custom_call is refused, except for the check.* calls with which StableHLO's own test files end (those compare values and return
// nothing), and jax.export's conditions on extents, which kernels check. Tested by
// tests/unit/compiler/import/stablehlo/stablehlo_import_test.cc.
#include <mlir/IR/BuiltinAttributes.h>

#include "compiler/import/mlir/attributes.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/translation.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/stablehlo/op_list.h"
#include "compiler/op/message.h"

namespace strew::inline v0 {
namespace {

/// Remembers a condition on extents with which jax.export begins a module: its first operand must be true.
Status import_assertion(Translation& t, mlir::Operation* op) {
  if (op->getNumOperands() == 0) return invalid_argument("shape_assertion without operands, expected a condition");
  STREW_ASSIGN(const TensorType type, operand_type(op, 0));
  if (type.rank() != 0 || type.dtype != DType::boolean)
    return invalid_argument("shape_assertion of {}, expected tensor<i1>", text_of(op->getOperand(0).getType()));
  const auto text = llvm::dyn_cast_or_null<mlir::StringAttr>(Attributes(op).get("error_message"));
  llvm::StringRef message = text ? text.getValue() : "";
  message = message.substr(0, message.find(" Using the following")).rtrim();
  constexpr size_t kLongest = 300;
  ProgramBuilder build(t.out, t.location(op));
  STREW_ASSIGN(const int holds, build.convert(t.operand(op, 0), DType::i32));
  t.assertions.push_back({holds, message.substr(0, kLongest).str(), t.location(op)});
  return {};
}

}  // namespace

Status import_custom_call(Translation& t, mlir::Operation* op) {
  const auto target = llvm::dyn_cast_or_null<mlir::StringAttr>(Attributes(op).get("call_target_name"));
  if (target && op->getNumResults() == 0) {
    if (target.getValue().starts_with("check.")) return {};
    if (target.getValue() == "shape_assertion") return import_assertion(t, op);
  }
  if (target && target.getValue() == "Sharding") return import_optimization_barrier(t, op);
  return invalid_argument("target '{}' is not read", target ? target.getValue().substr(0, 80).str() : "");
}

}  // namespace strew::inline v0
