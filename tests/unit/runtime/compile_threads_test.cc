// Threads that compile: how many, on which stack, what happens without them, at their end and in a forked child.
#include "runtime/compile_threads.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <set>
#include <thread>

namespace strew {
namespace {

constexpr size_t kStack = size_t{1} << 20;

size_t stack_of_this_thread() {
  pthread_attr_t attributes;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstacksize(&attributes, &bytes);
    pthread_attr_destroy(&attributes);
  }
  return bytes;
}

TEST(CompileThreads, RunJobsOnStacksOfTheSizeAskedFor) {
  CompileThreads threads(2, kStack);
  std::promise<size_t> answer;
  threads.run([&] { answer.set_value(stack_of_this_thread()); });
  EXPECT_EQ(answer.get_future().get(), kStack);
}

TEST(CompileThreads, NeverRunMoreJobsAtATimeThanAllowed) {
  std::atomic<int> now{0}, most{0}, done{0};
  {
    CompileThreads threads(3, kStack);
    for (int i = 0; i < 60; ++i)
      threads.run([&] {
        const int running = ++now;
        for (int seen = most; running > seen && !most.compare_exchange_weak(seen, running);) {
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        --now;
        ++done;
      });
    while (done < 60) std::this_thread::yield();
  }
  EXPECT_LE(most, 3);
  EXPECT_GT(most, 1);
}

TEST(CompileThreads, AJobMayRunAnother) {
  CompileThreads threads(1, kStack);
  std::promise<bool> answer;
  threads.run([&] {
    bool inner = false;
    threads.run([&] { inner = true; });  // waiting for another thread would be waiting for itself
    answer.set_value(inner);
  });
  EXPECT_TRUE(answer.get_future().get());
}

TEST(CompileThreads, TheDestructorDropsWhatHasNotBegun) {
  std::atomic<int> ran{0};
  const auto token = std::make_shared<int>(0);
  {
    CompileThreads threads(1, kStack);
    std::promise<void> began;
    threads.run([&] {
      began.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      ++ran;
    });
    began.get_future().wait();
    for (int i = 0; i < 5; ++i) threads.run([&ran, token] { ++ran; });
  }
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(token.use_count(), 1);
}

TEST(CompileThreads, WithoutThreadsTheCallerCompiles) {
  const pid_t child = fork();
  if (child == 0) {  // a limit on processes holds for the whole user, and root has none: a stack too large does it too
    CompileThreads threads(2, size_t{1} << 46);
    const std::thread::id here = std::this_thread::get_id();
    std::thread::id there;
    threads.run([&] { there = std::this_thread::get_id(); });
    _exit(here == there ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(CompileThreads, AForkWaitsForJobsAndTheChildRunsItsOwn) {
  CompileThreads threads(2, kStack);
  std::atomic<int> done{0};
  std::promise<void> began;
  threads.run([&] {
    began.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ++done;
  });
  began.get_future().wait();
  const pid_t child = fork();
  if (child == 0) {
    int failures = done == 1 ? 0 : 1;  // the job had ended
    if (!CompileThreads::works_after_fork()) failures += 2;
    std::promise<void> ran;
    threads.run([&] { ran.set_value(); });
    if (ran.get_future().wait_for(std::chrono::seconds(10)) != std::future_status::ready) failures += 4;
    _exit(failures);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  std::promise<void> ran;
  threads.run([&] { ran.set_value(); });
  ran.get_future().wait();
}

TEST(CompileThreads, AForkWaitsForTheRunningJobNotForTheQueue) {
  CompileThreads threads(2, kStack);
  std::atomic<int> done{0};
  std::promise<void> began;
  constexpr int kJobs = 200;
  for (int i = 0; i < kJobs; ++i)
    threads.run([&, i] {
      if (i == 0) began.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      ++done;
    });
  began.get_future().wait();
  const pid_t child = fork();
  if (child == 0) _exit(CompileThreads::works_after_fork() ? 0 : 1);
  EXPECT_LT(done, kJobs / 2);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  while (done < kJobs) std::this_thread::yield();  // the parent goes on
}

TEST(CompileThreads, AJobMayForkAndDestroyOthersMeanwhile) {
  CompileThreads threads(2, kStack);
  auto other = std::make_unique<CompileThreads>(1, kStack);
  std::promise<void> began;
  std::promise<int> answer;
  threads.run([&] {  // a fork waits for this job, which changes the list of pools
    began.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    other = nullptr;
    const CompileThreads another(1, kStack);
  });
  began.get_future().wait();
  threads.run([&] {
    const pid_t child = fork();
    if (child == 0) _exit(CompileThreads::works_after_fork() ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    answer.set_value(status);
  });
  EXPECT_EQ(answer.get_future().get(), 0);
}

TEST(CompileThreads, AForkFromInsideHereDoesNotWaitForItself) {
  CompileThreads threads(1, kStack);
  const CompileThreads::Here here(threads);
  ASSERT_TRUE(here);
  const pid_t child = fork();
  if (child == 0) _exit(CompileThreads::works_after_fork() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(CompileThreads, DrainedRunJobsOnTheThreadThatCalls) {
  CompileThreads threads(2, kStack);
  std::atomic<int> ran{0};
  threads.run([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ++ran;
  });
  while (ran == 0) std::this_thread::yield();
  EXPECT_TRUE(threads.drain(std::chrono::steady_clock::time_point::max()));
  std::thread::id runner;
  threads.run([&] { runner = std::this_thread::get_id(); });
  EXPECT_EQ(runner, std::this_thread::get_id());
}

TEST(CompileThreads, DrainOfAJobDoesNotWaitForThatJob) {
  CompileThreads threads(1, kStack);
  std::promise<bool> answer;
  threads.run([&] { answer.set_value(threads.drain(std::chrono::steady_clock::time_point::max())); });
  EXPECT_TRUE(answer.get_future().get());
}

}  // namespace
}  // namespace strew
