// Operations are collected from the result upwards with a worklist, so nothing recurses, and translated in the order of the text, so a
// value that is used twice is one node. Tested by tests/unit/tensor_compute_test.cc.
#include "compiler/import/tensor/computation.h"

#include <fmt/format.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>

#include <algorithm>
#include <set>

#include "compiler/import/prune.h"
#include "compiler/import/tensor/elementwise.h"

namespace strew::inline v0 {

Expected<Computation> Computation::of(mlir::Value result, const ParsedModule& parsed) {
  Computation out;
  out.result = result;
  llvm::DenseSet<mlir::Operation*> seen;
  std::vector<mlir::Value> open{result};
  while (!open.empty()) {
    mlir::Operation* op = open.back().getDefiningOp();
    open.pop_back();
    if (!op || !is_elementwise(op) || !seen.insert(op).second) continue;
    out.ops.push_back(op);
    if (out.ops.size() > kMaxComputation)
      return parsed.fail(op, fmt::format("more than {} elementwise operations between two indexed ones", kMaxComputation));
    open.insert(open.end(), op->operand_begin(), op->operand_end());
  }
  std::sort(out.ops.begin(), out.ops.end(), [](mlir::Operation* a, mlir::Operation* b) { return a->isBeforeInBlock(b); });
  const auto add_leaf = [&](mlir::Value value) -> Status {
    STREW_ASSIGN(const std::optional<Scalar> splat, splat_of(value));
    if (!splat) out.leaves.insert(value);
    return {};
  };
  for (mlir::Operation* op : out.ops)
    for (mlir::Value operand : op->getOperands())
      if (!seen.contains(operand.getDefiningOp())) STREW_TRY(parsed.at(op, add_leaf(operand)));
  if (out.ops.empty()) out.leaves.insert(result);
  return out;
}

std::string Computation::names() const {
  std::set<std::string> seen;
  std::string text;
  for (mlir::Operation* op : ops) {
    const std::string name = op->getName().getStringRef().str();
    if (seen.insert(name).second) text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

Expected<Expr> Computation::expression(const ParsedModule& parsed, const std::function<ExprNode(mlir::Value)>& leaf) const {
  Expr expr;
  llvm::DenseMap<mlir::Value, int32_t> nodes;
  const auto add = [&](mlir::Value value, ExprNode node) {
    expr.nodes.push_back(std::move(node));
    nodes[value] = static_cast<int32_t>(expr.nodes.size()) - 1;
  };
  for (mlir::Value value : leaves) add(value, leaf(value));
  for (mlir::Operation* op : ops) {
    std::vector<int32_t> args;
    for (mlir::Value operand : op->getOperands()) {
      if (!nodes.contains(operand)) {  // neither a leaf nor computed: a splat constant
        STREW_ASSIGN(const std::optional<Scalar> splat, splat_of(operand));
        ExprNode node;
        node.dtype = splat->dtype;
        node.value = *splat;
        add(operand, std::move(node));
      }
      args.push_back(nodes.lookup(operand));
    }
    const auto node = append_elementwise(op, args, expr);
    if (!node.ok()) return parsed.at(op, node.status());
    nodes[op->getResult(0)] = *node;
  }
  expr.results = {nodes.lookup(result)};
  return pruned(expr);
}

}  // namespace strew::inline v0
