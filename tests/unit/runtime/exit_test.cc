// The end of a process in which threads ask for kernels: nothing that they use is destroyed, and nothing hangs. Each test ends child processes
// by exit(), as a return from main() does.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "runtime/compile_threads.h"
#include "strew/builder.h"
#include "strew/forms.h"
#include "strew/runtime.h"

namespace {
bool is_child = false;
}
/// LeakSanitizer asks this at exit. Of a pool, a child keeps no more than what it needs: the rest is the parent's, whose threads worked with it.
extern "C" int __lsan_is_turned_off() { return is_child ? 1 : 0; }  // NOLINT(bugprone-reserved-identifier): LeakSanitizer's name

namespace strew {
namespace {

using namespace types;

constexpr size_t kStack = size_t{1} << 20;
constexpr int kStatus = 7;

/// How a child process ended that called body() and then exit(kStatus): "" if well. A minute is taken for a hang.
std::string exit_after(const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    is_child = true;
    alarm(60);
    body();
    std::exit(kStatus);  // NOLINT(concurrency-mt-unsafe): what is tested
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == kStatus ? "" : "exit status " + std::to_string(WEXITSTATUS(status));
}

void ask_for_ever(CompileMode mode) {
  KernelOptions options;
  options.compile = mode;
  for (int i = 0;; ++i) {
    const auto op = scatter_rows(f32({100 + i, 4 + i % 3}), i32({3}), f32({3, 4 + i % 3})).build();
    const auto kernel = Runtime::process().get(*op, options);
    if (kernel.ok()) continue;
    if (kernel.status().code() != Code::cancelled) _exit(3);
    return;  // the process ends
  }
}

TEST(Exit, WhileThreadsPlanAndBuild) {
  for (int turn = 0; turn < 30; ++turn) {
    const CompileMode mode = turn % 2 == 0 ? CompileMode::background : CompileMode::blocking;
    const std::string how = exit_after([&] {
      for (int i = 0; i < 2; ++i) std::thread(ask_for_ever, mode).detach();
      std::this_thread::sleep_for(std::chrono::milliseconds(turn));
    });
    EXPECT_EQ(how, "") << "turn " << turn;
  }
}

// A log sink may end the process, and the log is written to by threads that plan.
TEST(Exit, FromInsideAJobAndFromInsideHere) {
  EXPECT_EQ(exit_after([] {
              auto* const threads = new CompileThreads(2, kStack);
              const CompileThreads::Here here(*threads);
              std::exit(kStatus);  // NOLINT(concurrency-mt-unsafe): what is tested
            }),
            "");
  EXPECT_EQ(exit_after([] {
              auto* const threads = new CompileThreads(2, kStack);
              threads->run([] { std::exit(kStatus); });  // NOLINT(concurrency-mt-unsafe): what is tested
              std::this_thread::sleep_for(std::chrono::seconds(30));
            }),
            "");
}

// What exit() waits for may be a callback that drops the last reference to another runtime.
TEST(Exit, WaitsForAJobThatDestroysAnotherPool) {
  EXPECT_EQ(exit_after([] {
              auto* const threads = new CompileThreads(1, kStack);
              auto* const other = new CompileThreads(1, kStack);
              threads->run([other] {
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
                delete other;
                const CompileThreads another(1, kStack);
              });
              std::this_thread::sleep_for(std::chrono::milliseconds(10));
            }),
            "");
}

}  // namespace
}  // namespace strew
