// Call sites: they run what Runtime::get would have returned, whatever shapes alternate and whichever thread calls.
#include "strew/site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "strew/builder.h"
#include "strew/forms.h"
#include "tests/support/options.h"

namespace strew {
namespace {

using namespace types;
using testing::HasSubstr;

Expected<Scatter> add_rows(int64_t rows, int64_t count, CombinerKind kind = CombinerKind::add) {
  return scatter_rows(f32({rows, 4}), i32({count}), f32({count, 4})).combine(kind).in_place().oob(OobPolicy::error).build();
}

/// The tensors of add_rows(rows, count).
struct Tensors {
  Tensors(int64_t rows, int64_t count)
      : dims{rows, 4},
        index_dims{count},
        update_dims{count, 4},
        table(static_cast<size_t>(rows * 4)),
        indices(static_cast<size_t>(count)),
        updates(static_cast<size_t>(count * 4), 1.0F) {
    for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int32_t>(i % static_cast<size_t>(rows));
    views = {TensorView(table.data(), dims), TensorView(indices.data(), index_dims), TensorView(updates.data(), update_dims)};
  }
  float sum() const {
    float total = 0;
    for (const float value : table) total += value;
    return total;
  }
  std::vector<int64_t> dims, index_dims, update_dims;
  std::vector<float> table;
  std::vector<int32_t> indices;
  std::vector<float> updates;
  std::vector<TensorView> views;
};

// A child of fork() has no thread but one; what the others were changing is not waited for.
TEST(Site, WorksInForkedChildren) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer ends children of programs with threads";
#else
  Runtime runtime;
  Site site(runtime);
  const auto call = [&](int64_t rows) {
    Tensors tensors(rows, 3);
    return site.run(tensors.views, [&] { return add_rows(rows, 3); });
  };
  ASSERT_TRUE(call(4).ok());
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      for (int64_t i = t; !stop; i += 7)
        if (!call(4 + i % 40).ok()) stop = true;
    });
  int hung = 0;
  for (int i = 0; i < 40; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(5);
      for (int64_t rows = 4; rows < 50; ++rows)
        if (!call(rows).ok()) _exit(1);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    hung += WIFSIGNALED(status);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
  }
  EXPECT_FALSE(stop);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(hung, 0);
#endif
}

TEST(Site, RunsAPreparedOpAndLooksItUpOnce) {
  Runtime runtime;
  Site site(runtime);
  const PreparedOp op = *PreparedOp::of(*add_rows(8, 3));
  Tensors tensors(8, 3);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(site.run(op, tensors.views).ok());
  EXPECT_EQ(tensors.sum(), 120.0F);
  EXPECT_EQ(runtime.stats().hits + runtime.stats().misses, 1u);
}

TEST(Site, FindsKernelsByTheirTensors) {
  Runtime runtime;
  Site site(runtime);
  int made = 0;
  for (int turn = 0; turn < 5; ++turn)
    for (int64_t count : {1, 2, 3, 8}) {
      Tensors tensors(8, count);
      ASSERT_TRUE(site.run(tensors.views,
                           [&] {
                             ++made;
                             return add_rows(8, count);
                           })
                      .ok());
      EXPECT_EQ(tensors.sum(), static_cast<float>(4 * count));
    }
  EXPECT_EQ(made, 4);
}

TEST(Site, VariantsKeepOpsApartThatTakeTheSameTensors) {
  Runtime runtime;
  Site site(runtime);
  for (int turn = 0; turn < 3; ++turn) {
    Tensors sum(8, 3), least(8, 3);
    ASSERT_TRUE(site.run(
                        sum.views, [] { return add_rows(8, 3); }, nullptr, 1)
                    .ok());
    ASSERT_TRUE(site.run(
                        least.views, [] { return add_rows(8, 3, CombinerKind::min); }, nullptr, 2)
                    .ok());
    EXPECT_EQ(sum.sum(), 12.0F);
    EXPECT_EQ(least.sum(), 0.0F);
  }
}

TEST(Site, MoreShapesThanItRemembersAreRightToo) {
  Runtime runtime(test::exact_shapes());
  Site site(runtime);
  std::vector<PreparedOp> ops;
  for (int64_t count = 1; count <= 20; ++count) ops.push_back(*PreparedOp::of(*add_rows(8, count)));
  for (int turn = 0; turn < 3; ++turn)
    for (int64_t count = 1; count <= 20; ++count) {
      Tensors by_op(8, count), by_tensors(8, count);
      ASSERT_TRUE(site.run(ops[static_cast<size_t>(count - 1)], by_op.views).ok());
      ASSERT_TRUE(site.run(by_tensors.views, [&] { return add_rows(8, count); }).ok());
      EXPECT_EQ(by_op.sum(), static_cast<float>(4 * count));
      EXPECT_EQ(by_tensors.sum(), by_op.sum());
    }
  EXPECT_EQ(runtime.stats().built, 20u);
}

