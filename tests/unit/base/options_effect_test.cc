// Each variable of the environment, and each field of Options, takes effect. The environment is read once, so every test of a variable runs
// itself again in a process of its own (tests/support/again.h) and looks there at what a program would see: threads of the process,
// lines on stderr, files, kernels.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "schedules/target.h"
#include "strew/options.h"
#include "strew/runtime.h"
#include "tests/support/again.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"
#include "tests/support/views.h"

namespace strew {
namespace {

using testing::Contains;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::StartsWith;

/// Runs the test again with `variables` and succeeds if it succeeded there. Use: if (in_this_process("A=1")) return;
bool in_this_process(const std::string& variables) {
  if (test::is_again()) return false;
  EXPECT_EQ(test::run_again(variables), 0) << variables;
  return true;
}

/// The same with several values of a variable, one process each.
bool in_these_processes(const std::vector<std::string>& each) {
  if (test::is_again()) return false;
  for (const std::string& variables : each) EXPECT_EQ(test::run_again(variables), 0) << variables;
  return true;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> out;
  std::istringstream in(text_of(path));
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

/// A file for what the other process writes to stderr.
std::string stderr_file() { return ::testing::TempDir() + "strew_stderr_" + std::to_string(getpid()); }

Op small_op(int rows) {
  return test::op_of("strew1.scatter(operand=f32[" + std::to_string(rows) +
                     ",4] indices=i32[3] updates=f32[3,4] update_window_dims=[1] inserted_window_dims=[0] "
                     "scatter_dims_to_operand_dims=[0] index_vector_dim=1)");
}

/// One call of a kernel of small_op(6), which copies the operand.
Status call(const Kernel& kernel) {
  std::vector<float> operand(24), result(24), updates(12);
  std::vector<int32_t> indices = {1, 2, 3};
  return kernel.run(test::Views()
                        .add(result.data(), DType::f32, {6, 4})
                        .add(operand.data(), DType::f32, {6, 4})
                        .add(indices.data(), DType::i32, {3})
                        .add(updates.data(), DType::f32, {3, 4}));
}

KernelOptions on(BackendChoice backend) {
  KernelOptions options;
  options.backend = backend;
  return options;
}

std::mutex mutex;
std::vector<std::string> heard;
void hear(LogLevel level, std::string_view line) {
  const std::lock_guard lock(mutex);
  heard.push_back(std::string(name(level)) + ": " + std::string(line));
}

// ---- Threads of calls --------------------------------------------------------------------------------------------------------------

std::set<pid_t> threads_of_process() {
  std::set<pid_t> out;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) out.insert(std::stoi(each.path().filename()));
  return out;
}

/// The threads that one call of some milliseconds starts, which are the workers of the runtime's executor.
std::set<pid_t> workers_of_a_large_call(Runtime& runtime) {
  constexpr int64_t kRows = 512, kCount = 100'000, kWidth = 32;
  const Op op = test::op_of(
      "strew1.gather(operand=f32[512,32] indices=i32[100000] result=f32[100000,32] offset_dims=[1] collapsed_slice_dims=[0] "
      "start_index_map=[0] "
      "index_vector_dim=1 slice_sizes=[1,32])");
  KernelOptions options = on(BackendChoice::llvm);
  test::set_schedule(options, "strategy=positions");
  const auto kernel = runtime.get(op, options);
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  if (!kernel.ok()) return {};
  std::vector<float> operand(kRows * kWidth), result(kCount * kWidth);
  const std::vector<int32_t> indices(kCount);
  const std::set<pid_t> before = threads_of_process();
  const Status status = kernel->run(test::Views()
                                        .add(result.data(), DType::f32, {kCount, kWidth})
                                        .add(operand.data(), DType::f32, {kRows, kWidth})
                                        .add(indices.data(), DType::i32, {kCount}));
  EXPECT_TRUE(status.ok()) << status.message();
  std::set<pid_t> workers = threads_of_process();
  for (const pid_t each : before) workers.erase(each);
  return workers;
}

TEST(OptionsEffect, Threads) {
  if (in_these_processes({"STREW_THREADS=1", "STREW_THREADS=4"})) return;
  EXPECT_EQ(workers_of_a_large_call(Runtime::process()).size(), process_options().threads - 1u);
}

TEST(OptionsEffect, Pin) {
  if (in_these_processes({"STREW_THREADS=3", "STREW_THREADS=3 STREW_PIN=1"})) return;
  const auto cores = [](pid_t thread) {
    cpu_set_t set;
    EXPECT_EQ(sched_getaffinity(thread, sizeof set, &set), 0);
    return CPU_COUNT(&set);
  };
  const std::set<pid_t> workers = workers_of_a_large_call(Runtime::process());
  EXPECT_EQ(workers.size(), 2u);
  for (const pid_t worker : workers) EXPECT_EQ(cores(worker), process_options().pin_threads ? 1 : cores(0));
}

/// 'S': it sleeps; 'R': it runs, or would if it had a core.
char state_of(pid_t thread) {
  const std::string text = text_of("/proc/self/task/" + std::to_string(thread) + "/stat");
  const size_t end = text.rfind(") ");
  return end == std::string::npos ? '?' : text[end + 2];
}

TEST(OptionsEffect, SpinOfAMinute) {
  if (in_this_process("STREW_THREADS=2 STREW_SPIN_US=60000000")) return;
  const std::set<pid_t> workers = workers_of_a_large_call(Runtime::process());
  ASSERT_EQ(workers.size(), 1u);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // by far more than the default
  EXPECT_EQ(state_of(*workers.begin()), 'R');
}

TEST(OptionsEffect, NoSpin) {
  if (in_this_process("STREW_THREADS=2 STREW_SPIN_US=0")) return;
  const std::set<pid_t> workers = workers_of_a_large_call(Runtime::process());
  ASSERT_EQ(workers.size(), 1u);
  while (state_of(*workers.begin()) != 'S') std::this_thread::yield();
}

// ---- Runtimes ----------------------------------------------------------------------------------------------------------------------

/// How many threads compile at a time, if `wanted` kernels are asked for at once: every build waits for the others.
size_t compile_threads_of(Runtime& runtime, size_t wanted) {
  struct Meeting {
    std::mutex mutex;
    std::condition_variable changed;
    std::set<pid_t> threads;
  };
  const auto meeting = std::make_shared<Meeting>();  // callbacks may return after this function has
  std::vector<PendingKernel> pending;
  for (size_t i = 0; i < wanted; ++i) {
    const auto done = [meeting, wanted](const Expected<Kernel>&) {
      std::unique_lock lock(meeting->mutex);
      meeting->threads.insert(gettid());
      meeting->changed.notify_all();
      meeting->changed.wait_for(lock, std::chrono::seconds(30), [&] { return meeting->threads.size() >= wanted; });
    };
    pending.push_back(runtime.get_async(*PreparedOp::of(small_op(10 + static_cast<int>(i)), on(BackendChoice::reference)), done));
  }
  std::unique_lock lock(meeting->mutex);
  meeting->changed.wait_for(lock, std::chrono::seconds(60), [&] { return meeting->threads.size() >= wanted; });
  return meeting->threads.size();
}

/// The stack of a thread that compiles.
size_t compile_stack_of(Runtime& runtime) {
  struct Answer {
    std::mutex mutex;
    std::condition_variable changed;
    size_t bytes = 0;
  };
  const auto answer = std::make_shared<Answer>();  // the callback may return after this function has
  const auto done = [answer](const Expected<Kernel>&) {
    pthread_attr_t attributes;
    void* address = nullptr;
    const std::lock_guard lock(answer->mutex);
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      pthread_attr_getstack(&attributes, &address, &answer->bytes);
      pthread_attr_destroy(&attributes);
    }
    answer->changed.notify_all();
  };
  const PendingKernel pending = runtime.get_async(*PreparedOp::of(small_op(6), on(BackendChoice::reference)), done);
  std::unique_lock lock(answer->mutex);
  answer->changed.wait_for(lock, std::chrono::seconds(60), [&] { return answer->bytes != 0; });
  return answer->bytes;
}

/// How many requests the runtime remembers after its kernel's handle is gone.
uint64_t kept_by(Runtime& runtime) {
  EXPECT_TRUE(runtime.get(small_op(6), on(BackendChoice::reference)).ok());
  return runtime.stats().kernels;
}

TEST(OptionsEffect, CompileThreads) {
  if (in_this_process("STREW_COMPILE_THREADS=7")) return;
  EXPECT_EQ(compile_threads_of(Runtime::process(), 7), 7u);
}

TEST(OptionsEffect, CompileStack) {
  if (in_these_processes({"STREW_COMPILE_STACK=67108864", "STREW_COMPILE_STACK=268435456"})) return;
  const auto wanted = static_cast<size_t>(process_options().compile_stack_bytes);
  EXPECT_GE(compile_stack_of(Runtime::process()), wanted);
  EXPECT_LT(compile_stack_of(Runtime::process()), 2 * wanted);  // glibc may hand out a larger stack that it kept, but not these
}

TEST(OptionsEffect, CacheBytes) {
  if (in_these_processes({"STREW_CACHE_BYTES=0", "STREW_CACHE_BYTES=100000000"})) return;
  EXPECT_EQ(kept_by(Runtime::process()), process_options().cache_bytes == 0 ? 0u : 1u);
}

TEST(OptionsEffect, FieldsOfARuntime) {
  Options options;
  options.threads = 3;
  options.cache_bytes = 0;
  options.compile_threads = 7;
  options.compile_stack_bytes = int64_t{64} << 20;
  options.target = "x86-64-v2";
  Runtime runtime(options, *make_executor(4));  // new threads, which no other test has used
  EXPECT_EQ(compile_threads_of(runtime, 7), 7u);
  EXPECT_GE(compile_stack_of(runtime), size_t{64} << 20);
  EXPECT_EQ(kept_by(runtime), 0u);
  EXPECT_EQ(workers_of_a_large_call(runtime).size(), 2u);
  if (machine_can_run(test::target("x86-64-v2")).ok()) {
    EXPECT_EQ(print(runtime.get(small_op(6))->target()), "x86_64-x86-64-v2");
  }
}

TEST(OptionsEffect, ARuntimeSaysThatItDoesNotTakeBadOptions) {
  Options options;
  options.compile_stack_bytes = 1;
  set_log(hear, LogLevel::warn);
  heard.clear();
  Runtime runtime(options);
  set_log(nullptr);
  EXPECT_THAT(
      heard,
      ElementsAre("warn: options: compile_stack_bytes is 1, expected 1048576..1073741824; the runtime takes the defaults"));
  EXPECT_TRUE(runtime.get(small_op(6)).ok());
}

TEST(OptionsEffect, OptionsOfAProgramNeedNotFollowTheEnvironment) {
  if (in_this_process("STREW_TARGET=x86-64")) return;
  Runtime runtime{Options{}};
  EXPECT_EQ(print(runtime.get(small_op(6))->target()), print(detect_target()));
}

// ---- The log -----------------------------------------------------------------------------------------------------------------------

TEST(OptionsEffect, VerboseWritesTheLinesOfItsLevelToStderr) {
  const std::vector<std::string> levels = {"off", "error", "warn", "cache", "dispatch", "compile", "dump"};
  if (test::is_again()) {
    log(LogLevel::error, "an error");
    const auto kernel = Runtime::process().get(small_op(6));  // the level cache, then compile
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    ASSERT_TRUE(call(*kernel).ok());
    log(LogLevel::dump, "a file");
    return;
  }
  const std::vector<std::string> all = {"warn: environment variable STREW_PIN: it is '7', expected 0 or 1; it counts as 0",
                                        "error: an error",
                                        "cache: miss: op strew1\\.scatter\\(.*",
                                        "compile: built strew_[0-9a-f]+: backend llvm, .*",
                                        "dispatch: strew_[0-9a-f]+: the whole operand was copied to the result, 96 bytes",
                                        "dump: a file"};
  for (size_t at = 0; at < levels.size(); ++at) {
    const std::string file = stderr_file();
    EXPECT_EQ(test::run_again("2>" + file + " STREW_PIN=7 STREW_VERBOSE=" + levels[at]), 0);
    std::set<std::string> shown(levels.begin() + 1, levels.begin() + 1 + static_cast<ptrdiff_t>(at));
    std::vector<testing::Matcher<std::string>> expected;
    for (const std::string& line : all)
      if (shown.count(line.substr(0, line.find(':'))) != 0) expected.emplace_back(MatchesRegex("strew: " + line));
    EXPECT_THAT(lines_of(file), testing::UnorderedElementsAreArray(expected)) << levels[at];
    std::filesystem::remove(file);
  }
}

TEST(OptionsEffect, LinesOfThreadsDoNotMix) {
  constexpr int kThreads = 4, kLines = 300;
  const std::string tail(400, 'x');
  if (test::is_again()) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < kLines; ++i) log(LogLevel::cache, "line " + std::to_string(t * kLines + i) + "\n" + tail);
      });
    for (std::thread& thread : threads) thread.join();
    return;
  }
  const std::string file = stderr_file();
  EXPECT_EQ(test::run_again("STREW_VERBOSE=cache 2>" + file), 0);
  std::multiset<std::string> expected;
  for (int i = 0; i < kThreads * kLines; ++i) expected.insert("strew: cache: line " + std::to_string(i) + "?" + tail);
  const std::vector<std::string> lines = lines_of(file);
  EXPECT_EQ(std::multiset<std::string>(lines.begin(), lines.end()), expected);
  std::filesystem::remove(file);
}

