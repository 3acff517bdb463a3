// The version that headers, library and generated code name is one.
#include "strew/version.h"

#include <string>

#include "backends/backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

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

}  // namespace
}  // namespace strew
