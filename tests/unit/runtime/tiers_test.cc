// Compile modes: a request is answered by a portable kernel, whose place the compiled one takes; or it must find its kernel; or it waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "bindings/c/compiler/handles.h"
#include "runtime/kernel_state.h"
#include "strew/builder.h"
#include "strew/forms.h"
#include "strew/log.h"
#include "strew/runtime.h"
#include "strew/site.h"

namespace strew {
namespace {

using namespace types;
using ::testing::HasSubstr;

Expected<Scatter> add_rows(int64_t count, OobPolicy policy = OobPolicy::error) {
  return scatter_rows(f32({16, 4}), i32({count}), f32({count, 4})).combine(CombinerKind::add).in_place().oob(policy).build();
}

Options in_mode(CompileMode mode) {
  Options options;
  options.compile = mode;
  options.exact_shapes = 0;
  return options;
}

/// What a call of add_rows(count) works on: each row of the table gets as many ones as there are indices that name it.
struct Rows {
  explicit Rows(int64_t count)
      : index_dims{count},
        update_dims{count, 4},
        indices(static_cast<size_t>(count)),
        ones(static_cast<size_t>(4 * count), 1.0F) {
    for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int32_t>(i % 16);
  }
  std::vector<TensorView> views() {
    return {{table.data(), table_dims}, {indices.data(), index_dims}, {ones.data(), update_dims}};
  }
  std::vector<int64_t> table_dims{16, 4}, index_dims, update_dims;
  std::vector<float> table = std::vector<float>(64);
  std::vector<int32_t> indices;
  std::vector<float> ones;
};

/// Waits until the stand-in has been replaced; the test fails if it is not within a minute.
void wait_for_successor(const Kernel& kernel) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (kernel.is_stand_in()) {
    ASSERT_LT(std::chrono::steady_clock::now(), limit) << "nothing has replaced " << kernel.symbol();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(Tiers, AStandInAnswersAndTheCompiledKernelTakesItsPlace) {
  Runtime runtime(in_mode(CompileMode::background));
  const auto op = PreparedOp::of(*add_rows(40));
  const auto kernel = runtime.get(*op);
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  const Kernel copy = *kernel;
  Rows rows(40);
  for (int call = 0; call < 3; ++call) ASSERT_TRUE(kernel->run(rows.views()).ok());
  wait_for_successor(copy);
  EXPECT_EQ(kernel->backend(), "llvm");
  EXPECT_FALSE(kernel->is_stand_in());
  for (int call = 0; call < 3; ++call) ASSERT_TRUE(copy.run(rows.views()).ok());
  for (size_t row = 0; row < 16; ++row) EXPECT_EQ(rows.table[4 * row], row < 8 ? 18 : 12) << row;

  const auto again = runtime.get(*op);
  ASSERT_TRUE(again.ok());
  EXPECT_NE(again->state(), kernel->state()) << "new handles are of the compiled kernel alone";
  EXPECT_NE(again->state()->plain(), nullptr);
  EXPECT_EQ(runtime.stats().stand_ins, 1u);
  EXPECT_EQ(runtime.stats().built, 1u);
}

TEST(Tiers, CompilesInTheBackgroundAtALowPriority) {
  const int own = getpriority(PRIO_PROCESS, 0);
  if (own > 5) GTEST_SKIP() << "this process has stepped back already";
  Options options = in_mode(CompileMode::background);
  options.compile_nice = own + 7;
  Runtime runtime(options);
  std::atomic<int> in_background{99}, waited_for{99};
  // The log's lines about a build are written by the thread that builds.
  static std::atomic<int>* seen = nullptr;
  const auto nice_of_log = [](LogLevel, std::string_view) { seen->store(getpriority(PRIO_PROCESS, 0)); };
  seen = &in_background;
  const auto kernel = runtime.get(*add_rows(42));
  ASSERT_TRUE(kernel.ok());
  set_log(nice_of_log, LogLevel::compile);
  const auto other = runtime.get(*add_rows(43));
  ASSERT_TRUE(other.ok());
  wait_for_successor(*other);
  set_log(nullptr);
  EXPECT_EQ(in_background.load(), own + 7);
  const auto done = [&](const Expected<Kernel>&) { waited_for = getpriority(PRIO_PROCESS, 0); };
  EXPECT_TRUE(runtime.get_async(*PreparedOp::of(*add_rows(44)), done).wait().ok());
  for (int i = 0; i < 1000 && waited_for == 99; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(waited_for.load(), own);
  EXPECT_EQ(getpriority(PRIO_PROCESS, 0), own);
}

TEST(Tiers, TheCInterfaceFollowsToTheCompiledKernel) {
  Runtime runtime(in_mode(CompileMode::background));
  const auto kernel = runtime.get(*add_rows(41));
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  ASSERT_TRUE(kernel->is_stand_in());
  strew_kernel_ref* const handle = c_api::make_ref(*kernel);
  EXPECT_STREQ(strew_kernel_descriptor(handle)->backend, "portable");
  wait_for_successor(*kernel);
  EXPECT_STREQ(strew_kernel_descriptor(handle)->backend, "llvm");
  EXPECT_EQ(&handle->current().callable->kernel, &kernel->descriptor());
  EXPECT_TRUE(handle->current().is_plain) << "run_many and batches would run call by call";
  strew_kernel_release(handle);
}

TEST(Tiers, ErrorsAreTheSameBeforeAndAfter) {
  Runtime runtime(in_mode(CompileMode::background));
  const auto kernel = runtime.get(*add_rows(20));
  ASSERT_TRUE(kernel.ok());
  Rows rows(20), other(21);
  rows.indices[7] = 16;
  const auto messages = [&] {
    BadIndex bad_index;
    const std::string out = kernel->run(rows.views(), &bad_index).message();
    EXPECT_EQ(bad_index.position, 7);
    return out + "\n" + kernel->run(other.views()).message();
  };
  const std::string before = messages();
  EXPECT_THAT(before, HasSubstr("16"));
  wait_for_successor(*kernel);
  EXPECT_EQ(messages(), before);
  EXPECT_EQ(rows.table, std::vector<float>(64));
}

TEST(Tiers, ASiteComesToCallTheCompiledKernelDirectly) {
  Runtime runtime(in_mode(CompileMode::background));
  Site by_op(runtime), by_tensors(runtime);
  const auto op = PreparedOp::of(*add_rows(33));
  Rows rows(33);
  for (int call = 0; call < 2; ++call) {
    ASSERT_TRUE(by_op.run(*op, rows.views()).ok());
    ASSERT_TRUE(by_tensors.run(rows.views(), [] { return add_rows(33); }).ok());
  }
  wait_for_successor(*runtime.get(*op));
  for (int call = 0; call < 2; ++call) {
    ASSERT_TRUE(by_op.run(*op, rows.views()).ok());
    ASSERT_TRUE(by_tensors.run(rows.views(), [] { return add_rows(33); }).ok());
  }
  EXPECT_EQ(rows.table[0], 8 * 3);
  EXPECT_EQ(rows.table[60], 8 * 2);
}

TEST(Tiers, CallsGoOnWhileKernelsAreReplaced) {
  Runtime runtime(in_mode(CompileMode::background));
  constexpr int64_t kFirst = 50, kKernels = 12;
  std::atomic<bool> stop{false};
  std::atomic<int64_t> next{kFirst};
  std::atomic<int> failures{0};
  const auto call = [&] {
    while (!stop.load()) {
      const int64_t count = kFirst + next.fetch_add(1) % kKernels;
      const auto kernel = runtime.get(*add_rows(count));
      Rows rows(count);
      for (int i = 0; i < 20; ++i)
        if (!kernel.ok() || !kernel->run(rows.views()).ok()) failures.fetch_add(1);
      for (size_t row = 0; row < 16; ++row) {
        const int64_t each = count / 16 + (static_cast<int64_t>(row) < count % 16 ? 1 : 0);
        if (rows.table[4 * row + 3] != static_cast<float>(20 * each)) failures.fetch_add(1);
      }
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) threads.emplace_back(call);
  for (int64_t count = kFirst; count < kFirst + kKernels; ++count) wait_for_successor(*runtime.get(*add_rows(count)));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(runtime.stats().built, static_cast<uint64_t>(kKernels));
}

TEST(Tiers, AsynchronousRequestsWaitForTheCompiledKernel) {
  Runtime runtime(in_mode(CompileMode::background));
  const auto op = PreparedOp::of(*add_rows(9));
  ASSERT_TRUE(runtime.get(*op).ok());
  const auto kernel = runtime.get_async(*op).wait();
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ(kernel->backend(), "llvm");
  EXPECT_EQ(runtime.stats().built, 1u);
}

TEST(Tiers, AKernelThatWasBuiltForAnotherSpellingNeedsNoStandIn) {
  Runtime runtime(in_mode(CompileMode::background));
  KernelOptions blocking;
  blocking.compile = CompileMode::blocking;
  ASSERT_TRUE(runtime.get(*add_rows(10), blocking).ok());
  const auto kernel = runtime.get(*add_rows(10));
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ(kernel->backend(), "llvm");
  EXPECT_EQ(runtime.stats().stand_ins, 0u);
}

TEST(Tiers, ARequestThatNamesABackendOrBlocksWaits) {
  Runtime runtime(in_mode(CompileMode::background));
  KernelOptions blocking, reference;
  blocking.compile = CompileMode::blocking;
  reference.backend = BackendChoice::reference;
  EXPECT_EQ(runtime.get(*add_rows(11), blocking)->backend(), "llvm");
  EXPECT_EQ(runtime.get(*add_rows(11), reference)->backend(), "reference");
  EXPECT_EQ(runtime.stats().stand_ins, 0u);
}

TEST(Tiers, ABadRequestHasTheSameMessageInEveryMode) {
  KernelOptions runs;
  runs.schedule.strategy = Strategy::runs;
  Runtime background(in_mode(CompileMode::background)), blocking(in_mode(CompileMode::blocking));
  const auto one = background.get(*add_rows(12), runs), other = blocking.get(*add_rows(12), runs);
  ASSERT_FALSE(one.ok());
  EXPECT_EQ(one.status().message(), other.status().message());
}

TEST(Tiers, MustHitFindsWhatIsInMemoryAndCompilesNothing) {
  Runtime runtime(in_mode(CompileMode::must_hit));
  const auto refused = runtime.get(*add_rows(13));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.status().message(), HasSubstr("must_hit"));
  EXPECT_THAT(refused.status().message(), HasSubstr("indices=i32[13]"));
  EXPECT_EQ(runtime.stats().built, 0u);
  KernelOptions blocking;
  blocking.compile = CompileMode::blocking;
  ASSERT_TRUE(runtime.get(*add_rows(13), blocking).ok());
  EXPECT_TRUE(runtime.get(*add_rows(13)).ok()) << "the same code serves the request that must hit";
}

TEST(Tiers, ACapacityOfNothingStillReplacesStandIns) {
  Runtime runtime(in_mode(CompileMode::background));
  runtime.set_capacity(0);
  const auto kernel = runtime.get(*add_rows(14));
  ASSERT_TRUE(kernel.ok());
  wait_for_successor(*kernel);
  Rows rows(14);
  EXPECT_TRUE(kernel->run(rows.views()).ok());
}

TEST(Tiers, ARuntimeMayEndWhileItBuildsForAStandIn) {
  Expected<Kernel> kernel = Kernel();
  {
    Runtime runtime(in_mode(CompileMode::background));
    kernel = runtime.get(*add_rows(15));
    ASSERT_TRUE(kernel.ok());
  }
  Rows rows(15);
  EXPECT_TRUE(kernel->run(rows.views()).ok());
}

TEST(Tiers, ManyCallsTakeTheCompiledKernelToo) {
  Runtime runtime(in_mode(CompileMode::background));
  const auto kernel = runtime.get(*add_rows(16));
  ASSERT_TRUE(kernel.ok());
  Rows one(16), two(16);
  const std::vector<void*> addresses = {one.table.data(), one.indices.data(), one.ones.data(),
                                        two.table.data(), two.indices.data(), two.ones.data()};
  ASSERT_TRUE(kernel->run_many(one.views(), addresses).ok());
  wait_for_successor(*kernel);
  ASSERT_TRUE(kernel->run_many(one.views(), addresses).ok());
  const auto views = one.views();
  ASSERT_TRUE(run_many(std::vector<KernelCall>{{*kernel, views}}).ok());
  EXPECT_EQ(one.table[0], 3);
  EXPECT_EQ(two.table[0], 2);
}

}  // namespace
}  // namespace strew
