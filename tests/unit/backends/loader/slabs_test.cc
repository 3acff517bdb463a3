// The memory of generated code by itself (backends/loader/slabs.h): places, access, what is given back, and what a refusing system leads to.
#include "backends/loader/slabs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/rng.h"

namespace strew {
namespace {

using testing::HasSubstr;

const size_t kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));

std::vector<char> bytes(size_t count, char value) { return std::vector<char>(count, value); }

/// A run of that many bytes of code and constants, each with its own value in every byte.
CodeRun run_of(Slabs& slabs, size_t code, size_t constants, char value) {
  Expected<CodeRun> run = slabs.place(code, constants);
  EXPECT_TRUE(run.ok()) << run.status().message();
  if (!run.ok()) return {};
  EXPECT_EQ(run->write(bytes(code, value), bytes(constants, static_cast<char>(value + 1))).message(), "");
  return *std::move(run);
}

bool holds(const CodeRun& run, size_t code, size_t constants, char value) {
  return std::count(run.code(), run.code() + code, value) == static_cast<std::ptrdiff_t>(code) &&
         std::count(run.constants(), run.constants() + constants, static_cast<char>(value + 1)) ==
             static_cast<std::ptrdiff_t>(constants);
}

/// The permissions that /proc/self/maps gives for an address, as in "r-xp".
std::string permissions(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t start = 0, end = 0;
    char text[5] = {};
    std::sscanf(line.c_str(), "%lx-%lx %4s", &start, &end, text);
    const auto at = reinterpret_cast<uintptr_t>(address);
    if (start <= at && at < end) return text;
  }
  return "";
}

int mappings() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<int>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
}

/// The system's calls, of which one fails: the `fails_in`-th of its kind from now on, with errno `error`. Negative: none.
struct FailingCalls : PageCalls {
  int reserve_fails_in = -1, protect_fails_in = -1, release_fails_in = -1;
  int error = ENOMEM;
  size_t discarded = 0;

  char* reserve(size_t size) override { return fails(reserve_fails_in) ? nullptr : PageCalls::reserve(size); }
  bool release(char* at, size_t size) override { return !fails(release_fails_in) && PageCalls::release(at, size); }
  bool protect(char* at, size_t size, Access access) override {
    return !fails(protect_fails_in) && PageCalls::protect(at, size, access);
  }
  void discard(char* at, size_t size) override {
    discarded += size;
    PageCalls::discard(at, size);
  }

 private:
  bool fails(int& in) {
    if (in != 0) return --in, false;
    errno = error;
    return true;
  }
};

TEST(Slabs, CodeIsExecutableAndConstantsAreReadable) {
  Slabs slabs;
  const CodeRun run = run_of(slabs, 100, 200, 1);
  EXPECT_EQ(permissions(run.code()), "r-xp");
  EXPECT_EQ(permissions(run.constants()), "r--p");
  EXPECT_TRUE(holds(run, 100, 200, 1));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(run.code()) % kPage, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(run.constants()) % Slabs::kPiece, 0u);
  EXPECT_EQ(run.bytes(), kPage + kPage / 16);  // 200 bytes are 4 pieces of the 64 of a page
}

TEST(Slabs, APlaceIsInaccessibleUntilItIsWritten) {
  Slabs slabs;
  const Expected<CodeRun> run = slabs.place(100, 200);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(permissions(run->code()), "---p");
  EXPECT_EQ(permissions(run->constants()), "---p");
  EXPECT_EQ(slabs.counts().bytes, 0u);
}

TEST(Slabs, ConstantsSharePagesAndCodeDoesNot) {
  Slabs slabs;
  const CodeRun first = run_of(slabs, 100, 200, 1), second = run_of(slabs, kPage + 1, 200, 3);
  EXPECT_EQ(second.code(), first.code() + kPage);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first.constants()) / kPage, reinterpret_cast<uintptr_t>(second.constants()) / kPage);
  EXPECT_EQ(slabs.counts().bytes, 4 * kPage);
  EXPECT_TRUE(holds(first, 100, 200, 1) && holds(second, kPage + 1, 200, 3));
}

