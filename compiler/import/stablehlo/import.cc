// Translates a module to Imported: the arguments of each public function become inputs, its operations are translated by the handlers of
// op_list.h, and its results become outputs. Private functions are translated at their calls. Kernels are named after the public function
// that contains them. Tested by tests/unit/stablehlo_import_test.cc and tests/error/stablehlo_error_test.cc.
#include "compiler/import/stablehlo/import.h"

#include <fmt/format.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>

#include "compiler/import/mlir/parse.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/stablehlo/translation.h"

namespace strew::inline v0 {
namespace {

/// Translates one function. `prefix` of the names of inputs and outputs: "" if the file has one public function, else "NAME.".
Status import_function(Translation& t, mlir::func::FuncOp function, const std::string& prefix) {
  if (function.isExternal()) return t.parsed.fail(function, fmt::format("function '{}' has no body", function.getName().str()));
  t.begin_function(function.getName().str());
  for (mlir::BlockArgument argument : function.getArguments()) {
    auto type = tensor_type(argument.getType());
    if (!type.ok())
      return t.parsed.at(function,
                         invalid_argument(fmt::format("argument {}: {}", argument.getArgNumber(), type.status().message())));
    Value value;
    value.kind = ValueKind::input;
    value.type = *type;
    value.index = static_cast<int>(t.out.inputs.size());
    t.out.inputs.push_back({fmt::format("{}arg{}", prefix, argument.getArgNumber()), *type, false});
    t.bind(argument, t.add_value(std::move(value)));
  }
  std::vector<int> results;
  STREW_TRY(t.translate_body(function, results));
  for (size_t i = 0; i < results.size(); ++i) t.out.outputs.push_back({fmt::format("{}result{}", prefix, i), results[i]});
  return {};
}

}  // namespace

Expected<Imported> import_stablehlo(const ParsedModule& parsed, const ImportOptions& options) {
  Translation t(parsed, options);
  t.out.format = "stablehlo";
  std::vector<mlir::func::FuncOp> entries;
  for (mlir::Operation& op : parsed.body()) {
    auto function = llvm::dyn_cast<mlir::func::FuncOp>(op);
    if (!function) return parsed.fail(&op, "stands outside a function, expected func.func");
    t.functions[function.getName()] = function;
    if (function.isPublic()) entries.push_back(function);
  }
  for (mlir::func::FuncOp function : entries)
    STREW_TRY(import_function(t, function, entries.size() == 1 ? "" : function.getName().str() + "."));
  if (t.out.kernels.empty()) {
    mlir::Operation* first = parsed.body().empty() ? nullptr : &parsed.body().front();
    return invalid_argument(fmt::format(
        "{}: no stablehlo.scatter, gather, dynamic_slice or dynamic_update_slice in a public function", parsed.where(first)));
  }
  return std::move(t.out);
}

}  // namespace strew::inline v0
