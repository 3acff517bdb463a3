// Processes that share a disk cache: four of them ask for many kernels, with a limit so small that they remove each other's files all the time, and
// one of them is killed at random moments. Every kernel computes what it should, and what is left is whole.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "backends/loader/loader.h"
#include "base/pending_file.h"
#include "runtime/disk_cache/disk_cache.h"
#include "strew/runtime.h"
#include "tests/support/cache_folder.h"
#include "tests/support/ops.h"
#include "tests/support/views.h"

namespace strew {
namespace {

using Clock = std::chrono::steady_clock;
using test::CacheFolder;

#if defined(__x86_64__)

constexpr int kKernels = 24;
constexpr int64_t kLimit = 40'000;  // a handful of kernels

Options options_of(const std::string& folder) {
  Options options;
  options.cache_dir = folder;
  options.cache_limit_bytes = kLimit;
  options.compile_threads = 1;
  return options;
}

/// Adds a row of `number`+2 elements; true if the result is right.
bool run_kernel(Runtime& runtime, int number) {
  const int64_t width = number + 2;
  const std::string w = std::to_string(width);
  const auto kernel = runtime.get(test::op_of(
      "strew1.scatter(operand=f32[8," + w + "] indices=i32[2] updates=f32[2," + w +
      "] update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)"));
  if (!kernel.ok()) return false;
  const auto size = static_cast<size_t>(8 * width);
  std::vector<float> operand(size, 1.0f), updates(static_cast<size_t>(2 * width), static_cast<float>(number)), result(size);
  const std::vector<int32_t> indices = {5, 5};
  test::Views views;
  views.add(result.data(), DType::f32, {8, width}).add(operand.data(), DType::f32, {8, width});
  views.add(indices.data(), DType::i32, {2}).add(updates.data(), DType::f32, {2, width});
  if (!kernel->run(views).ok()) return false;
  for (size_t i = 0; i < size; ++i) {
    const bool is_updated = i / static_cast<size_t>(width) == 5;
    if (result[i] != (is_updated ? 1.0f + 2.0f * static_cast<float>(number) : 1.0f)) return false;
  }
  return true;
}

/// The exit status of a process: 0 if all was right.
int work(const std::string& folder, unsigned seed, Clock::time_point end) {
  set_load_check(nullptr);  // the comparison with JITLink is not what this is about
  std::mt19937 random(seed);
  uint64_t hits = 0;
  while (Clock::now() < end) {
    Runtime runtime(options_of(folder));  // remembers nothing of the one before
    for (int i = 0; i < 8; ++i)
      if (!run_kernel(runtime, static_cast<int>(random() % kKernels))) return 2;
    const Runtime::Stats stats = runtime.stats();
    if (stats.disk_rejected != 0 || stats.disk_errors != 0) return 3;
    hits += stats.disk_hits;
  }
  return hits > 0 ? 0 : 4;
}

class Processes {
 public:
  Processes(std::string folder, Clock::time_point end) : folder_(std::move(folder)), end_(end) {}
  pid_t start(unsigned seed) {
    const pid_t child = fork();
    if (child == 0) _exit(work(folder_, seed, end_));
    return child;
  }

 private:
  const std::string folder_;
  const Clock::time_point end_;
};

TEST(DiskCacheProcesses, FourShareAFolderWhileOneIsKilled) {
  const CacheFolder folder;
  const auto end = Clock::now() + std::chrono::seconds(4);
  Processes processes(folder.path(), end);
  std::vector<pid_t> steady;
  unsigned seed = 1;
  for (int i = 0; i < 3; ++i) steady.push_back(processes.start(seed++));
  std::mt19937 random(7);
  int killed = 0;
  while (Clock::now() < end - std::chrono::milliseconds(600)) {
    const pid_t victim = processes.start(seed++);
    std::this_thread::sleep_for(std::chrono::milliseconds(100 + random() % 400));
    kill(victim, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(victim, &status, 0), victim);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself with status " << WEXITSTATUS(status);
    ++killed;
  }
  for (const pid_t each : steady) {
    int status = 0;
    ASSERT_EQ(waitpid(each, &status, 0), each);
    EXPECT_EQ(status, 0) << "exit status " << WEXITSTATUS(status);
  }
  EXPECT_GT(killed, 2);
  // What is left is whole, and nearly within the limit: each process looks at the folder after it has written a sixteenth.
  int64_t bytes = 0;
  for (const std::string& name : folder.names()) {
    if (is_temporary_name(name)) continue;
    const std::string file = folder.read(name);
    bytes += static_cast<int64_t>(file.size());
    EXPECT_TRUE(CacheEntry::decode(file).ok()) << name;
  }
  EXPECT_GT(bytes, 0);
  EXPECT_LE(bytes, 2 * kLimit);
}

TEST(DiskCacheProcesses, ThreadsOfOneProcessToo) {
  const CacheFolder folder;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed)
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      Runtime runtime(options_of(folder.path()));
      for (int i = 0; i < 12; ++i) wrong += run_kernel(runtime, static_cast<int>(random() % 6)) ? 0 : 1;
      const Runtime::Stats stats = runtime.stats();
      wrong += static_cast<int>(stats.disk_rejected + stats.disk_errors);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

#endif

}  // namespace
}  // namespace strew
