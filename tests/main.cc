// main() of strew_unit_tests. Adds one flag to GoogleTest's: --room=NAME runs the tests whose source lies in tests/NAME, so that ctest
// shows unit, golden, error and ptoas apart though they are one program. If every test of a room was skipped, the exit status is 77: ctest
// then says that the room was skipped, not that it passed.
//
// At the end the slowest tests are listed, if some took more than a second.
//
// Every object that a test links is linked twice, and compared (tests/support/load_check.h). Every file that a test imports is verified after
// each step of fusion.
//
// Tests write files under names that can be foreseen, so the temporary folder of a run is one that only its user may enter.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/import/fusion/fusion.h"
#include "tests/support/load_check.h"

namespace {

// "Suite.Name" of every test below tests/room/, joined as a GoogleTest filter.
std::string filter_of(std::string_view room) {
  const std::string folder = "tests/" + std::string(room) + "/";
  std::string filter;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      if (std::string_view(test.file()).find(folder) == std::string_view::npos) continue;
      filter += std::string(filter.empty() ? "" : ":") + suite.name() + "." + test.name();
    }
  }
  return filter;
}

/// Prints the ten tests that took longest.
class SlowestTests : public testing::EmptyTestEventListener {
  static constexpr int64_t kWorthNaming = 1000;  // milliseconds
  static constexpr size_t kMost = 10;

  void OnTestEnd(const testing::TestInfo& test) override {
    const int64_t milliseconds = test.result()->elapsed_time();
    if (milliseconds >= kWorthNaming) slow_.emplace_back(milliseconds, std::string(test.test_suite_name()) + "." + test.name());
  }
  void OnTestProgramEnd(const testing::UnitTest& /*all*/) override {
    std::sort(slow_.rbegin(), slow_.rend());
    if (slow_.size() > kMost) slow_.resize(kMost);
    for (const auto& [milliseconds, name] : slow_) std::cout << "slow: " << milliseconds << " ms  " << name << "\n";
  }

  std::vector<std::pair<int64_t, std::string>> slow_;
};

}  // namespace

int main(int argc, char** argv) {
  std::string folder = (std::filesystem::temp_directory_path() / "strew_tests_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr || setenv("TMPDIR", folder.c_str(), 1) != 0) {
    std::cerr << folder << ": cannot make a temporary folder\n";
    return 2;
  }
  setenv("STREW_WISDOM", "off", 1);  // what somebody has tuned on this machine must not decide what tests see
  setenv("STREW_CACHE", "off", 1);   // nor what somebody has compiled
  strew::test::check_loads();
  strew::fusion::verifies_steps = true;
  testing::InitGoogleTest(&argc, argv);
  constexpr std::string_view kRoom = "--room=";
  constexpr int kSkipped = 77;
  bool of_a_room = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.substr(0, kRoom.size()) != kRoom) {
      std::cerr << "unknown argument " << argument << "; known: --room=NAME and GoogleTest's (--gtest_help)\n";
      return 2;
    }
    of_a_room = true;
    const std::string filter = filter_of(argument.substr(kRoom.size()));
    if (filter.empty()) {
      std::cerr << "no test lies in tests/" << argument.substr(kRoom.size()) << "\n";
      return 2;
    }
    // A filter that is given counts alone, as GoogleTest gives one to the program that it starts for a death test.
    if (GTEST_FLAG_GET(filter) == "*") GTEST_FLAG_SET(filter, filter);
  }
  testing::UnitTest::GetInstance()->listeners().Append(new SlowestTests);  // GoogleTest owns it
  const int status = RUN_ALL_TESTS();
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  const bool nothing_ran =
      of_a_room && all.skipped_test_count() > 0 && all.successful_test_count() + all.failed_test_count() == 0;
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return status == 0 && nothing_ran ? kSkipped : status;
}
