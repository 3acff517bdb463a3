// Calls are inlined, so a few functions that each call the next one twice can stand for 2^n operations. Therefore the number of operations
// and the depth of calls are bounded. Tested by tests/unit/stablehlo_import_test.cc and tests/error/stablehlo_error_test.cc.
#include "compiler/import/stablehlo/translation.h"

#include <fmt/format.h>

#include "compiler/import/mlir/shim_forms.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/stablehlo/op_list.h"
#include "compiler/import/stablehlo/scalar_op.h"
#include "strew/verify.h"

namespace strew::inline v0 {
namespace {
constexpr int kMaxOperations = 100'000;
constexpr size_t kMaxCallDepth = 64;
}  // namespace

void Translation::begin_function(std::string name) {
  function_ = std::move(name);
  next_number_ = 2;
  scopes_.clear();
  scopes_.emplace_back();
}

Status Translation::translate_body(mlir::func::FuncOp function, std::vector<int>& results) {
  if (!llvm::hasSingleElement(function.getBody()))
    return parsed.fail(function, "has several blocks, expected straight-line code");
  for (mlir::Operation& op : function.getBody().front()) {
    if (++operations_ > kMaxOperations)
      return parsed.fail(&op, fmt::format("more than {} operations once calls are inlined", kMaxOperations));
    if (llvm::isa<mlir::func::ReturnOp>(op)) {
      for (unsigned i = 0; i < op.getNumOperands(); ++i) results.push_back(operand(&op, i));
      continue;
    }
    STREW_TRY(translate(&op));
  }
  return {};
}

Status Translation::translate_call(mlir::func::CallOp call) {
  const auto found = functions.find(call.getCallee());
  if (found == functions.end() || found->second.isExternal())
    return parsed.fail(call, fmt::format("function '{}' has no body here", call.getCallee().str()));
  if (scopes_.size() > kMaxCallDepth) return parsed.fail(call, fmt::format("calls are nested more than {} deep", kMaxCallDepth));
  mlir::func::FuncOp function = found->second;
  if (call.getCalleeType() != function.getFunctionType())
    return parsed.fail(call, fmt::format("the call's types are not those of '{}'", call.getCallee().str()));
  llvm::DenseMap<mlir::Value, int> scope;
  for (unsigned i = 0; i < call.getNumOperands(); ++i) scope[function.getArgument(i)] = operand(call, i);
  scopes_.push_back(std::move(scope));
  std::vector<int> results;
  STREW_TRY(translate_body(function, results));
  scopes_.pop_back();
  if (results.size() != call.getNumResults())
    return parsed.fail(function, fmt::format("returns {} values, expected {}", results.size(), call.getNumResults()));
  for (unsigned i = 0; i < call.getNumResults(); ++i) bind(call.getResult(i), results[i]);
  return {};
}

Status Translation::translate(mlir::Operation* op) {
  const OpHandler* handler = find_handler(op->getName().getStringRef());
  if (handler) return (*handler)(*this, op);
  if (is_scalar_op(op->getName().getStringRef())) return import_elementwise(*this, op);
  if (op->getName().getDialectNamespace() == "mhlo") return parsed.fail(op, kMhloAdvice);
  return parsed.fail(op, fmt::format("not read here, expected one of {}", handled_operations()));
}

int Translation::add_value(Value value) {
  out.values.push_back(std::move(value));
  return static_cast<int>(out.values.size()) - 1;
}

std::string Translation::kernel_name() {
  std::string name = function_;
  while (!names_.insert(name).second) name = fmt::format("{}_{}", function_, next_number_++);
  return name;
}

Status Translation::add_kernel(mlir::Operation* from, Op op, std::vector<int> arguments, bool fixed_policy) {
  VerifyOptions strict;
  strict.equal_batching_dims = true;
  auto verified = VerifiedOp::of(std::move(op), strict);
  if (!verified.ok()) return parsed.at(from, verified.status());
  ImportedKernel added(std::move(verified).value());
  const int kernel = static_cast<int>(out.kernels.size());
  for (unsigned i = 0; i < from->getNumResults(); ++i) {
    Value result;
    result.kind = ValueKind::result;
    result.type = is_scatter(added.op) ? std::get<Scatter>(*added.op).results[i] : std::get<Gather>(*added.op).result;
    result.index = kernel;
    result.result = static_cast<int>(i);
    bind(from->getResult(i), add_value(std::move(result)));
  }
  added.name = kernel_name();
  added.location = fmt::format("{}: {}", parsed.where(from), from->getName().getStringRef().str());
  added.arguments = std::move(arguments);
  added.fixed_policy = fixed_policy;
  if (fixed_policy) added.notes.emplace_back("clamp is what the operation means: --oob does not apply");
  out.kernels.push_back(std::move(added));
  return {};
}

Status Translation::add_compute(mlir::Operation* from, Compute compute) {
  const int number = static_cast<int>(out.computes.size());
  compute.location = fmt::format("{}: {}", parsed.where(from), from->getName().getStringRef().str());
  for (unsigned i = 0; i < from->getNumOperands(); ++i) compute.arguments.push_back(operand(from, i));
  for (unsigned i = 0; i < from->getNumResults(); ++i) {
    Value result;
    result.kind = ValueKind::compute;
    result.type = compute.results[i];
    result.index = number;
    result.result = static_cast<int>(i);
    bind(from->getResult(i), add_value(std::move(result)));
  }
  out.computes.push_back(std::move(compute));
  return {};
}

}  // namespace strew::inline v0