TEST(Slabs, OneKindAloneIsFine) {
  Slabs slabs;
  const CodeRun code = run_of(slabs, 5, 0, 1), constants = run_of(slabs, 0, 5, 3), nothing = run_of(slabs, 0, 0, 5);
  EXPECT_TRUE(holds(code, 5, 0, 1) && holds(constants, 0, 5, 3));
  EXPECT_EQ(nothing.bytes(), 0u);
}

TEST(Slabs, WhatIsLargerThanASlabGetsItsOwn) {
  Slabs slabs;
  const size_t large = Slabs::kSlabBytes + 3 * kPage;
  const CodeRun small = run_of(slabs, 10, 10, 1), code = run_of(slabs, large, large, 3), constants = run_of(slabs, 10, large, 5);
  EXPECT_EQ(slabs.counts().slabs, 3u);
  EXPECT_TRUE(holds(small, 10, 10, 1) && holds(code, large, large, 3) && holds(constants, 10, large, 5));
}

TEST(Slabs, MoreThanOffsetsReachIsRefused) {
  Slabs slabs;
  const auto run = slabs.place(size_t{3} << 30, 5);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.status().code(), Code::unsupported);
  EXPECT_EQ(run.status().message(),
            "generated code: 3221225472 bytes of code and 5 of constants, expected at most 1073741824 of each");
  EXPECT_EQ(slabs.counts().slabs, 0u);
}

TEST(Slabs, AnEmptySlabIsUnmapped) {
  FailingCalls calls;
  Slabs slabs(calls);
  void* code = nullptr;
  {
    const CodeRun run = run_of(slabs, 100, 200, 1);
    code = run.code();
  }
  EXPECT_EQ(slabs.counts().slabs, 0u);
  EXPECT_NE(permissions(code), "r-xp");
}

TEST(Slabs, AnEmptySlabThatCannotBeUnmappedIsUsedAgain) {
  FailingCalls calls;
  Slabs slabs(calls);
  calls.release_fails_in = 0;
  run_of(slabs, 100, 200, 1);
  EXPECT_EQ(slabs.counts().slabs, 1u);
  EXPECT_EQ(slabs.counts().bytes, 0u);
  calls.release_fails_in = -1;
  EXPECT_TRUE(holds(run_of(slabs, 100, 200, 1), 100, 200, 1));
  EXPECT_EQ(slabs.counts().slabs, 0u);
}

TEST(Slabs, AHoleIsInaccessibleAndIsFilledFirst) {
  FailingCalls calls;
  Slabs slabs(calls);
  const CodeRun first = run_of(slabs, 10, 10, 1);
  char* hole = nullptr;
  {
    const CodeRun second = run_of(slabs, 2 * kPage, kPage, 3);
    hole = second.code();
  }
  const CodeRun third = run_of(slabs, kPage, 0, 5);
  EXPECT_EQ(third.code(), hole);
  EXPECT_EQ(permissions(hole), "r-xp");
  EXPECT_EQ(permissions(hole + kPage), "---p");
  EXPECT_EQ(calls.discarded, 3 * kPage);
  EXPECT_TRUE(holds(first, 10, 10, 1) && holds(third, kPage, 0, 5));
}

TEST(Slabs, ManyHolesKeepTheirMemoryUntilTheirNeighboursAreFree) {
  Slabs slabs;
  const int before = mappings();
  std::vector<CodeRun> runs;
  constexpr size_t kRuns = 200;
  for (size_t i = 0; i < kRuns; ++i) runs.push_back(run_of(slabs, 16, 16, static_cast<char>(i % 100)));
  const int full = mappings();
  EXPECT_LE(full - before, 4);
  char* const trapped = runs[kRuns - 2].code();
  for (size_t i = 0; i < kRuns; i += 2) CodeRun dropped = std::move(runs[i]);
  EXPECT_LE(mappings() - before, 16);
  const size_t abandoned = slabs.counts().abandoned;
  EXPECT_GT(abandoned, kRuns / 4);
#if defined(__x86_64__)
  EXPECT_EQ(std::count(trapped, trapped + kPage, '\xcc'), static_cast<std::ptrdiff_t>(kPage)) << "stale code is overwritten";
#endif
  EXPECT_EQ(permissions(trapped), "r-xp");
  for (size_t i = 1; i < kRuns; i += 2) {
    EXPECT_TRUE(holds(runs[i], 16, 16, static_cast<char>(i % 100)));
    if (i + 2 < kRuns) CodeRun dropped = std::move(runs[i]);
  }
  EXPECT_EQ(slabs.counts().abandoned, 0u);
  EXPECT_EQ(slabs.counts().bytes, 2 * kPage) << "the last one's page of code and page of constants";
}

