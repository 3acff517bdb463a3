// See operators.h. Division is there on tiles of floats only: integers that divide by 0 have a meaning here that no chip gives them.
// Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#include "backends/pto/operators.h"

namespace strew::pto {
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
  struct Visit {
    int32_t node;
    size_t next_arg;
  };
  std::vector<int32_t> out;
  std::vector<bool> seen(graph.nodes.size());
  std::vector<Visit> open;
  const auto enter = [&](int32_t node) {
    if (seen[static_cast<size_t>(node)]) return;
    seen[static_cast<size_t>(node)] = true;
    open.push_back({node, 0});
  };
  enter(root);
  while (!open.empty()) {
    const std::vector<int32_t>& args = graph.nodes[static_cast<size_t>(open.back().node)].args;
    if (open.back().next_arg < args.size()) {
      enter(args[open.back().next_arg++]);
    } else {
      out.push_back(open.back().node);
      open.pop_back();
    }
  }
  return out;
}

const Operator* combiner_operator(const Op& op, const Plan& plan) {
  const auto* scatter = std::get_if<Scatter>(&op);
  if (scatter == nullptr || scatter->combiner.kind == CombinerKind::assign || scatter->combiner.kind == CombinerKind::expr)
    return nullptr;
  return find_operator(plan.combine.nodes[static_cast<size_t>(plan.combine.results[0])].op);
}

}  // namespace strew::pto
