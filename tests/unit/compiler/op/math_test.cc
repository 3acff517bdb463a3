// The table of transcendental functions: complete, consistent with its symbols, f32 rounded once from double.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "compiler/op/expr_math.h"

namespace strew {
namespace {

TEST(Math, EveryRowHasOneArityAndItsOwnSymbols) {
  std::set<std::string> symbols;
  for (const MathFunction& row : math_functions()) {
    const auto node = std::find_if(expr_ops().begin(), expr_ops().end(),
                                   [&](const ExprOpInfo& op) { return find_math_function(op.op) == &row; });
    ASSERT_NE(node, expr_ops().end()) << row.name;
    const std::array<bool, 3> f32{row.unary_f32 != nullptr, row.binary_f32 != nullptr, row.ternary_f32 != nullptr};
    const std::array<bool, 3> f64{row.unary_f64 != nullptr, row.binary_f64 != nullptr, row.ternary_f64 != nullptr};
    for (size_t i = 0; i < f32.size(); ++i) EXPECT_EQ(f32[i], node->arity == static_cast<int>(i) + 1) << row.symbol_f32;
    EXPECT_EQ(f32, f64) << row.symbol_f64;
    EXPECT_NE(row.address_f32(), row.address_f64());
    EXPECT_TRUE(symbols.insert(row.symbol_f32).second);
    EXPECT_TRUE(symbols.insert(row.symbol_f64).second);
  }
  EXPECT_EQ(symbols.count("strew_math_exp_f32"), 1u);
  EXPECT_EQ(symbols.count("strew_math_pow_f64"), 1u);
  EXPECT_EQ(find_math_function(ExprOp::add), nullptr);
  EXPECT_EQ(find_math_function(ExprOp::sqrt), nullptr);
}

TEST(Math, F32IsTheDoubleFunctionRoundedOnce) {
  for (const MathFunction& row : math_functions()) {
    if (row.ternary_f32 != nullptr) continue;  // fma
    for (const float x : {0.1f, 0.5f, 0.99999994f, 1.0f, 1.75f, 3.1415927f, 20.25f, 1e-30f, 1e-45f, 80.0f}) {
      const float got = row.unary_f32 != nullptr ? row.unary_f32(x) : row.binary_f32(x, 0.3f);
      const double wide = row.unary_f64 != nullptr ? row.unary_f64(x) : row.binary_f64(x, 0.3f);
      EXPECT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(static_cast<float>(wide))) << row.symbol_f32 << " " << x;
    }
  }
}

TEST(Math, FmaRoundsOnce) {
  const float tiny = 1.0f + 0x1p-23f, c = -(1.0f + 0x1p-22f);
  EXPECT_EQ(strew_math_fma_f32(tiny, tiny, c), 0x1p-46f);
  // The exact result lies just above the middle of two floats; its nearest double is the middle.
  EXPECT_EQ(strew_math_fma_f32(1.0f + 0x1p-12f, 1.0f + 0x1p-12f, 0x1p-60f), std::nextafter(1.0f + 0x1p-11f, 2.0f));
  EXPECT_EQ(strew_math_fma_f64(1.0 + 0x1p-52, 1.0 + 0x1p-52, -(1.0 + 0x1p-51)), 0x1p-104);
}

TEST(Math, KnownValues) {
  EXPECT_EQ(strew_math_exp_f32(1.0f), 2.7182818f);
  EXPECT_EQ(strew_math_exp2_f64(10.0), 1024.0);
  EXPECT_EQ(strew_math_log2_f32(8.0f), 3.0f);
  EXPECT_EQ(strew_math_cbrt_f32(27.0f), 3.0f);
  EXPECT_EQ(strew_math_rsqrt_f32(4.0f), 0.5f);
  EXPECT_EQ(strew_math_logistic_f64(0.0), 0.5);
  EXPECT_EQ(strew_math_pow_f32(2.0f, -3.0f), 0.125f);
  EXPECT_EQ(strew_math_rem_f32(-7.5f, 2.0f), -1.5f);
  EXPECT_EQ(strew_math_atan2_f64(1.0, 0.0), std::acos(-1.0) / 2);
  EXPECT_EQ(strew_math_expm1_f64(1e-20), 1e-20);
  EXPECT_EQ(strew_math_log1p_f64(1e-20), 1e-20);
}

TEST(Math, Specials) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(strew_math_exp_f32(-inf), 0.0f);
  EXPECT_EQ(strew_math_exp_f32(89.0f), inf);
  EXPECT_EQ(strew_math_rsqrt_f32(0.0f), inf);
  EXPECT_EQ(strew_math_rsqrt_f32(-0.0f), -inf);
  EXPECT_EQ(strew_math_tanh_f32(inf), 1.0f);
  EXPECT_EQ(strew_math_logistic_f32(-inf), 0.0f);
  EXPECT_TRUE(std::isnan(strew_math_log_f32(-1.0f)));
  EXPECT_TRUE(std::isnan(strew_math_rem_f32(1.0f, 0.0f)));
  EXPECT_TRUE(std::signbit(strew_math_sin_f32(-0.0f)));
  // The result of the double function is subnormal in f32: rounded, not flushed.
  EXPECT_EQ(strew_math_exp_f32(-100.0f), 3.783506e-44f);
}

}  // namespace
}  // namespace strew