TEST(OptionsEffect, ASinkReplacesStderr) {
  if (!test::is_again()) {
    const std::string file = stderr_file();
    EXPECT_EQ(test::run_again("2>" + file + " STREW_VERBOSE=dump"), 0);
    EXPECT_THAT(lines_of(file), ElementsAre("strew: cache: before", "strew: cache: after"));
    std::filesystem::remove(file);
    return;
  }
  log(LogLevel::cache, "before");
  set_log(hear, LogLevel::warn);
  log(LogLevel::warn, "told");
  log(LogLevel::cache, "above the sink's level");
  set_log(nullptr);
  log(LogLevel::cache, "after");
  EXPECT_THAT(heard, ElementsAre("warn: told"));
}

TEST(OptionsEffect, ASinkGetsTheWarningsOfTheEnvironmentOnce) {
  if (in_this_process("STREW_PIN=yes STREW_THREADS=many")) return;
  ASSERT_TRUE(Runtime::process().get(small_op(6)).ok());
  set_log(hear, LogLevel::warn);
  EXPECT_THAT(heard, ElementsAre("warn: environment variable STREW_THREADS: it is 'many', expected 0..1024; it counts as 0",
                                 "warn: environment variable STREW_PIN: it is 'yes', expected 0 or 1; it counts as 0"));
  heard.clear();
  set_log(hear, LogLevel::dump);
  EXPECT_THAT(heard, IsEmpty());
  set_log(nullptr);
}

