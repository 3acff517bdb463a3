// Translates a module, whatever dialects it mixes, to Program: the arguments of each public function become inputs, its operations are translated by the handlers of
// op_list.h, and its results become outputs. Private functions are translated at their calls. Kernels are named after the public function
// that contains them, those in regions after the path of the region. Tested by
// tests/unit/compiler/import/stablehlo/stablehlo_import_test.cc, tests/unit/compiler/import/tensor/tensor_import_test.cc,
// tests/error/stablehlo_error_test.cc and tests/error/tensor_error_test.cc.
#include "compiler/import/mlir/import.h"

#include <mlir/Dialect/Func/IR/FuncOps.h>

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/import/builder/program_builder.h"
#include "compiler/import/mlir/op_list.h"
#include "compiler/import/mlir/parse.h"
#include "compiler/import/mlir/translation.h"
#include "compiler/import/mlir/types.h"
#include "compiler/op/message.h"

namespace strew::inline v0 {
namespace {

constexpr char kPartitions[] = "mhlo.num_partitions";  // every module that XLA gets has it

/// Adds an argument of a public function. One that is neither a tensor nor a scalar that strew stores is a value of an opaque operation, the function itself.
void add_argument(Translation& t, mlir::func::FuncOp function, mlir::BlockArgument argument, const std::string& name) {
  auto type = value_type(argument.getType());
  if (!type.ok()) {
    Opaque opaque = t.opaque_of(function, fmt::format("argument {}: {}", argument.getArgNumber(), type.status().message()));
    t.refused(invalid_argument(opaque.location + ": " + opaque.reason));
    t.add_opaque_value(argument, t.out.add_opaque(std::move(opaque)), 0);
    return;
  }
  const int value = ProgramBuilder(t.out, t.location(function)).input({name, *type, false});
  t.reserve(name);
  t.out.edit_value(value)->name = name;
  t.bind(argument, value);
}

/// Translates one function. `prefix` of the names of inputs and outputs: "" if the file has one public function, else "NAME.".
Status import_function(Translation& t, mlir::func::FuncOp function, const std::string& prefix) {
  if (function.isExternal()) return t.parsed.fail(function, fmt::format("function '{}' has no body", function.getName().str()));
  t.begin_function(function.getName().str());
  for (const mlir::BlockArgument argument : function.getArguments())
    add_argument(t, function, argument, fmt::format("{}arg{}", prefix, argument.getArgNumber()));
  std::vector<int> results;
  const bool is_straight = llvm::hasSingleElement(function.getBody());
  STREW_TRY(is_straight ? t.translate_body(function, results) : t.translate_blocks(function, results));
  STREW_TRY(t.check_count(function, results.size()));
  for (size_t i = 0; i < results.size(); ++i) t.out.add_output({fmt::format("{}result{}", prefix, i), results[i]});
  return {};
}

/// The first attribute that JAX, TensorFlow or XLA writes, of the module, or of a function, its arguments or results; empty if there is none.
std::string xla_attribute(mlir::Block& body) {
  std::vector<mlir::DictionaryAttr> all{body.getParentOp()->getAttrDictionary()};
  for (auto function : body.getOps<mlir::func::FuncOp>()) {
    all.push_back(function->getAttrDictionary());
    for (unsigned i = 0; i < function.getNumArguments(); ++i) all.push_back(function.getArgAttrDict(i));
    for (unsigned i = 0; i < function.getNumResults(); ++i) all.push_back(function.getResultAttrDict(i));
  }
  for (const mlir::DictionaryAttr attributes : all) {
    for (const mlir::NamedAttribute attribute : attributes ? attributes.getValue() : llvm::ArrayRef<mlir::NamedAttribute>()) {
      const llvm::StringRef name = attribute.getName().getValue();
      if (name.starts_with("jax.") || name.starts_with("tf.") || name.starts_with("tf_saved_model.") || name.starts_with("mhlo."))
        return name.substr(0, 80).str();
    }
  }
  return {};
}

/// Is one of the file's scatters or gathers the tensor dialect's?
bool indexes_by_tensor(mlir::Block& body) {
  bool found = false;
  body.walk([&](mlir::Operation* op) {
    found = found || (op->getName().getDialectNamespace() == "tensor" && is_indexed(op->getName().getStringRef()));
  });
  return found;
}

/// The inputs that `value` is made of; nothing if it needs a kernel or an opaque operation.
std::optional<std::set<int>> inputs_of(const Program& imported, int value) {
  std::set<int> seen, inputs;
  std::vector<int> open{value};
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    if (!seen.insert(at).second) continue;
    const Value& v = imported.value(at);
    if (v.kind == ValueKind::result || v.kind == ValueKind::opaque) return std::nullopt;
    if (v.kind == ValueKind::input) inputs.insert(at);
    each_source(imported.parts(), v, [&](int source) { open.push_back(source); });
  }
  return inputs;
}

/// Each kernel checks the conditions on inputs that it reads anyway.
void add_assertions(Translation& t) {
  if (t.assertions.empty()) return;
  const int expected = ProgramBuilder(t.out, "").integer(1, DType::i32);
  std::vector<std::set<int>> read;
  for (size_t k = 0; k < t.out.kernels().size(); ++k) {
    const std::vector<int> inputs = kernel_inputs(t.out, static_cast<int>(k));
    read.emplace_back(inputs.begin(), inputs.end());
  }
  for (const Assertion& assertion : t.assertions) {
    const std::optional<std::set<int>> inputs = inputs_of(t.out, assertion.value);
    for (size_t k = 0; inputs && k < read.size(); ++k)
      if (std::includes(read[k].begin(), read[k].end(), inputs->begin(), inputs->end()))
        t.out.edit_kernel(static_cast<int>(k))
            ->arguments.push_back(KernelArgument::equal_scalars(assertion.value, expected, assertion.location + ": the condition",
                                                                ": " + assertion.message));
  }
}

/// Translates all public functions.
Status import_functions(Translation& t, mlir::Block& body) {
  t.out.set_format(indexes_by_tensor(body) ? "tensor" : "stablehlo");
  std::vector<mlir::func::FuncOp> entries;
  for (mlir::Operation& op : body) {
    auto function = llvm::dyn_cast<mlir::func::FuncOp>(op);
    if (!function) {  // a mesh (sdy.mesh), a nested module
      if (op.getName().getDialectNamespace() != "sdy")
        t.refused(t.parsed.fail(&op, "stands outside a function, expected func.func"));
      continue;
    }
    t.functions[function.getName()] = function;
    if (function.isPublic()) entries.push_back(function);
  }
  for (mlir::func::FuncOp function : entries)
    STREW_TRY(import_function(t, function, entries.size() == 1 ? "" : function.getName().str() + "."));
  return {};
}

}  // namespace

Expected<Program> import_module(const ParsedModule& parsed, const ImportOptions& options) {
  Translation t(parsed, options);
  t.xla_attribute = xla_attribute(parsed.body());
  STREW_TRY(import_functions(t, parsed.body()));
  if (t.out.kernels().empty()) {
    STREW_TRY(t.first_refusal());
    mlir::Operation* first = parsed.body().empty() ? nullptr : &parsed.body().front();
    return invalid_argument(
        "{}: no stablehlo.scatter, gather, dynamic_slice or dynamic_update_slice, and no tensor.gather or "
        "tensor.scatter, in a public function",
        parsed.where(first));
  }
  add_assertions(t);
  return std::move(t.out);
}

Expected<Program> read_module(const ParsedModule& parsed, const ImportOptions& options) {
  Translation t(parsed, options);
  t.xla_attribute = kPartitions;
  t.keeps_calls = true;
  STREW_TRY(import_functions(t, parsed.body()));
  return std::move(t.out);
}

}  // namespace strew::inline v0
