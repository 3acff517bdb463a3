// Memory and mappings that run out are a Status, found in child processes with the kernel's limits: before LLVM is opened, while kernels are
// built and linked, and where an allocation inside LLVM fails.
#include "base/headroom.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "strew/runtime.h"
#include "tests/support/ops.h"
#include "tests/support/views.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// Allocations of the process until one does not get its memory; negative: all get it. `instead`: what happens then.
static std::atomic<int64_t> allocations_left{-1};
static void (*instead)() = nullptr;

static void* allocate(size_t bytes, size_t alignment) {
  if (allocations_left >= 0 && allocations_left.fetch_sub(1) == 0) instead();
  void* const memory = alignment == 0 ? malloc(bytes) : aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// For the whole process: LLVM's library finds these before the C++ library's.
// Not inline, because g++ would take the calls of free() for mistakes.
void* operator new(size_t bytes) { return allocate(bytes, 0); }
void* operator new(size_t bytes, std::align_val_t alignment) { return allocate(bytes, static_cast<size_t>(alignment)); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t, std::align_val_t) noexcept { free(memory); }
#endif

namespace strew {
namespace {

using testing::HasSubstr;

TEST(Headroom, ThereIsSomeNow) {
  EXPECT_EQ(check_headroom("a test", kBuildBytes, kBuildMappings).message(), "");
  EXPECT_EQ(check_headroom("a test", Bytes(0), 0).message(), "");
}

TEST(Headroom, NamesWhatIsShort) {
  const Status status = check_headroom("a test", Bytes(int64_t{1} << 60), 4);
  EXPECT_EQ(status.code(), Code::resource_exhausted);
  EXPECT_EQ(status.message(),
            "a test: out of memory: 1099511627776 MiB more are needed, but the system refuses them (limits of the "
            "process: ulimit -v, ulimit -d)");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose own mappings then fail
  EXPECT_THAT(check_headroom("a test", Bytes(0), 1 << 22).message(),
              HasSubstr("a test: out of memory mappings: 4194304 more are needed"));
#endif
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they need terabytes of address space

Op op_of_rows(int64_t rows) {
  return test::op_of("strew1.scatter(operand=f32[" + std::to_string(rows) +
                     ",8] indices=i32[3] updates=f32[3,8] update_window_dims=[1] inserted_window_dims=[0] "
                     "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)");
}

KernelOptions on_llvm() {
  KernelOptions options;
  options.backend = BackendChoice::llvm;
  options.threads = 1;
  return options;
}

struct Outcome {
  int status = -1;      ///< as waitpid gives it
  std::string message;  ///< what body() returned
};

/// body() in a child process. A child that crashes, aborts or takes two minutes shows in the status.
template <class Body>
Outcome in_child(const Body& body) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    const std::string message = [&]() noexcept { return body(); }();
    const bool written = write(ends[1], message.data(), message.size()) == static_cast<ssize_t>(message.size());
    _exit(written ? 0 : 9);
  }
  close(ends[1]);
  Outcome outcome;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;) outcome.message.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  waitpid(child, &outcome.status, 0);
  return outcome;
}

void limit_address_space(int64_t more) {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + more);
  const rlimit limit{bytes, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
}

void allow_everything() {
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &none);
}

/// The first failure of many builds, or "".
std::string build_many(Runtime& runtime, int count) {
  for (int i = 0; i < count; ++i) {
    const auto kernel = runtime.get(op_of_rows(100 + i), on_llvm());
    if (!kernel.ok()) return kernel.status().message();
  }
  return "";
}

TEST(Headroom, NoMemoryForTheFirstKernel) {
  const Outcome outcome = in_child([] {
    Runtime runtime;
    limit_address_space(0);
    std::string message = build_many(runtime, 1);
    allow_everything();
    return message + "|" + build_many(runtime, 1);
  });
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.message, HasSubstr("out of memory: "));
  EXPECT_EQ(outcome.message.back(), '|') << "with memory it is built: " << outcome.message;
}

TEST(Headroom, NoMemoryForTheNextKernel) {
  const Outcome outcome = in_child([] {
    Runtime runtime;
    std::string message = build_many(runtime, 2);
    limit_address_space(0);
    const auto kernel = runtime.get(op_of_rows(7), on_llvm());
    message += kernel.ok() ? "built" : kernel.status().message();
    allow_everything();
    return message + "|" + build_many(runtime, 5);
  });
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.message, testing::StartsWith("backend llvm: out of memory: "));
  EXPECT_EQ(outcome.message.back(), '|') << outcome.message;
}

