// The dialects that are read, and func.call, which all of them share: a call of a private function is replaced by the function's body. Tested
// by tests/unit/compiler/import/stablehlo/stablehlo_import_test.cc.
#include "compiler/import/mlir/op_list.h"

#include <mlir/Dialect/Func/IR/FuncOps.h>

#include "compiler/import/mlir/translation.h"
#include "compiler/import/stablehlo/op_list.h"
#include "compiler/import/tensor/op_list.h"

namespace strew::inline v0 {
namespace {

Status import_call(Translation& t, mlir::Operation* op) { return t.translate_call(llvm::cast<mlir::func::CallOp>(op)); }

}  // namespace

const OpRow* find_op(llvm::StringRef name) {
  static constexpr OpRow kCall{"func.call", import_call};
  if (name == kCall.name) return &kCall;
  const OpRow* row = find_stablehlo_op(name);
  return row != nullptr ? row : find_tensor_op(name);
}

bool is_indexed(llvm::StringRef name) {
  const OpRow* row = find_op(name);
  return row != nullptr && row->indexed;
}

}  // namespace strew::inline v0
