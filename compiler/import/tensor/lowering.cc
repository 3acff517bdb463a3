// Which kernel computes an elementwise operation (semantics.md section 7, the scatter-update idiom):
// - Gather, computation and scatter at the same indices with `unique`, where nothing else reads the values between them: one scatter whose
//   combiner is the computation. The gathered element stands for the current value.
// - Another computation that reads a gather: that gather computes it from each element it gathers. All elements then see the values from
//   before the scatter, and of duplicates the last update stays. That is what the text says, and differs from combining duplicates.
// - A computation of other tensors that only the source of a scatter reads: the scatter computes it from its updates.
// - Any other computation is refused: no kernel can compute it.
//
// A gather that only elementwise operations read gets a kernel of its own only if one of them needs it as a second tensor. Tested by
// tests/unit/tensor_compute_test.cc.
#include "compiler/import/tensor/lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/mlir/attributes.h"
#include "compiler/import/mlir/literals.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/tensor/elementwise.h"
#include "compiler/op/combiner.h"
#include "strew/verify.h"

namespace strew::inline v0 {
namespace {

/// Bounds the only recursion over the file: a gather that reads another gather's result makes that gather first.
constexpr int kMaxWaiting = 256;

bool is_gather(mlir::Operation* op) { return op && op->getName().getStringRef() == "tensor.gather"; }

ExprNode input_node(ExprOp op, DType dtype, int32_t index = 0) {
  ExprNode node;
  node.op = op;
  node.dtype = dtype;
  node.index = index;
  return node;
}

}  // namespace

void TensorLowering::begin_function(std::string name) {
  function_ = std::move(name);
  values_.clear();
  gathers_.clear();
}

int TensorLowering::add_value(Value value) {
  out.values.push_back(std::move(value));
  return static_cast<int>(out.values.size()) - 1;
}

void TensorLowering::add_input(mlir::Value value, std::string name, const TensorType& type) {
  Value input;
  input.kind = ValueKind::input;
  input.type = type;
  input.index = static_cast<int>(out.inputs.size());
  out.inputs.push_back({std::move(name), type, false});
  values_[value] = add_value(std::move(input));
}

std::string TensorLowering::line_of(mlir::Operation* op) const {
  const std::string where = parsed.where(op);
  return fmt::format("{} of line {}", op->getName().getStringRef().str(), where.substr(where.rfind(':') + 1));
}

Status TensorLowering::lower(mlir::Operation* op) {
  const llvm::StringRef name = op->getName().getStringRef();
  if (name == "tensor.gather") return lower_gather(op);
  if (name == "tensor.scatter") return lower_scatter(op);
  if (is_constant(op)) return {};  // read where it is used
  if (is_elementwise(op)) {
    // It is translated where it is used, which may be nowhere. Translating it here as well reports errors in unused operations too.
    Expr alone;
    std::vector<int32_t> args;
    for (mlir::Value operand : op->getOperands()) {
      const auto dtype = element_dtype(element_of(operand.getType()) ? element_of(operand.getType()) : operand.getType());
      if (!dtype.ok()) return parsed.at(op, dtype.status());
      args.push_back(static_cast<int32_t>(alone.nodes.size()));
      alone.nodes.push_back(input_node(ExprOp::extra, *dtype, args.back()));
    }
    return parsed.at(op, append_elementwise(op, args, alone).status());
  }
  return parsed.fail(op,
                     "not read here, expected tensor.gather, tensor.scatter, constants and elementwise operations of arith, math "
                     "and stablehlo");
}

Expected<int> TensorLowering::add_kernel(Kernel kernel) {
  auto verified = VerifiedOp::of(std::move(kernel.op));
  if (!verified.ok()) return parsed.at(kernel.at, verified.status());
  Value result;
  result.kind = ValueKind::result;
  result.type = kernel.type;
  result.index = static_cast<int>(out.kernels.size());
  ImportedKernel& added = out.kernels.emplace_back(std::move(verified).value());
  added.name = function_;
  for (int n = 2; !names_.insert(added.name).second; ++n) added.name = fmt::format("{}_{}", function_, n);
  added.location = fmt::format("{}: {}", parsed.where(kernel.at), kernel.at->getName().getStringRef().str());
  added.arguments = std::move(kernel.arguments);
  added.notes = std::move(kernel.notes);
  return values_[kernel.result] = add_value(std::move(result));
}

Expected<int> TensorLowering::constant_value(mlir::Operation* op) {
  const auto type = tensor_type(op->getResult(0).getType());
  if (!type.ok()) return parsed.at(op, type.status());
  auto constant = constant_from(Attributes(op).get("value"), *type);
  if (!constant.ok()) return parsed.at(op, constant.status());
  Value value;
  value.kind = ValueKind::constant;
  value.type = constant->type;
  value.index = static_cast<int>(out.constants.size());
  out.constants.push_back(std::move(*constant));
  return values_[op->getResult(0)] = add_value(std::move(value));
}

Expected<int> TensorLowering::value_of(mlir::Value value, mlir::Operation* reader) {
  if (const auto known = values_.find(value); known != values_.end()) return known->second;
  mlir::Operation* op = value.getDefiningOp();
  if (is_constant(op)) return constant_value(op);
  if (waiting_ >= kMaxWaiting)
    return parsed.fail(reader,
                       fmt::format("more than {} gathers in a row feed each other through elementwise operations", kMaxWaiting));
  ++waiting_;
  const auto made = [&]() -> Expected<int> {
    if (is_gather(op)) return plain_gather(gathers_[op]);
    STREW_ASSIGN(const Computation c, Computation::of(value, parsed));
    return gather_computing(c, reader);
  }();
  --waiting_;
  return made;
}

Status TensorLowering::lower_gather(mlir::Operation* op) {
  auto gather = read_tensor_gather(op);
  if (!gather.ok()) return parsed.at(op, gather.status());
  gathers_[op] = std::move(*gather);
  const auto waits = [](mlir::Operation* user) { return is_elementwise(user); };
  if (!op->use_empty() && std::all_of(op->user_begin(), op->user_end(), waits)) return parsed.at(op, verify(gathers_[op].gather));
  return plain_gather(gathers_[op]).status();
}

Expected<int> TensorLowering::plain_gather(const TensorGather& gather) {
  Kernel kernel{gather.op, gather.op->getResult(0), gather.gather.result, gather.gather, {}, {}};
  for (mlir::Value operand : {gather.source, gather.indices}) {
    STREW_ASSIGN(kernel.arguments.emplace_back(), value_of(operand, gather.op));
  }
  return add_kernel(std::move(kernel));
}

Expected<int> TensorLowering::gather_computing(const Computation& c, mlir::Operation* reader) {
  mlir::Value base;
  for (mlir::Value leaf : c.leaves)  // prefer a gather that has no kernel yet
    if (is_gather(leaf.getDefiningOp()) && (!base || (values_.contains(base) && !values_.contains(leaf)))) base = leaf;
  if (!base)
    return parsed.fail(
        c.ops.back(),
        fmt::format("its result is read by {} and no tensor.gather feeds it: elementwise operations run only on what "
                    "is gathered or what becomes the source of a scatter",
                    line_of(reader)));
  const TensorGather gather = gathers_[base.getDefiningOp()];
  Gather op = gather.gather;
  std::vector<int> arguments;
  for (mlir::Value operand : {gather.source, gather.indices}) {
    STREW_ASSIGN(arguments.emplace_back(), value_of(operand, gather.op));
  }
  llvm::DenseMap<mlir::Value, int32_t> extras;
  for (mlir::Value leaf : c.leaves) {
    if (leaf == base) continue;
    STREW_ASSIGN(arguments.emplace_back(), value_of(leaf, c.ops.back()));
    extras[leaf] = static_cast<int32_t>(op.extras.size());
    op.extras.push_back({ExtraKind::per_element, out.values[static_cast<size_t>(arguments.back())].type});
  }
  STREW_ASSIGN(op.expr, c.expression(parsed, [&](mlir::Value leaf) {
    if (leaf == base) return input_node(ExprOp::current, op.operand.dtype);
    const int32_t extra = extras.lookup(leaf);
    return input_node(ExprOp::extra, op.extras[static_cast<size_t>(extra)].type.dtype, extra);
  }));
  const auto type = tensor_type(c.result.getType());
  if (!type.ok()) return parsed.at(c.ops.back(), type.status());
  op.result = *type;
  std::vector<std::string> notes{fmt::format("computes {} from each element it gathers", c.names())};
  return add_kernel({gather.op, c.result, *type, std::move(op), std::move(arguments), std::move(notes)});
}

mlir::Operation* TensorLowering::idiom_gather(const TensorScatter& scatter, const Computation& c, std::string& why) {
  mlir::Operation* found = nullptr;
  for (mlir::Value leaf : c.leaves) {
    mlir::Operation* op = leaf.getDefiningOp();
    if (!is_gather(op)) continue;
    const TensorGather& gather = gathers_[op];
    if (gather.source != scatter.dest)
      why = fmt::format("{} reads another tensor than the destination", line_of(op));
    else if (gather.indices != scatter.indices)
      why = fmt::format("{} has other indices", line_of(op));
    else if (gather.dims != scatter.dims)
      why = fmt::format("{} has other gather_dims than scatter_dims", line_of(op));
    else {
      found = op;
      break;
    }
  }
  if (!found) return nullptr;
  why.clear();
  if (!scatter.unique) {
    why =
        "no 'unique': where indices repeat, each update is computed from the value before the scatter and the last one stays, "
        "which "
        "is no fold";
    return found;
  }
  std::vector<mlir::Operation*> between(c.ops);
  between.push_back(found);
  for (mlir::Operation* op : between)
    for (mlir::Operation* user : op->getUsers())
      if (user != scatter.op && std::find(c.ops.begin(), c.ops.end(), user) == c.ops.end())
        why = fmt::format("the result of {} is read by {} too", line_of(op), line_of(user));
  for (mlir::Operation* op : c.ops)  // the destination or the indices would depend on values inside the fused kernel
    if (op->getResult(0) == scatter.dest || op->getResult(0) == scatter.indices)
      why = fmt::format("the result of {} is also the destination or the indices", line_of(op));
  if (why.empty() && c.leaves.size() == 1) why = fmt::format("{} reads nothing but what was gathered", c.names());
  return found;
}

Status TensorLowering::lower_scatter(mlir::Operation* op) {
  auto scatter = read_tensor_scatter(op);
  if (!scatter.ok()) return parsed.at(op, scatter.status());
  STREW_TRY(parsed.at(op, verify(scatter->scatter)));
  STREW_ASSIGN(const Computation c, Computation::of(scatter->source, parsed));
  std::vector<std::string> notes;
  if (!c.ops.empty() && !values_.contains(scatter->source)) {
    const bool reads_gather =
        std::any_of(c.leaves.begin(), c.leaves.end(), [](mlir::Value leaf) { return is_gather(leaf.getDefiningOp()); });
    if (!reads_gather && !c.leaves.empty())
      return scatter_computing(std::move(*scatter), c, nullptr, fmt::format("computes {} from each update", c.names()));
    std::string why;
    mlir::Operation* gather = idiom_gather(*scatter, c, why);
    if (gather && why.empty())
      return scatter_computing(std::move(*scatter), c, gather,
                               fmt::format("fused with {} and {}: 'unique', the same destination and indices, no other reader",
                                           line_of(gather), c.names()));
    if (!why.empty()) notes.push_back("not fused with the gather: " + why);
  }
  return plain_scatter(std::move(*scatter), std::move(notes));
}

Status TensorLowering::plain_scatter(TensorScatter scatter, std::vector<std::string> notes) {
  Kernel kernel{scatter.op, scatter.op->getResult(0), scatter.scatter.results[0], scatter.scatter, {}, std::move(notes)};
  for (mlir::Value operand : {scatter.dest, scatter.indices, scatter.source}) {
    STREW_ASSIGN(kernel.arguments.emplace_back(), value_of(operand, scatter.op));
  }
  return add_kernel(std::move(kernel)).status();
}

Status TensorLowering::scatter_computing(TensorScatter scatter, const Computation& c, mlir::Operation* current,
                                         std::string note) {
  Scatter& op = scatter.scatter;
  std::vector<int> arguments;
  for (mlir::Value operand : {scatter.dest, scatter.indices}) {
    STREW_ASSIGN(arguments.emplace_back(), value_of(operand, scatter.op));
  }
  llvm::DenseMap<mlir::Value, ExprNode> nodes;
  op.updates.clear();
  for (mlir::Value leaf : c.leaves) {
    if (current && leaf.getDefiningOp() == current) {
      nodes[leaf] = input_node(ExprOp::current, op.results[0].dtype);
      continue;
    }
    STREW_ASSIGN(arguments.emplace_back(), value_of(leaf, scatter.op));
    const TensorType& type = out.values[static_cast<size_t>(arguments.back())].type;
    if (op.updates.empty()) {
      nodes[leaf] = input_node(ExprOp::update, type.dtype);
      op.updates.push_back(type);
    } else {
      nodes[leaf] = input_node(ExprOp::extra, type.dtype, static_cast<int32_t>(op.extras.size()));
      op.extras.push_back({ExtraKind::per_element, type});
    }
  }
  STREW_ASSIGN(Expr expr, c.expression(parsed, [&](mlir::Value leaf) { return nodes[leaf]; }));
  op.combiner = named_combiner(std::move(expr));
  const TensorType result = op.results[0];
  return add_kernel({scatter.op, scatter.op->getResult(0), result, std::move(op), std::move(arguments), {std::move(note)}})
      .status();
}

}  // namespace strew::inline v0
