// Arithmetic on bool, 8- to 64-bit integers, f16, bf16, f32 and f64; pure movement of any element of whole bytes. Declined, with the
// node or dtype named: packed elements, narrow floats and complex in arithmetic, nodes that call the C library, wide accumulation.
// The reference takes what is declined. Tested by tests/unit/can_build_test.cc; the differential test's coverage table shows the rest.
#include "backends/llvm/can_build/can_build.h"

#include <string>

namespace strew {
namespace {

bool computes(DType dtype) {
  switch (dtype) {
    case DType::boolean:
    case DType::i8:
    case DType::u8:
    case DType::i16:
    case DType::u16:
    case DType::i32:
    case DType::u32:
    case DType::i64:
    case DType::u64:
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64:
      return true;
    default:
      return false;
  }
}

bool generates(ExprOp op) {
  switch (op) {
    case ExprOp::pow:
    case ExprOp::atan2:
    case ExprOp::cbrt:
    case ExprOp::exp:
    case ExprOp::expm1:
    case ExprOp::exp2:
    case ExprOp::log:
    case ExprOp::log1p:
    case ExprOp::log2:
    case ExprOp::tanh:
    case ExprOp::logistic:
    case ExprOp::sin:
    case ExprOp::cos:
    case ExprOp::tan:
    case ExprOp::erf:
    case ExprOp::rsqrt:
    case ExprOp::real:
    case ExprOp::imag:
    case ExprOp::complex:
      return false;
    default:
      return true;
  }
}

Status decline(const std::string& why) { return unsupported("backend llvm: " + why); }

}  // namespace

Status llvm_can_build(const Plan& plan, const Schedule&, const Target& target) {
  if (target.arch != "x86_64") return decline("architecture " + target.arch + " is not generated, only x86_64");
  if (plan.accumulate != Accumulate::native)
    return decline("accumulate " + std::string(name(plan.accumulate)) + " is not generated");
  for (const PlanTensor& tensor : plan.tensors) {
    if (bits(tensor.dtype) % 8 != 0)
      return decline(std::string(name(tensor.role)) + " " + std::to_string(tensor.index) + " is packed " +
                     std::string(name(tensor.dtype)));
  }
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
    if (!generates(node.op))
      return decline("node " + std::to_string(i) + " of the combiner, " + std::string(name(node.op)) + ", is not generated");
    if (node.op == ExprOp::rem && is_float(node.dtype))
      return decline("node " + std::to_string(i) + " of the combiner, rem of floats, is not generated");
    if (!computes(node.dtype))
      return decline("node " + std::to_string(i) + " of the combiner, " + std::string(name(node.op)) + ", has dtype " +
                     std::string(name(node.dtype)));
  }
  return {};
}

}  // namespace strew
