// Translates a module to Imported: the arguments of each function become inputs, its results become outputs, and lowering.h translates its
// operations. Tested by tests/unit/tensor_import_test.cc and tests/error/tensor_error_test.cc.
#include "compiler/import/tensor/import.h"

#include <fmt/format.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>

#include "compiler/import/mlir/parse.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/tensor/lowering.h"

namespace strew::inline v0 {
namespace {

constexpr size_t kMaxOperations = 10'000;

Status import_function(TensorLowering& lowering, mlir::func::FuncOp function, const std::string& prefix) {
  const ParsedModule& parsed = lowering.parsed;
  if (function.isExternal()) return parsed.fail(function, fmt::format("function '{}' has no body", function.getName().str()));
  if (!llvm::hasSingleElement(function.getBody()))
    return parsed.fail(function, "has several blocks, expected straight-line code");
  mlir::Block& block = function.getBody().front();
  if (block.getOperations().size() > kMaxOperations)
    return parsed.fail(function,
                       fmt::format("has {} operations, expected at most {}", block.getOperations().size(), kMaxOperations));
  lowering.begin_function(function.getName().str());
  for (mlir::BlockArgument argument : function.getArguments()) {
    const auto type = tensor_type(argument.getType());
    if (!type.ok())
      return parsed.at(function,
                       invalid_argument(fmt::format("argument {}: {}", argument.getArgNumber(), type.status().message())));
    lowering.add_input(argument, fmt::format("{}arg{}", prefix, argument.getArgNumber()), *type);
  }
  for (mlir::Operation& op : block) {
    if (!llvm::isa<mlir::func::ReturnOp>(op)) {
      STREW_TRY(lowering.lower(&op));
      continue;
    }
    for (unsigned i = 0; i < op.getNumOperands(); ++i) {
      STREW_ASSIGN(const int value, lowering.value_of(op.getOperand(i), &op));
      lowering.out.outputs.push_back({fmt::format("{}result{}", prefix, i), value});
    }
  }
  return {};
}

}  // namespace

Expected<Imported> import_tensor(const ParsedModule& parsed, const ImportOptions&) {
  TensorLowering lowering(parsed);
  lowering.out.format = "tensor";
  std::vector<mlir::func::FuncOp> entries;
  for (mlir::Operation& op : parsed.body()) {
    auto function = llvm::dyn_cast<mlir::func::FuncOp>(op);
    if (!function) return parsed.fail(&op, "stands outside a function, expected func.func");
    if (function.isPublic()) entries.push_back(function);
  }
  for (mlir::func::FuncOp function : entries)
    STREW_TRY(import_function(lowering, function, entries.size() == 1 ? "" : function.getName().str() + "."));
  if (lowering.out.kernels.empty()) {
    mlir::Operation* first = parsed.body().empty() ? nullptr : &parsed.body().front();
    return invalid_argument(fmt::format("{}: no tensor.gather or tensor.scatter in a public function", parsed.where(first)));
  }
  return std::move(lowering.out);
}

}  // namespace strew::inline v0
