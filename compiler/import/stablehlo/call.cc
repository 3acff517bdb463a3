// func.call of a private function is replaced by the function's body. stablehlo.custom_call is refused, except for the check.* calls with
// which StableHLO's own test files end; those compare values and return nothing. Tested by tests/unit/stablehlo_import_test.cc.
#include <fmt/format.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/IR/BuiltinAttributes.h>

#include "compiler/import/stablehlo/attributes.h"
#include "compiler/import/stablehlo/op_list.h"
#include "compiler/import/stablehlo/translation.h"

namespace strew::inline v0 {

Status import_call(Translation& t, mlir::Operation* op) { return t.translate_call(llvm::cast<mlir::func::CallOp>(op)); }

Status import_custom_call(Translation& t, mlir::Operation* op) {
  const auto target = llvm::dyn_cast_or_null<mlir::StringAttr>(Attributes(op).get("call_target_name"));
  const bool is_check = target && (target.getValue().starts_with("check.") || target.getValue() == "shape_assertion");
  if (is_check && op->getNumResults() == 0) return {};
  return t.parsed.fail(op, fmt::format("target '{}' is not read", target ? target.getValue().substr(0, 80).str() : ""));
}

}  // namespace strew::inline v0
