// One combine at a time: every named combiner and every expression node on the values where rules differ (division by zero, MIN / -1,
// shifts beyond the width, signed zeros, NaN, ties, overflow of narrow floats, complex formulas). Expected values are literals.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "backends/reference/run.h"
#include "base/number.h"
#include "compiler/evaluate/arithmetic.h"
#include "compiler/evaluate/expr_eval.h"
#include "strew/text.h"

namespace strew {
namespace {

Scalar scalar(DType dtype, std::string_view text) {
  const Expected<Scalar> value = parse_scalar(text, dtype);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : Scalar{dtype, {0, 0}};
}

std::string text(const Scalar& value) {
  if (is_complex(value.dtype)) {
    const DType part = part_dtype(value.dtype);
    return text({part, {real_bits(value), 0}}) + "," + text({part, {imaginary_bits(value), 0}});
  }
  return is_nan(value.dtype, value.bits[0]) ? "nan" : print(value);
}

std::string one(ExprOp op, DType dtype, std::string_view x) { return text(scalar_eval::apply(op, scalar(dtype, x))); }
std::string two(ExprOp op, DType dtype, std::string_view a, std::string_view b) {
  return text(scalar_eval::apply(op, scalar(dtype, a), scalar(dtype, b)));
}
bool holds(ExprOp op, DType dtype, std::string_view a, std::string_view b) {
  return scalar_eval::apply(op, scalar(dtype, a), scalar(dtype, b)) == Scalar::of(true);
}

TEST(ReferenceArithmetic, FmaRoundsOnceInF32) {
  const auto fma = [](DType dtype, std::string_view a, std::string_view b, std::string_view c) {
    return text(scalar_eval::apply(ExprOp::fma, scalar(dtype, a), scalar(dtype, b), scalar(dtype, c)));
  };
  EXPECT_EQ(fma(DType::f64, "3", "4", "5"), "17");
  EXPECT_EQ(fma(DType::f16, "1024", "1024", "-inf"), "0xfc00") << "minus infinity";
  EXPECT_EQ(fma(DType::bf16, "1.0078125", "1.0078125", "-1.015625"), "6.1e-05") << "the square's lowest bit, which bf16 lacks";
  EXPECT_EQ(fma(DType::f32, "inf", "0", "1"), "nan");
}

TEST(ReferenceArithmetic, IntegersWrap) {
  EXPECT_EQ(two(ExprOp::add, DType::i8, "127", "1"), "-128");
  EXPECT_EQ(two(ExprOp::sub, DType::u8, "0", "1"), "255");
  EXPECT_EQ(two(ExprOp::mul, DType::i4, "7", "3"), "5");
  EXPECT_EQ(two(ExprOp::mul, DType::i16, "-32768", "-1"), "-32768");
  EXPECT_EQ(two(ExprOp::add, DType::i64, "9223372036854775807", "1"), "-9223372036854775808");
  EXPECT_EQ(two(ExprOp::mul, DType::u64, "18446744073709551615", "18446744073709551615"), "1");
  EXPECT_EQ(one(ExprOp::neg, DType::i32, "-2147483648"), "-2147483648");
  EXPECT_EQ(one(ExprOp::abs, DType::i8, "-128"), "-128");
  EXPECT_EQ(one(ExprOp::abs, DType::u8, "200"), "200");
  EXPECT_EQ(one(ExprOp::neg, DType::u4, "3"), "13");
}

TEST(ReferenceArithmetic, IntegerDivision) {
  EXPECT_EQ(two(ExprOp::div, DType::i32, "-7", "2"), "-3");
  EXPECT_EQ(two(ExprOp::rem, DType::i32, "-7", "2"), "-1");
  EXPECT_EQ(two(ExprOp::rem, DType::i32, "7", "-2"), "1");
  EXPECT_EQ(two(ExprOp::div, DType::i32, "5", "0"), "-1");
  EXPECT_EQ(two(ExprOp::div, DType::u8, "5", "0"), "255");
  EXPECT_EQ(two(ExprOp::div, DType::u4, "5", "0"), "15");
  EXPECT_EQ(two(ExprOp::rem, DType::i32, "-5", "0"), "-5");
  EXPECT_EQ(two(ExprOp::div, DType::i64, "-9223372036854775808", "-1"), "-9223372036854775808");
  EXPECT_EQ(two(ExprOp::rem, DType::i64, "-9223372036854775808", "-1"), "0");
  EXPECT_EQ(two(ExprOp::div, DType::i4, "-8", "-1"), "-8");
  EXPECT_EQ(two(ExprOp::div, DType::u64, "18446744073709551615", "2"), "9223372036854775807");
  EXPECT_EQ(two(ExprOp::rem, DType::u64, "18446744073709551615", "10"), "5");
}

TEST(ReferenceArithmetic, IntegerOrderAndBits) {
  EXPECT_EQ(two(ExprOp::max, DType::u64, "18446744073709551615", "1"), "18446744073709551615");
  EXPECT_EQ(two(ExprOp::max, DType::i64, "-1", "1"), "1");
  EXPECT_EQ(two(ExprOp::min, DType::i4, "-8", "7"), "-8");
  EXPECT_EQ(two(ExprOp::bit_and, DType::i8, "-1", "15"), "15");
  EXPECT_EQ(two(ExprOp::bit_xor, DType::u4, "15", "5"), "10");
  EXPECT_EQ(two(ExprOp::bit_or, DType::i16, "-256", "1"), "-255");
  EXPECT_EQ(one(ExprOp::bit_not, DType::u4, "5"), "10");
  EXPECT_EQ(one(ExprOp::popcnt, DType::i8, "-1"), "8");
  EXPECT_EQ(one(ExprOp::count_leading_zeros, DType::i8, "1"), "7");
  EXPECT_EQ(one(ExprOp::count_leading_zeros, DType::u64, "0"), "64");
  EXPECT_EQ(one(ExprOp::count_leading_zeros, DType::i4, "0"), "4");
  EXPECT_EQ(one(ExprOp::sign, DType::i32, "-9"), "-1");
  EXPECT_EQ(one(ExprOp::sign, DType::u64, "18446744073709551615"), "1");
  EXPECT_TRUE(holds(ExprOp::gt, DType::u64, "9223372036854775808", "1"));
  EXPECT_TRUE(holds(ExprOp::lt, DType::i64, "-1", "1"));
}

TEST(ReferenceArithmetic, ShiftsBeyondTheWidth) {
  EXPECT_EQ(two(ExprOp::shift_left, DType::i8, "1", "7"), "-128");
  EXPECT_EQ(two(ExprOp::shift_left, DType::i8, "1", "8"), "0");
  EXPECT_EQ(two(ExprOp::shift_left, DType::u64, "1", "64"), "0");
  EXPECT_EQ(two(ExprOp::shift_left, DType::i32, "1", "-1"), "0");
  EXPECT_EQ(two(ExprOp::shift_right_logical, DType::i8, "-1", "1"), "127");
  EXPECT_EQ(two(ExprOp::shift_right_logical, DType::i8, "-1", "8"), "0");
  EXPECT_EQ(two(ExprOp::shift_right_arithmetic, DType::i8, "-128", "3"), "-16");
  EXPECT_EQ(two(ExprOp::shift_right_arithmetic, DType::i64, "-2", "64"), "-1");
  EXPECT_EQ(two(ExprOp::shift_right_arithmetic, DType::i8, "64", "100"), "0");
  EXPECT_EQ(two(ExprOp::shift_right_arithmetic, DType::u8, "128", "9"), "255");
}

TEST(ReferenceArithmetic, BoolAddIsOrAndMulIsAnd) {
  EXPECT_EQ(two(ExprOp::add, DType::boolean, "true", "true"), "true");
  EXPECT_EQ(two(ExprOp::mul, DType::boolean, "true", "false"), "false");
  EXPECT_EQ(two(ExprOp::max, DType::boolean, "false", "true"), "true");
  EXPECT_EQ(two(ExprOp::min, DType::boolean, "false", "true"), "false");
  EXPECT_EQ(two(ExprOp::bit_xor, DType::boolean, "true", "true"), "false");
  EXPECT_EQ(one(ExprOp::bit_not, DType::boolean, "true"), "false");
}

TEST(ReferenceArithmetic, FloatMinimumAndMaximum) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::f8e5m2}) {
    EXPECT_EQ(two(ExprOp::min, dtype, "0", "-0"), "-0") << name(dtype);
    EXPECT_EQ(two(ExprOp::min, dtype, "-0", "0"), "-0") << name(dtype);
    EXPECT_EQ(two(ExprOp::max, dtype, "-0", "0"), "0") << name(dtype);
    EXPECT_EQ(two(ExprOp::max, dtype, "0", "-0"), "0") << name(dtype);
    EXPECT_EQ(two(ExprOp::min, dtype, "nan", "1"), "nan") << name(dtype);
    EXPECT_EQ(two(ExprOp::max, dtype, "1", "nan"), "nan") << name(dtype);
    EXPECT_EQ(two(ExprOp::max, dtype, "-2", "1"), "1") << name(dtype);
  }
}

