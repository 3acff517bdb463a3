// The hooks of fork(): stages run in one order before a fork and in the reverse order after it, in both processes.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "base/fork_hooks.h"

namespace strew {
namespace {

std::string trace;

/// In a child process, since the hooks of a stage are set once per process.
TEST(ForkHooks, StagesRunInOrderAndBack) {
  const pid_t process = fork();
  if (process == 0) {
    set_fork_hooks(ForkStage::epochs, {[] { trace += "c"; }, [] { trace += "p"; }, [] { trace += "q"; }});
    set_fork_hooks(ForkStage::compile_threads, {[] { trace += "a"; }, [] { trace += "r"; }, [] { trace += "s"; }});
    set_fork_hooks(ForkStage::linker, {[] { trace += "b"; }, [] { trace += "x"; }, [] { trace += "y"; }});
    const pid_t child = fork();
    if (child == 0) _exit(trace == "abcqys" ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) && WEXITSTATUS(status) == 0 && trace == "abcpxr" ? 0 : 1);
  }
  int status = 0;
  waitpid(process, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace strew
