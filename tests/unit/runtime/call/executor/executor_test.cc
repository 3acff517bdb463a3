// The executor runs every chunk exactly once, for any count, from many callers and from inside a chunk; a team counts exactly the threads that
// come, also in a forked child and where the system gives no threads; splits cover their range; the floating-point environment of workers
// is the default.
#include <gtest/gtest.h>

#include "runtime/call/executor/thread_pool.h"
#if defined(__linux__)
#include <sched.h>
#endif
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cfenv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/fp_environment.h"
#include "runtime/call/executor/phases.h"
#include "tune/kernel_costs.h"

namespace strew {
namespace {

constexpr Nanoseconds kLong = std::chrono::seconds(1);  // worth waking workers for
constexpr Nanoseconds kLittle{1};

struct Counts {
  explicit Counts(int chunks) : hits(static_cast<size_t>(chunks)) {}
  std::vector<std::atomic<int>> hits;
  static void work(void* context, int chunk) noexcept { ++static_cast<Counts*>(context)->hits[static_cast<size_t>(chunk)]; }
  bool all_once() const {
    for (const auto& hit : hits)
      if (hit != 1) return false;
    return true;
  }
};

TEST(Executor, EveryChunkOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool executor(threads);
    for (int chunks : {1, 2, 3, 7, 64, 65, 1000, 100000}) {
      for (int most : {1, 2, threads, 100}) {
        Counts counts(chunks);
        executor.run(Chunks(chunks), most, kLong, Counts::work, &counts);
        EXPECT_TRUE(counts.all_once()) << threads << " threads, " << chunks << " chunks";
      }
    }
    executor.run(Chunks(0), threads, kLong, Counts::work, nullptr);
  }
}

TEST(Executor, ManyShortJobsInARow) {
  ThreadPool executor(4);
  for (int i = 0; i < 20000; ++i) {
    Counts counts(5);
    executor.run(Chunks(5), 4, Nanoseconds(2000), Counts::work, &counts);
    ASSERT_TRUE(counts.all_once()) << i;
  }
}

TEST(Executor, CallersShareThePool) {
  ThreadPool executor(4);
  std::atomic<int> bad{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 6; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        Counts counts(9);
        executor.run(Chunks(9), 4, kLong, Counts::work, &counts);
        bad += !counts.all_once();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(bad, 0);
}

TEST(Executor, ChunksMayCallTheExecutor) {
  ThreadPool executor(4);
  struct Outer {
    ThreadPool* executor;
    std::atomic<int> good{0};
  } outer{&executor};
  executor.run(
      Chunks(8), 4, kLong,
      [](void* context, int) noexcept {
        Outer& o = *static_cast<Outer*>(context);
        Counts counts(8);
        o.executor->run(Chunks(8), 4, kLong, Counts::work, &counts);
        o.good += counts.all_once();
      },
      &outer);
  EXPECT_EQ(outer.good, 8);
}

TEST(Executor, UsesMoreThanOneThreadWhereThereIsWork) {
  ThreadPool executor(2);
  struct Seen {
    std::mutex mutex;
    std::set<std::thread::id> ids;
  } seen;
  // Chunks wait for the other thread, up to a second each: only a pool that never wakes anybody fails.
  for (int attempt = 0; attempt < 20 && seen.ids.size() < 2; ++attempt) {
    executor.run(
        Chunks(2), 2, kLong,
        [](void* context, int) noexcept {
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

static_assert(!std::is_convertible_v<void (*)(void*, int), Team::Work>, "work must not be able to throw");

/// As many chunks as the team counts threads, each of which waits for all the others: passed only if every thread counted comes.
struct Meeting {
  explicit Meeting(int expected) : expected(expected) {}
  const int expected;
  std::atomic<int> present{0};
  std::atomic<bool> failed{false};

  static void work(void* context, int) noexcept {
    Meeting& meeting = *static_cast<Meeting*>(context);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    ++meeting.present;
    while (meeting.present < meeting.expected && !meeting.failed) {
      if (std::chrono::steady_clock::now() > deadline) meeting.failed = true;
      std::this_thread::yield();
    }
  }
  static bool held_by(Team& team) {
    Meeting meeting(team.threads());
    team.run(team.threads(), work, &meeting);
    return !meeting.failed && meeting.present == team.threads();
  }
};

/// Runs `threads` tasks by the executor's own loop, each of which waits for all the others: true if so many threads came.
bool meets(Executor& executor, int threads) {
  Meeting meeting(threads);
  executor.parallel_for(threads, Meeting::work, &meeting);
  return !meeting.failed && meeting.present == threads;
}

// A loop that says nothing of its work is taken for one that is worth waking workers for, whether they have begun, spin or sleep.
TEST(Executor, ALoopOfItsOwnRunsOnAllThreads) {
  for (const int threads : {2, 3}) {
    ThreadPoolOptions options;
    options.threads = threads;
    options.spin_microseconds = 1000;
    ThreadPool executor(options);
    EXPECT_TRUE(meets(executor, threads)) << "workers start";
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(meets(executor, threads)) << "workers spin";
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(meets(executor, threads)) << "workers sleep";
  }
}

// What `strew target --measure` finds. How it compares with what a line takes from one core to another is the machine's business: beside other
// programs, either may take longer.
TEST(Executor, CostsOfThreadsAreThoseOfSeveralThreads) {
  MachineCosts costs;
  costs.fork_join_ns = costs.wake_ns = -1;
  ASSERT_TRUE(measure_threads(2, costs).ok());
  if (costs.fork_join_ns < 0) GTEST_SKIP() << "other programs had the cores, so nothing was measured";
  EXPECT_GT(costs.fork_join_ns, 0);
  EXPECT_GE(costs.wake_ns, costs.fork_join_ns);
}

TEST(Executor, ATeamCountsExactlyTheThreadsThatCome) {
  constexpr Nanoseconds kShort = std::chrono::microseconds(1);  // not worth waking anybody for
  ThreadPool executor(4);
  std::set<int> sizes;
  for (int i = 0; i < 400; ++i) {
    // Pauses around the time that workers stay awake, so that teams find all, some and none of them.
    if (i % 8 != 0) std::this_thread::sleep_for(std::chrono::microseconds(700 + 10 * (i % 64)));
    Team team(executor, 4, i % 8 == 0 ? kLong : kShort);
    ASSERT_GE(team.threads(), 1);
    ASSERT_LE(team.threads(), 4);
    EXPECT_EQ(team.has_help(), team.threads() > 1);
    sizes.insert(team.threads());
    ASSERT_TRUE(Meeting::held_by(team)) << i << ": " << team.threads() << " threads were counted";
  }
  EXPECT_TRUE(sizes.count(4)) << "long jobs wake everybody";
}

TEST(Executor, ATeamIsNeverLargerThanWhatWasAskedFor) {
  ThreadPool executor(5);
  for (const int wanted : {0, 1, 2, 3, 5, 9}) {
    Team team(executor, wanted, kLong);
    EXPECT_EQ(team.threads(), std::clamp(wanted, 1, 5));
    EXPECT_TRUE(Meeting::held_by(team));
  }
}

TEST(Executor, MoreWorkersThanAWordHasBits) {
  ThreadPool executor({130, false, true});
  Team team(executor, 130, kLittle);
  EXPECT_EQ(team.threads(), 130);
  EXPECT_TRUE(Meeting::held_by(team));
}

TEST(Executor, TwoTeamsDivideThePool) {
  ThreadPool executor(3);
  Team first(executor, 2, kLong), second(executor, 2, kLong), third(executor, 2, kLong);
  EXPECT_EQ(first.threads(), 2);
  EXPECT_EQ(second.threads(), 2);
  EXPECT_EQ(third.threads(), 1) << "there is a third worker";
  EXPECT_TRUE(Meeting::held_by(first));
  EXPECT_TRUE(Meeting::held_by(second));
  EXPECT_TRUE(Meeting::held_by(first));
}

TEST(Executor, AThreadThatIsHeldUpLosesItsShareToTheOthers) {
  ThreadPool executor(3);
  constexpr int kChunks = 300;
  struct Run {
    std::atomic<int> done{0};
    std::atomic<bool> held{false}, failed{false};
  };
  for (int attempt = 0; attempt < 5; ++attempt) {
    Run run;
    Team team(executor, 3, kLong);
    ASSERT_EQ(team.threads(), 3);
    // The first chunk that runs waits until all others are done: by threads that began elsewhere.
    team.run(
        kChunks,
        [](void* context, int) noexcept {
          Run& r = *static_cast<Run*>(context);
          if (r.held.exchange(true)) {
            ++r.done;
            return;
          }
          const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
          while (r.done < kChunks - 1 && !r.failed) {
            if (std::chrono::steady_clock::now() > deadline) r.failed = true;
            std::this_thread::yield();
          }
        },
        &run);
    EXPECT_FALSE(run.failed);
    EXPECT_EQ(run.done, kChunks - 1);
  }
}

#if defined(__linux__)
TEST(Executor, StartsNoMoreWorkersThanATeamWants) {
  const auto threads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  // Threads that earlier tests joined may still be listed for a moment: the count must stand still first.
  auto before = threads();
  for (int unchanged = 0; unchanged < 5; before = threads()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    unchanged = threads() == before ? unchanged + 1 : 0;
  }
  ThreadPool executor(8);
  { Team team(executor, 3, kLong); }
  EXPECT_EQ(threads(), before + 2);
  { Team team(executor, 5, kLong); }
  EXPECT_EQ(threads(), before + 4);
}
#endif

TEST(Executor, ThatWaitsHasAllItsThreadsForAnyJob) {
  for (const int threads : {1, 2, 3, 5, 8}) {
    ThreadPool executor({threads, false, true});
    for (int i = 0; i < 20; ++i) {
      Team team(executor, threads, kLittle);
      ASSERT_EQ(team.threads(), threads);
      ASSERT_TRUE(Meeting::held_by(team));
      struct Seen {
        std::mutex mutex;
        std::set<std::thread::id> ids;
      } seen;
      team.run(
          4 * threads,
          [](void* context, int) noexcept {
            Seen& s = *static_cast<Seen*>(context);
            const std::lock_guard lock(s.mutex);
            s.ids.insert(std::this_thread::get_id());
          },
          &seen);
      EXPECT_EQ(seen.ids.size(), static_cast<size_t>(threads));
      if (i % 5 == 4) std::this_thread::sleep_for(std::chrono::milliseconds(3));  // workers fall asleep
    }
  }
}

/// Exit status of a child that runs `body`, or -1 if it crashed or hung for two minutes.
template <class Body>
int in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#if !defined(__SANITIZE_THREAD__)  // tsan lets no child of a process with threads start threads
/// A worker that is woken while it falls asleep goes on at once, and wakes others, all of whom must see that they are wanted.
TEST(Executor, WorkersThatFallAsleepAreWoken) {
  EXPECT_EQ(in_child([] {
              ThreadPool executor({8, false, true});
              for (int i = 0; i < 20'000; ++i) {
                Team team(executor, 8, kLittle);
                team.run(
                    8, [](void*, int) noexcept {}, nullptr);
              }
              return 0;
            }),
            0);
}

TEST(Executor, AForkedChildStartsItsOwnWorkers) {
  ThreadPool executor(3);
  { Team(executor, 3, kLong).run(0, Counts::work, nullptr); }
  const int status = in_child([&] {
    if (Team(executor, 3, kLittle).has_help()) return 1;  // the parent's workers are not here, nor worth starting for this
    Team team(executor, 3, kLong);
    if (team.threads() != 3 || !Meeting::held_by(team)) return 2;
    return 0;
  });
  EXPECT_EQ(status, 0);
  Team team(executor, 3, kLong);
  EXPECT_TRUE(Meeting::held_by(team));  // the parent's are still there
}

TEST(Executor, AChildForkedWhileThePoolIsBusyIsNotStuck) {
  auto executor = std::make_unique<ThreadPool>(3);
  struct Job {
    std::atomic<int> running{0};
    std::atomic<bool> go_on{false};
  } job;
  std::thread owner([&] {
    executor->run(
        Chunks(3), 3, kLong,
        [](void* context, int) noexcept {
          Job& j = *static_cast<Job*>(context);
          ++j.running;
          while (!j.go_on) std::this_thread::yield();
        },
        &job);
  });
  while (job.running == 0) std::this_thread::yield();
  const int status = in_child([&] {
    Counts counts(50);
    executor->run(Chunks(50), 3, kLong, Counts::work, &counts);
    if (!counts.all_once()) return 1;
    {
      Team team(*executor, 3, kLong);
      if (team.threads() != 3 || !Meeting::held_by(team)) return 2;
    }
    executor.reset();  // joins the child's workers, not the parent's
    return 0;
  });
  job.go_on = true;
  owner.join();
  EXPECT_EQ(status, 0);
}

TEST(Executor, AChildForkedFromInsideAChunkReturns) {
  ThreadPool executor({3, false, true});
  struct Context {
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<pid_t> child{-1};
    std::atomic<bool> forked{false}, is_child{false};
  } context;
  executor.run(
      Chunks(3), 3, kLong,
      [](void* c, int) noexcept {
        Context& in = *static_cast<Context*>(c);
        if (std::this_thread::get_id() == in.caller) {
          const pid_t child = fork();
          in.is_child = child == 0;
          if (child == 0) alarm(120);
          in.child = child;
          in.forked = true;
        }
        while (!in.forked) std::this_thread::yield();
      },
      &context);
  if (context.is_child) {
    Team team(executor, 3, kLong);
    _exit(team.threads() == 3 && Meeting::held_by(team) ? 0 : 1);
  }
  ASSERT_GT(context.child, 0);
  int status = -1;
  waitpid(context.child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}
#endif

#if defined(__linux__) && !defined(__SANITIZE_THREAD__)
/// How many processes and threads the user may have. Root may have any number, so it becomes somebody else first. False: it cannot.
bool limit_threads(rlim_t count) {
  if (geteuid() == 0 && setuid(65534) != 0) return false;
  rlimit limit{};
  getrlimit(RLIMIT_NPROC, &limit);
  limit.rlim_cur = std::min(count, limit.rlim_max);
  return setrlimit(RLIMIT_NPROC, &limit) == 0;
}

TEST(Executor, WorksAloneWhereTheSystemGivesNoThreads) {
  constexpr int kCannot = 77;
  const int status = in_child([] {
    ThreadPool executor(4);
    if (!limit_threads(0)) return kCannot;
    for (int i = 0; i < 200; ++i) {
      Counts counts(8);
      Team team(executor, 4, kLong);
      if (team.has_help() || team.threads() != 1) return 1;
      team.run(8, Counts::work, &counts);
      if (!counts.all_once()) return 2;
    }
    if (!limit_threads(RLIM_INFINITY)) return kCannot;
    for (int i = 0; i < 200; ++i)
      if (Team(executor, 4, kLong).threads() == 4) return 0;
    return 3;  // it never asked again
  });
  if (status == kCannot) GTEST_SKIP() << "this process may not limit its threads";
  EXPECT_EQ(status, 0);
}
#endif

#if defined(__linux__)
TEST(Executor, PinnedWorkersHaveOneCoreAndTheCallerKeepsItsOwn) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  struct Seen {
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> most_cores{0};
  } seen;
  ThreadPool executor(3, true);
  for (int i = 0; i < 20; ++i) {
    executor.run(
        Chunks(64), 3, kLong,
        [](void* context, int) noexcept {
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
  ThreadPool executor(2);
  std::atomic<int> off{0};
  struct Context {
    std::thread::id caller;
    std::atomic<int>* off;
  } context{std::this_thread::get_id(), &off};
  for (int i = 0; i < 50; ++i) {
    executor.run(
        Chunks(64), 2, kLong,
        [](void* c, int) noexcept {
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
