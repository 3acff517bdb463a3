// See vector_code.h.
#include "backends/lower/vector_code.h"

#include <algorithm>
#include <bit>

#include "backends/lower/lower_numeric.h"

namespace strew::inline v0::lowered {
namespace {

DType dtype_of(const Plan& plan, int tensor) { return plan.tensors[static_cast<size_t>(tensor)].dtype; }

}  // namespace

std::vector<int> tensors_of(const Plan& plan, const Body& body) {
  std::vector<int> list = body.results;
  for_inputs(body, [&](const ExprNode&, const Operand& operand) {
    if (operand.in_memory()) list.push_back(pointer_of(plan, operand));
  });
  return list;
}

bool is_vector_code(const Plan& plan, const Body& body, const Loop& loop) {
  for (const int t : tensors_of(plan, body)) {
    if (bits(dtype_of(plan, t)) < 8) return false;
    const Term& stride = loop.strides[static_cast<size_t>(t)];
    const bool is_result = std::ranges::find(body.results, t) != body.results.end();
    if (!stride.is(1) && (is_result || !stride.is(0))) return false;
  }
  return true;
}

bool loads_vectors(const Plan& plan, const Body& body, const Expr& graph, const Loop& loop) {
  return std::ranges::all_of(graph.nodes, [&](const ExprNode& node) {
    if (!is_input(node.op)) return true;
    const Operand& operand = body.input(node.op, node.index);
    if (!operand.in_memory()) return true;
    const int tensor = pointer_of(plan, operand);
    const Term& stride = loop.strides[static_cast<size_t>(tensor)];
    return bits(dtype_of(plan, tensor)) >= 8 && (stride.is(1) || stride.is(0));
  });
}

int lanes_of(const Plan& plan, const Body& body, int vector_bytes) {
  int64_t widest = 1;
  for (const int t : tensors_of(plan, body)) widest = std::max<int64_t>(widest, bits(dtype_of(plan, t)) / 8);
  for (const ExprNode& node : body.graph->nodes)
    widest = std::max<int64_t>(widest, rounds_after(node.dtype) ? 4 : bits(node.dtype) / 8);
  return static_cast<int>(std::max<int64_t>(1, vector_bytes / widest));
}

std::vector<RowPart> row_parts(int64_t length, int lanes) {
  std::vector<RowPart> parts;
  for (int64_t at = 0; at < length; at += parts.back().lanes) {
    const int64_t left = std::min<int64_t>(lanes, length - at);
    parts.push_back({at, static_cast<int>(std::bit_floor(static_cast<uint64_t>(left)))});
  }
  return parts;
}

}  // namespace strew::inline v0::lowered
