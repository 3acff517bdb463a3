// See vector_code.h.
#include "backends/lower/vector_code.h"

#include <algorithm>

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

int lanes_of(const Plan& plan, const Body& body, int vector_bytes) {
  int64_t widest = 1;
  for (const int t : tensors_of(plan, body)) widest = std::max<int64_t>(widest, bits(dtype_of(plan, t)) / 8);
  for (const ExprNode& node : body.graph->nodes)
    widest = std::max<int64_t>(widest, rounds_after(node.dtype) ? 4 : bits(node.dtype) / 8);
  return static_cast<int>(std::max<int64_t>(1, vector_bytes / widest));
}

}  // namespace strew::inline v0::lowered
