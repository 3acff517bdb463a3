// Symbolic arithmetic: that polynomials are equal where their values are, and that what does not fit is said to.
#include "compiler/plan/term.h"

#include <gmock/gmock.h>

#include <limits>

#include "tests/support/rng.h"

namespace strew::inline v0 {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

/// The value modulo 2^64.
uint64_t value_of(const Poly& poly, const int64_t* values) {
  uint64_t out = 0;
  for (const Term& term : poly.terms()) out += static_cast<uint64_t>(evaluate(term, values));
  return out;
}

TEST(Terms, ProductsAreEqualInAnyOrder) {
  const Term a{3, {0, 2}}, b{5, {1}};
  EXPECT_EQ(a * b, b * a);
  EXPECT_EQ(a * b, (Term{15, {0, 1, 2}}));
  EXPECT_EQ(a * constant(0), constant(0)) << "zero has no symbols";
  const int64_t values[] = {7, 11, 13};
  EXPECT_EQ(evaluate(a * b, values), 15 * 7 * 11 * 13);
}

TEST(Terms, HaveACommonFactor) {
  EXPECT_EQ(common_factor({}), constant(1));
  EXPECT_EQ(common_factor({constant(0), constant(0)}), constant(1));
  EXPECT_EQ(common_factor({constant(12), constant(0), constant(18)}), constant(6));
  EXPECT_EQ(common_factor({constant(-12), constant(-18)}), constant(-6)) << "what is left of each is not negative";
  EXPECT_EQ(common_factor({constant(-12), constant(18)}), constant(6));
  EXPECT_EQ(common_factor({Term{4, {0, 1, 1}}, Term{6, {1, 2}}}), (Term{2, {1}}));
  EXPECT_EQ(common_factor({Term{4, {1}}, constant(6)}), constant(2));
}

TEST(Terms, AreDividedByTheirDivisors) {
  EXPECT_EQ(quotient(Term{12, {0, 1, 1}}, Term{-4, {1}}), (Term{-3, {0, 1}}));
  EXPECT_EQ(quotient(constant(0), Term{4, {1}}), constant(0));
  EXPECT_EQ(quotient(Term{12, {0}}, constant(5)), std::nullopt);
  EXPECT_EQ(quotient(Term{12, {0}}, Term{4, {1}}), std::nullopt);
  EXPECT_EQ(quotient(constant(4), constant(0)), std::nullopt);
}

TEST(Terms, SumsAndProductsOfRandomPolynomials) {
  test::Rng rng(11);
  for (int round = 0; round < 500; ++round) {
    const auto draw = [&] {
      Poly out = rng.below(9) - 4;
      for (int64_t i = rng.below(3); i > 0; --i) {
        Poly term = Poly::symbol(static_cast<SymbolId>(rng.below(3)));
        if (rng.below(2) == 0) term = *product(term, Poly::symbol(static_cast<SymbolId>(rng.below(3))));
        out = *sum(out, *product(term, Poly(rng.below(9) - 4)));
      }
      return out;
    };
    const int64_t values[] = {rng.below(100) - 50, rng.below(100) - 50, rng.below(100) - 50};
    const Poly a = draw(), b = draw(), c = draw();
    EXPECT_EQ(sum(a, b), sum(b, a));
    EXPECT_EQ(product(a, b), product(b, a));
    EXPECT_EQ(sum(*sum(a, b), b, -1), a);
    EXPECT_EQ(value_of(*sum(a, b), values), value_of(a, values) + value_of(b, values));
    const auto all = product(a, b);
    if (!all) continue;  // too many terms
    EXPECT_EQ(value_of(*all, values), value_of(a, values) * value_of(b, values));
    const auto left = product(*sum(a, b), c), right_a = product(a, c), right_b = product(b, c);
    if (left && right_a && right_b) {
      EXPECT_EQ(*left, *sum(*right_a, *right_b)) << "products distribute over sums";
    }
    for (const Term& term : all->terms()) EXPECT_NE(term.factor, 0);
  }
}

TEST(Terms, WhatDoesNotFitIsNothing) {
  const Poly x = Poly::symbol(0), large = *product(x, Poly(kMost));
  EXPECT_EQ(sum(large, x), std::nullopt);
  EXPECT_EQ(product(large, Poly(2)), std::nullopt);
  EXPECT_EQ(sum(Poly(kMost), Poly(1)), std::nullopt);
  const Poly square = *product(x, x);
  EXPECT_NE(product(square, square), std::nullopt);
  EXPECT_EQ(product(*product(square, square), x), std::nullopt) << "five symbols";
  Poly many;
  for (SymbolId s = 0; s < 8; ++s) many = *sum(many, Poly::symbol(s));
  EXPECT_EQ(sum(many, Poly::symbol(8)), std::nullopt) << "nine terms";
}

TEST(Terms, FactorsAreFound) {
  const Poly x = Poly::symbol(0), y = Poly::symbol(1);
  const Poly p = *sum(*product(x, *sum(y, Poly(3))), *product(y, Poly(2)));  // x * (y + 3) + 2 * y
  Poly rest;
  EXPECT_EQ(p.factor_of(0, rest), sum(y, Poly(3)));
  EXPECT_EQ(rest, *product(y, Poly(2)));
  EXPECT_EQ(product(x, x)->factor_of(0, rest), std::nullopt);
  EXPECT_EQ(product(p, Poly(6))->divided_by(6), p);
  EXPECT_EQ(p.divided_by(2), std::nullopt);
  EXPECT_EQ(p.divided_by(0), std::nullopt);
  EXPECT_EQ(x.alone(), 0);
  EXPECT_EQ(p.alone(), std::nullopt);
  EXPECT_TRUE(sum(x, x, -1)->is(0));
  EXPECT_TRUE(p.has(1));
  EXPECT_FALSE(p.has(2));
}

}  // namespace
}  // namespace strew::inline v0
