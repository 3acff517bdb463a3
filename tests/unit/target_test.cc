// Targets: text round trips and is canonical, features close over what they imply, errors name what is unknown, this machine is sane.
#include "schedules/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "base/cpus.h"

namespace strew {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string canonical(std::string_view text) {
  const auto target = parse_target(text);
  return target.ok() ? print(*target) : target.status().message();
}

TEST(Target, EveryCpuRoundTrips) {
  for (const CpuInfo& cpu : known_cpus()) {
    const std::string text = std::string(cpu.arch) + "-" + std::string(cpu.name);
    EXPECT_EQ(canonical(cpu.name), text);
    EXPECT_EQ(canonical(text), text);
  }
}

TEST(Target, NativeIsThisMachineAndRoundTrips) {
  const Target machine = detect_target();
  EXPECT_EQ(canonical("native"), print(machine));
  EXPECT_EQ(canonical(print(machine)), print(machine));
  cpu_set_t mask;
  CPU_ZERO(&mask);
  ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  EXPECT_GE(machine.cores, 1);
  EXPECT_LE(machine.cores, CPU_COUNT(&mask));
  EXPECT_GE(machine.l1d_bytes, 4 << 10);
  EXPECT_LE(machine.l1d_bytes, machine.l2_bytes);
}

TEST(Target, LongestNameWins) {
  EXPECT_EQ(canonical("x86-64-v3"), "x86_64-x86-64-v3");
  EXPECT_EQ(canonical("x86-64-avx"), "x86_64-x86-64");
  EXPECT_EQ(canonical("skylake-avx512"), "x86_64-skylake-avx512");
  EXPECT_EQ(canonical("skylake-avx2-fma"), "x86_64-skylake-avx2-fma");
}

TEST(Target, NpusAreTargets) {
  for (const char* name : {"npu-a3", "npu-a5"}) {
    const Expected<Target> target = parse_target(name);
    ASSERT_TRUE(target.ok());
    EXPECT_TRUE(is_npu(*target));
    EXPECT_EQ(print(*target), name);
    EXPECT_EQ(features_of(*target), 0U);
  }
  EXPECT_FALSE(is_npu(detect_target()));
  EXPECT_THAT(canonical("npu-a4"), StartsWith("target 'npu-a4': unknown CPU"));
  EXPECT_THAT(canonical("npu-a5+avx2"), StartsWith("target 'npu-a5+avx2': unknown CPU"));
}

TEST(Target, FeaturesCloseOverWhatTheyImply) {
  EXPECT_EQ(canonical("x86-64+avx"), "x86_64-x86-64+avx+sse3+sse4.1+sse4.2+ssse3");
  EXPECT_EQ(canonical("x86-64-v3-avx"), "x86_64-x86-64-v3-avx-avx2-f16c-fma");
  EXPECT_EQ(canonical("znver3-avx2+avx2"), "x86_64-znver3");
  EXPECT_EQ(canonical("x86-64-v4-avx512f"), canonical("x86-64-v4-avx512f-avx512bw-avx512vl"));
}

TEST(Target, TraitsFollowFeatures) {
  EXPECT_EQ(parse_target("x86-64")->vector_bytes, 16);
  EXPECT_FALSE(parse_target("x86-64")->f16c);
  EXPECT_EQ(parse_target("x86-64-v3")->vector_bytes, 32);
  EXPECT_TRUE(parse_target("x86-64-v3")->f16c);
  EXPECT_EQ(parse_target("x86-64-v4")->vector_bytes, 64);
  EXPECT_EQ(parse_target("skylake-avx512")->vector_bytes, 32);  // 64-byte vectors lower its clock
  EXPECT_EQ(parse_target("znver5-avx512vl")->vector_bytes, 32);
}

TEST(Target, ErrorsNameWhatIsUnknown) {
  EXPECT_THAT(canonical("pentium"), StartsWith("target 'pentium': unknown CPU 'pentium', expected one of native, x86-64,"));
  EXPECT_THAT(canonical(""), StartsWith("target '': unknown CPU ''"));
  EXPECT_THAT(canonical("znver3+mmx3"), StartsWith("target 'znver3+mmx3': unknown feature 'mmx3', expected one of sse3,"));
  EXPECT_THAT(canonical("znver3+"), HasSubstr("unknown feature ''"));
  EXPECT_THAT(canonical("native-"), HasSubstr("unknown feature ''"));
}

}  // namespace
}  // namespace strew