// ---- Files, debuggers and checks ---------------------------------------------------------------------------------------------------

TEST(OptionsEffect, PerfMap) {
  if (in_these_processes({"STREW_PERF_MAP=1", "STREW_PERF_MAP=0"})) return;
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  std::filesystem::remove(path);  // of an earlier process of this number
  const auto kernel = Runtime::process().get(small_op(6));
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  EXPECT_EQ(text_of(path).find(kernel->symbol() + "_range\n") != std::string::npos, process_options().perf_map);
  std::filesystem::remove(path);
}

TEST(OptionsEffect, APerfMapThatCannotBeWrittenIsOneWarning) {
  if (in_this_process("STREW_PERF_MAP=1")) return;
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/dev/null", path);
  set_log(hear, LogLevel::warn);
  for (const int rows : {6, 7}) ASSERT_TRUE(Runtime::process().get(small_op(rows)).ok());
  set_log(nullptr);
  std::filesystem::remove(path);
  EXPECT_THAT(heard, ElementsAre(StartsWith("warn: STREW_PERF_MAP: " + path + ": cannot write: ")));
}

TEST(OptionsEffect, Dump) {
  const std::string folder = ::testing::TempDir() + "strew_options_dump";
  if (!test::is_again()) {
    std::filesystem::remove_all(folder);
    EXPECT_EQ(test::run_again("STREW_DUMP=" + folder), 0);
    std::set<std::string> endings;
    for (const auto& each : std::filesystem::directory_iterator(folder)) endings.insert(each.path().extension());
    EXPECT_EQ(endings, (std::set<std::string>{".ll", ".s", ".o"}));
    std::filesystem::remove_all(folder);
    return;
  }
  ASSERT_TRUE(Runtime::process().get(small_op(6)).ok());
}

