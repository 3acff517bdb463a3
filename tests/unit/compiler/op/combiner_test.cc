// The table of combiners: each row is held against arithmetic on scalars with every value of small dtypes, and names are held against the
// graphs they stand for.
#include "compiler/op/combiner.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/number.h"
#include "compiler/evaluate/arithmetic.h"
#include "gtest/gtest.h"
#include "strew/text.h"
#include "strew/verify.h"

namespace strew {
namespace {

/// Every dtype with arithmetic and few enough values to try them all: truth, integers, floats with and without infinities, zeros, signs.
const std::vector<DType> kSmall = [] {
  std::vector<DType> out;
  for (int i = 0; i < kDTypeCount; ++i)
    if (const auto dtype = static_cast<DType>(i); info(dtype).arithmetic && bits(dtype) <= 8) out.push_back(dtype);
  return out;
}();

std::vector<Scalar> all_values(DType dtype) {
  std::vector<Scalar> out;
  const int width = dtype == DType::boolean ? 1 : bits(dtype);
  for (uint64_t code = 0; code < uint64_t{1} << width; ++code) out.push_back({dtype, {code, 0}});
  return out;
}
/// Values for triples: all of up to 16, else every zero, one, extreme, infinity, NaN and a few in between.
std::vector<Scalar> some_values(DType dtype) {
  std::vector<Scalar> all = all_values(dtype), out;
  if (all.size() <= 16) return all;
  for (size_t i = 0; i < all.size(); ++i)
    if (i % 9 == 0 || i % 128 <= 2 || i % 128 >= 121) out.push_back(all[i]);
  return out;
}

bool is_nan(const Scalar& x) { return is_float(x.dtype) && decode(x.dtype, x.bits[0]) != decode(x.dtype, x.bits[0]); }
/// The same bits; any two NaNs count as the same.
bool same(const Scalar& a, const Scalar& b) { return a == b || (is_nan(a) && is_nan(b)); }

std::string title(const CombinerTraits& row, DType dtype) {
  return std::string(name(row.kind)) + " on " + std::string(name(dtype));
}

template <class Check>
void for_each_row(const Check& check) {
  for (const CombinerTraits& row : combiner_traits())
    for (const DType dtype : kSmall)
      if (takes(row.op, dtype)) check(row, dtype);
}

TEST(Combiner, EveryNameHasOneRowAndEveryRowOneName) {
  std::set<CombinerKind> kinds;
  std::set<ExprOp> ops;
  for (const CombinerTraits& row : combiner_traits()) {
    EXPECT_TRUE(kinds.insert(row.kind).second && ops.insert(row.op).second);
    EXPECT_EQ(find_combiner(row.kind), &row);
    EXPECT_EQ(find_combiner(row.op), &row);
    EXPECT_EQ(info(row.op).arity, 2);
  }
  EXPECT_EQ(kinds.size(), static_cast<size_t>(CombinerKind::expr) - 1) << "all but assign and expr";
  EXPECT_EQ(find_combiner(CombinerKind::assign), nullptr);
  EXPECT_EQ(find_combiner(CombinerKind::expr), nullptr);
  EXPECT_EQ(find_combiner(ExprOp::pow), nullptr);
}

TEST(Combiner, CommutesWhereTheRowSaysSo) {
  for (const CombinerTraits& row : combiner_traits()) {
    bool commutes = true;
    for (const DType dtype : kSmall) {
      if (!takes(row.op, dtype)) continue;
      for (const Scalar& a : all_values(dtype))
        for (const Scalar& b : all_values(dtype))
          commutes = commutes && same(scalar_eval::apply(row.op, a, b), scalar_eval::apply(row.op, b, a));
    }
    EXPECT_EQ(row.commutes, commutes) << name(row.kind);
  }
}

// A private table starts with the identity e and holds e op x; merged into y that has to be y op x.
TEST(Combiner, AFoldThatStartsWithTheIdentityAndIsMergedIsTheFold) {
  for_each_row([](const CombinerTraits& row, DType dtype) {
    const std::optional<uint64_t> code = identity_bits(row.op, dtype);
    EXPECT_EQ(code.has_value(), row.op != ExprOp::div) << title(row, dtype);
    ASSERT_NE(find_combiner(merge_of(row.op)), nullptr);
    if (!code) return;
    const Scalar identity{dtype, {*code, 0}};
    for (const Scalar& x : all_values(dtype))
      for (const Scalar& y : all_values(dtype)) {
        const Scalar apart = scalar_eval::apply(merge_of(row.op), y, scalar_eval::apply(row.op, identity, x));
        ASSERT_TRUE(same(apart, scalar_eval::apply(row.op, y, x)))
            << title(row, dtype) << ": " << print(y) << " with " << print(x) << " gave " << print(apart);
      }
  });
}

/// Whether (y op a) op b is the same as (y op b) op a, and as y merged with the fold of a and b that starts with the identity.
bool groups_freely(const CombinerTraits& row, DType dtype) {
  const std::optional<uint64_t> code = identity_bits(row.op, dtype);
  const ExprOp merge = merge_of(row.op);
  const std::vector<Scalar> values = some_values(dtype);
  for (const Scalar& a : values)
    for (const Scalar& b : values) {
      const Scalar start{dtype, {code.value_or(0), 0}};
      const Scalar apart = scalar_eval::apply(row.op, scalar_eval::apply(row.op, start, a), b);
      for (const Scalar& y : values) {
        const Scalar in_order = scalar_eval::apply(row.op, scalar_eval::apply(row.op, y, a), b);
        if (!same(in_order, scalar_eval::apply(row.op, scalar_eval::apply(row.op, y, b), a))) return false;
        if (!code || !same(in_order, scalar_eval::apply(merge, y, apart))) return false;
      }
    }
  return true;
}

TEST(Combiner, UpdatesRegroupExactlyWhereTheTableSaysSo) {
  for_each_row([](const CombinerTraits& row, DType dtype) {
    EXPECT_EQ(regroups_exactly(row.op, dtype), groups_freely(row, dtype)) << title(row, dtype);
  });
}

TEST(Combiner, DomainsAreWhatVerifyAccepts) {
  for (const CombinerTraits& row : combiner_traits())
    for (int i = 0; i < kDTypeCount; ++i) {
      const auto dtype = static_cast<DType>(i);
      const std::string t(name(dtype));
      Expected<Op> op = parse_op("strew1.scatter(operand=" + t + "[8] indices=i32[4] updates=" + t +
                                 "[4] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=" +
                                 std::string(name(row.kind)) + ")");
      ASSERT_TRUE(op.ok());
      EXPECT_EQ(verify(*op).ok(), takes(row.op, dtype)) << title(row, dtype);
    }
}

TEST(Combiner, WhatHasNoIdentityIsNotRegrouped) {
  EXPECT_FALSE(identity_bits(ExprOp::pow, DType::i32).has_value());
  EXPECT_FALSE(identity_bits(ExprOp::add, DType::complex64).has_value());
  EXPECT_FALSE(identity_bits(ExprOp::sub, DType::boolean).has_value());
  EXPECT_FALSE(identity_bits(ExprOp::add, DType::string).has_value());
  EXPECT_FALSE(regroups_exactly(ExprOp::pow, DType::i32));
  EXPECT_FALSE(regroups_exactly(ExprOp::add, DType::complex64));
  EXPECT_FALSE(regroups_exactly(ExprOp::div, DType::i32));
  EXPECT_EQ(merge_of(ExprOp::pow), ExprOp::pow);
}

Scatter pairs_of(CombinerKind kind) {
  Scatter s;
  s.operands = s.results = {{DType::f32, {8}, {}}, {DType::f16, {8}, {}}};
  s.updates = {{DType::f32, {4}, {}}, {DType::i8, {4}, {}}};
  s.combiner = kind;
  return s;
}

TEST(Combiner, ANameAndItsGraphAreTheSame) {
  for (int i = 0; i < static_cast<int>(CombinerKind::expr); ++i) {
    const auto kind = static_cast<CombinerKind>(i);
    const Scatter s = pairs_of(kind);
    Scatter by_graph = pairs_of(CombinerKind::expr);
    set_combiner(by_graph, combine_graph(Op(s)));
    EXPECT_EQ(by_graph, s) << name(kind);
  }
  EXPECT_EQ(kind_of({}), CombinerKind::assign);
  EXPECT_EQ(print(combine_graph(Op(pairs_of(CombinerKind::sub)))),
            "{%0=update(0):f32; %1=current(0):f32; %2=subtract(%1,%0):f32; %3=update(1):i8; %4=convert(%3):f16; "
            "%5=current(1):f16; %6=subtract(%5,%4):f16; return %2, %6}");
  EXPECT_EQ(print(combine_graph(Op(pairs_of(CombinerKind::assign)))),
            "{%0=update(0):f32; %1=update(1):i8; %2=convert(%1):f16; return %0, %2}");
}

TEST(Combiner, ArgumentsChangePlacesOnlyWhereTheOperatorCommutes) {
  for (const CombinerTraits& row : combiner_traits()) {
    const Expr swapped{
        {{ExprOp::current, DType::u8, {}, 0, {}}, {ExprOp::update, DType::u8, {}, 0, {}}, {row.op, DType::u8, {1, 0}, 0, {}}},
        {2}};
    EXPECT_EQ(kind_of(swapped), row.commutes ? row.kind : CombinerKind::expr) << name(row.kind);
  }
}

TEST(Combiner, OtherGraphsHaveNoName) {
  Expr mixed = combine_graph(Op(pairs_of(CombinerKind::add)));
  mixed.nodes.back().op = ExprOp::mul;
  EXPECT_EQ(kind_of(mixed), CombinerKind::expr) << "the pairs differ";
  Scatter s;
  set_combiner(s, mixed);
  EXPECT_EQ(s.combiner, CombinerKind::expr);
  EXPECT_EQ(s.expr, mixed);
  Expr crossed = combine_graph(Op(pairs_of(CombinerKind::assign)));
  std::swap(crossed.results[0], crossed.results[1]);
  EXPECT_EQ(kind_of(crossed), CombinerKind::expr) << "each pair has the other's update";
  Expr twice = combine_graph(Op(pairs_of(CombinerKind::add)));
  twice.nodes[2].args = {1, 1};
  EXPECT_EQ(kind_of(twice), CombinerKind::expr) << "the update is not read";
}

}  // namespace
}  // namespace strew
