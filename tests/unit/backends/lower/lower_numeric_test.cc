// Every rule of lower_numeric() against the reference's evaluation of the unlowered graph: once for a target without any compound, once for one with
// all. Of dtypes of at most 16 bits all values, alone and with edges as the other argument; of wider ones edges and random values.
// A failure names the seed: --gtest_random_seed=SEED runs the same again.
#include "backends/lower/lower_numeric.h"

#include <gtest/gtest.h>

#include <bit>
#include <ctime>
#include <limits>

#include "backends/lower/soft_floats.h"
#include "base/number.h"
#include "compiler/evaluate/expr_eval.h"
#include "compiler/op/expr_math.h"
#include "strew/expr_builder.h"
#include "strew/text.h"
#include "tests/differential/random_expr.h"
#include "tests/support/interpret_lowered.h"
#include "tests/support/rng.h"

namespace strew {
namespace {
using lowered::Graph;
using lowered::Natives;
using Elements = std::vector<Scalar>;

class LowerNumeric : public testing::Test {
 protected:
  static int32_t drawn_seed() {
    const int32_t given = GTEST_FLAG_GET(random_seed);
    return given != 0 ? given : static_cast<int32_t>(std::time(nullptr) % 99999 + 1);
  }
  const int32_t seed_ = drawn_seed();
  test::Rng rng_{static_cast<uint64_t>(seed_)};
  int64_t soft_ = 0;  ///< how often a form without floats was compared

  /// Codes at which rules differ: zeros, ones, limits, ties, infinities, NaNs, halves.
  Elements edges(DType dtype) {
    Elements out;
    const auto real = [&](DType part) {
      std::vector<uint64_t> codes{0, 1, 2, 3};
      const int digits = bits(part);
      const uint64_t ones = ~uint64_t{0} >> (64 - digits), top = uint64_t{1} << (digits - 1);
      if (part == DType::boolean) return std::vector<uint64_t>{0, 1};
      codes.insert(codes.end(), {ones, ones - 1, top, top - 1, top + 1, static_cast<uint64_t>(digits - 1) & ones,
                                 static_cast<uint64_t>(digits) & ones, static_cast<uint64_t>(digits + 1) & ones});
      if (is_float(part))
        for (const double value : {1.0,
                                   -1.0,
                                   0.5,
                                   -0.5,
                                   1.5,
                                   2.5,
                                   127.5,
                                   -128.5,
                                   255.5,
                                   65504.0,
                                   65519.0,
                                   65520.0,
                                   448.0,
                                   464.0,
                                   240.0,
                                   57344.0,
                                   1e10,
                                   -1e10,
                                   1e30,
                                   std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN()})
          codes.push_back(encode(part, value));
      if (is_integer(part) && digits > 32)
        codes.insert(codes.end(),
                     {uint64_t{1} << 53, (uint64_t{1} << 53) + 1, (uint64_t{1} << 54) + 3, ones - 0x7ff, uint64_t{1} << 24});
      return codes;
    };
    if (!is_complex(dtype)) {
      for (const uint64_t code : real(dtype)) out.push_back({dtype, {code, 0}});
      return out;
    }
    const std::vector<uint64_t> parts = real(part_dtype(dtype));
    for (size_t i = 0; i < parts.size(); ++i) out.push_back(make_complex(dtype, parts[i], parts[(i * 7 + 3) % parts.size()]));
    return out;
  }
  Scalar drawn(DType dtype) {
    if (is_complex(dtype)) return make_complex(dtype, drawn(part_dtype(dtype)).bits[0], drawn(part_dtype(dtype)).bits[0]);
    const uint64_t ones = dtype == DType::boolean ? 1 : ~uint64_t{0} >> (64 - bits(dtype));
    uint64_t code = rng_.next();
    // Many floats near one another, and integers of all magnitudes.
    if (is_float(dtype) && rng_.chance(50)) code = encode(dtype, static_cast<double>(rng_.between(-4000, 4000)) / 16);
    if (is_integer(dtype) && rng_.chance(50)) code >>= rng_.below(bits(dtype)) + (64 - bits(dtype));
    return {dtype, {code & ones, 0}};
  }
  /// All values of at most 16 bits; else edges and random ones.
  Elements values(DType dtype, int random = 4000) {
    if (bits(dtype) <= 16 && dtype != DType::boolean) {
      Elements all;
      for (uint64_t code = 0; code < uint64_t{1} << bits(dtype); ++code) all.push_back({dtype, {code, 0}});
      return all;
    }
    Elements out = edges(dtype);
    for (int i = 0; i < random && dtype != DType::boolean; ++i) out.push_back(drawn(dtype));
    return out;
  }