/// One site serves as many shapes as a host has: each op is made once, and found by its tensors from then on.
TEST(Site, RemembersMoreKernelsThanItHasWays) {
  Runtime runtime;
  Site site(runtime);
  int made = 0;
  const auto call = [&](int64_t count, const CallOptions* how) {
    Tensors tensors(8, count);
    const auto make = [&] {
      ++made;
      return add_rows(8, count);
    };
    EXPECT_TRUE((how == nullptr ? site.run(tensors.views, make) : site.run(tensors.views, make, *how)).ok());
    EXPECT_EQ(tensors.sum(), static_cast<float>(4 * count));
  };
  constexpr int64_t kShapes = 60;
  const CallOptions alone{.threads = 1};
  for (int turn = 0; turn < 4; ++turn)
    for (int64_t count = 1; count <= kShapes; ++count) call(count, turn % 2 == 0 ? nullptr : &alone);
  EXPECT_EQ(made, kShapes);
  const uint64_t asked = runtime.stats().hits + runtime.stats().misses;
  for (int64_t count : {40, 1, 59})  // found many times in a row, each becomes a way
    for (int i = 0; i < 40; ++i) call(count, nullptr);
  for (int64_t count = 1; count <= kShapes; ++count) call(count, nullptr);
  EXPECT_EQ(made, kShapes);
  EXPECT_EQ(runtime.stats().hits + runtime.stats().misses, asked);
  // Tensors that no remembered kernel takes are not mistaken for others.
  Tensors other(9, 40);
  EXPECT_EQ(site.run(other.views, [] { return add_rows(8, 40); }).code(), Code::invalid_argument);
  Tensors strided(8, 4);
  const std::vector<int64_t> strides{8, 1};
  std::vector<float> table(8 * 8);
  strided.views[0] = TensorView(table.data(), strided.dims, strides);
  const auto strided_rows = [] {
    return scatter_rows(f32({8, 4}, {8, 1}), i32({4}), f32({4, 4}))
        .combine(CombinerKind::add)
        .in_place()
        .oob(OobPolicy::error)
        .build();
  };
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(site.run(strided.views, strided_rows).ok());
  EXPECT_EQ(table[8], 3.0F);
  EXPECT_EQ(table[4], 0.0F);
}

/// A kernel that leaves extents to its calls is found by all tensors that it takes.
TEST(Site, OpenKernelsAreFoundBesideManyOthers) {
  Runtime runtime;
  Site site(runtime);
  for (int64_t count = 1; count <= 20; ++count) {
    Tensors tensors(8, count);
    ASSERT_TRUE(site.run(tensors.views, [&] { return add_rows(8, count); }).ok());
  }
  int made = 0;
  for (int64_t count = 30; count < 80; ++count) {
    Tensors tensors(9, count);
    ASSERT_TRUE(site.run(tensors.views,
                         [&] {
                           ++made;
                           return scatter_rows(f32({9, 4}), i32({kDynamic}), f32({kDynamic, 4}))
                               .combine(CombinerKind::add)
                               .in_place()
                               .oob(OobPolicy::error)
                               .build();
                         })
                    .ok());
    EXPECT_EQ(tensors.sum(), static_cast<float>(4 * count));
  }
  EXPECT_EQ(made, 1);
}

TEST(Site, ForgetsTheKernelsThatWereNotCalledForTheLongestTime) {
  Runtime runtime;
  Site site(runtime);
  uint64_t made = 0;
  const auto call = [&](uint64_t variant) {
    Tensors tensors(8, 3);
    const auto make = [&] {
      ++made;
      return add_rows(8, 3);
    };
    ASSERT_TRUE(site.run(tensors.views, make, nullptr, variant).ok());
    ASSERT_EQ(tensors.sum(), 12.0F);
  };
  constexpr uint64_t kMany = 6000;
  for (uint64_t variant = 0; variant < kMany; ++variant) {
    call(variant);
    call(0);
  }
  EXPECT_EQ(made, kMany);
  call(kMany - 1);
  EXPECT_EQ(made, kMany);
  for (uint64_t variant = 20; variant < 30; ++variant) call(variant);
  EXPECT_EQ(made, kMany + 10);
}

/// Kernels that answer until the compiled ones are there are replaced in the table, too.
TEST(Site, ShapesInTheTableGetTheirCompiledKernels) {
  Runtime runtime(test::exact_shapes());
  Site site(runtime);
  const KernelOptions background{.compile = CompileMode::background};
  const auto call = [&](int64_t count) {
    Tensors tensors(8, count);
    ASSERT_TRUE(site.run(
                        tensors.views, [&] { return add_rows(8, count); }, nullptr, 0, background)
                    .ok());
    ASSERT_EQ(tensors.sum(), static_cast<float>(4 * count));
  };
  constexpr int64_t kShapes = 20;
  for (int64_t count = 1; count <= kShapes; ++count) call(count);
  for (int64_t count = 1; count <= kShapes; ++count)
    ASSERT_TRUE(runtime.get(*PreparedOp::of(*add_rows(8, count))).ok());  // waits for its build
  for (int turn = 0; turn < 3; ++turn)
    for (int64_t count = 1; count <= kShapes; ++count) call(count);
  EXPECT_EQ(runtime.stats().built, static_cast<uint64_t>(kShapes));
}