TEST(ReferenceArithmetic, FloatsRoundToTheirOwnType) {
  EXPECT_EQ(two(ExprOp::add, DType::f32, "16777216", "1"), "16777216");
  EXPECT_EQ(two(ExprOp::add, DType::bf16, "256", "1"), "256");
  EXPECT_EQ(two(ExprOp::add, DType::bf16, "256", "3"), "260");
  EXPECT_EQ(two(ExprOp::mul, DType::f16, "300", "300"), "0x7c00");
  // Shortest decimals: 450 and 65500 below read back as 448 and 65504.
  EXPECT_EQ(two(ExprOp::add, DType::f8e4m3fn, "448", "16"), "450");
  EXPECT_EQ(two(ExprOp::add, DType::f8e4m3fn, "448", "32"), "nan");
  EXPECT_EQ(two(ExprOp::add, DType::f8e5m2, "57344", "8192"), "0x7c");
  EXPECT_EQ(two(ExprOp::sub, DType::f8e4m3fnuz, "1", "1"), "0");
  EXPECT_EQ(one(ExprOp::neg, DType::f8e4m3fnuz, "0"), "0");
  EXPECT_EQ(two(ExprOp::mul, DType::f8e5m2fnuz, "-0.5", "0"), "0");
  EXPECT_EQ(two(ExprOp::add, DType::f4e2m1, "6", "6"), "6");
  EXPECT_EQ(two(ExprOp::div, DType::f4e2m1, "0", "0"), "-0");  // NaN is code 8
  EXPECT_EQ(two(ExprOp::div, DType::f32, "1", "3"), "0.33333334");
  EXPECT_EQ(two(ExprOp::mul, DType::f32, "1e-30", "1e-15"), "1e-45");  // subnormal, kept
  EXPECT_EQ(two(ExprOp::rem, DType::f32, "-7.5", "2"), "-1.5");
  EXPECT_EQ(two(ExprOp::pow, DType::f64, "2", "0.5"), "1.4142135623730951");
  EXPECT_EQ(two(ExprOp::atan2, DType::f32, "1", "-1"), "2.3561945");
}

