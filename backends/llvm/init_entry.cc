// The init entry: elements [begin, end) of the results, copied from the operands (converted where dtypes differ) or filled.
#include "backends/llvm/body.h"
#include "backends/llvm/entries.h"

namespace strew {
namespace {

/// current (an operand element or the fill value) -> the result's dtype.
Expr convert_graph(DType from, DType to) {
  Expr graph;
  graph.nodes.push_back({ExprOp::current, from, {}, 0, {}});
  if (from != to) graph.nodes.push_back({ExprOp::convert, to, {0}, 0, {}});
  graph.results = {static_cast<int32_t>(graph.nodes.size()) - 1};
  return graph;
}

}  // namespace

void emit_init(llvm::Module& module, const BuildRequest& request, const std::string& name) {
  Frame f(module, name, request.plan, request.schedule, request.target);
  const Plan& plan = f.plan;
  f.for_rows(plan.init, f.begin(), f.end(), [&](const Pointers& row, llvm::Value*, llvm::Value* lo, llvm::Value* hi) {
    for (int i = 0; i < plan.pairs; ++i) {
      const DType to = plan.tensors[static_cast<size_t>(plan.result(i))].dtype;
      const bool fill = plan.init_kind == InitKind::fill;
      const DType from = fill ? to : plan.tensors[static_cast<size_t>(plan.operand(i))].dtype;
      const Expr graph = convert_graph(from, to);
      Body body;
      body.expr = &graph;
      body.results = {plan.result(i)};
      body.currents = {plan.operand(i)};
      body.move = from == to;
      body.bulk = true;
      if (fill) body.current = &plan.init_fill[static_cast<size_t>(i)];
      emit_run(f, body, row, plan.init.empty() ? nullptr : &plan.init.back(), lo, hi);
    }
  });
  f.finish();
}

}  // namespace strew
