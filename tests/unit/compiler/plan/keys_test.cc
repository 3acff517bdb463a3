// The numbers of destinations: which results they serve, and that strategies that divide destinations give the bits of one thread where rows have
// an open length or the results have different strides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "strew/runtime.h"
#include "strew/text.h"
#include "tests/support/options.h"
#include "tests/support/plan.h"
#include "tests/support/rng.h"
#include "tests/support/schedules.h"

namespace strew {
namespace {

using testing::ElementsAre;

std::optional<KeyForm> keys_of(const std::string& text) {
  return canonical_plan(test::value_or_abort(VerifiedOp::of(test::value_or_abort(parse_op(text)))))->keys;
}

constexpr const char* kRows =
    "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 ";
constexpr const char* kPairs = "inserted_window_dims=[0,1] scatter_dims_to_operand_dims=[0,1] index_vector_dim=1 ";

TEST(DestinationKeys, AreRowNumbers) {
  const auto keys =
      keys_of("strew1.scatter(operand=f32[50,8] indices=i32[9] updates=f32[9,8] " + std::string(kRows) + "combiner=add)");
  ASSERT_TRUE(keys);
  EXPECT_THAT(keys->positions, ElementsAre(constant(0)));
  EXPECT_THAT(keys->components, ElementsAre(constant(1)));
  EXPECT_THAT(keys->units, ElementsAre(constant(8)));
}

TEST(DestinationKeys, AreRowNumbersOfRowsOfAnOpenLength) {
  const auto keys =
      keys_of("strew1.scatter(operand=f32[?,?] indices=i32[?] updates=f32[?,?] " + std::string(kRows) + "combiner=add)");
  ASSERT_TRUE(keys);
  EXPECT_THAT(keys->components, ElementsAre(constant(1)));
  ASSERT_EQ(keys->units.size(), 1U);
  EXPECT_EQ(keys->units[0].factor, 1);
  EXPECT_EQ(keys->units[0].symbols.size(), 1U);
}

TEST(DestinationKeys, CountTheRowsOfSeveralDims) {
  const auto keys =
      keys_of("strew1.scatter(operand=f32[50,?] indices=i32[9,2] updates=f32[9] " + std::string(kPairs) + "combiner=add)");
  ASSERT_TRUE(keys);
  ASSERT_EQ(keys->components.size(), 2U);
  EXPECT_EQ(keys->components[0].symbols.size(), 1U) << "a step in dim 0 is a row of open length";
  EXPECT_EQ(keys->components[1], constant(1));
}

TEST(DestinationKeys, ServeResultsOfDifferentStrides) {
  const std::string tensors = "operand=[f32[50,8]{100,1},f64[50,8]{-8,1}] indices=i32[9] updates=[f32[9,8],f64[9,8]] ";
  const auto keys = keys_of("strew1.scatter(" + tensors + kRows + "combiner=add init=in_place)");
  ASSERT_TRUE(keys);
  EXPECT_THAT(keys->components, ElementsAre(constant(1)));
  EXPECT_THAT(keys->units, ElementsAre(constant(100), constant(-8)));
}

TEST(DestinationKeys, ThereAreNoneWhereTheRatiosOfStridesDiffer) {
  const std::string updates = " indices=i32[9,2] updates=[f32[9],f32[9]] " + std::string(kPairs) + "combiner=add init=in_place)";
  EXPECT_TRUE(keys_of("strew1.scatter(operand=[f32[50,8]{8,1},f32[50,8]{24,3}]" + updates));
  EXPECT_FALSE(keys_of("strew1.scatter(operand=[f32[50,8]{8,1},f32[50,8]{9,1}]" + updates));
  EXPECT_FALSE(keys_of("strew1.scatter(operand=[f32[50,8]{-8,1},f32[50,8]{-8,1}]" + updates)) << "keys would be negative";
}

/// Two results after 4000 updates of 90 rows: of 5 floats in rows of `pitch` of them, and of 5 doubles whose rows lie in reverse order.
struct Sums {
  std::vector<float> floats;
  std::vector<double> doubles;
  bool operator==(const Sums&) const = default;
};

Sums sums(const std::string& schedule, const char* backend, bool open) {
  constexpr int64_t kRowCount = 90, kLength = 5, kPitch = 7, kUpdates = 4000;
  const std::string rows = open ? "?,?" : "90,5", count = open ? "?" : "4000", length = open ? "?" : "5";
  const std::string text = "strew1.scatter(operand=[f32[" + rows + "]{" + (open ? "?" : "7") + ",1},f64[" + rows +
                           "]{-5,1}] indices=i32[" + count + "] updates=[f32[" + count + "," + length + "],f64[" + count + "," +
                           length + "]] " + kRows + "combiner=add init=in_place oob=skip_window)";
  const Op op = test::value_or_abort(parse_op(text));
  test::Rng rng(3);
  Sums out{std::vector<float>(kRowCount * kPitch, 0.1F), std::vector<double>(kRowCount * kLength, 0.1)};
  std::vector<float> floats(kUpdates * kLength);
  std::vector<double> doubles(kUpdates * kLength);
  std::vector<int32_t> indices(kUpdates);
  for (float& v : floats) v = static_cast<float>(rng.below(1 << 20)) * 1e-5F;
  for (double& v : doubles) v = static_cast<double>(rng.below(1 << 20)) * 1e-5;
  for (int32_t& i : indices) i = static_cast<int32_t>(rng.below(kRowCount + 4)) - 2;
  Runtime runtime;
  KernelOptions options;
  test::set_schedule(options, schedule);
  options.backend = test::backend(backend);
  const auto kernel = runtime.get(op, options);
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  if (!kernel.ok()) return {};
  const int64_t table[] = {kRowCount, kLength}, updates[] = {kUpdates, kLength}, padded[] = {kPitch, 1}, back[] = {-kLength, 1};
  const TensorView views[] = {{out.floats.data(), DType::f32, 2, table, padded},
                              {out.doubles.data() + (kRowCount - 1) * kLength, DType::f64, 2, table, back},
                              {indices.data(), DType::i32, 1, updates, nullptr},
                              {floats.data(), DType::f32, 2, updates, nullptr},
                              {doubles.data(), DType::f64, 2, updates, nullptr}};
  const Status status = kernel->run(views);
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

TEST(DestinationKeys, GiveTheBitsOfOneThread) {
  for (const bool open : {false, true}) {
    const Sums expected = sums("strategy=sequential,threads=1", "llvm", open);
    for (const char* backend : {"llvm", "portable"})
      for (const char* strategy : {"owner", "radix"})
        EXPECT_EQ(sums("strategy=" + std::string(strategy) + ",threads=3", backend, open), expected)
            << strategy << " of " << backend << (open ? ", open" : "");
  }
}

TEST(DestinationKeys, OfATableWithoutElementsWhoseRowsAreTooLongToCount) {
  const Op op = test::value_or_abort(parse_op("strew1.scatter(operand=f32[?,?] indices=i32[?] updates=f32[?,?] " +
                                              std::string(kRows) + "combiner=add init=in_place oob=skip_window)"));
  constexpr int64_t kUpdates = 200000;
  std::vector<float> updates(kUpdates, 1), none(1, 7);
  std::vector<int32_t> indices(kUpdates, 0);
  for (const int64_t length : {int64_t{1} << 62, (int64_t{1} << 61) + 1, int64_t{1} << 40})
    for (const char* backend : {"llvm", "portable"})
      for (const char* strategy : {"owner", "radix"}) {
        Runtime runtime;
        KernelOptions options;
        test::set_schedule(options, "strategy=" + std::string(strategy) + ",threads=3");
        options.backend = test::backend(backend);
        const auto kernel = runtime.get(op, options);
        ASSERT_TRUE(kernel.ok()) << kernel.status().message();
        const int64_t table[] = {0, length}, rows[] = {kUpdates, 1};
        const TensorView views[] = {{none.data(), DType::f32, 2, table, nullptr},
                                    {indices.data(), DType::i32, 1, rows, nullptr},
                                    {updates.data(), DType::f32, 2, rows, nullptr}};
        const Status status = kernel->run(views);
        EXPECT_TRUE(status.ok()) << status.message();
        EXPECT_EQ(none[0], 7) << "something was written";
      }
}

}  // namespace
}  // namespace strew