TEST(ReferenceArithmetic, FloatsOfOneArgument) {
  EXPECT_EQ(one(ExprOp::sign, DType::f32, "-0"), "-0");
  EXPECT_EQ(one(ExprOp::sign, DType::f32, "-3.5"), "-1");
  EXPECT_EQ(one(ExprOp::sign, DType::f64, "nan"), "nan");
  EXPECT_EQ(one(ExprOp::abs, DType::f16, "-2.5"), "2.5");
  EXPECT_EQ(one(ExprOp::floor, DType::f32, "-1.5"), "-2");
  EXPECT_EQ(one(ExprOp::ceil, DType::f32, "-0.5"), "-0");
  EXPECT_EQ(one(ExprOp::trunc, DType::f64, "-1.75"), "-1");
  EXPECT_EQ(one(ExprOp::round_half_even, DType::f32, "2.5"), "2");
  EXPECT_EQ(one(ExprOp::round_half_away, DType::f32, "2.5"), "3");
  EXPECT_EQ(one(ExprOp::round_half_away, DType::f32, "-2.5"), "-3");
  EXPECT_EQ(one(ExprOp::sqrt, DType::f32, "2"), "1.4142135");
  EXPECT_EQ(one(ExprOp::rsqrt, DType::f32, "16"), "0.25");
  EXPECT_EQ(one(ExprOp::exp, DType::f32, "1"), "2.7182817");
  EXPECT_EQ(one(ExprOp::exp2, DType::bf16, "3"), "8");
  EXPECT_EQ(one(ExprOp::log, DType::f16, "0"), "0xfc00");
  EXPECT_EQ(one(ExprOp::log2, DType::f64, "8"), "3");
  EXPECT_EQ(one(ExprOp::tanh, DType::f32, "inf"), "1");
  EXPECT_EQ(one(ExprOp::logistic, DType::f32, "0"), "0.5");
  EXPECT_EQ(one(ExprOp::cbrt, DType::f32, "27"), "3");
  EXPECT_EQ(one(ExprOp::erf, DType::f64, "0"), "0");
}

