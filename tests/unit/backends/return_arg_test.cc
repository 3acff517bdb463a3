// ScatterBuilder::return_arg: maxima and minima, and the positions that won, are those of plain loops on every backend, strategy and number of threads; of
// zeros of both signs, NaNs, infinities and equal values; with and without look-ups, from nothing and from values before. And what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "backends/halide/can_build/can_build.h"
#include "strew/builder.h"
#include "strew/forms.h"
#include "strew/runtime.h"
#include "tests/support/options.h"
#include "tests/support/rng.h"
#include "tests/support/views.h"

namespace strew {
namespace {

using namespace types;  // NOLINT: f32, i32
using test::Views;

constexpr int64_t kRows = 13, kWidth = 7, kEdges = 400;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Graph {
  Graph() {
    test::Rng rng(20270106);
    const std::vector<float> values = {-0.0F, 0.0F, 1, 1, -2, kInfinity, -kInfinity, -kInfinity, -kInfinity, 0.5F};
    for (int64_t e = 0; e < kEdges; ++e) {
      // Row 12 has no updates, row 11 only -infinity, and -1 is out of bounds.
      ids.push_back(static_cast<int32_t>(rng.between(-1, kRows - 2)));
      picks.push_back(static_cast<int32_t>(rng.below(kEdges)));
      numbers.push_back(3 * e + 5);
      for (int64_t w = 0; w < kWidth; ++w) updates.push_back(rng.chance(1) ? std::nanf("") : rng.pick(values));
    }
  }
  std::vector<int32_t> ids, picks;
  std::vector<int64_t> numbers;
  std::vector<float> updates;
};

/// The results of the fold.
struct Results {
  std::vector<float> values;
  std::vector<int64_t> positions;
};

/// Does b win against a? A NaN wins against numbers, and +0 is more than -0.
bool wins(float a, float b, bool is_max) {
  if (std::isnan(a) || std::isnan(b)) return !std::isnan(a);
  if (a == b) return a == 0 && std::signbit(a) != std::signbit(b) && std::signbit(b) != is_max;
  return is_max ? b > a : b < a;
}

Results fold(const Graph& graph, Results now, bool is_max, bool looks_up, bool from_nothing) {
  for (int64_t e = 0; e < kEdges; ++e)
    for (int64_t w = 0; w < kWidth; ++w) {
      const auto at = static_cast<size_t>(graph.ids[static_cast<size_t>(e)] * kWidth + w);
      const int64_t row = looks_up ? graph.picks[static_cast<size_t>(e)] : e;
      if (graph.ids[static_cast<size_t>(e)] < 0) continue;
      const float update = graph.updates[static_cast<size_t>(row * kWidth + w)];
      if (!wins(now.values[at], update, is_max) && !(from_nothing && now.positions[at] < 0)) continue;
      now.values[at] = update;
      now.positions[at] = graph.numbers[static_cast<size_t>(e)];
    }
  return now;
}

ScatterBuilder rows_op(bool is_max, bool looks_up) {
  ScatterBuilder b = scatter_rows(f32({kRows, kWidth}), i32({kDynamic}), f32({kDynamic, kWidth}));
  if (looks_up) b.look_up(Role::updates, 0, gather_rows(f32({kDynamic, kWidth}), i32({kDynamic})).oob(OobPolicy::error));
  return b.combine(is_max ? CombinerKind::max : CombinerKind::min).oob(OobPolicy::skip_window);
}

KernelOptions with(const std::string& backend, const std::string& schedule) {
  KernelOptions options;
  options.backend = test::backend(backend);
  test::set_schedule(options, schedule);
  options.threads = 4;
  return options;
}

/// Runs the op on every backend and compares. The results start with `start`.
void expect_fold(const Op& op, const Graph& graph, const Results& start, const Results& want, bool looks_up) {
  Runtime runtime;
  std::vector<const char*> backends = {"auto", "reference", "portable", "llvm"};
  if (has_halide()) backends.push_back("halide");
  for (const std::string backend : backends)
    for (const char* const schedule : {"", "strategy=sequential", "strategy=window", "strategy=owner", "strategy=radix"}) {
      SCOPED_TRACE(backend + " " + schedule);
      const auto kernel = runtime.get(op, with(backend, backend == "reference" ? "" : schedule));
      ASSERT_TRUE(kernel.ok()) << kernel.status().message();
      Results result = start;
      Graph copy = graph;
      Views views;
      views.add(result.values.data(), DType::f32, {kRows, kWidth}).add(result.positions.data(), DType::i64, {kRows, kWidth});
      views.add(copy.ids.data(), DType::i32, {kEdges}).add(copy.updates.data(), DType::f32, {kEdges, kWidth});
      views.add(copy.numbers.data(), DType::i64, {kEdges, kWidth}, {1, 0});
      if (looks_up) views.add(copy.picks.data(), DType::i32, {kEdges});
      const Status status = kernel->run(views);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(result.positions, want.positions);
      for (size_t i = 0; i < want.values.size(); ++i)
        EXPECT_TRUE(std::bit_cast<uint32_t>(result.values[i]) == std::bit_cast<uint32_t>(want.values[i]) ||
                    (std::isnan(result.values[i]) && std::isnan(want.values[i])))
            << "element " << i << ": " << result.values[i] << ", expected " << want.values[i];
    }
}

TEST(ReturnArg, GivesTheFirstPositionThatWins) {
  const Graph graph;
  for (const bool is_max : {true, false})
    for (const bool looks_up : {false, true}) {
      SCOPED_TRACE(std::string(is_max ? "max" : "min") + (looks_up ? " of look-ups" : ""));
      const auto op = rows_op(is_max, looks_up).fill({}).return_arg().build();
      ASSERT_TRUE(op.ok()) << op.status().message();
      Results start{std::vector<float>(kRows * kWidth, is_max ? -kInfinity : kInfinity),
                    std::vector<int64_t>(kRows * kWidth, -1)};
      const Results want = fold(graph, start, is_max, looks_up, true);
      EXPECT_EQ(want.positions.back(), -1);
      expect_fold(Op(*op), graph, Results{std::vector<float>(kRows * kWidth, 77), std::vector<int64_t>(kRows * kWidth, 77)}, want,
                  looks_up);
    }
}

TEST(ReturnArg, ValuesBeforeTheCallKeepTheirPositions) {
  const Graph graph;
  const auto op = rows_op(true, false).in_place().return_arg().build();
  ASSERT_TRUE(op.ok()) << op.status().message();
  Results start{{}, std::vector<int64_t>(kRows * kWidth, -1)};
  for (int64_t i = 0; i < kRows * kWidth; ++i)
    start.values.push_back(i % 4 == 0 ? -kInfinity : i % 4 == 1 ? 1.0F : i % 4 == 2 ? -0.0F : std::nanf(""));
  const Results want = fold(graph, start, true, false, false);
  EXPECT_THAT(want.positions, testing::Contains(-1));
  expect_fold(Op(*op), graph, start, want, false);
}

template <class Builder>
std::string text(const Builder& builder) {
  const auto op = builder.build();
  return op.ok() ? print(Op(*op)) : op.status().message();
}

TEST(ReturnArg, IsAnOpOfTwoPairs) {
  EXPECT_EQ(
      text(scatter_rows(i32({8, 16}), i64({4}), i32({4, 16})).combine(CombinerKind::min).fill({}).return_arg()),
      "strew1.scatter(operand=[i32[8,16],i64[8,16]] indices=i64[4] updates=[i32[4,16],i64[4,16]{?,0}] update_window_dims=[1] "
      "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=expr "
      "expr={%0=update(0):i32; %1=current(0):i32; %2=minimum(%1,%0):i32; %3=lt(%0,%1):bool; %4=current(1):i64; "
      "%5=constant(0):i64; %6=lt(%4,%5):bool; %7=or(%3,%6):bool; %8=update(1):i64; %9=select(%7,%8,%4):i64; return %2, %9} "
      "init=fill fill=[2147483647:i32,-1:i64])");
  EXPECT_NE(text(scatter_elements(bf16({8, 16}), i64({3, 16}), bf16({3, 16})).combine(CombinerKind::max).return_arg())
                .find("updates=[bf16[3,16],i64[3,16]{?,?}]"),
            std::string::npos);
  EXPECT_NE(
      text(scatter_rows(bf16({8}), i64({4}), bf16({4})).combine(CombinerKind::max).in_place().return_arg()).find("init=in_place"),
      std::string::npos);
}

TEST(ReturnArg, TakesAnExpressionOfAMaximum) {
  ExprBuilder e;
  const int32_t product = e.mul(e.update(0, DType::f32), e.extra(0, DType::f32));
  const int32_t current = e.current(0, DType::f32);
  const auto rows = [](Expr graph) {
    return scatter_rows(f32({8, 16}), i64({4}), f32({4, 16})).extra(ExtraKind::per_position, f32({4})).combine(std::move(graph));
  };
  EXPECT_NE(text(rows(e.returns({e.apply(ExprOp::max, {product, current})})).return_arg()).find("ne("), std::string::npos);
  const int32_t both = e.add(product, current);
  EXPECT_EQ(
      text(rows(e.returns({e.apply(ExprOp::max, {both, current})})).return_arg()),
      "return_arg: combiner is expr; expected max or min, or an expression that returns maximum or minimum of current(0):f32 and "
      "of what reads no current value");
}

TEST(ReturnArg, RefusesWhatHasNoArg) {
  const auto rows = [](const TensorType& type) { return scatter_rows(type, i64({4}), type); };
  const std::string expected = "; expected max or min, or an expression that returns maximum or minimum of current(0):";
  EXPECT_EQ(text(rows(f32({4})).combine(CombinerKind::add).return_arg()),
            "return_arg: combiner is add" + expected + "f32 and of what reads no current value");
  EXPECT_EQ(text(rows(tensor(DType::complex64, {4})).combine(CombinerKind::max).return_arg()),
            "return_arg: combiner is max" + expected + "complex64 and of what reads no current value");
  EXPECT_EQ(text(rows(f32({4})).combine(CombinerKind::max).return_arg().return_arg()),
            "return_arg: 2 operands, 2 updates and 0 results; expected 1, 1 and at most 1: it adds the second ones");
  EXPECT_EQ(
      text(rows(f32({4})).combine(CombinerKind::max).fill({Scalar::of(0.0F)}).return_arg()),
      "return_arg: fill is 0; expected 0xff800000, than which no update is less, or none: only a value of the operand (init copy "
      "or in_place) takes part beside the updates");
  EXPECT_EQ(text(ScatterBuilder().return_arg()),
            "return_arg: 0 operands, 0 updates and 0 results; expected 1, 1 and at most 1: it adds the second ones");
}

}  // namespace
}  // namespace strew