TEST(Site, CallsHaveOptionsOfTheirOwn) {
  class Counting final : public Executor {
   public:
    int threads() const noexcept override { return 4; }
    void parallel_for(int count, Task task, void* context) override {
      ++loops;
      for (int i = 0; i < count; ++i) task(context, i);
    }
    int loops = 0;
  } host;
  Runtime runtime(Options{}, *make_executor(4));
  Site site(runtime);
  const PreparedOp op = *PreparedOp::of(*add_rows(4096, 400000));
  Tensors tensors(4096, 400000);
  const auto make = [] { return add_rows(4096, 400000); };
  BadIndex bad_index;
  ASSERT_TRUE(site.run(op, tensors.views, {.executor = &host, .bad_index = &bad_index}).ok());
  ASSERT_TRUE(site.run(op, tensors.views, {.executor = &host, .bad_index = &bad_index}).ok());
  EXPECT_GE(host.loops, 2);
  const int loops = host.loops;
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(site.run(tensors.views, make, {.executor = &host, .bad_index = &bad_index}).ok());
  EXPECT_GE(host.loops, loops + 2);
  const int before = host.loops;
  ASSERT_TRUE(site.run(tensors.views, make, {.threads = 1, .executor = &host}).ok());
  ASSERT_TRUE(site.run(op, tensors.views, {.threads = 1, .executor = &host}).ok());
  EXPECT_EQ(host.loops, before);
  EXPECT_EQ(tensors.sum(), 6.0F * 4 * 400000);
  tensors.indices[7] = -5;
  EXPECT_EQ(site.run(op, tensors.views, {.bad_index = &bad_index}).code(), Code::out_of_bounds);
  EXPECT_EQ(bad_index.value, -5);
  EXPECT_EQ(site.run(tensors.views, make, {.threads = -1}).code(), Code::invalid_argument);
}

TEST(Site, FailuresAreThoseOfTheCall) {
  Runtime runtime;
  Site site(runtime);
  Tensors tensors(8, 3);
  tensors.indices[1] = 99;
  BadIndex bad_index;
  const PreparedOp op = *PreparedOp::of(*add_rows(8, 3));
  for (int turn = 0; turn < 2; ++turn) {
    const Status by_op = site.run(op, tensors.views, &bad_index);
    EXPECT_EQ(by_op.code(), Code::out_of_bounds);
    EXPECT_EQ(bad_index.value, 99);
    const Status by_tensors = site.run(
        tensors.views, [] { return add_rows(8, 3); }, &bad_index);
    EXPECT_EQ(by_tensors.message(), by_op.message());
  }
  EXPECT_EQ(tensors.sum(), 0.0F) << "nothing was written";
  Tensors other(9, 3);
  EXPECT_THAT(site.run(op, other.views).message(), HasSubstr("9"));
  EXPECT_THAT(site.run(other.views, [] { return add_rows(8, 3); }).message(), HasSubstr("9"));
  EXPECT_THAT(site.run(other.views, []() -> Expected<Scatter> { return invalid_argument("no op"); }).message(),
              HasSubstr("no op"));
}

TEST(Site, ThreadsShareItWhileItsWaysAreReplaced) {
  Runtime runtime;
  Site site(runtime);
  std::vector<PreparedOp> ops;
  for (int64_t count = 1; count <= 12; ++count) ops.push_back(*PreparedOp::of(*add_rows(8, count)));
  std::atomic<int> wrong{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 400; ++i) {
        const int64_t count = 1 + (i * (t + 1)) % 12;
        Tensors tensors(8, count);
        const Status status = i % 2 == 0 ? site.run(ops[static_cast<size_t>(count - 1)], tensors.views)
                                         : site.run(tensors.views, [&] { return add_rows(8, count); });
        wrong += !status.ok() || tensors.sum() != static_cast<float>(4 * count);
      }
    });
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST(Site, KeepsItsKernelsWhenTheRuntimeForgetsThem) {
  Runtime runtime;
  Site site(runtime);
  const PreparedOp op = *PreparedOp::of(*add_rows(8, 3));
  Tensors tensors(8, 3);
  ASSERT_TRUE(site.run(op, tensors.views).ok());
  runtime.clear();
  ASSERT_TRUE(site.run(op, tensors.views).ok());
  EXPECT_EQ(tensors.sum(), 24.0F);
  EXPECT_EQ(runtime.stats().built, 1u);
}

}  // namespace
}  // namespace strew