TEST(OptionsEffect, Jitdump) {
  if (in_these_processes({"STREW_JITDUMP=1", "STREW_JITDUMP=0"})) return;
  const std::string path = "/tmp/jit-" + std::to_string(getpid()) + ".dump";
  std::filesystem::remove(path);
  const auto kernel = Runtime::process().get(small_op(6));
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  EXPECT_EQ(text_of(path).find(kernel->symbol() + "_range") != std::string::npos, process_options().jitdump);
  std::filesystem::remove(path);
}

/// The address of libLLVM's list of code for debuggers, as in GDB's manual, "JIT Compilation Interface"; null: there is no such list.
const void* first_entry_for_debuggers() {
  struct Descriptor {
    uint32_t version, action;
    const void *relevant, *first;
  };
  std::string path;
  dl_iterate_phdr(
      [](dl_phdr_info* library, size_t, void* out) {
        if (std::string(library->dlpi_name).find("/libLLVM") != std::string::npos)
          *static_cast<std::string*>(out) = library->dlpi_name;
        return 0;
      },
      &path);
  void* const library = dlopen(path.c_str(), RTLD_NOLOAD | RTLD_LAZY);
  const auto* const list =
      library == nullptr ? nullptr : static_cast<const Descriptor*>(dlsym(library, "__jit_debug_descriptor"));
  EXPECT_NE(list, nullptr);
  return list == nullptr ? nullptr : list->first;
}

