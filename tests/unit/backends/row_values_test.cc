// Values of rows whose graphs compute floats, in an op whose tensors and expression have none: the caller's rounding mode and flush modes decide no bits.
#include <gtest/gtest.h>

#include <cfenv>
#include <numeric>
#include <vector>

#include "strew/runtime.h"
#include "strew/text.h"
#include "tests/support/options.h"
#include "tests/support/views.h"

namespace strew {
namespace {

TEST(RowValues, AreComputedInTheDefaultEnvironment) {
  const auto op = parse_op(
      "strew1.scatter(operand=i32[3,4]{1,0} indices=i32[3,0] updates=i32[3,4] "
      "row_reductions=[maximum(2){%0=update(0):i32; %1=convert(%0):f32; %2=constant(0.1):f32; %3=multiply(%1,%2):f32; "
      "%4=bitcast_convert(%3):i32; return %4}] update_window_dims=[1] input_batching_dims=[0] scatter_indices_batching_dims=[0] "
      "index_vector_dim=1 combiner=expr expr={%0=extra(0):i32; return %0} init=fill fill=0:i32)");
  ASSERT_TRUE(op.ok()) << op.status().message();
  std::vector<int32_t> updates(12);
  std::iota(updates.begin(), updates.end(), 1);
  const auto run = [&](BackendChoice backend, int rounding) {
    KernelOptions options;
    options.backend = backend;
    const auto kernel = Runtime::process().get(*op, options);
    EXPECT_TRUE(kernel.ok()) << kernel.status().message();
    std::vector<int32_t> made(3);
    const int64_t dims[] = {3, 4}, strides[] = {1, 0}, none[] = {3, 0};
    if (!kernel.ok()) return made;
    std::fesetround(rounding);
    const Status status = kernel->run(
        std::vector<TensorView>{{made.data(), dims, strides}, {static_cast<int32_t*>(nullptr), none}, {updates.data(), dims}});
    std::fesetround(FE_TONEAREST);
    EXPECT_TRUE(status.ok()) << status.message();
    return made;
  };
  const std::vector<int32_t> want = run(BackendChoice::reference, FE_TONEAREST);
  for (const BackendChoice backend : {BackendChoice::reference, BackendChoice::portable, BackendChoice::llvm})
    for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD})
      EXPECT_EQ(run(backend, rounding), want) << kBackendNames[static_cast<size_t>(backend)] << ", rounding mode " << rounding;
}

}  // namespace
}  // namespace strew