TEST(Headroom, NoMappingsForTheNextKernel) {
  int64_t most = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> most;
  if (most == 0 || most > 300'000) GTEST_SKIP() << "vm.max_map_count is " << most;
  const Outcome outcome = in_child([&] {
    Runtime runtime;
    std::string message = build_many(runtime, 2);
    // Every other page has another protection, until the system refuses.
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t bytes = static_cast<size_t>(most) * 2 * page;
    char* const area = static_cast<char*>(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    for (size_t at = page; at < bytes && mprotect(area + at, page, PROT_READ) == 0; at += 2 * page) {
    }
    const auto kernel = runtime.get(op_of_rows(7), on_llvm());
    message += kernel.ok() ? "built" : kernel.status().message();
    munmap(area, bytes);
    return message + "|" + build_many(runtime, 5);
  });
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.message, testing::StartsWith("backend llvm: out of memory mappings: "));
  EXPECT_EQ(outcome.message.back(), '|') << outcome.message;
}

/// What a build says at whose n-th allocation by operator new something happens, and what the next builds say.
std::string build_starved(int64_t n, void (*then)()) {
  Runtime runtime;
  std::string message = build_many(runtime, 1);
  const Op op = op_of_rows(7);
  const KernelOptions options = on_llvm();
  instead = then;
  allocations_left = n;
  const auto kernel = runtime.get(op, options);
  allocations_left = -1;
  allow_everything();
  message += kernel.ok() ? "built" : kernel.status().message();
  return message + "|" + build_many(runtime, 5);
}

// Each allocation of a build fails once, most of them inside LLVM, some while it links. In a few places of LLVM the exception meets a function
// that must not throw, and the process ends (docs/security.md, "Memory"); where they lie among the allocations depends on addresses, so a
// sample may meet one.
TEST(Headroom, AFailedAllocationInsideLlvmIsAStatus) {
  Runtime runtime;
  ASSERT_EQ(build_many(runtime, 1), "");  // LLVM is open: the children need not open it
  constexpr int kMostEnds = 2;
  int refused = 0, built = 0, ends = 0;
  for (int64_t n = 0; n < 40'000 && built == 0; n = n < 40 ? n + 1 : n + n / 12) {
    const Outcome outcome = in_child([&] { return build_starved(n, [] { throw std::bad_alloc(); }); });
    if (WIFSIGNALED(outcome.status) && WTERMSIG(outcome.status) == SIGABRT) {
      ++ends;
      continue;
    }
    ASSERT_EQ(outcome.status, 0) << "allocation " << n << ": " << outcome.message;
    EXPECT_EQ(outcome.message.back(), '|') << "allocation " << n << ": " << outcome.message;
    built += outcome.message == "built|";
    refused += outcome.message.find("out of memory") != std::string::npos;
  }
  EXPECT_LE(ends, kMostEnds);
  EXPECT_GT(refused, 50);
  EXPECT_GT(built, 0);
}

// Each allocation of a request fails once. Whichever it is, the request is answered, and the next one is built: no job is left that nobody runs.
TEST(Headroom, AFailedAllocationInARequestLeavesNothingBehind) {
  KernelOptions options;
  options.backend = BackendChoice::reference;
  options.threads = 1;
  const auto soon = [] { return std::chrono::steady_clock::now() + std::chrono::seconds(20); };
  instead = [] { throw std::bad_alloc(); };
  Runtime runtime;
  ASSERT_TRUE(runtime.get(op_of_rows(50), options).ok());
  int starved = 0, calls = 0;
  bool goes_on = true;
  for (int64_t n = 0; n < 5000 && goes_on; ++n) {
    const Op op = op_of_rows(100 + n);
    const auto prepared = PreparedOp::of(op, options);
    std::atomic<int> told{0};
    PendingKernel::Callback done = [&](const Expected<Kernel>&) { ++told; };
    allocations_left = n;
    Status status;
    if (n % 2 == 0) {
      status = runtime.get(op, options, soon()).status();
    } else {
      const PendingKernel pending = runtime.get_async(*prepared, std::move(done), soon());
      status = pending.wait().status();
      ++calls;
    }
    goes_on = allocations_left < 0;
    allocations_left = -1;
    if (!status.ok()) {
      ++starved;
      EXPECT_EQ(status.code(), Code::resource_exhausted) << n << ": " << status.message();
    }
    const auto again = runtime.get(*prepared, soon());
    ASSERT_TRUE(again.ok()) << n << ": " << again.status().message();
    const auto limit = soon();
    while (n % 2 == 1 && told == 0 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    EXPECT_EQ(told, n % 2) << n;
  }
  EXPECT_FALSE(goes_on);
  EXPECT_GT(starved, 50);
  EXPECT_GT(calls, 50);
}

// The next request has another try: a portable kernel that answered for want of memory is not remembered.
TEST(Headroom, WhatLackedMemoryIsTriedAgain) {
  for (const CompileMode mode : {CompileMode::blocking, CompileMode::background}) {
    const Outcome outcome = in_child([&] {
      Options settings;
      settings.compile = mode;
      Runtime runtime(settings);
      std::string message = build_many(runtime, 1);
      const Op op = op_of_rows(7);
      limit_address_space(int64_t{8} << 20);
      const auto first = runtime.get(op);
      for (int turn = 0; turn < 2000 && runtime.stats().failed == 0 && mode == CompileMode::background; ++turn) usleep(1000);
      message += first.ok() ? std::string(first->backend()) : first.status().message();
      allow_everything();
      auto second = runtime.get(op);
      for (int turn = 0; turn < 2000 && second.ok() && second->backend() != "llvm"; ++turn) {
        usleep(1000);
        second = runtime.get(op);
      }
      return message + "|" + (second.ok() ? std::string(second->backend()) : second.status().message());
    });
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.message, "portable|llvm") << static_cast<int>(mode);
  }
}

// A call of a dynamic op with new dims, and one whose index is out of bounds, allocate; so does wide accumulation.
TEST(Headroom, AFailedAllocationInACallIsAStatus) {
  const std::string dims = " update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1";
  const std::string dynamic =
      "strew1.scatter(operand=f32[?,?] indices=i32[?] updates=f32[?,?]" + dims + " init=in_place oob=error)";
  const std::string wide =
      "strew1.scatter(operand=f16[6,4] indices=i32[3] updates=f16[3,4]" + dims + " init=in_place combiner=add accumulate=wide)";
  Runtime runtime;
  for (const std::string& text : {dynamic, wide}) {
    const auto kernel = runtime.get(test::op_of(text), on_llvm());
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    const DType dtype = text == wide ? DType::f16 : DType::f32;
    std::vector<float> table(64), updates(64);
    std::vector<int32_t> indices = {4, 0, text == wide ? 2 : 99};
    test::Views views;
    views.add(table.data(), dtype, {6, 4}).add(indices.data(), DType::i32, {3}).add(updates.data(), dtype, {3, 4});
    instead = [] { throw std::bad_alloc(); };
    int starved = 0;
    for (int64_t n = 0; n < 1000; ++n) {
      allocations_left = n;
      const Status status = kernel->run(views);
      const bool failed = allocations_left < 0;
      allocations_left = -1;
      if (!failed) break;
      ++starved;
      // A call that gets no scratch may go another way and succeed.
      EXPECT_TRUE(status.ok() || status.message().find("memory") != std::string::npos) << n << ": " << status.message();
    }
    EXPECT_GT(starved, 1);
    EXPECT_LT(starved, 1000);
    const Status status = kernel->run(views);
    EXPECT_EQ(status.code(), text == wide ? Code::ok : Code::out_of_bounds) << status.message();
  }
}

// From some allocation on the process gets no more memory, so malloc fails as well, which LLVM asks its handler about.
TEST(Headroom, MemoryThatRunsOutInsideLlvmIsAStatus) {
  Runtime runtime;
  ASSERT_EQ(build_many(runtime, 1), "");
  int refused = 0;
  for (int64_t n = 30; n < 20'000; n += n / 3) {
    const Outcome outcome = in_child([&] { return build_starved(n, [] { limit_address_space(0); }); });
    ASSERT_EQ(outcome.status, 0) << "allocation " << n << ": " << outcome.message;
    EXPECT_EQ(outcome.message.back(), '|') << "allocation " << n << ": " << outcome.message;
    refused += outcome.message.find("out of memory") != std::string::npos;
  }
  EXPECT_GT(refused, 0);
}
#endif

}  // namespace
}  // namespace strew
