// Executors of a host: kernels give the same bits on them as on one thread, whether the host keeps to the contract or runs
// nothing, too little, too much, the wrong numbers, too late, or throws.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "runtime/call/executor/limits.h"
#include "runtime/call/executor/thread_pool.h"
#include "strew/forms.h"
#include "strew/runtime.h"
#include "tests/support/ops.h"
#include "tests/support/views.h"

namespace strew {
namespace {

using namespace types;
using testing::HasSubstr;

/// A host whose parallel_for is a function of the test.
class Host final : public Executor {
 public:
  using Loop = std::function<void(int count, Task task, void* context)>;
  explicit Host(Loop loop, int threads = 4) : loop_(std::move(loop)), threads_(threads) {}
  int threads() const noexcept override { return threads_; }
  void parallel_for(int count, Task task, void* context) override {
    ++calls;
    loop_(count, task, context);
  }
  std::atomic<int> calls{0};

 private:
  Loop loop_;
  int threads_;
};

void serially(int count, Executor::Task task, void* context) {
  for (int i = 0; i < count; ++i) task(context, i);
}

void on_threads(int count, Executor::Task task, void* context) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([=] { task(context, i); });
}

/// Tasks that a host keeps and runs when parallel_for() has long returned.
struct Late {
  std::vector<std::pair<Executor::Task, void*>> tasks;
  ~Late() {
    for (const auto& [task, context] : tasks) task(context, 0);
  }
};

struct Fault {
  const char* name;
  Host::Loop loop;
};

std::vector<Fault> faults() {
  return {
      {"none, in turn", serially},
      {"none, on threads", on_threads},
      {"backwards",
       [](int count, Executor::Task task, void* context) {
         for (int i = count; i-- > 0;) task(context, i);
       }},
      {"runs nothing", [](int, Executor::Task, void*) {}},
      {"runs every second",
       [](int count, Executor::Task task, void* context) {
         for (int i = 0; i < count; i += 2) task(context, i);
       }},
      {"runs twice",
       [](int count, Executor::Task task, void* context) {
         serially(count, task, context);
         serially(count, task, context);
       }},
      {"runs one number only",
       [](int count, Executor::Task task, void* context) {
         for (int i = 0; i < count; ++i) task(context, 0);
       }},
      {"runs numbers out of range",
       [](int count, Executor::Task task, void* context) {
         for (int i = -5; i < count + 5; ++i) task(context, i * 1000);
       }},
      {"throws at once", [](int, Executor::Task, void*) { throw std::runtime_error("no threads"); }},
      {"throws in the middle",
       [](int count, Executor::Task task, void* context) {
         serially(count / 2, task, context);
         throw 42;
       }},
      {"runs tasks later",
       [](int count, Executor::Task task, void* context) {
         static Late late;
         for (int i = 0; i < count; ++i) late.tasks.emplace_back(task, context);
         if (late.tasks.size() > 200) {
           for (const auto& [old, of] : late.tasks) old(of, 0);
           late.tasks.clear();
         }
       }},
  };
}

TEST(HostExecutor, EveryChunkRunsOnceWhateverTheHostDoes) {
  for (const Fault& fault : faults()) {
    Host host(fault.loop);
    for (const int chunks : {0, 1, 2, 7, 64, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(chunks));
      run_on_host(
          host, chunks,
          [](void* context, int i) noexcept {
            ++(*static_cast<std::vector<std::atomic<int>>*>(context))[static_cast<size_t>(i)];
          },
          &runs);
      for (const auto& run : runs) ASSERT_EQ(run, 1) << fault.name << ", " << chunks << " chunks";
    }
  }
}

TEST(HostExecutor, LoopsMayRunAtTheSameTimeAndInsideEachOther) {
  Host host(on_threads);
  std::atomic<int> ran{0};
  struct Inner {
    Host& host;
    std::atomic<int>& ran;
  } inner{host, ran};
  std::vector<std::jthread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      for (int turn = 0; turn < 5; ++turn)
        run_on_host(
            host, 3,
            [](void* context, int) noexcept {
              const Inner& mine = *static_cast<Inner*>(context);
              run_on_host(
                  mine.host, 4, [](void* count, int) noexcept { ++*static_cast<std::atomic<int>*>(count); }, &mine.ran);
            },
            &inner);
    });
  callers.clear();
  EXPECT_EQ(ran, 4 * 5 * 3 * 4);
}

/// A histogram of weights with many rows twice, large enough for several threads.
struct Sums {
  static constexpr int64_t kRows = 2000, kWidth = 16, kCount = 400000;  // worth several threads on every machine
  Sums() {
    std::mt19937 random(7);
    for (int32_t& index : indices) index = static_cast<int32_t>(random() % kRows);
    for (float& value : updates) value = static_cast<float>(random() % 1000) * 0.01F;
  }
  std::vector<float> run(const Kernel& kernel, const CallOptions& options) {
    std::vector<float> table(static_cast<size_t>(kRows * kWidth), 1.0F);
    const std::vector<TensorView> views{{table.data(), dims}, {indices.data(), index_dims}, {updates.data(), update_dims}};
    const Status status = kernel.run(views, options);
    EXPECT_TRUE(status.ok()) << status.message();
    return table;
  }
  static Op op() {
    return *scatter_rows(f32({kRows, kWidth}), i32({kCount}), f32({kCount, kWidth}))
                .combine(CombinerKind::add)
                .in_place()
                .oob(OobPolicy::error)
                .build();
  }
  std::vector<int64_t> dims{kRows, kWidth}, index_dims{kCount}, update_dims{kCount, kWidth};
  std::vector<int32_t> indices = std::vector<int32_t>(static_cast<size_t>(kCount));
  std::vector<float> updates = std::vector<float>(static_cast<size_t>(kCount * kWidth));
};

