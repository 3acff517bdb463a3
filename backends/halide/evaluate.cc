// See evaluate.h. The method is that of backends/llvm/compute/evaluate.cc: a node of a float of 16 bits or less is encoded once, and select works
// on storage forms. Tested by tests/differential.
#include "backends/halide/evaluate.h"

namespace strew::inline v0 {
namespace {

class Evaluator {
 public:
  Evaluator(const HalideNumeric& numeric, const Expr& graph, const std::function<Parts(const ExprNode&)>& load)
      : n_(numeric), graph_(graph), load_(load), nodes_(graph.nodes.size()) {}

  std::vector<Parts> run() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) nodes_[i] = node(graph_.nodes[i]);
    std::vector<Parts> results;
    for (const int32_t result : graph_.results) results.push_back(storage(result));
    return results;
  }

 private:
  /// A node's value in one or both of its forms; the other is made when it is asked for.
  struct Value {
    Parts compute, storage;
  };

  DType dtype(int32_t n) const { return graph_.nodes[static_cast<size_t>(n)].dtype; }
  const Parts& compute(int32_t n) {
    Value& v = nodes_[static_cast<size_t>(n)];
    if (!v.compute.a.defined()) v.compute = n_.decode(dtype(n), v.storage);
    return v.compute;
  }
  const Parts& storage(int32_t n) {
    Value& v = nodes_[static_cast<size_t>(n)];
    if (!v.storage.a.defined()) v.storage = n_.encode(dtype(n), v.compute);
    return v.storage;
  }
  Value computed(DType type, const Parts& v) const {
    if (HalideNumeric::rounds_after(type)) return {{}, n_.encode(type, v)};
    return {v, {}};
  }

  Value node(const ExprNode& node) {
    const auto arg = [&](size_t i) -> const Parts& { return compute(node.args[i]); };
    switch (node.op) {
      case ExprOp::current:
      case ExprOp::update:
      case ExprOp::extra:
        return {{}, load_(node)};
      case ExprOp::literal:
        return {{}, n_.literal_storage(node.value)};
      case ExprOp::convert:
        return computed(node.dtype, n_.convert(dtype(node.args[0]), node.dtype, arg(0)));
      case ExprOp::bitcast:
        return {n_.bitcast(dtype(node.args[0]), node.dtype, arg(0)), {}};
      case ExprOp::select:
        return {{}, n_.choose(node.dtype, arg(0).a, storage(node.args[1]), storage(node.args[2]))};
      case ExprOp::real:
        return {{arg(0).a, {}}, {}};
      case ExprOp::imag:
        return {{arg(0).b, {}}, {}};
      case ExprOp::complex:
        return {{arg(0).a, arg(1).a}, {}};
      case ExprOp::is_finite:
        return {{n_.is_finite(arg(0).a), {}}, {}};
      case STREW_EACH_OP(COMPARE):
        return {{n_.compare(node.op, dtype(node.args[0]), arg(0), arg(1)), {}}, {}};
      case STREW_EACH_OP(UNARY):
        return computed(node.dtype, n_.unary(node.op, dtype(node.args[0]), arg(0)));
      case STREW_EACH_OP(BINARY):
        return computed(node.dtype, n_.binary(node.op, dtype(node.args[0]), arg(0), arg(1)));
    }
    return {};
  }

  const HalideNumeric& n_;
  const Expr& graph_;
  const std::function<Parts(const ExprNode&)>& load_;
  std::vector<Value> nodes_;
};

}  // namespace

std::vector<Parts> evaluate(const HalideNumeric& numeric, const Expr& graph, const std::function<Parts(const ExprNode&)>& load) {
  return Evaluator(numeric, graph, load).run();
}

}  // namespace strew::inline v0
