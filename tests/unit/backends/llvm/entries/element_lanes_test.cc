// Sums of single elements in tables beyond the second-level cache, some of which the policy drops: eight at a time they have the reference's bits, and
// nothing is written beside the table (backends/llvm/address/element_lanes.h). tests/differential has tables that are smaller.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "strew/runtime.h"
#include "strew/text.h"
#include "tests/support/options.h"

namespace strew {
namespace {

constexpr int64_t kSide = 600, kRows = 13, kColumns = 2309, kPositions = kRows * kColumns, kGuards = 16;

/// Indices of which a tenth are out of bounds, and a tenth count from the end.
template <class Index>
std::vector<Index> draw(int64_t dim, int64_t count) {
  std::mt19937_64 random(11);
  std::vector<Index> out;
  for (int64_t i = 0; i < count; ++i) {
    const auto inside = static_cast<int64_t>(random() % static_cast<uint64_t>(dim));
    const uint64_t kind = random() % 20;
    constexpr Index kEnds[] = {std::numeric_limits<Index>::max(), std::numeric_limits<Index>::min()};
    out.push_back(kind == 0   ? kEnds[random() % 2]
                  : kind == 1 ? static_cast<Index>(inside % 2 == 0 ? dim : -dim - 1)
                  : kind <= 3 ? static_cast<Index>(inside - dim)
                              : static_cast<Index>(inside));
  }
  return out;
}

template <class Index>
void expect_the_references_bits(const std::string& policy, int components, bool from_end) {
  const DType index = dtype_of<Index>();
  const int64_t dim = components == 1 ? kSide * kSide : kSide;
  const std::string table = components == 1 ? fmt::format("f32[{}]", dim) : fmt::format("f32[{0},{0}]", dim),
                    dims = components == 1 ? "0" : "0,1";
  const auto op = parse_op(
      fmt::format("strew1.scatter(operand={0} indices={1}[{2},{3},{4}] updates=f32[{2},{3}] inserted_window_dims=[{5}] "
                  "scatter_dims_to_operand_dims=[{5}] index_vector_dim=2 combiner=add init=in_place oob={6}{7})",
                  table, name(index), kRows, kColumns, components, dims, policy, from_end ? " normalize_negative=true" : ""));
  ASSERT_TRUE(op.ok()) << op.status().message();
  std::vector<Index> indices = draw<Index>(dim, kPositions * components);
  std::vector<float> updates(kPositions);
  for (size_t i = 0; i < updates.size(); ++i) updates[i] = static_cast<float>(i % 1013) * 0.37F - 90;
  const int64_t table_dims[] = {components == 1 ? dim : kSide, kSide}, index_dims[] = {kRows, kColumns, components};
  const auto run = [&](const std::string& backend, const std::string& schedule) {
    std::vector<float> memory(static_cast<size_t>(kSide * kSide + 2 * kGuards), 0.5F);
    KernelOptions options;
    options.backend = test::backend(backend);
    test::set_schedule(options, schedule);
    Runtime runtime;
    const auto kernel = runtime.get(*op, options);
    EXPECT_TRUE(kernel.ok()) << kernel.status().message();
    if (!kernel.ok()) return memory;
    const TensorView views[] = {{memory.data() + kGuards, DType::f32, components, table_dims, nullptr},
                                {indices.data(), index, 3, index_dims, nullptr},
                                {updates.data(), DType::f32, 2, index_dims, nullptr}};
    const Status status = kernel->run(views);
    EXPECT_TRUE(status.ok()) << status.message();
    return memory;
  };
  const std::vector<float> expected = run("reference", "");
  for (const char* const schedule :
       {"threads=1,prefetch=0", "threads=1,prefetch=0,vector_bytes=16", "threads=3,prefetch=0,strategy=owner",
        "threads=3,prefetch=0,strategy=radix", "threads=1,prefetch=16"})
    EXPECT_EQ(run("llvm", schedule), expected) << print(*op) << " " << schedule;
}

TEST(ElementLanes, DropWhatThePolicyDropsInLargeTables) {
  for (const std::string policy : {"skip_element", "skip_window"})
    for (const int components : {1, 2})
      for (const bool from_end : {false, true}) {
        expect_the_references_bits<int32_t>(policy, components, from_end);
        expect_the_references_bits<int64_t>(policy, components, from_end);
      }
}

}  // namespace
}  // namespace strew