TEST(ReferenceArithmetic, FloatComparisons) {
  EXPECT_FALSE(holds(ExprOp::eq, DType::f32, "nan", "nan"));
  EXPECT_TRUE(holds(ExprOp::ne, DType::f32, "nan", "nan"));
  EXPECT_FALSE(holds(ExprOp::le, DType::f32, "nan", "1"));
  EXPECT_FALSE(holds(ExprOp::ge, DType::f32, "nan", "1"));
  EXPECT_TRUE(holds(ExprOp::eq, DType::f16, "0", "-0"));
  EXPECT_TRUE(holds(ExprOp::lt, DType::bf16, "-inf", "1"));
  EXPECT_EQ(one(ExprOp::is_finite, DType::f16, "inf"), "false");
  EXPECT_EQ(one(ExprOp::is_finite, DType::f8e4m3fn, "nan"), "false");
  EXPECT_EQ(one(ExprOp::is_finite, DType::f4e2m1, "6"), "true");
}

TEST(ReferenceArithmetic, ComplexFormulas) {
  EXPECT_EQ(two(ExprOp::add, DType::complex64, "(1,2)", "(3,-4)"), "4,-2");
  EXPECT_EQ(two(ExprOp::sub, DType::complex128, "(1,2)", "(3,-4)"), "-2,6");
  EXPECT_EQ(two(ExprOp::mul, DType::complex64, "(1,2)", "(3,-4)"), "11,2");
  EXPECT_EQ(two(ExprOp::div, DType::complex64, "(11,2)", "(3,-4)"),
            "1,2");  // Smith's second branch: r = -0.75, d = -6.25
  EXPECT_EQ(two(ExprOp::div, DType::complex128, "(4,2)", "(2,0)"), "2,1");
  // The schoolbook formula overflows here, Smith's does not.
  EXPECT_EQ(two(ExprOp::div, DType::complex64, "(1e30,1e30)", "(1e30,1e30)"), "1,0");
  // No recovery of infinities as C's _Complex has: (inf, nan) * 1 stays as the formula gives it.
  EXPECT_EQ(two(ExprOp::mul, DType::complex64, "(inf,0)", "(1,0)"), "0x7f800000,nan");
  // Each step rounds: 4097 * 4097 = 16785409 becomes 16785408 before the subtraction.
  EXPECT_EQ(two(ExprOp::mul, DType::complex64, "(4097,16785408)", "(4097,1)"), "0,68769824768");
  EXPECT_EQ(one(ExprOp::neg, DType::complex64, "(0,-1)"), "-0,1");
  EXPECT_TRUE(holds(ExprOp::eq, DType::complex64, "(0,-0)", "(-0,0)"));
  EXPECT_TRUE(holds(ExprOp::ne, DType::complex64, "(1,nan)", "(1,nan)"));
}

TEST(ReferenceArithmetic, Accumulators) {
  EXPECT_EQ(reference::accumulator_dtype(Accumulate::native, DType::f16), DType::f16);
  EXPECT_EQ(reference::accumulator_dtype(Accumulate::wide, DType::f8e5m2), DType::f32);
  EXPECT_EQ(reference::accumulator_dtype(Accumulate::wide, DType::f64), DType::f64);
  EXPECT_EQ(reference::accumulator_dtype(Accumulate::wide_f64, DType::f32), DType::f64);
}

/// The results of a graph on one value, for nodes that are movement.
std::string evaluate(const Expr& graph, const Scalar& current) {
  scalar_eval::ExprEvaluator evaluator(graph);
  evaluator.run({&current, 1}, {}, {});
  return text(evaluator.result(0));
}

Expr one_node(ExprOp op, DType from, DType to) { return {{{ExprOp::current, from, {}, 0, {}}, {op, to, {0}, 0, {}}}, {1}}; }

TEST(ReferenceArithmetic, MovementNodesKeepBits) {
  EXPECT_EQ(evaluate(one_node(ExprOp::bitcast, DType::f32, DType::u32), scalar(DType::f32, "0x7f800001")), "2139095041");
  EXPECT_EQ(evaluate(one_node(ExprOp::bitcast, DType::i4, DType::f4e2m1), scalar(DType::i4, "-1")), "-6");
  EXPECT_EQ(evaluate(one_node(ExprOp::imag, DType::complex64, DType::f32), scalar(DType::complex64, "(1,-0)")), "-0");
  EXPECT_EQ(evaluate(one_node(ExprOp::real, DType::complex128, DType::f64), scalar(DType::complex128, "(0.1,2)")), "0.1");
  EXPECT_EQ(evaluate(one_node(ExprOp::convert, DType::i64, DType::f16), scalar(DType::i64, "65519")), "65500");
  Expr pair = one_node(ExprOp::neg, DType::f32, DType::f32);
  pair.nodes.push_back({ExprOp::complex, DType::complex64, {0, 1}, 0, {}});
  pair.results = {2};
  EXPECT_EQ(evaluate(pair, scalar(DType::f32, "3")), "3,-3");
}

}  // namespace
}  // namespace strew
