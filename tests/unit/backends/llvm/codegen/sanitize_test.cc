// The thread sanitizer sees generated code: two threads that add into the same row without telling each other are reported, and
// the report names a write of four bytes or more. Only the tsan preset instruments kernels; elsewhere the test says so and is skipped.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

#include "strew/runtime.h"
#include "strew/text.h"

namespace strew {
namespace {

/// Both threads run the range entry over every position, so every row is written by both.
[[noreturn]] void race() {
  constexpr int64_t kRows = 8, kWidth = 32;
  const Expected<Op> op = parse_op(
      "strew1.scatter(operand=f32[8,32] indices=i32[8] updates=f32[8,32] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add oob=undefined init=in_place)");
  if (!op.ok()) std::exit(3);
  KernelOptions options;
  options.backend = BackendChoice::llvm;
  const Expected<Kernel> kernel = Runtime().get(*op, options);
  if (!kernel.ok() || kernel->entry(STREW_ENTRY_range) == nullptr) std::exit(4);
  std::vector<float> table(kRows * kWidth), updates(kRows * kWidth);
  std::vector<int32_t> indices(kRows);
  std::iota(indices.begin(), indices.end(), 0);
  void* const data[] = {table.data(), nullptr, indices.data(), updates.data()};
  strew_args args = {};
  args.abi = STREW_ABI_VERSION;
  args.data = data;
  args.w1 = kWidth;
  const auto apply = [&] {
    strew_fault fault = {};
    kernel->entry(STREW_ENTRY_range)(&args, 0, kRows, &fault);
  };
  std::thread other(apply);
  apply();
  other.join();
  std::exit(0);
}

TEST(Sanitize, ThreadSanitizerSeesGeneratedCode) {
#ifdef __SANITIZE_THREAD__
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(race(), testing::ExitedWithCode(66), "data race");
#else
  static_cast<void>(&race);
  GTEST_SKIP() << "kernels are instrumented in the tsan preset only (./dev tsan)";
#endif
}

}  // namespace
}  // namespace strew