  /// Compares what the graph's lowered forms compute with what the reference computes. inputs: those of current, update and extra, as far as the
  /// graph reads them.
  void compare(const Expr& graph, const std::vector<Elements>& inputs) {
    constexpr size_t kBlock = 4096;
    for (size_t from = 0; from < inputs[0].size() && !HasFatalFailure(); from += kBlock) {
      std::vector<Elements> block;
      for (const Elements& input : inputs)
        block.emplace_back(input.begin() + from, input.begin() + std::min(from + kBlock, input.size()));
      compare_block(graph, block);
    }
  }
  void compare_block(const Expr& graph, const std::vector<Elements>& inputs) {
    const size_t count = inputs[0].size();
    scalar_eval::ExprEvaluator reference(graph);
    std::vector<Elements> want(graph.results.size(), Elements(count));
    for (size_t k = 0; k < count; ++k) {
      const auto one = [&](size_t i) { return i < inputs.size() ? std::span(&inputs[i][k], 1) : std::span<const Scalar>(); };
      reference.run(one(0), one(1), one(2));
      for (size_t r = 0; r < want.size(); ++r) want[r][k] = reference.result(r);
    }
    std::vector<Graph> forms = {lower_numeric(graph, {}), lower_numeric(graph, Natives::all())};
    if (Expected<Graph> soft = lowered::without_floats(forms[0], {}); soft.ok()) {
      forms.push_back(std::move(*soft));
      ++soft_;
    }
    for (const Graph& lowered : forms) {
      std::vector<Elements> given;
      for (const Graph::Input& input : lowered.inputs)
        given.push_back(inputs[input.op == ExprOp::current ? 0 : input.op == ExprOp::update ? 1 : 2]);
      const test::Interpreted got = test::interpret(lowered, given, count);
      ASSERT_EQ(got.wrong, "") << "seed " << seed_ << "\n" << print(lowered);
      for (size_t r = 0; r < want.size(); ++r)
        for (size_t k = 0; k < count; ++k)
          if (!same_value(got.results[r][k], want[r][k])) {
            std::string arguments;
            for (const Elements& input : inputs) arguments += " " + print(input[k]);
            FAIL() << print(graph) << " of" << arguments << ": " << print(got.results[r][k]) << ", expected " << print(want[r][k])
                   << ", seed " << seed_ << "\n"
                   << lowered::print(lowered);
          }
    }
  }

