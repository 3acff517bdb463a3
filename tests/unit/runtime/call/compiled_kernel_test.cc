// CompiledKernel (include/strew/compiled_kernel.h): what runs a kernel from its descriptor, here that of a kernel compiled by this process.
// tests/runtime_only runs kernels from objects.
#include "strew/compiled_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "strew/forms.h"
#include "strew/runtime.h"

namespace strew {
namespace {

using testing::HasSubstr;

Kernel add_rows() {
  using namespace types;
  const Expected<Scatter> op = scatter_rows(f32({4, 2}), i32({kDynamic}), f32({kDynamic, 2}))
                                   .combine(CombinerKind::add)
                                   .in_place()
                                   .oob(OobPolicy::error)
                                   .build();
  EXPECT_TRUE(op.ok()) << op.status().message();
  Expected<Kernel> kernel = Runtime::process().get(*op);
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  return kernel.value_or({});
}

TEST(CompiledKernel, RunsFromTheDescriptor) {
  const Kernel kernel = add_rows();
  const Expected<CompiledKernel> compiled = CompiledKernel::make(kernel.descriptor());
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  EXPECT_EQ(&compiled->descriptor(), &kernel.descriptor());
  std::vector<float> table(8);
  const std::vector<float> updates = {1, 2, 3, 4, 5, 6};
  std::vector<int32_t> indices = {3, 0, 3};
  const int64_t table_dims[] = {4, 2}, index_dims[] = {3}, update_dims[] = {3, 2};
  const TensorView views[] = {{table.data(), table_dims}, {indices.data(), index_dims}, {updates.data(), update_dims}};
  EXPECT_TRUE(compiled->run(views).ok());
  EXPECT_EQ(table, (std::vector<float>{3, 4, 0, 0, 0, 0, 6, 8}));

  const NamedTensor named[] = {{"indices", views[1]}, {"updates", views[2]}, {"result", views[0]}};
  EXPECT_TRUE(compiled->run_by_name(named).ok());
  EXPECT_EQ(table, (std::vector<float>{6, 8, 0, 0, 0, 0, 12, 16}));

  indices[1] = 4;
  BadIndex bad_index;
  const Status refused = compiled->run(views, &bad_index);
  EXPECT_EQ(refused.code(), Code::out_of_bounds);
  EXPECT_EQ(bad_index.position, 1);
  EXPECT_EQ(bad_index.source, 1);
  EXPECT_EQ(table, (std::vector<float>{6, 8, 0, 0, 0, 0, 12, 16})) << "a refused call wrote something";
}

TEST(CompiledKernel, MovesWithItsCode) {
  const Kernel kernel = add_rows();
  Expected<CompiledKernel> first = CompiledKernel::make(kernel.descriptor(), 1, *make_executor(2));
  ASSERT_TRUE(first.ok());
  CompiledKernel second = std::move(*first);
  CompiledKernel third = CompiledKernel::make(kernel.descriptor()).value();
  third = std::move(second);
  EXPECT_THAT(third.run({}).message(), HasSubstr("tensors: 0 given, expected 3"));
}

TEST(CompiledKernel, RefusesDescriptorsOfOtherVersionsAndThreadsOutOfRange) {
  const Kernel kernel = add_rows();
  strew_kernel other = kernel.descriptor();
  other.abi = STREW_ABI_VERSION + 1;
  EXPECT_FALSE(CompiledKernel::make(other).ok());
  EXPECT_FALSE(CompiledKernel::make(strew_kernel{}).ok());
  EXPECT_EQ(CompiledKernel::make(kernel.descriptor(), -1).status().message(), "threads: -1, expected 0..1024");
  EXPECT_EQ(CompiledKernel::make(kernel.descriptor(), 1025).status().message(), "threads: 1025, expected 0..1024");
  EXPECT_EQ(make_executor(1025).status().message(), "threads: 1025, expected 0..1024");
}

TEST(Executors, AreOfTheMachineUnlessTheCallerSaysHowMany) {
  EXPECT_TRUE(make_executor().ok());
  ASSERT_NE(process_executor(), nullptr);
  EXPECT_EQ(process_executor(), process_executor());
}

}  // namespace
}  // namespace strew
