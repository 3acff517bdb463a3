// The version that headers, library and generated code name is one; strew.hpp includes every public C++ header.
#include "strew/version.h"

#include <filesystem>
#include <set>
#include <string>

#include "backends/backend.h"
#include "base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "strew/strew.hpp"
#include "tests/support/paths.h"

namespace strew {
namespace {

TEST(Version, OfTheLibraryIsThatOfTheHeaders) {
  const std::string headers =
      std::to_string(STREW_VERSION_MAJOR) + "." + std::to_string(STREW_VERSION_MINOR) + "." + std::to_string(STREW_VERSION_PATCH);
  EXPECT_EQ(strew_version(), headers);
}

TEST(Version, OpensTheGeneratorsVersion) {
  EXPECT_THAT(std::string(generator_version()), testing::StartsWith("strew " + std::string(strew_version()) + ","));
}

TEST(Headers, StrewHppIncludesEveryHeaderOfTheCppInterface) {
  const std::filesystem::path folder = test::source_folder() / "include" / "strew";
  // The C interface and strew.hpp itself. library.h comes with library.hpp.
  const std::set<std::string> left_out = {"strew.h", "strew_rt.h", "library.h", "strew.hpp"};
  const std::string text = read_file(folder / "strew.hpp", 1 << 20).value();
  size_t headers = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (left_out.contains(name) || name.ends_with(".def")) continue;  // tables are included by the headers that they make
    EXPECT_THAT(text, testing::HasSubstr("#include \"strew/" + name + "\"\n"));
    ++headers;
  }
  EXPECT_GT(headers, 30U);
}

}  // namespace
}  // namespace strew