TEST(OptionsEffect, Gdb) {
  if (in_these_processes({"STREW_GDB=1", "STREW_GDB=0"})) return;
  const auto kernel = Runtime::process().get(small_op(6));
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  EXPECT_EQ(first_entry_for_debuggers() != nullptr, process_options().gdb);
}

TEST(OptionsEffect, Verify) {
  if (in_these_processes({"STREW_VERIFY=0", "STREW_VERIFY=1", "STREW_VERIFY=3"})) return;
  const auto kernel = Runtime::process().get(small_op(6));
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  set_log(hear, LogLevel::dispatch);
  for (int i = 0; i < 7; ++i) ASSERT_TRUE(call(*kernel).ok());
  set_log(nullptr);
  const uint64_t every = process_options().verify_every;
  EXPECT_THAT(heard, Contains(HasSubstr("the call is repeated on the reference and compared"))
                         .Times(every == 0   ? 0
                                : every == 1 ? 7
                                             : 3));
}

// ---- The target --------------------------------------------------------------------------------------------------------------------

TEST(OptionsEffect, Target) {
  if (!machine_can_run(test::target("x86-64-v2")).ok()) GTEST_SKIP() << "this machine runs no target besides its own";
  if (in_this_process("STREW_TARGET=x86-64-v2")) return;
  const auto kernel = Runtime::process().get(small_op(6));
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  EXPECT_EQ(print(kernel->target()), "x86_64-x86-64-v2");
  EXPECT_EQ(print(*parse_target("native")), "x86_64-x86-64-v2");
  EXPECT_EQ(print(*parse_target("native-sse4.2")), print(*parse_target("x86-64-v2-sse4.2")));
  KernelOptions named;
  named.target = detect_target();
  EXPECT_EQ(print(Runtime::process().get(small_op(6), named)->target()), print(detect_target()))
      << "the machine is still the machine";
}

TEST(OptionsEffect, ATargetThatCannotBeIsOneWarningAndTheMachine) {
  if (in_these_processes({"STREW_TARGET=z80", "STREW_TARGET=npu-a5"})) return;
  set_log(hear, LogLevel::warn);
  for (const int rows : {6, 7}) {
    const auto kernel = Runtime::process().get(small_op(rows));
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    EXPECT_EQ(print(kernel->target()), print(detect_target()));
  }
  set_log(nullptr);
  EXPECT_THAT(
      heard,
      ElementsAre(MatchesRegex("warn: environment variable STREW_TARGET: target '(z80|npu-a5)': .*; it counts as native")));
}

}  // namespace
}  // namespace strew
