// What a machine runs: a target with features the machine lacks is refused with their names, another architecture by its name; this
// machine runs `native`, and the x86-64 levels up to its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/levels.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace strew {
namespace {

using testing::HasSubstr;

Target target_of(std::string_view text) {
  const auto target = parse_target(text);
  EXPECT_TRUE(target.ok()) << target.status().message();
  return *target;
}

std::string refusal(std::string_view machine, std::string_view target) {
  const Status status = can_run(target_of(machine), target_of(target));
  EXPECT_TRUE(status.ok() || status.code() == Code::unsupported);
  return status.message();
}

TEST(Machine, NamesEveryFeatureItLacks) {
  EXPECT_EQ(
      refusal("x86-64-v3", "x86-64-v4"),
      "target 'x86_64-x86-64-v4': this machine (x86_64-x86-64-v3) lacks avx512f, avx512cd, avx512bw, avx512dq, avx512vl; kernels "
      "for this target can be compiled here, but not run: expected target native or one whose features this machine has");
  EXPECT_THAT(refusal("x86-64-v2", "x86-64-v2+avx2"), HasSubstr("(x86_64-x86-64-v2) lacks avx, avx2;"));
  EXPECT_THAT(refusal("x86-64-v3-fma", "haswell"), HasSubstr("lacks fma;"));
  EXPECT_THAT(refusal("haswell", "znver3"), HasSubstr("lacks sse4a;"));
  EXPECT_THAT(refusal("icelake-server", "sapphirerapids"), HasSubstr("lacks avxvnni, avx512bf16, avx512fp16;"));
}

TEST(Machine, RunsWhatItHasUnderAnyName) {
  EXPECT_EQ(refusal("znver3", "znver3"), "");
  EXPECT_EQ(refusal("znver3", "x86-64-v3"), "");
  EXPECT_EQ(refusal("znver3", "znver4-avx512f-gfni"), "");
  EXPECT_EQ(refusal("x86-64+avx2", "x86-64+avx"), "");
}

TEST(Machine, RefusesAnotherArchitectureByName) {
  EXPECT_THAT(refusal("x86-64", "generic"),
              HasSubstr("target 'aarch64-generic': its architecture is aarch64, this machine's is x86_64;"));
  EXPECT_THAT(refusal("generic", "x86-64"), HasSubstr("its architecture is x86_64, this machine's is aarch64;"));
}

/// What a machine is taken for whose model nobody knows, and which has the features of that target.
std::string_view taken_for(const std::string& target) { return most_like(features_of(target_of(target)))->name; }

TEST(Machine, WithoutAKnownModelIsTakenForTheCpuThatIsMostLikeIt) {
  EXPECT_EQ(taken_for("x86-64"), "x86-64");
  EXPECT_EQ(taken_for("haswell"), "x86-64-v3");
  EXPECT_EQ(taken_for("haswell-avx2"), "sandybridge");
  EXPECT_EQ(taken_for("skylake-avx512"), "x86-64-v4");
  EXPECT_EQ(taken_for("icelake-server"), "icelake-client");
  EXPECT_EQ(taken_for("graniterapids"), "sapphirerapids");
  EXPECT_EQ(taken_for("sapphirerapids+avx512vp2intersect"), "sapphirerapids");
  EXPECT_EQ(taken_for("sapphirerapids-avx512fp16"), "icelake-client");
  EXPECT_EQ(taken_for("znver5"), "znver5");
  EXPECT_EQ(taken_for("znver5-avxvnni"), "znver4") << "and not alderlake, which has no sse4a";
  EXPECT_EQ(taken_for("znver1-avx2"), "x86-64-v2");
}

TEST(Machine, RunsNative) { EXPECT_EQ(machine_can_run(target_of("native")).message(), ""); }

#if defined(__x86_64__)
/// Asked without the compiler's helper: cpuid says what the processor has, xgetbv what the operating system saves.
bool has_avx512() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c & bit_OSXSAVE) == 0) return false;
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  const bool saved = (low & 0xe6) == 0xe6;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  return saved && (b & bit_AVX512F) != 0;
}

TEST(Machine, LevelsAreLowestFirstAndEndWithTheMachines) {
  const std::vector<std::string_view> levels = test::runnable_x86_64_levels(),
                                      all = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
  ASSERT_FALSE(levels.empty());
  ASSERT_LE(levels.size(), all.size());
  for (size_t i = 0; i < levels.size(); ++i) EXPECT_EQ(levels[i], all[i]);
  EXPECT_TRUE(has_avx512() || levels.size() < all.size());
}
#endif

}  // namespace
}  // namespace strew
