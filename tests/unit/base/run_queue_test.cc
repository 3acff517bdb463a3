// Waiting for a core: two threads that want the same one.
#include "base/run_queue.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace strew {
namespace {

TEST(RunQueue, TwoThreadsOnOneCoreWait) {
  const HostWatch host;
  const auto before = waited_for_cores();
  if (!before) GTEST_SKIP() << "this system does not say how long threads wait";
  std::atomic<bool> stop{false};
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  const auto spin = [&] {
    sched_setaffinity(0, sizeof one, &one);
    while (!stop) {
    }
  };
  std::thread first(spin), second(spin);
  // Both are ready all the time, so together they wait for as long as the clock goes on.
  std::optional<Nanoseconds> after = before;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (after && *after - *before < std::chrono::milliseconds(20) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    after = waited_for_cores();
  }
  EXPECT_TRUE(host.was_busy()) << host.waiting();
  stop = true;
  first.join();
  second.join();
  ASSERT_TRUE(after);
  EXPECT_GE(*after - *before, std::chrono::milliseconds(20));
}

}  // namespace
}  // namespace strew