TEST(HostExecutor, KernelsGiveTheSameBitsWhateverTheHostDoes) {
  Runtime runtime;
  Sums sums;
  for (const Strategy strategy : {Strategy::owner, Strategy::radix, Strategy::window, Strategy::sequential}) {
    KernelOptions options;
    options.schedule.strategy = strategy;
    options.threads = 6;
    const Kernel kernel = *runtime.get(Sums::op(), options);
    const std::vector<float> alone = sums.run(kernel, {.threads = 1});
    for (const Fault& fault : faults()) {
      Host host(fault.loop, 5);
      EXPECT_EQ(sums.run(kernel, {.executor = &host}), alone) << fault.name << ", strategy " << name(strategy);
      if (strategy != Strategy::sequential) {
        EXPECT_GT(host.calls, 0) << "the host was not asked";
      }
    }
  }
}

TEST(HostExecutor, WorkThatIsNotWorthADispatchStaysWithTheCaller) {
  class Slow final : public Executor {
   public:
    int threads() const noexcept override { return 4; }
    void parallel_for(int count, Task task, void* context) override { serially(count, task, context); }
    int64_t dispatch_ns() const noexcept override { return 60'000; }
  } slow;
  EXPECT_FALSE(Team(slow, 4, Nanoseconds(33'000)).has_help());
  EXPECT_FALSE(Team(slow, 4, Nanoseconds(79'000)).has_help());
  EXPECT_TRUE(Team(slow, 4, Nanoseconds(81'000)).has_help());
  EXPECT_FALSE(Team(slow, 2, Nanoseconds(81'000)).has_help()) << "one helper saves half";
  Host unknown(serially);
  EXPECT_TRUE(Team(unknown, 4, Nanoseconds(33'000)).has_help());
}

TEST(HostExecutor, ARuntimeUsesTheHostsPool) {
  const auto host = std::make_shared<Host>(on_threads, 3);
  Runtime runtime(host);
  Sums sums;
  const Kernel kernel = *runtime.get(Sums::op());
  EXPECT_EQ(kernel.threads(), 3);
  sums.run(kernel, {});
  EXPECT_GT(host->calls, 0);
}

// The bytes of a copied operand are divided by the number of threads.
TEST(HostExecutor, ThatAnswersNoThreadsCountsAsOne) {
  constexpr int64_t kRows = 100'000, kWidth = 64, kOne = 1;
  const std::string table = "f32[100000,64]";
  const Op op = test::op_of("strew1.scatter(operand=" + table + " indices=i32[1] updates=f32[1,64] update_window_dims=[1] " +
                            "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=copy)");
  const std::vector<float> operand(static_cast<size_t>(kRows * kWidth), 2), update(static_cast<size_t>(kWidth), 3);
  const int32_t index = 7;
  for (const int threads : {0, -5}) {
    Runtime runtime(std::make_shared<Host>(serially, threads));
    const Kernel kernel = *runtime.get(op);
    EXPECT_EQ(kernel.threads(), 1);
    std::vector<float> result(operand.size());
    const Status status = kernel.run(test::Views()
                                         .add(result.data(), DType::f32, {kRows, kWidth})
                                         .add(operand.data(), DType::f32, {kRows, kWidth})
                                         .add(&index, DType::i32, {kOne})
                                         .add(update.data(), DType::f32, {kOne, kWidth}));
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(std::count(result.begin(), result.end(), 3.0F), kWidth);
  }
}

TEST(CallOptions, ThreadsBoundACall) {
  Runtime runtime;
  Sums sums;
  const Kernel kernel = *runtime.get(Sums::op());
  std::atomic<int> most{0};
  Host host(
      [&](int count, Executor::Task task, void* context) {
        most = std::max(most.load(), count);
        serially(count, task, context);
      },
      16);
  sums.run(kernel, {.threads = 1, .executor = &host});
  EXPECT_EQ(host.calls, 0) << "one thread needs no executor";
  sums.run(kernel, {.threads = 2, .executor = &host});
  EXPECT_GT(host.calls, 0);
  EXPECT_LE(most, 2 * ExecutionLimits{}.chunks_per_thread);
}

TEST(CallOptions, WrongValuesAreNamed) {
  Runtime runtime;
  const Kernel kernel = *runtime.get(Sums::op());
  for (const int threads : {-1, 1025}) {
    const Status status = kernel.run(std::span<const TensorView>{}, CallOptions{.threads = threads});
    EXPECT_EQ(status.code(), Code::invalid_argument);
    EXPECT_EQ(status.message(), "threads: " + std::to_string(threads) + ", expected 0..1024");
  }
  Sums sums;
  sums.indices[77] = 5000;
  BadIndex bad_index;
  std::vector<float> table(static_cast<size_t>(Sums::kRows * Sums::kWidth));
  const std::vector<TensorView> views{
      {table.data(), sums.dims}, {sums.indices.data(), sums.index_dims}, {sums.updates.data(), sums.update_dims}};
  const Status bad = kernel.run(views, CallOptions{.bad_index = &bad_index});
  EXPECT_EQ(bad.code(), Code::out_of_bounds);
  EXPECT_EQ(bad_index.position, 77);
  EXPECT_EQ(std::accumulate(table.begin(), table.end(), 0.0F), 0.0F) << "nothing was written";
}

}  // namespace
}  // namespace strew
