// The gate of LLVM's passes (backends/llvm/codegen/codegen.cc) knows the pass that it keeps out by its name. This test fails where an LLVM gives the pass
// another name, or no longer asks the gate.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "backends/modules.h"
#include "backends/pipeline.h"
#include "base/module.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"

namespace strew {
namespace {

uint64_t kept_out() {
  const auto count = open_module_symbol("libstrew_llvm.so", "strew_llvm_passes_kept_out", "this test");
  EXPECT_TRUE(count.ok()) << count.status().message();
  return count.ok() ? reinterpret_cast<uint64_t (*)()>(*count)() : 0;
}

TEST(PassGate, KeepsLoopStrengthReductionOutForX86) {
  ASSERT_TRUE(open_llvm_module().ok());
  const char* const op =
      "strew1.scatter(operand=f32[20,8] indices=i32[3] updates=f32[3,8] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)";
  const uint64_t before = kept_out();
  ASSERT_TRUE(compile(test::op_of(op), {.backend = BackendChoice::llvm, .target = test::target("x86-64-v3")}).ok());
  EXPECT_GT(kept_out(), before) << "this LLVM has no pass 'Loop Strength Reduction'";
}

}  // namespace
}  // namespace strew
