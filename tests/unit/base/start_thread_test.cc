// Signals of the program are not handled on threads of strew's.
#include "base/start_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "base/own_stack.h"
#include "runtime/call/executor/thread_pool.h"
#include "runtime/compile_threads.h"

namespace strew {
namespace {

constexpr size_t kStack = size_t{1} << 20;

/// "" if this thread blocks what a program handles, and nothing that its own instructions cause.
std::string blocked() {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  for (const int signal : {SIGALRM, SIGPROF, SIGUSR1, SIGINT, SIGCHLD, SIGTERM, SIGRTMIN})
    if (sigismember(&mask, signal) != 1) return "signal " + std::to_string(signal) + " is not blocked";
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    if (sigismember(&mask, signal) != 0) return "signal " + std::to_string(signal) + " is blocked";
  return "";
}

TEST(StartThread, CompileThreadsBlockSignals) {
  CompileThreads threads(1, kStack);
  std::promise<std::string> answer;
  threads.run([&] { answer.set_value(blocked()); });
  EXPECT_EQ(answer.get_future().get(), "");
  EXPECT_NE(blocked(), "") << "the caller goes on as before";
}

TEST(StartThread, WorkersBlockSignals) {
  ThreadPool pool(ThreadPoolOptions{.threads = 3, .waits = true});
  struct Seen {
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> others{0}, wrong{0};
  } seen;
  const auto look = [](void* context, int) noexcept {
    auto& to = *static_cast<Seen*>(context);
    if (std::this_thread::get_id() == to.caller) return;
    ++to.others;
    to.wrong += blocked() != "";
  };
  for (int turn = 0; turn < 100 && seen.others == 0; ++turn) pool.run(Chunks(64), 3, Nanoseconds(int64_t{1} << 40), look, &seen);
  EXPECT_GT(seen.others, 0);
  EXPECT_EQ(seen.wrong, 0);
}

TEST(StartThread, ThreadsWithALargeStackBlockSignals) {
  std::string answer = "it did not run";
  const auto* const caller = &answer;
  const Status status = with_stack(size_t{256} << 20, [&] {
    answer = blocked();
    return Status();
  });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(*caller, "");
}

}  // namespace
}  // namespace strew