  static std::vector<ExprOp> operators(int arity, DType dtype) {
    std::vector<ExprOp> out;
    for (const ExprOpInfo& row : expr_ops())
      if (row.arity == arity && row.result != ExprResult::own && takes(row, dtype)) out.push_back(row.op);
    return out;
  }
  static bool takes(const ExprOpInfo& row, DType dtype) {
    if (row.op == ExprOp::complex) return dtype == DType::f32 || dtype == DType::f64;
    switch (info(dtype).kind) {
      case DTypeKind::boolean:
        return (row.arguments & expr_dtypes::boolean) != 0;
      case DTypeKind::signed_integer:
        return (row.arguments & expr_dtypes::signed_integers) != 0;
      case DTypeKind::unsigned_integer:
        return (row.arguments & expr_dtypes::unsigned_integers) != 0;
      case DTypeKind::floating:
        return (row.arguments & expr_dtypes::floats) != 0;
      case DTypeKind::complex:
        return (row.arguments & expr_dtypes::complexes) != 0;
      case DTypeKind::string:
        break;
    }
    return false;
  }
};

/// Every value of `a` with every value of `b`.
std::vector<Elements> pairs(const Elements& a, const Elements& b) {
  std::vector<Elements> out(2);
  for (const Scalar& x : a)
    for (const Scalar& y : b) {
      out[0].push_back(x);
      out[1].push_back(y);
    }
  return out;
}

TEST_F(LowerNumeric, UnaryOperators) {
  for (const DType dtype : test::arithmetic_dtypes())
    for (const ExprOp op : operators(1, dtype)) {
      ExprBuilder e;
      const int32_t x = e.current(0, dtype);
      compare(e.returns({e.apply(op, {x})}), {find_math_function(op) == nullptr ? values(dtype) : edges(dtype)});
      if (HasFatalFailure()) return;
    }
}

TEST_F(LowerNumeric, BinaryOperators) {
  constexpr int kPairs = 4000;
  for (const DType dtype : test::arithmetic_dtypes())
    for (const ExprOp op : operators(2, dtype)) {
      ExprBuilder e;
      const int32_t x = e.current(0, dtype), y = e.update(0, dtype);
      const Expr graph = e.returns({e.apply(op, {x, y})});
      if (find_math_function(op) != nullptr && op != ExprOp::rem) {
        compare(graph, pairs(edges(dtype), {drawn(dtype), drawn(dtype)}));
      } else if (bits(dtype) <= 8) {
        compare(graph, pairs(values(dtype), values(dtype)));
      } else {
        compare(graph, pairs(edges(dtype), edges(dtype)));
        if (HasFatalFailure()) return;
        if (bits(dtype) == 16) {
          const Elements some = edges(dtype), all = values(dtype);
          const Elements two{test::Rng(rng_).pick(some), some[static_cast<size_t>(rng_.below(4))], drawn(dtype)};
          compare(graph, pairs(two, all));
          compare(graph, pairs(all, two));
        }
        std::vector<Elements> random(2);
        for (int i = 0; i < kPairs; ++i)
          for (Elements& side : random) side.push_back(drawn(dtype));
        compare(graph, random);
      }
      if (HasFatalFailure()) return;
    }
}

TEST_F(LowerNumeric, TernaryOperators) {
  constexpr int kElements = 20000;
  for (const DType dtype : test::arithmetic_dtypes())
    for (const ExprOp op : operators(3, dtype)) {
      ExprBuilder e;
      const int32_t x = e.current(0, dtype), y = e.update(0, dtype), z = e.extra(0, dtype);
      const Elements some = edges(dtype);
      std::vector<Elements> inputs(3);
      for (int i = 0; i < kElements; ++i)
        for (Elements& input : inputs) input.push_back(rng_.chance(30) ? rng_.pick(some) : drawn(dtype));
      compare(e.returns({e.apply(op, {x, y, z})}), inputs);
      if (HasFatalFailure()) return;
    }
}

TEST_F(LowerNumeric, Conversions) {
  for (const DType from : test::arithmetic_dtypes())
    for (const DType to : test::arithmetic_dtypes()) {
      if (is_complex(from) && !is_complex(to)) continue;
      ExprBuilder e;
      const int32_t x = e.current(0, from);
      compare(e.returns({e.convert(x, to)}), {values(from)});
      if (HasFatalFailure()) return;
      const bool same_bits = bits(from) == bits(to) && from != DType::boolean && to != DType::boolean;
      if (same_bits && !is_complex(from) && !is_complex(to)) compare(e.returns({e.bitcast(x, to)}), {values(from)});
      if (HasFatalFailure()) return;
    }
}

TEST_F(LowerNumeric, SelectMovesBits) {
  for (const DType dtype : test::arithmetic_dtypes()) {
    ExprBuilder e;
    const int32_t a = e.current(0, dtype), b = e.update(0, dtype), truth = e.extra(0, DType::boolean);
    const Expr graph = e.returns({e.apply(ExprOp::select, {truth, a, b})});
    std::vector<Elements> inputs = pairs(edges(dtype), edges(dtype));
    for (size_t k = 0; k < inputs[0].size(); ++k) inputs.resize(3), inputs[2].push_back(Scalar::of(k % 3 == 0));
    const Graph lowered = lower_numeric(graph, {});
    const test::Interpreted got = test::interpret(lowered, inputs, inputs[0].size());
    ASSERT_EQ(got.wrong, "");
    for (size_t k = 0; k < inputs[0].size(); ++k)
      ASSERT_EQ(got.results[0][k].bits, inputs[k % 3 == 0 ? 0 : 1][k].bits) << name(dtype) << " " << k << "\n" << print(lowered);
  }
}

TEST_F(LowerNumeric, RandomGraphs) {
  constexpr int kGraphs = 1500, kElements = 60;
  for (int i = 0; i < kGraphs; ++i) {
    std::vector<test::ExprInput> inputs;
    std::vector<Elements> elements;
    for (const ExprOp op : {ExprOp::current, ExprOp::update, ExprOp::extra}) {
      inputs.push_back({op, 0, rng_.pick(test::arithmetic_dtypes())});
      elements.emplace_back();
      const Elements some = edges(inputs.back().dtype);
      for (int k = 0; k < kElements; ++k)
        elements.back().push_back(rng_.chance(50) ? rng_.pick(some) : drawn(inputs.back().dtype));
    }
    compare(test::random_expr(rng_, inputs, {inputs[0].dtype, rng_.pick(test::arithmetic_dtypes())}, {4, true}), elements);
    if (HasFatalFailure()) return;
  }
}

/// Elements that only move leave as they came, whatever their dtype.
TEST_F(LowerNumeric, EveryDtypeMoves) {
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    ExprBuilder e;
    const Graph graph = lower_numeric(e.returns({e.current(0, dtype)}), {});
    ASSERT_EQ(graph.results[0].moved, 0) << name(dtype);
    const Scalar bits{
        dtype,
        {rng_.next() & (~uint64_t{0} >> (64 - std::min(64, strew::bits(dtype)))), strew::bits(dtype) > 64 ? rng_.next() : 0}};
    EXPECT_EQ(test::interpret(graph, {{bits}}, 1).results[0][0], bits) << name(dtype);
  }
}

TEST(LoweredGraph, Prints) {
  ExprBuilder e;
  const int32_t a = e.current(0, DType::u8), b = e.update(0, DType::u8);
  const Expr graph = e.returns({e.apply(ExprOp::max, {a, b})});
  EXPECT_EQ(lowered::print(lower_numeric(graph, {})),
            "%0 = input i8 0.0\n%1 = input i8 1.0\n%2 = ult i1 %0 %1\n%3 = select i8 %2 %1 %0\nresult u8 %3\n");
  EXPECT_EQ(lowered::print(lower_numeric(graph, {lowered::Primitive::umax})),
            "%0 = input i8 0.0\n%1 = input i8 1.0\n%2 = umax i8 %0 %1\nresult u8 %2\n");
}

}  // namespace
}  // namespace strew
