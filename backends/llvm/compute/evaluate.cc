// See evaluate.h. Tested by tests/differential.
#include "backends/llvm/compute/evaluate.h"

namespace strew::inline v0 {
namespace {
using llvm::Value;

/// The storage form of what an input node reads.
Value* load(Frame& f, const Body& body, const lowered::Graph::Input& input, const Pointers& p, int lanes,
            const std::vector<bool>& splats) {
  if (input.op == ExprOp::current && body.current != nullptr) return f.numeric.literal_storage(*body.current, lanes);
  if (input.op == ExprOp::current && body.current_in_register != nullptr) return body.current_in_register;
  const std::vector<int>& tensors = input.op == ExprOp::current  ? body.currents
                                    : input.op == ExprOp::update ? body.updates
                                                                 : body.extras;
  const int tensor = tensors[static_cast<size_t>(input.index)];
  const auto t = static_cast<size_t>(tensor);
  Value* v = f.load_element(tensor, p[t], splats[t] ? 1 : lanes);
  return splats[t] && lanes > 1 ? f.e.b.CreateVectorSplat(static_cast<unsigned>(lanes), v) : v;
}

}  // namespace

std::vector<Value*> evaluate(Frame& f, const Body& body, const lowered::Graph& graph, const Pointers& p, int lanes,
                             const std::vector<bool>& splats) {
  std::vector<Value*> inputs, values;
  for (const lowered::Graph::Input& input : graph.inputs) inputs.push_back(load(f, body, input, p, lanes, splats));
  const auto value = [&](int32_t node) { return node < 0 ? nullptr : values[static_cast<size_t>(node)]; };
  for (const lowered::Node& node : graph.nodes) {
    const auto input = static_cast<size_t>(node.input);
    if (node.op == lowered::Primitive::input)
      values.push_back(f.numeric.part(graph.inputs[input].dtype, inputs[input], node.part));
    else
      values.push_back(f.numeric.compute(node, {value(node.args[0]), value(node.args[1]), value(node.args[2])}, lanes));
  }
  // All results are computed before the first store, because an expression may read the current values of several results.
  std::vector<Value*> stored;
  for (const lowered::Graph::Result& result : graph.results)
    stored.push_back(result.moved >= 0 ? inputs[static_cast<size_t>(result.moved)]
                                       : f.numeric.whole(result.dtype, value(result.parts[0]), value(result.parts[1])));
  for (size_t i = 0; i < stored.size(); ++i) f.store_element(body.results[i], p[static_cast<size_t>(body.results[i])], stored[i]);
  return stored;
}

}  // namespace strew::inline v0
