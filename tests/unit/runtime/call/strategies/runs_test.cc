// Strategy runs: sorted indices, cut where the destination changes, give one thread's bits for every thread count and run length; it is
// refused wherever equal destinations might not be adjacent.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "strew/runtime.h"
#include "strew/text.h"
#include "tests/support/options.h"
#include "tests/support/schedules.h"

namespace strew {
namespace {

constexpr int64_t kRows = 900, kUpdates = 30000, kWidth = 5;

std::string op_text(const std::string& rest) {
  return "strew1.scatter(operand=f32[900,5] indices=i32[30000] updates=f32[30000,5] update_window_dims=[1] "
         "inserted_window_dims=[0] "
         "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place " +
         rest + ")";
}

std::vector<float> sum(const std::string& schedule, const std::string& rest, std::vector<int32_t> indices) {
  auto op = parse_op(op_text(rest));
  EXPECT_TRUE(op.ok()) << op.status().message();
  Runtime runtime;
  KernelOptions options;
  test::set_schedule(options, schedule);
  auto kernel = runtime.get(*op, options);
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  if (!kernel.ok()) return {};
  std::vector<float> table(kRows * kWidth, 0.1f), values(kUpdates * kWidth);
  uint32_t state = 7;
  for (float& v : values) v = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 1e-6f;
  const int64_t table_dims[] = {kRows, kWidth}, update_dims[] = {kUpdates, kWidth};
  const TensorView views[] = {{table.data(), DType::f32, 2, table_dims, nullptr},
                              {indices.data(), DType::i32, 1, update_dims, nullptr},
                              {values.data(), DType::f32, 2, update_dims, nullptr}};
  const Status status = kernel->run(views);
  EXPECT_TRUE(status.ok()) << status.message();
  return table;
}

/// Sorted, `distinct` different rows, some out of range at both ends unless `inside`.
std::vector<int32_t> sorted_indices(uint32_t distinct, bool inside) {
  std::vector<int32_t> indices(kUpdates);
  uint32_t state = distinct;
  for (int32_t& i : indices)
    i = static_cast<int32_t>(((state = state * 1664525u + 1013904223u) >> 8) % distinct) - (inside ? 0 : 20);
  std::sort(indices.begin(), indices.end());
  return indices;
}

TEST(Runs, SameBitsAsOneThread) {
  for (const char* policy : {"oob=undefined", "oob=error", "oob=skip_window", "oob=skip_element", "oob=clamp"}) {
    const std::string rest = std::string(policy) + " indices_are_sorted=true";
    const bool inside = rest.find("undefined") != std::string::npos || rest.find("error") != std::string::npos;
    for (const uint32_t distinct : {1u, 2u, 37u, inside ? 900u : 940u}) {
      const std::vector<int32_t> indices = sorted_indices(distinct, inside);
      const std::vector<float> expected = sum("strategy=sequential", rest, indices);
      for (const char* threads : {"2", "3", "8"})
        EXPECT_EQ(sum("strategy=runs,threads=" + std::string(threads), rest, indices), expected)
            << rest << " threads " << threads << " distinct " << distinct;
    }
  }
}

TEST(Runs, RefusesWhatMayBreakRuns) {
  const auto message = [](const std::string& text) { return test::schedule_message(text, "strategy=runs,threads=2"); };
  EXPECT_EQ(message(op_text("")), "schedule: strategy runs: indices are not known to be sorted (no indices_are_sorted)");
  EXPECT_EQ(message(op_text("indices_are_sorted=true oob=wrap")),
            "schedule: strategy runs: policy wrap breaks the order of indices");
  EXPECT_EQ(message(op_text("indices_are_sorted=true normalize_negative=true")),
            "schedule: strategy runs: negative indices count from the end, which breaks their order");
}

}  // namespace
}  // namespace strew
