// again: runs the current test once more in a process of its own with another environment, because the library reads the environment once.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace strew::test {

/// Is this the process of run_again()?
inline bool is_again() { return std::getenv("STREW_TEST_AGAIN") != nullptr; }

/// Runs the current test in a process with `variables` ("A=1 B=2") in its environment: the exit status of a shell, 0 if the test passed there.
inline int run_again(const std::string& variables) {
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  // The shell's own /proc/self is not this program.
  const std::string command = variables + " STREW_TEST_AGAIN=1 /proc/" + std::to_string(getpid()) +
                              "/exe --gtest_brief=1 --gtest_filter=" + test.test_suite_name() + "." + test.name();
  return std::system(command.c_str());
}

}  // namespace strew::test
