// The executor runs every chunk exactly once, for any count, from many callers and from inside a chunk; splits cover their range; the
// floating-point environment of workers is the default.
#include "runtime/executor/executor.h"

#include <gtest/gtest.h>
#if defined(__linux__)
#include <sched.h>
#endif

#include <cfenv>
#include <cmath>
#include <mutex>
#include <set>
#include <vector>

#include "runtime/fp_environment.h"
#include "runtime/strategies/split.h"

namespace strew {
namespace {

constexpr int64_t kLong = 1'000'000'000;  // nanoseconds: worth waking workers for

struct Counts {
  explicit Counts(int chunks) : hits(static_cast<size_t>(chunks)) {}
  std::vector<std::atomic<int>> hits;
  static void work(void* context, int chunk) { ++static_cast<Counts*>(context)->hits[static_cast<size_t>(chunk)]; }
  bool all_once() const {
    for (const auto& hit : hits)
      if (hit != 1) return false;
    return true;
  }
};

TEST(Executor, EveryChunkOnce) {
  for (int threads : {1, 2, 3, 8}) {
    Executor executor(threads);
    for (int chunks : {1, 2, 3, 7, 64, 1000, Executor::kMaxChunks, Executor::kMaxChunks + 1}) {
      for (int most : {1, 2, threads, 100}) {
        Counts counts(chunks);
        executor.run(chunks, most, kLong, Counts::work, &counts);
        EXPECT_TRUE(counts.all_once()) << threads << " threads, " << chunks << " chunks";
      }
    }
    executor.run(0, threads, kLong, Counts::work, nullptr);
  }
}

TEST(Executor, ManyShortJobsInARow) {
  Executor executor(4);
  for (int i = 0; i < 20000; ++i) {
    Counts counts(5);
    executor.run(5, 4, 2000, Counts::work, &counts);
    ASSERT_TRUE(counts.all_once()) << i;
  }
}

TEST(Executor, CallersShareThePool) {
  Executor executor(4);
  std::atomic<int> bad{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 6; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        Counts counts(9);
        executor.run(9, 4, kLong, Counts::work, &counts);
        bad += !counts.all_once();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(bad, 0);
}

TEST(Executor, ChunksMayCallTheExecutor) {
  Executor executor(4);
  struct Outer {
    Executor* executor;
    std::atomic<int> good{0};
  } outer{&executor};
  executor.run(
      8, 4, kLong,
      [](void* context, int) {
        Outer& o = *static_cast<Outer*>(context);
        Counts counts(8);
        o.executor->run(8, 4, kLong, Counts::work, &counts);
        o.good += counts.all_once();
      },
      &outer);
  EXPECT_EQ(outer.good, 8);
}

TEST(Executor, UsesMoreThanOneThreadWhereThereIsWork) {
  Executor executor(2);
  struct Seen {
    std::mutex mutex;
    std::set<std::thread::id> ids;
  } seen;
  // Chunks wait for the other thread, up to a second each: only a pool that never wakes anybody fails.
  for (int attempt = 0; attempt < 20 && seen.ids.size() < 2; ++attempt) {
    executor.run(
        2, 2, kLong,
        [](void* context, int) {
          Seen& s = *static_cast<Seen*>(context);
          for (int i = 0; i < 1000; ++i) {
            {
              const std::lock_guard lock(s.mutex);
              s.ids.insert(std::this_thread::get_id());
              if (s.ids.size() == 2) return;
            }
            std::this_thread::sleep_for(std::chrono::microseconds(100));
          }
        },
        &seen);
  }
  EXPECT_EQ(seen.ids.size(), 2u);
}

#if defined(__linux__)
TEST(Executor, PinnedWorkersHaveOneCoreAndTheCallerKeepsItsOwn) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  struct Seen {
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> most_cores{0};
  } seen;
  Executor executor(3, true);
  for (int i = 0; i < 20; ++i) {
    executor.run(
        64, 3, 1'000'000'000,
        [](void* context, int) {
          Seen& s = *static_cast<Seen*>(context);
          cpu_set_t mine;
          if (std::this_thread::get_id() == s.caller || sched_getaffinity(0, sizeof mine, &mine) != 0) return;
          int cores = CPU_COUNT(&mine), most = s.most_cores.load();
          while (cores > most && !s.most_cores.compare_exchange_weak(most, cores)) {
          }
        },
        &seen);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    seen.most_cores = i < 10 ? 0 : seen.most_cores.load();  // a worker's first chunk may come before it is pinned
  }
  EXPECT_LE(seen.most_cores.load(), 1);
  cpu_set_t after;
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}
#endif

TEST(Executor, WorkersComputeInTheDefaultEnvironment) {
  std::fesetround(FE_UPWARD);
  Executor executor(2);
  std::atomic<int> off{0};
  struct Context {
    std::thread::id caller;
    std::atomic<int>* off;
  } context{std::this_thread::get_id(), &off};
  for (int i = 0; i < 50; ++i) {
    executor.run(
        64, 2, kLong,
        [](void* c, int) {
          const Context& in = *static_cast<Context*>(c);
          if (std::this_thread::get_id() != in.caller && std::fegetround() != FE_TONEAREST) ++*in.off;
        },
        &context);
  }
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(off, 0);
}

TEST(FpEnvironment, SetsTheDefaultAndGivesTheCallersBack) {
  std::fesetround(FE_DOWNWARD);
  {
    const FpEnvironment unneeded(false);
    EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
    const FpEnvironment environment(true);
    volatile float one = 1.0f, tiny = 1e-10f;
    EXPECT_EQ(one - tiny, 1.0f);
  }
  EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
  std::fesetround(FE_TONEAREST);
}

TEST(Split, ChunksCoverTheRangeAtUnits) {
  for (int64_t total : {int64_t{0}, int64_t{1}, int64_t{63}, int64_t{64}, int64_t{1000}, INT64_MAX}) {
    for (int64_t unit : {1, 2, 16, 64}) {
      for (int chunks : {1, 2, 7, 32}) {
        const Split split{total, unit, chunks};
        EXPECT_EQ(split.border(0), 0);
        EXPECT_EQ(split.border(chunks), total);
        for (int i = 0; i < chunks; ++i) {
          EXPECT_LE(split.border(i), split.border(i + 1));
          EXPECT_TRUE(split.border(i) == total || split.border(i) % unit == 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace strew
