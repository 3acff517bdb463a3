// See combine_graph.h. Tested by the golden plans and the differential test.
#include "compiler/plan/combine_graph.h"

namespace strew {
namespace {

ExprOp binary_op(CombinerKind kind) {
  switch (kind) {
    case CombinerKind::add:
      return ExprOp::add;
    case CombinerKind::sub:
      return ExprOp::sub;
    case CombinerKind::mul:
      return ExprOp::mul;
    case CombinerKind::div:
      return ExprOp::div;
    case CombinerKind::min:
      return ExprOp::min;
    case CombinerKind::max:
      return ExprOp::max;
    case CombinerKind::bit_and:
      return ExprOp::bit_and;
    case CombinerKind::bit_or:
      return ExprOp::bit_or;
    case CombinerKind::bit_xor:
      return ExprOp::bit_xor;
    case CombinerKind::assign:
    case CombinerKind::expr:
      break;
  }
  return ExprOp::update;
}

class GraphBuilder {
 public:
  int32_t input(ExprOp op, int index, DType dtype) { return push({op, dtype, {}, index, {}}); }
  int32_t converted(int32_t node, DType dtype) {
    if (graph.nodes[static_cast<size_t>(node)].dtype == dtype) return node;
    return push({ExprOp::convert, dtype, {node}, 0, {}});
  }
  int32_t push(ExprNode node) {
    graph.nodes.push_back(std::move(node));
    return static_cast<int32_t>(graph.nodes.size()) - 1;
  }
  Expr graph;
};

}  // namespace

Expr combine_graph(const Op& op) {
  GraphBuilder b;
  if (const auto* g = std::get_if<Gather>(&op)) {
    if (!g->expr.empty()) return g->expr;
    b.graph.results = {b.converted(b.input(ExprOp::current, 0, g->operand.dtype), g->result.dtype)};
    return std::move(b.graph);
  }
  const auto& s = std::get<Scatter>(op);
  if (s.combiner.kind == CombinerKind::expr) return s.combiner.expr;
  for (size_t i = 0; i < s.results.size(); ++i) {
    const DType dtype = s.results[i].dtype;
    const int index = static_cast<int>(i);
    const int32_t update = b.converted(b.input(ExprOp::update, index, s.updates[i].dtype), dtype);
    if (s.combiner.kind == CombinerKind::assign) {
      b.graph.results.push_back(update);
      continue;
    }
    const int32_t current = b.input(ExprOp::current, index, dtype);
    b.graph.results.push_back(b.push({binary_op(s.combiner.kind), dtype, {current, update}, 0, {}}));
  }
  return std::move(b.graph);
}

bool is_pure_move(const Expr& graph, int pairs, bool gather) {
  if (static_cast<int>(graph.results.size()) != pairs) return false;
  for (int i = 0; i < pairs; ++i) {
    const ExprNode& node = graph.nodes[static_cast<size_t>(graph.results[static_cast<size_t>(i)])];
    if (node.op != (gather ? ExprOp::current : ExprOp::update) || node.index != i) return false;
  }
  return true;
}

}  // namespace strew
