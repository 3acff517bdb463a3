// See arithmetic.h.
#include "backends/arithmetic.h"

#include <algorithm>
#include <functional>
#include <string>

namespace strew::inline v0 {
namespace {

/// Is a value of such a dtype computed or converted?
bool computes_some(const Plan& plan, const std::function<bool(DType)>& such) {
  const auto in = [&](const Expr& graph) {
    return std::ranges::any_of(graph.nodes, [&](const ExprNode& node) { return such(node.dtype); });
  };
  if (!plan.pure_move && in(plan.combine)) return true;
  if (std::ranges::any_of(plan.locals, [&](const RowLocal& local) { return in(local.value); })) return true;
  for (int i = 0; i < plan.pairs && plan.init_kind == InitKind::copy; ++i) {
    const DType from = plan.tensors[static_cast<size_t>(plan.operand(i))].dtype;
    const DType to = plan.tensors[static_cast<size_t>(plan.result(i))].dtype;
    if (from != to && (such(from) || such(to))) return true;
  }
  return false;
}

}  // namespace

bool computes_floats(const Plan& plan) {
  return computes_some(plan, [](DType dtype) { return is_float(dtype) || is_complex(dtype); });
}

Status check_host_fp(const Plan& plan, const Target& target, std::string_view backend) {
  if (!target.host_fp) return {};
  std::string_view found;
  const auto is_decoded = [&](DType dtype) {
    const bool is_native = dtype == DType::bf16 || (dtype == DType::f16 && target.f16c);
    if (is_native || !is_float(dtype) || bits(dtype) > 16) return false;
    found = name(dtype);
    return true;
  };
  if (!computes_some(plan, is_decoded)) return {};
  return unsupported("backend " + std::string(backend) + ": " + std::string(found) +
                     " is computed by subnormals of f32, which the caller's floating-point environment may flush: expected a "
                     "target without host_fp");
}

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
