// See combine.h. Division exists on tiles of floats only: strew defines integer division by 0, and no chip computes
// that result. Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#include <algorithm>

#include "backends/pto/combine.h"

namespace strew::inline v0::pto {
namespace {

constexpr Operator kTable[] = {
    {ExprOp::add, Opcode::tadd, Opcode::addi, Opcode::addi, "add", false},
    {ExprOp::sub, Opcode::tsub, Opcode::subi, Opcode::subi, "", false},
    {ExprOp::mul, Opcode::tmul, Opcode::muli, Opcode::muli, "", false},
    {ExprOp::div, Opcode::tdiv, std::nullopt, std::nullopt, "", true},
    {ExprOp::max, Opcode::tmax, Opcode::maxsi, Opcode::maxui, "max", true},
    {ExprOp::min, Opcode::tmin, Opcode::minsi, Opcode::minui, "min", true},
    {ExprOp::bit_and, Opcode::tand, Opcode::andi, Opcode::andi, "", false},
    {ExprOp::bit_or, Opcode::tor, Opcode::ori, Opcode::ori, "", false},
    {ExprOp::bit_xor, Opcode::txor, Opcode::xori, Opcode::xori, "", false},
};

}  // namespace

const Operator* find_operator(ExprOp op) {
  for (const Operator& row : kTable)
    if (row.op == op) return &row;
  return nullptr;
}

std::vector<int32_t> evaluation_order(const Expr& graph, int32_t root) {
  std::vector<int32_t> out;
  std::vector<bool> seen(graph.nodes.size());
  std::vector<std::pair<int32_t, size_t>> open;  // (node, its next argument)
  const auto enter = [&](int32_t node) {
    if (seen[static_cast<size_t>(node)]) return;
    seen[static_cast<size_t>(node)] = true;
    open.emplace_back(node, 0);
  };
  enter(root);
  while (!open.empty()) {
    auto& [node, next] = open.back();
    const std::vector<int32_t>& args = graph.nodes[static_cast<size_t>(node)].args;
    if (next < args.size()) {
      enter(args[next++]);
    } else {
      out.push_back(node);
      open.pop_back();
    }
  }
  return out;
}

namespace {

/// Is node `at` the update of `pair`, or a conversion of it?
bool is_update(const Expr& graph, int32_t at, int pair) {
  const ExprNode* node = &graph.nodes[static_cast<size_t>(at)];
  if (node->op == ExprOp::convert) node = &graph.nodes[static_cast<size_t>(node->args[0])];
  return node->op == ExprOp::update && node->index == pair;
}

}  // namespace

const Operator* combiner_operator(const Plan& plan) {
  const Expr& graph = plan.combine;
  if (plan.gather || graph.results.empty()) return nullptr;
  const ExprOp op = graph.nodes[static_cast<size_t>(graph.results[0])].op;
  const Operator* const row = find_operator(op);
  for (int pair = 0; row != nullptr && pair < plan.pairs; ++pair) {
    const ExprNode& node = graph.nodes[static_cast<size_t>(graph.results[static_cast<size_t>(pair)])];
    if (node.op != op) return nullptr;
    const ExprNode& current = graph.nodes[static_cast<size_t>(node.args[0])];
    if (current.op != ExprOp::current || current.index != pair || !is_update(graph, node.args[1], pair)) return nullptr;
  }
  return row;
}

bool assigns(const Plan& plan) {
  if (plan.gather) return false;
  for (int pair = 0; pair < plan.pairs; ++pair)
    if (!is_update(plan.combine, plan.combine.results[static_cast<size_t>(pair)], pair)) return false;
  return true;
}

bool same_types(const Plan& plan) {
  for (int pair = 0; pair < plan.pairs; ++pair) {
    const DType dtype = plan.tensors[static_cast<size_t>(plan.result(pair))].dtype;
    for (const int other : {plan.operand(pair), plan.update(pair)})
      if (plan.tensors[static_cast<size_t>(other)].dtype != dtype) return false;
  }
  return true;
}

bool has_extras(const Plan& plan) { return std::ranges::count(plan.tensors, Role::extra, &PlanTensor::role) > 0; }

}  // namespace strew::inline v0::pto
