// Requests that do not wait: answers by poll, by callback and by waiting; cancellation and deadlines at every stage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "runtime/cache.h"
#include "strew/runtime.h"
#include "strew/text.h"

namespace strew {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

PreparedOp prepared(int rows) {
  const auto op = parse_op("strew1.scatter(operand=f32[" + std::to_string(rows) +
                           ",4] indices=i32[3] updates=f32[3,4] update_window_dims=[1] inserted_window_dims=[0] "
                           "scatter_dims_to_operand_dims=[0] index_vector_dim=1)");
  KernelOptions options;
  options.backend = BackendChoice::reference;
  return *PreparedOp::of(*op, options);
}

Deadline in(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

/// A cache whose builds stop at a gate: each build reports that it has begun, and goes on when it is let through.
class Gated {
 public:
  Gated() : cache_([this](BuildJob& job) { return build(job); }, {}) {}
  KernelCache& operator*() { return cache_; }
  KernelCache* operator->() { return &cache_; }
  void await_build() { begun_.acquire(); }
  void open() { gate_.release(); }
  std::atomic<int> finished{0};

 private:
  Expected<Kernel> build(BuildJob& job) {
    begun_.release();
    gate_.acquire();
    STREW_TRY(job.go_on());
    ++finished;
    Runtime runtime;
    return runtime.get(job.request.op);
  }
  std::counting_semaphore<> begun_{0}, gate_{0};
  KernelCache cache_;
};

TEST(Async, AnswersByWaitingByPollAndByCallback) {
  Gated cache;
  std::promise<Expected<Kernel>> called;
  const PendingKernel pending = cache->get_async(prepared(6), [&](const Expected<Kernel>& k) { called.set_value(k); });
  cache.await_build();
  EXPECT_FALSE(pending.ready());
  const Expected<Kernel> early = pending.wait(in(10ms));
  ASSERT_FALSE(early.ok());
  EXPECT_EQ(early.status().code(), Code::deadline_exceeded);
  cache.open();
  const Expected<Kernel> kernel = pending.wait();
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  EXPECT_TRUE(pending.ready());
  EXPECT_EQ(called.get_future().get()->state(), kernel->state());
}

TEST(Async, AKernelThatIsThereAnswersAtOnce) {
  Runtime runtime;
  const Kernel kernel = *runtime.get(prepared(6));
  bool called = false;
  const PendingKernel pending = runtime.get_async(prepared(6), [&](const Expected<Kernel>& k) { called = k.ok(); });
  EXPECT_TRUE(called);
  EXPECT_TRUE(pending.ready());
  EXPECT_EQ(pending.wait()->state(), kernel.state());
}

TEST(Async, ACallbackMayAskForKernels) {
  Runtime runtime;
  std::promise<bool> answer;
  runtime.get_async(prepared(6), [&](const Expected<Kernel>&) { answer.set_value(runtime.get(prepared(7)).ok()); });
  EXPECT_TRUE(answer.get_future().get());
}

TEST(Async, CancellingTheOnlyRequestStopsTheBuild) {
  Gated cache;
  std::promise<Status> told;
  PendingKernel pending = cache->get_async(prepared(6), [&](const Expected<Kernel>& k) { told.set_value(k.status()); });
  cache.await_build();
  pending.cancel();
  pending.cancel();
  EXPECT_TRUE(pending.ready());
  EXPECT_EQ(pending.wait().status().code(), Code::cancelled);
  EXPECT_THAT(pending.wait().status().message(), HasSubstr("cancelled"));
  EXPECT_EQ(told.get_future().get().code(), Code::cancelled);
  cache.open();
  while (cache->stats().cancelled == 0) std::this_thread::yield();
  EXPECT_EQ(cache.finished, 0);
  cache.open();  // a later request builds anew
  EXPECT_TRUE(cache->get(prepared(6)).ok());
}

TEST(Async, CancellingOneOfTwoRequestsStopsNothing) {
  Gated cache;
  PendingKernel first = cache->get_async(prepared(6), {});
  cache.await_build();
  const PendingKernel second = cache->get_async(prepared(6), {});
  first.cancel();
  cache.open();
  EXPECT_TRUE(second.wait().ok());
  EXPECT_EQ(first.wait().status().code(), Code::cancelled);
  EXPECT_EQ(cache.finished, 1);
}

TEST(Async, ARequestAfterTheLastCancellationBuildsAnew) {
  Gated cache;
  PendingKernel first = cache->get_async(prepared(6), {});
  cache.await_build();
  first.cancel();
  cache.open();
  while (cache->stats().cancelled == 0) std::this_thread::yield();
  const PendingKernel second = cache->get_async(prepared(6), {});
  cache.await_build();
  cache.open();
  EXPECT_TRUE(second.wait().ok());
}

TEST(Async, ADeadlineEndsTheWaitAndTheBuild) {
  Gated cache;
  const Expected<Kernel> late = cache->get(Request(prepared(6), CompileMode::blocking, in(20ms)));
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.status().code(), Code::deadline_exceeded);
  EXPECT_THAT(late.status().message(), HasSubstr("deadline"));
  cache.open();
  while (cache->stats().cancelled == 0) std::this_thread::yield();
  EXPECT_EQ(cache.finished, 0);
}

TEST(Async, ACallbackLearnsThatItsDeadlinePassed) {
  Gated cache;
  std::promise<Status> told;
  cache->get_async(Request(prepared(6), CompileMode::blocking, in(5ms)),
                   [&](const Expected<Kernel>& k) { told.set_value(k.status()); });
  std::this_thread::sleep_for(10ms);  // on a busy machine, the deadline may pass before the build begins
  cache.open();
  EXPECT_EQ(told.get_future().get().code(), Code::deadline_exceeded);
}

TEST(Async, DestroyingTheRuntimeAnswersWhoeverWaits) {
  std::vector<std::promise<Status>> told(20);
  std::vector<PendingKernel> pending;
  {
    Runtime runtime;
    for (int i = 0; i < 20; ++i)
      pending.push_back(runtime.get_async(
          prepared(i + 1), [&told, i](const Expected<Kernel>& k) { told[static_cast<size_t>(i)].set_value(k.status()); }));
  }
  for (size_t i = 0; i < told.size(); ++i) {
    const Status status = told[i].get_future().get();
    EXPECT_TRUE(status.ok() || status.code() == Code::cancelled) << status.message();
    EXPECT_TRUE(pending[i].ready());
  }
}

TEST(Async, AnEmptyHandleSaysSo) {
  PendingKernel empty;
  EXPECT_TRUE(empty.ready());
  empty.cancel();
  EXPECT_EQ(empty.wait().status().code(), Code::invalid_argument);
  EXPECT_THAT(empty.wait().status().message(), HasSubstr("get_async"));
}

TEST(Async, FailuresReachEveryoneAndAreForgotten) {
  Runtime runtime;
  const auto op = parse_op(
      "strew1.scatter(operand=f32[6,4] indices=i32[3] updates=f32[3,4] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1)");
  KernelOptions options;
  options.target = *parse_target("generic");
  const PreparedOp wrong = *PreparedOp::of(*op, options);
  const PendingKernel first = runtime.get_async(wrong), second = runtime.get_async(wrong);
  EXPECT_THAT(first.wait().status().message(), HasSubstr("aarch64"));
  EXPECT_EQ(second.wait().status().message(), first.wait().status().message());
  EXPECT_EQ(runtime.stats().kernels, 0u);
}

// ---- drain() ----------------------------------------------------------------------------------------------------------------------

TEST(Drain, WaitsForWhatRunsAndGivesTheRestUp) {
  std::counting_semaphore<> begun{0}, gate{0};
  std::atomic<int> builds{0};
  KernelCache cache(
      [&](BuildJob& job) -> Expected<Kernel> {
        ++builds;
        begun.release();
        gate.acquire();
        Runtime runtime;
        return runtime.get(job.request.op);
      },
      {.compile_threads = 1});
  const PendingKernel runs = cache.get_async(prepared(6), {});
  begun.acquire();
  std::promise<Status> told;
  const PendingKernel waits = cache.get_async(prepared(7), [&](const Expected<Kernel>& k) { told.set_value(k.status()); });
  EXPECT_FALSE(cache.drain(in(20ms))) << "a build runs";
  EXPECT_EQ(told.get_future().get().code(), Code::cancelled);
  const Status given_up = waits.wait().status();
  EXPECT_EQ(given_up.code(), Code::cancelled);
  EXPECT_THAT(given_up.message(), HasSubstr("the runtime was drained"));
  EXPECT_FALSE(runs.ready());
  gate.release();
  EXPECT_TRUE(cache.drain(kNoDeadline));
  EXPECT_TRUE(runs.ready());
  EXPECT_TRUE(runs.wait().ok());
  EXPECT_EQ(builds, 1);
}

TEST(Drain, LaterRequestsAreBuiltByTheThreadThatAsks) {
  std::thread::id builder;
  KernelCache cache(
      [&](BuildJob& job) -> Expected<Kernel> {
        builder = std::this_thread::get_id();
        Runtime runtime;
        return runtime.get(job.request.op);
      },
      {});
  EXPECT_TRUE(cache.drain(kNoDeadline));
  EXPECT_TRUE(cache.get(prepared(6)).ok());
  EXPECT_EQ(builder, std::this_thread::get_id());
  bool answered = false;
  builder = {};
  const PendingKernel pending = cache.get_async(prepared(7), [&](const Expected<Kernel>& k) { answered = k.ok(); });
  EXPECT_TRUE(answered);
  EXPECT_TRUE(pending.ready());
  EXPECT_EQ(builder, std::this_thread::get_id());
}

TEST(Drain, OfARuntimeSaysThatItWasTooLate) {
  Runtime runtime;
  EXPECT_TRUE(runtime.drain().ok());
  EXPECT_TRUE(runtime.drain(std::chrono::steady_clock::now()).ok()) << "nothing runs";
  EXPECT_TRUE(runtime.get(prepared(6)).ok());
}

}  // namespace
}  // namespace strew
