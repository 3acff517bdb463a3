// See evaluate.h. Every node is rounded to its own dtype. A node of a float of 16 bits or less is encoded (numeric.h) right after it is computed,
// and decoded only if another node reads it: a bf16 add is load, widen, add, round, store. Tested by tests/differential.
#include "backends/llvm/compute/evaluate.h"

namespace strew::inline v0 {
namespace {
using llvm::Value;

class Evaluator {
 public:
  Evaluator(Frame& frame, const Body& body, const Pointers& p, int lanes, const std::vector<bool>& splats)
      : f_(frame), n_(frame.numeric), body_(body), p_(p), lanes_(lanes), splats_(splats), nodes_(body.expr->nodes.size()) {}

  std::vector<Value*> run() {
    const Expr& graph = *body_.expr;
    for (size_t i = 0; i < graph.nodes.size(); ++i) nodes_[i] = node(graph.nodes[i]);
    // All results are computed before the first store, because an expression may read the current values of several results.
    std::vector<Value*> stored;
    for (int32_t result : graph.results) stored.push_back(storage(result));
    for (size_t i = 0; i < stored.size(); ++i)
      f_.store_element(body_.results[i], p_[static_cast<size_t>(body_.results[i])], stored[i]);
    return stored;
  }

 private:
  /// A node's value in one or both of its forms (numeric.h); the other is made when it is asked for.
  struct NodeValue {
    Value* compute = nullptr;
    Value* storage = nullptr;
  };

  DType dtype(int32_t n) const { return body_.expr->nodes[static_cast<size_t>(n)].dtype; }
  Value* compute(int32_t n) {
    NodeValue& v = nodes_[static_cast<size_t>(n)];
    if (v.compute == nullptr) v.compute = n_.decode(dtype(n), v.storage);
    return v.compute;
  }
  Value* storage(int32_t n) {
    NodeValue& v = nodes_[static_cast<size_t>(n)];
    if (v.storage == nullptr) v.storage = n_.encode(dtype(n), v.compute);
    return v.storage;
  }

  NodeValue load(int tensor) {
    const bool splat = splats_[static_cast<size_t>(tensor)];
    Value* v = f_.load_element(tensor, p_[static_cast<size_t>(tensor)], splat ? 1 : lanes_);
    if (splat && lanes_ > 1) v = f_.e.b.CreateVectorSplat(static_cast<unsigned>(lanes_), v);
    return {nullptr, v};
  }

  /// The value of an operator. Floats of 16 bits and less are rounded here: they keep their storage form only.
  NodeValue computed(DType type, Value* v) {
    if (Numeric::rounds_after(type)) return {nullptr, n_.encode(type, v)};
    return {v, nullptr};
  }

  NodeValue node(const ExprNode& node) {
    const auto arg = [&](size_t i) { return compute(node.args[i]); };
    switch (node.op) {
      case ExprOp::current:
        if (body_.current != nullptr) return {nullptr, n_.literal_storage(*body_.current, lanes_)};
        if (body_.current_in_register != nullptr) return {nullptr, body_.current_in_register};
        return load(body_.currents[static_cast<size_t>(node.index)]);
      case ExprOp::update:
        return load(body_.updates[static_cast<size_t>(node.index)]);
      case ExprOp::extra:
        return load(body_.extras[static_cast<size_t>(node.index)]);
      case ExprOp::literal:
        return {nullptr, n_.literal_storage(node.value, lanes_)};
      case ExprOp::convert:
        return computed(node.dtype, n_.convert(dtype(node.args[0]), node.dtype, arg(0)));
      case ExprOp::bitcast:
        return {n_.bitcast(dtype(node.args[0]), node.dtype, arg(0)), nullptr};
      case ExprOp::select: {
        // Selected in storage form: select moves bits, so it must not turn a signalling NaN into a quiet one.
        Value *otherwise = storage(node.args[2]), *then = storage(node.args[1]);
        return {nullptr, f_.e.b.CreateSelect(arg(0), then, otherwise)};
      }
      case ExprOp::real:
        return {n_.real(arg(0)), nullptr};
      case ExprOp::imag:
        return {n_.imag(arg(0)), nullptr};
      case ExprOp::complex: {
        Value* imaginary = arg(1);
        return {n_.make_complex(arg(0), imaginary), nullptr};
      }
      case STREW_EACH_OP(COMPARE): {
        Value* right = arg(1);
        return {n_.compare(node.op, dtype(node.args[0]), arg(0), right), nullptr};
      }
      case STREW_EACH_OP(UNARY):
      case STREW_EACH_OP(TEST):
        return computed(node.dtype, n_.unary(node.op, dtype(node.args[0]), arg(0)));
      case STREW_EACH_OP(BINARY): {
        Value* right = arg(1);
        return computed(node.dtype, n_.binary(node.op, dtype(node.args[0]), arg(0), right));
      }
    }
    return {};
  }

  Frame& f_;
  Numeric& n_;
  const Body& body_;
  const Pointers& p_;
  int lanes_;
  const std::vector<bool>& splats_;
  std::vector<NodeValue> nodes_;
};

}  // namespace

std::vector<llvm::Value*> evaluate(Frame& frame, const Body& body, const Pointers& p, int lanes,
                                   const std::vector<bool>& splats) {
  return Evaluator(frame, body, p, lanes, splats).run();
}

}  // namespace strew::inline v0
