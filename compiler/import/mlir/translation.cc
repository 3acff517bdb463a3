// Calls are inlined, so a few functions that each call the next one twice can stand for 2^n operations. Therefore the number of operations
// and the depth of calls are bounded. Tested by tests/unit/compiler/import/stablehlo/stablehlo_import_test.cc and
// tests/error/stablehlo_error_test.cc.
#include "compiler/import/mlir/translation.h"

#include <fmt/format.h>

#include "compiler/import/builder/program_builder.h"
#include "compiler/import/mlir/op_list.h"
#include "compiler/import/mlir/types.h"
#include "strew/verify.h"

namespace strew::inline v0 {
namespace {
constexpr int kMaxOperations = 100'000;
constexpr size_t kMaxCallDepth = 64;
constexpr char kMhloAdvice[] =
    "the mhlo dialect is not read; convert the module to StableHLO (mlir-hlo-opt --hlo-legalize-to-stablehlo)";
}  // namespace

void Translation::begin_function(std::string name) {
  function_ = std::move(name);
  scopes_ = std::vector<llvm::DenseMap<mlir::Value, int>>(1);
  callees_.clear();
}

Status Translation::translate_body(mlir::func::FuncOp function, std::vector<int>& results) {
  for (mlir::Operation& op : function.getBody().front()) {
    if (llvm::isa<mlir::func::ReturnOp>(op)) {
      for (unsigned i = 0; i < op.getNumOperands(); ++i) results.push_back(operand(&op, i));
      continue;
    }
    STREW_TRY(translate(&op));
  }
  return {};
}

Status Translation::check_count(mlir::func::FuncOp function, size_t results) const {
  if (results == function.getNumResults()) return {};
  return parsed.fail(function, fmt::format("returns {} values, expected {}", results, function.getNumResults()));
}

Expected<mlir::func::FuncOp> Translation::callee(mlir::func::CallOp call) const {
  mlir::func::FuncOp function = functions.lookup(call.getCallee());
  if (!function || function.isExternal())
    return parsed.fail(call, fmt::format("function '{}' has no body here", call.getCallee().str()));
  if (!llvm::hasSingleElement(function.getBody()))
    return parsed.fail(function, "has several blocks, expected straight-line code");
  if (call.getCalleeType() != function.getFunctionType())
    return parsed.fail(call, fmt::format("the call's types are not those of '{}'", call.getCallee().str()));
  return function;
}

Status Translation::translate_call(mlir::func::CallOp call) {
  if (keeps_calls) return parsed.fail(call, "the function is not part of what is read here");
  STREW_ASSIGN(mlir::func::FuncOp function, callee(call));
  if (scopes_.size() > kMaxCallDepth)
    return fatal(parsed.fail(call, fmt::format("calls are nested more than {} deep", kMaxCallDepth)));
  llvm::DenseMap<mlir::Value, int> scope;
  for (unsigned i = 0; i < call.getNumOperands(); ++i) scope[function.getArgument(i)] = operand(call, i);
  scopes_.push_back(std::move(scope));
  callees_.push_back(call.getCallee().str());
  std::vector<int> results;
  const int outer_call = call_node_;
  if (outer_call < 0) call_node_ = next_node_ - 1;
  const Status status = fatal(translate_body(function, results));
  call_node_ = outer_call;
  STREW_TRY(status);
  callees_.pop_back();
  scopes_.pop_back();
  STREW_TRY(check_count(function, results.size()));
  for (unsigned i = 0; i < call.getNumResults(); ++i) bind(call.getResult(i), results[i]);
  is_fatal_ = false;
  return {};
}

/// Runs the operation's handler, whose errors need not say where the operation stands. Everything that a handler that fails has added is taken back: a call may fail after its callee was
/// translated with all that is in it.
Status Translation::run_handler(mlir::Operation* op, const OpRow& row) {
  const Program::Checkpoint before = out.checkpoint();
  const size_t conditions = assertions.size();
  const Status status = parsed.at(op, row.handler(*this, op));
  if (status.ok() || is_fatal_) return status;
  for (size_t k = before.kernels; k < out.kernels().size(); ++k) names_.erase(out.kernels()[k].name);
  out.rollback(before);
  assertions.resize(conditions);
  return status;
}

void Translation::add_node(mlir::Operation* op, int number) {
  const llvm::DenseMap<mlir::Value, int>& scope = scopes_.back();
  const auto value_of = [&](mlir::Value value) {
    const auto found = scope.find(value);
    return found == scope.end() ? -1 : found->second;
  };
  FileNode node{number, region_, location(op), {}, {}, parsed.begin_of(op)};
  for (const mlir::Value operand : op->getOperands()) node.arguments.push_back(value_of(operand));
  for (const mlir::Value result : op->getResults()) node.results.push_back(value_of(result));
  out.add_node(std::move(node));
}

Status Translation::translate(mlir::Operation* op) {
  if (++operations_ > kMaxOperations)
    return fatal(parsed.fail(op, fmt::format("more than {} operations once calls are inlined", kMaxOperations)));
  const int number = call_node_ >= 0 ? call_node_ : next_node_++;
  STREW_TRY(translate_bound(op));
  add_node(op, number);
  return {};
}

Status Translation::translate_bound(mlir::Operation* op) {
  for (const mlir::Value value : op->getOperands())
    if (!is_bound(value)) return add_opaque(op, "it reads a value that is defined after it");
  if (op->getName().getDialectNamespace() == "mhlo") {
    refused(parsed.fail(op, kMhloAdvice));
    return add_opaque(op, kMhloAdvice);
  }
  const OpRow* row = find_op(op->getName().getStringRef());
  if (row == nullptr) return add_opaque(op, "");
  const Status status = run_handler(op, *row);
  if (status.ok() || is_fatal_) return status;
  if (row->indexed) refused(status);
  std::string reason = status.message();
  const std::string start = location(op) + ": ";
  if (reason.starts_with(start)) reason.erase(0, start.size());
  return add_opaque(op, std::move(reason));
}

void Translation::bind(mlir::Value from, int value) {
  scopes_.back()[from] = value;
  if (out.value(value).name.empty()) out.edit_value(value)->name = value_name(from);
}

/// The name in the text, "%12", or that of the operation, if the text has none. Values of an inlined function and of a region have its name
/// or path in front.
std::string Translation::value_name(mlir::Value value) {
  std::string name = parsed.name_of(value);
  if (!name.empty()) name.insert(0, "%");
  mlir::Operation* op = value.getDefiningOp();
  if (name.empty()) name = op != nullptr ? op->getName().stripDialect().str() : "arg";
  name = path_ + (callees_.empty() ? "" : callees_.back() + ".") + name;
  std::string unique = name;
  while (!value_names_.insert(unique).second) unique = fmt::format("{}_{}", name, ++numbers_[name] + 1);
  return unique;
}

/// Outside regions, the name of the function; inside, the path and the operation. Numbered from the second kernel on.
std::string Translation::kernel_name(mlir::Operation* op) {
  const std::string first = path_.empty() ? function_ : path_ + op->getName().stripDialect().str();
  std::string name = first;
  while (!names_.insert(name).second) name = fmt::format("{}_{}", first, ++kernel_numbers_[first] + 1);
  return name;
}

Status Translation::add_kernel(mlir::Operation* from, Op op, const std::vector<int>& arguments, bool fixed_policy) {
  Scatter* scatter = std::get_if<Scatter>(&op);
  const bool has_xla_rule = !xla_attribute.empty() && !fixed_policy && from->getName().getDialectNamespace() == "stablehlo";
  if (has_xla_rule && scatter != nullptr) scatter->oob = OobPolicy::skip_window;
  VerifyOptions strict;
  strict.equal_batching_dims = true;
  auto verified = VerifiedOp::of(std::move(op), strict);
  if (!verified.ok()) return verified.status();
  ProgramKernel added(std::move(verified).value());
  added.name = kernel_name(from);
  added.set_tensors(arguments);
  added.fixed_policy = fixed_policy;
  if (fixed_policy)
    added.notes.push_back(fmt::format("{} is what the operation means: --oob does not apply", strew::name(oob_of(added.op))));
  if (has_xla_rule)
    added.notes.push_back(fmt::format(
        "policy {}, XLA's rule: the module has the attribute '{}'",
        is_scatter(added.op) ? "skip_window: a window that does not fit is dropped whole" : "clamp: start indices are clamped",
        xla_attribute));
  const std::vector<int> results = ProgramBuilder(out, location(from)).kernel(std::move(added));
  for (unsigned i = 0; i < from->getNumResults(); ++i) bind(from->getResult(i), results[i]);
  return {};
}

}  // namespace strew::inline v0
