// See arithmetic.h.
#include "backends/arithmetic.h"

#include <string>

namespace strew::inline v0 {

Status check_arithmetic(const Plan& plan, std::string_view backend) {
  const auto computes = [](DType dtype) { return info(dtype).arithmetic; };
  const auto decline = [&](const std::string& why) { return unsupported("backend " + std::string(backend) + ": " + why); };
  if (plan.init_kind == InitKind::copy && !plan.gather) {
    for (int i = 0; i < plan.pairs; ++i) {
      const DType from = plan.tensors[static_cast<size_t>(plan.operand(i))].dtype,
                  to = plan.tensors[static_cast<size_t>(plan.result(i))].dtype;
      if (from != to && !(computes(from) && computes(to)))
        return decline("converting operand " + std::to_string(i) + " from " + std::string(name(from)) + " to " +
                       std::string(name(to)) + " is not generated");
    }
  }
  if (plan.pure_move) return {};
  for (size_t i = 0; i < plan.combine.nodes.size(); ++i) {
    const ExprNode& node = plan.combine.nodes[i];
    if (!computes(node.dtype))
      return decline("node " + std::to_string(i) + " of the combiner, " + std::string(name(node.op)) + ", has dtype " +
                     std::string(name(node.dtype)));
  }
  return {};
}

Status check_row_values(const Plan& plan, std::string_view backend) {
  if (!has_row_values(plan) || plan.window.size() <= 1) return {};
  return unsupported("backend " + std::string(backend) + ": a row that has a value lies in " +
                     std::to_string(plan.window.size()) +
                     " loops, and only rows of one loop are generated: the tensors need rows without gaps");
}

}  // namespace strew::inline v0
