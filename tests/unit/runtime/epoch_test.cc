// Epoch-based reclamation: an object lives as long as a reader that may have found it, and no longer.
#include "runtime/epoch.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>
#include <thread>
#include <vector>

namespace strew {
namespace {

TEST(Epochs, AnObjectWithoutReadersIsDropped) {
  auto object = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = object;
  epochs::retire(std::move(object));
  EXPECT_EQ(epochs::collect(), 0u);
  EXPECT_TRUE(watch.expired());
}

// The caller of retire() holds locks, which what is dropped may take.
TEST(Epochs, RetiringDropsNothing) {
  int dropped = 0;
  constexpr int kMany = 200;
  for (int i = 0; i < kMany; ++i) epochs::retire(std::shared_ptr<int>(&dropped, [](int* count) { ++*count; }));
  EXPECT_EQ(dropped, 0);
  epochs::collect_some();
  EXPECT_EQ(dropped, kMany);
}

// A sandbox that is entered after strew was loaded may forbid membarrier(), on which readers rely.
TEST(Epochs, WithoutMembarrierNothingIsDropped) {
#if defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
  GTEST_SKIP() << "readers have fences of their own under this sanitizer, and the filter below is x86's";
#else
  epochs::rely_on_barrier();
  const EpochReader reader;  // the process has its records
  if (reader.record()->needs_fence) GTEST_SKIP() << "the system has no membarrier()";
  const pid_t child = fork();
  if (child == 0) {
    sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_membarrier, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{4, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(77);
    auto object = std::make_shared<int>(1);
    const std::weak_ptr<int> watch = object;
    epochs::retire(std::move(object));
    int failures = epochs::collect() == 0 ? 1 : 0;
    if (watch.expired()) failures += 2;
    std::thread([&] {
      const EpochReader later;
      if (!later.record()->needs_fence) failures += 4;
    }).join();
    _exit(failures);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "the system takes no filter of system calls";
  EXPECT_EQ(WEXITSTATUS(status), 0);
#endif
}

// Threads that began to read before the process asked for membarrier() do without their fence from then on, as later ones do.
TEST(Epochs, ReadersOfAllAgesRelyOnTheBarrier) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "readers have fences of their own under this sanitizer";
#else
  bool earlier = true;
  std::atomic<int> step{0};
  std::thread thread([&] {
    { const EpochReader first; }
    step = 1;
    step.notify_all();
    step.wait(1);
    const EpochReader second;
    earlier = second.record()->needs_fence;
  });
  step.wait(0);
  epochs::rely_on_barrier();
  step = 2;
  step.notify_all();
  thread.join();
  const EpochReader later;
  EXPECT_EQ(earlier, later.record()->needs_fence) << "both, or neither where the system has no membarrier()";
  EXPECT_EQ(later.record()->needs_fence, syscall(__NR_membarrier, 0, 0, 0) < 0);
#endif
}

TEST(Epochs, AReaderKeepsWhatIsRetiredAfterItBegan) {
  auto object = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = object;
  {
    const EpochReader outer;
    {
      const EpochReader inner;
      epochs::retire(std::move(object));
      EXPECT_EQ(epochs::collect(), 1u);
    }
    EXPECT_EQ(epochs::collect(), 1u) << "the outer reader goes on";
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_EQ(epochs::collect(), 0u);
  EXPECT_TRUE(watch.expired());
}

TEST(Epochs, ALaterReaderKeepsNothing) {
  auto object = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = object;
  epochs::retire(std::move(object));
  const EpochReader later;
  EXPECT_EQ(epochs::collect(), 0u);
  EXPECT_TRUE(watch.expired());
}

TEST(Epochs, ReadersThatOverlapForEverKeepLittle) {
  std::atomic<bool> stop{false};
  std::array<std::optional<std::jthread>, 2> threads;
  for (auto& thread : threads)
    thread.emplace([&] {
      while (!stop) const EpochReader reader;
    });
  // A reader that loses its core keeps what is retired meanwhile, but not for ever: nearly all is dropped again and again.
  int nearly_all = 0;
  for (int i = 0; nearly_all < 20; ++i) {
    epochs::retire(std::make_shared<int>(i));
    if (i % 100 == 99) nearly_all += epochs::collect() < 50;
  }
  stop = true;
}

TEST(Epochs, ReadersOnManyThreadsNeverSeeADroppedObject) {
  struct Node {
    std::atomic<int> alive{1};
    ~Node() { alive = 0; }
  };
  std::atomic<Node*> head{nullptr};
  auto first = std::make_shared<Node>();
  head = first.get();
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::jthread> readers;
  for (int t = 0; t < 6; ++t)
    readers.emplace_back([&] {
      while (!stop) {
        const EpochReader reader;
        wrong += head.load(std::memory_order_acquire)->alive != 1;
      }
    });
  for (int i = 0; i < 20000; ++i) {
    auto next = std::make_shared<Node>();
    head.store(next.get(), std::memory_order_seq_cst);
    std::swap(first, next);
    epochs::retire(std::move(next));
  }
  stop = true;
  readers.clear();
  EXPECT_EQ(wrong, 0);
  epochs::retire(first);
  first.reset();
  EXPECT_EQ(epochs::collect(), 0u);
}

TEST(Epochs, RecordsOfThreadsThatEndedAreUsedAgain) {
  uint32_t highest = 0;
  for (int i = 0; i < 200; ++i)
    std::thread([&] {
      const EpochReader reader;
      highest = std::max(highest, reader.record()->number);
    }).join();
  EXPECT_LT(highest, 64u);
}

}  // namespace
}  // namespace strew
