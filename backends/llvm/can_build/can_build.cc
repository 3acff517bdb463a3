// See can_build.h. LLVM generates arithmetic on every dtype that has arithmetic, and pure moves of every dtype, for x86-64 and AArch64. It never
// sees a wide accumulation whole: split_wide (compiler/rewrite) makes several kernels of it. The reference runs what is declined here.
// Tested by tests/unit/backends/llvm/can_build/can_build_test.cc; the differential test prints which share of ops is declined.
#include "backends/llvm/can_build/can_build.h"

#include "backends/arithmetic.h"

namespace strew::inline v0 {

Status llvm_can_build(const Plan& plan, const Schedule&, const Target& target) {
  if (target.arch != "x86_64" && target.arch != "aarch64")
    return unsupported("backend llvm: architecture " + target.arch + " is not generated, only x86_64 and aarch64");
  return check_arithmetic(plan, "llvm");
}

}  // namespace strew::inline v0
