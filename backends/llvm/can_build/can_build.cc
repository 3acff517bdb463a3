// See can_build.h. LLVM generates arithmetic on every dtype that has arithmetic, and pure moves of every dtype, for x86-64 and AArch64. It never
// sees a wide accumulation whole: split_wide (compiler/rewrite) makes several kernels of it. The reference runs what is declined here.
// Tested by tests/unit/can_build_test.cc; the differential test prints which share of ops is declined.
#include "backends/llvm/can_build/can_build.h"

#include <string>

namespace strew::inline v0 {
namespace {

bool computes(DType dtype) { return info(dtype).arithmetic; }

Status decline(const std::string& why) { return unsupported("backend llvm: " + why); }

}  // namespace

Status llvm_can_build(const Plan& plan, const Schedule&, const Target& target) {
  if (target.arch != "x86_64" && target.arch != "aarch64")
    return decline("architecture " + target.arch + " is not generated, only x86_64 and aarch64");
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

}  // namespace strew::inline v0
