// Targets: text round trips and is canonical, features close over what they imply, errors name what is unknown, this machine is sane.
#include "schedules/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <string>
#include <vector>

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
  EXPECT_EQ(canonical("znver3+host_fp-fma+host_fp"), "x86_64-znver3-fma+host_fp");
  EXPECT_THAT(canonical("znver3-host_fp"), StartsWith("target 'znver3-host_fp': unknown"));
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
  EXPECT_EQ(parse_target("neoverse-v1")->vector_bytes, 16);
  EXPECT_TRUE(parse_target("generic")->f16c);
}

TEST(Target, FeaturesBelongToAnArchitecture) {
  EXPECT_EQ(canonical("armv8.2-a+sve"), "aarch64-armv8.2-a+fullfp16+sve");
  EXPECT_EQ(canonical("neoverse-n2-sve"), "aarch64-neoverse-n2-sve-sve2");
  EXPECT_THAT(canonical("x86-64-v3+sve"), StartsWith("target 'x86-64-v3+sve': unknown feature 'sve', expected one of sse3,"));
  EXPECT_THAT(
      canonical("x86-64-v9"),
      StartsWith("target 'x86-64-v9': unknown CPU 'x86-64-v9', expected one of x86-64, x86-64-v2, x86-64-v3, x86-64-v4, or a "
                 "feature to leave out: sse3, "));
  EXPECT_THAT(canonical("armv8.2-a+avx2"), StartsWith("target 'armv8.2-a+avx2': unknown feature 'avx2', expected one of lse,"));
  EXPECT_EQ(canonical("x86_64-neoverse-n1"),
            "target 'x86_64-neoverse-n1': CPU 'neoverse-n1' is of architecture aarch64, not x86_64");
  Target target = parse_target("x86-64-v3").value();
  target.features = {"+sve"};
  EXPECT_THAT(check(target).message(), StartsWith("target: a feature is '+sve', expected + or - before one of sse3,"));
}

TEST(Target, ErrorsNameWhatIsUnknown) {
  EXPECT_THAT(canonical("pentium"), StartsWith("target 'pentium': unknown CPU 'pentium', expected one of native, x86-64,"));
  EXPECT_THAT(canonical(""), StartsWith("target '': unknown CPU ''"));
  EXPECT_THAT(canonical("znver3+mmx3"), StartsWith("target 'znver3+mmx3': unknown feature 'mmx3', expected one of sse3,"));
  EXPECT_THAT(canonical("znver3+"), HasSubstr("unknown feature ''"));
  EXPECT_THAT(canonical("native-"), HasSubstr("unknown feature ''"));
}

TEST(Target, WhatTextsDescribeIsChecked) {
  std::vector<std::string> texts = {"native", "native-avx", "x86-64-v4-avx512f", "x86-64+avx", "x86-64-v3+host_fp",
                                    "npu-a3", "npu-a5"};
  for (const CpuInfo& cpu : known_cpus()) texts.emplace_back(cpu.name);
  for (const std::string& text : texts) {
    Target target = parse_target(text).value();
    EXPECT_EQ(check(target).message(), "") << text;
    target.cores = 1;
    target.l1d_bytes = target.l2_bytes = target.l3_bytes = 0;  // what a machine may have that does not tell
    EXPECT_EQ(check(target).message(), "") << text;
  }
  EXPECT_EQ(check(detect_target()).message(), "");
}

TEST(Target, FieldsThatDoNotFitAreNamed) {
  const auto message = [](std::string_view text, const auto& change) {
    Target target = parse_target(text).value();
    change(target);
    const Status status = check(target);
    EXPECT_EQ(status.code(), Code::invalid_argument);
    return status.message();
  };
  const std::string_view v3 = "x86-64-v3";
  EXPECT_EQ(message(v3, [](Target& t) { t.cores = 0; }), "target: cores is 0, expected 1 or more");
  EXPECT_EQ(message(v3, [](Target& t) { t.cores = -4; }), "target: cores is -4, expected 1 or more");
  EXPECT_EQ(message(v3, [](Target& t) { t.l1d_bytes = -1; }), "target: l1d_bytes is -1, expected 0 or more");
  EXPECT_EQ(message(v3, [](Target& t) { t.l2_bytes = -1; }), "target: l2_bytes is -1, expected 0 or more");
  EXPECT_EQ(message(v3, [](Target& t) { t.l3_bytes = -1; }), "target: l3_bytes is -1, expected 0 or more");
  EXPECT_THAT(message(v3, [](Target& t) { t.cpu = "pentium"; }), StartsWith("target: cpu is 'pentium', expected one of x86-64,"));
  EXPECT_THAT(message(v3, [](Target& t) { t.cpu = "native"; }), StartsWith("target: cpu is 'native', expected one of x86-64,"));
  EXPECT_EQ(message(v3, [](Target& t) { t.arch = "sparc"; }), "target: arch is 'sparc', expected x86_64, as of cpu x86-64-v3");
  for (const char* feature : {"", "+", "avx2", "+mmx3", "*avx2"})
    EXPECT_THAT(message(v3, [&](Target& t) { t.features = {feature}; }),
                StartsWith("target: a feature is '" + std::string(feature) + "', expected + or - before one of sse3,"));
  EXPECT_EQ(message(v3, [](Target& t) { t.features = {"+avx2"}; }),
            "target: features is '+avx2', expected '': those in which it differs from cpu x86-64-v3, sorted");
  EXPECT_EQ(message(v3,
                    [](Target& t) {
                      t.features = {"-fma", "-avx2"};
                    }),
            "target: features is '-fma-avx2', expected '-avx2-fma': those in which it differs from cpu x86-64-v3, sorted");
  EXPECT_EQ(message(v3, [](Target& t) { t.vector_bytes = 64; }),
            "target: vector_bytes is 64, expected 32, as of x86_64-x86-64-v3; parse_target() sets it");
  EXPECT_EQ(message(v3, [](Target& t) { t.f16c = false; }),
            "target: f16c is false, expected true, as of x86_64-x86-64-v3; parse_target() sets it");
  EXPECT_EQ(message("npu-a3", [](Target& t) { t.host_fp = true; }), "target: host_fp is true, expected false, as of npu-a3");
  EXPECT_EQ(message("npu-a3", [](Target& t) { t.features = {"+avx2"}; }),
            "target: features is '+avx2', expected '': those in which it differs from cpu npu-a3, sorted");
  EXPECT_EQ(message("npu-a3", [](Target& t) { t.vector_bytes = 32; }),
            "target: vector_bytes is 32, expected 16, as of npu-a3; parse_target() sets it");
  EXPECT_THAT(message("npu-a3", [](Target& t) { t.cpu = "npu-a4"; }), StartsWith("target: cpu is 'npu-a4', expected one of "));
  EXPECT_EQ(message("npu-a3", [](Target& t) { t.arch = "x86_64"; }), "target: arch is 'x86_64', expected npu, as of cpu npu-a3");
}

}  // namespace
}  // namespace strew