TEST(Slabs, TenThousandRunsTakeFewMappings) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "sanitizers make mappings of their own";
#endif
  Slabs slabs;
  const int before = mappings();
  {
    std::vector<CodeRun> runs;
    for (int i = 0; i < 10'000; ++i) runs.push_back(run_of(slabs, 600, 1200, static_cast<char>(i % 100)));
    EXPECT_LE(mappings() - before, 200);
    EXPECT_LE(slabs.counts().bytes, 10'000 * (kPage + 1400));
    EXPECT_TRUE(holds(runs[0], 600, 1200, 0) && holds(runs[9'999], 600, 1200, 99));
  }
  EXPECT_EQ(slabs.counts().slabs, 0u);
  EXPECT_EQ(mappings(), before);
}

// Any order of placing and dropping: nothing overlaps, nothing is lost.
TEST(Slabs, RandomLivesDoNotOverlap) {
  struct Life {
    CodeRun run;
    size_t code, constants;
    char value;
  };
  Slabs slabs;
  test::Rng rng(7);
  std::vector<Life> lives;
  for (int step = 0; step < 3'000; ++step) {
    if (lives.size() < 40 || rng.below(2) == 0) {
      const size_t most = rng.below(20) == 0 ? 60 * kPage : 2 * kPage;
      const size_t code = rng.below(static_cast<int64_t>(most)), constants = rng.below(static_cast<int64_t>(most));
      const auto value = static_cast<char>(rng.below(100));
      lives.push_back({run_of(slabs, code, constants, value), code, constants, value});
    } else {
      std::swap(lives[static_cast<size_t>(rng.below(static_cast<int64_t>(lives.size())))], lives.back());
      const Life& last = lives.back();
      ASSERT_TRUE(holds(last.run, last.code, last.constants, last.value)) << "step " << step;
      lives.pop_back();
    }
  }
  for (const Life& life : lives) ASSERT_TRUE(holds(life.run, life.code, life.constants, life.value));
  lives.clear();
  EXPECT_EQ(slabs.counts().slabs, 0u);
}

TEST(Slabs, ThreadsPlaceAndDropAtTheSameTime) {
  Slabs slabs;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      CodeRun kept;
      for (int i = 0; i < 500; ++i) {
        CodeRun run = run_of(slabs, 100, 300, static_cast<char>(t));
        wrong += !holds(run, 100, 300, static_cast<char>(t));
        if (i % 3 == 0) std::swap(kept, run);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(slabs.counts().slabs, 0u);
}

TEST(Slabs, ARefusedReservationNamesTheSystemsReason) {
  FailingCalls calls;
  Slabs slabs(calls);
  calls.reserve_fails_in = 0;
  const auto run = slabs.place(10, 10);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.status().code(), Code::resource_exhausted);
  EXPECT_EQ(
      run.status().message(),
      "out of memory for generated code: the system refuses 2048 KiB (mmap: Cannot allocate memory); it may be a limit of the "
      "process: ulimit -v, ulimit -d, sysctl vm.max_map_count");
  EXPECT_EQ(slabs.counts().slabs, 0u);
  calls.reserve_fails_in = -1;
  EXPECT_TRUE(slabs.place(10, 10).ok());
}

TEST(Slabs, ASecurityPolicyIsNamedWhereItForbidsExecution) {
  FailingCalls calls;
  calls.error = EACCES;
  Slabs slabs(calls);
  Expected<CodeRun> run = slabs.place(10, 0);
  ASSERT_TRUE(run.ok());
  calls.protect_fails_in = 1;  // writing is allowed
  const Status status = run->write(bytes(10, 1), {});
  EXPECT_EQ(status.code(), Code::unsupported);
  EXPECT_EQ(
      status.message(),
      "generated code: the system refuses executable memory (mprotect: Permission denied); a security policy may forbid it, "
      "such as SELinux's execmem or systemd's MemoryDenyWriteExecute");
}

// Each change of access of a life fails once. Other runs keep their contents, and nothing is lost.
TEST(Slabs, ARefusedAccessLeavesEverythingElseAsItWas) {
  int failed = 0;
  for (int fails_in = 0; fails_in < 8; ++fails_in) {
    FailingCalls calls;
    Slabs slabs(calls);
    {
      const CodeRun neighbour = run_of(slabs, 100, 100, 1);
      calls.protect_fails_in = fails_in;
      {
        Expected<CodeRun> run = slabs.place(100, 100);
        ASSERT_TRUE(run.ok());
        const Status status = run->write(bytes(100, 3), bytes(100, 4));
        failed += !status.ok();
        EXPECT_THAT(status.message(), testing::AnyOf("", HasSubstr("KiB (mprotect: Cannot allocate memory)")));
      }
      calls.protect_fails_in = -1;
      EXPECT_TRUE(holds(neighbour, 100, 100, 1)) << fails_in;
      EXPECT_EQ(permissions(neighbour.code()), "r-xp");
      EXPECT_TRUE(holds(run_of(slabs, 100, 100, 5), 100, 100, 5)) << fails_in;
    }
    EXPECT_EQ(slabs.counts().slabs, 0u) << fails_in;
  }
  EXPECT_EQ(failed, 4) << "writable and readable, writable and executable";
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which need terabytes of address space
/// The exit status of body() in a child process.
template <class Body>
int exit_status(const Body& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(Slabs, RealLimitsAreStatuses) {
  const auto limited = [](int which, const char* expected) {
    return [which, expected] {
      Slabs slabs;
      const CodeRun before = run_of(slabs, 100, 100, 1);
      const rlimit nothing{1, RLIM_INFINITY}, everything{RLIM_INFINITY, RLIM_INFINITY};
      setrlimit(which, &nothing);
      Status status;
      std::vector<CodeRun> runs;
      runs.reserve(2);
      for (int i = 0; i < 2 && status.ok(); ++i) {
        Expected<CodeRun> run = slabs.place(Slabs::kSlabBytes / 4 * 3, 10);
        status = run.ok() ? run->write({}, {}) : run.status();
        if (run.ok()) runs.push_back(*std::move(run));
      }
      setrlimit(which, &everything);
      const bool refused = status.message().find(expected) != std::string::npos;
      return refused && holds(before, 100, 100, 1) && holds(run_of(slabs, 50, 50, 3), 50, 50, 3);
    };
  };
  EXPECT_EQ(exit_status(limited(RLIMIT_AS, "2048 KiB (mmap: Cannot allocate memory)")), 0);
  EXPECT_EQ(exit_status(limited(RLIMIT_DATA, "(mprotect: Cannot allocate memory)")), 0);
}
#endif

TEST(Slabs, AForkedChildHasItsOwnCopy) {
  Slabs slabs;
  CodeRun kept = run_of(slabs, 100, 100, 1), dropped = run_of(slabs, 100, 100, 3);
  char* const place = dropped.code();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  slabs.before_fork();
  const pid_t child = fork();
  slabs.after_fork();
  if (child == 0) {
    // The child reuses the place; the parent does the same with another value.
    { CodeRun gone = std::move(dropped); }
    const CodeRun own = run_of(slabs, 100, 100, 5);
    char go = 0;
    const bool waited = read(ends[0], &go, 1) == 1;
    _exit(waited && own.code() == place && holds(own, 100, 100, 5) && holds(kept, 100, 100, 1) ? 0 : 1);
  }
  { CodeRun gone = std::move(dropped); }
  const CodeRun own = run_of(slabs, 100, 100, 7);
  EXPECT_EQ(own.code(), place);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(holds(own, 100, 100, 7) && holds(kept, 100, 100, 1));
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace strew
