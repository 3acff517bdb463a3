// Canonical text: pinned examples, the round trip over random ops (verified or not), scalars bit for bit, errors with their
// offset, mutated text that must never crash, and pinned hashes.
#include <cstdlib>
#include <random>
#include <string>

#include "base/number.h"
#include "compiler/op/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "strew/text.h"

namespace strew {
namespace {

using testing::HasSubstr;
using Random = std::mt19937_64;

int64_t pick(Random& r, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(r() % static_cast<uint64_t>(high - low + 1));
}

template <class Enum>
Enum pick_enum(Random& r, Enum last) {
  return static_cast<Enum>(pick(r, 0, static_cast<int64_t>(last)));
}

uint64_t seed_of_run() {
  const char* text = std::getenv("STREW_TEST_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : std::random_device()();
}

Scalar random_scalar(Random& r, DType dtype) {
  const int width = bits(dtype);
  const uint64_t mask = width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  Scalar s{dtype, {r() & mask, width > 64 ? r() : 0}};
  if (dtype == DType::boolean && pick(r, 0, 3) != 0) s.bits[0] &= 1;
  return s;
}

std::vector<int64_t> random_list(Random& r, bool dynamic) {
  std::vector<int64_t> out(static_cast<size_t>(pick(r, 0, 4)));
  for (int64_t& v : out) {
    const int64_t shape = pick(r, 0, 9);
    v = shape == 0 && dynamic ? kDynamic : shape == 1 ? static_cast<int64_t>(r() | 1) : pick(r, 0, 2048);
  }
  return out;
}

TensorType random_type(Random& r) {
  TensorType t{pick_enum(r, DType::string), random_list(r, true), {}};
  if (pick(r, 0, 2) == 0) t.strides = random_list(r, true);
  return t;
}

std::vector<TensorType> random_types(Random& r) {
  std::vector<TensorType> out(static_cast<size_t>(pick(r, 0, 3)));
  for (TensorType& t : out) t = random_type(r);
  return out;
}

std::vector<Extra> random_extras(Random& r) {
  std::vector<Extra> out(static_cast<size_t>(pick(r, 0, 2)));
  for (Extra& e : out) e = {pick_enum(r, ExtraKind::scalar), random_type(r)};
  return out;
}

Expr random_expr(Random& r) {
  Expr e;
  if (pick(r, 0, 1) == 0) return e;
  e.nodes.resize(static_cast<size_t>(pick(r, 0, 12)));
  for (ExprNode& node : e.nodes) {
    node.op = pick_enum(r, ExprOp::fma);
    node.dtype = pick_enum(r, DType::string);
    if (node.op == ExprOp::literal) {
      node.value = random_scalar(r, node.dtype);
    } else if (node.op <= ExprOp::extra) {
      node.index = static_cast<int32_t>(pick(r, -1, 5));
    } else {
      node.args.resize(static_cast<size_t>(info(node.op).arity));
      for (int32_t& arg : node.args) arg = static_cast<int32_t>(pick(r, -1, 12));
    }
  }
  e.results.resize(static_cast<size_t>(pick(r, 0, 3)));
  for (int32_t& result : e.results) result = static_cast<int32_t>(pick(r, 0, 12));
  return e;
}

bool coin(Random& r) { return (r() & 1) != 0; }

Scatter random_scatter(Random& r) {
  Scatter s;
  s.operands = random_types(r);
  s.indices = random_type(r);
  s.updates = random_types(r);
  s.extras = random_extras(r);
  s.results = coin(r) ? s.operands : random_types(r);
  s.dims = {random_list(r, false), random_list(r, false), random_list(r, false),
            random_list(r, false), random_list(r, false), pick(r, -1, 5)};
  s.combiner = pick_enum(r, CombinerKind::expr);
  while (s.combiner == CombinerKind::expr && s.expr == Expr{}) s.expr = random_expr(r);
  s.init = pick_enum(r, InitKind::fill);
  s.fill.resize(static_cast<size_t>(pick(r, 0, 3)));
  for (Scalar& fill : s.fill) fill = random_scalar(r, pick_enum(r, DType::string));
  s.oob = pick_enum(r, OobPolicy::fill_window);
  s.normalize_negative = coin(r);
  s.order = pick_enum(r, Order::relaxed);
  s.accumulate = pick_enum(r, Accumulate::wide_f64);
  s.indices_are_sorted = coin(r);
  s.unique_indices = coin(r);
  return s;
}

Gather random_gather(Random& r) {
  Gather g;
  g.operand = random_type(r);
  g.indices = random_type(r);
  g.extras = random_extras(r);
  g.result = random_type(r);
  g.dims = {random_list(r, false), random_list(r, false), random_list(r, false),
            random_list(r, false), random_list(r, false), pick(r, -1, 5)};
  g.slice_sizes = random_list(r, true);
  g.expr = random_expr(r);
  g.oob = pick_enum(r, OobPolicy::fill_window);
  // Without a fill value, an op whose policy fills does not verify, and its text stands for a fill of 0:f32.
  const bool fills = g.oob == OobPolicy::fill_element || g.oob == OobPolicy::fill_window;
  if (fills || coin(r)) g.fill = random_scalar(r, pick_enum(r, DType::string));
  g.normalize_negative = coin(r);
  g.indices_are_sorted = coin(r);
  return g;
}

Op random_op(Random& r) { return coin(r) ? Op(random_scatter(r)) : Op(random_gather(r)); }

Scatter kv_write() {
  Scatter s;
  s.operands = {{DType::bf16, {8, 8, 2048, 128}, {}}};
  s.indices = {DType::i64, {8}, {}};
  s.updates = {{DType::bf16, {8, 8, 1, 128}, {}}};
  s.results = s.operands;
  s.dims = {{1, 2, 3}, {}, {0}, {0}, {2}, 1};
  s.oob = OobPolicy::error;
  return s;
}

TEST(OpText, ScatterExample) {
  EXPECT_EQ(print(Op(kv_write())),
            "strew1.scatter(operand=bf16[8,8,2048,128] indices=i64[8] updates=bf16[8,8,1,128] update_window_dims=[1,2,3] "
            "input_batching_dims=[0] scatter_indices_batching_dims=[0] scatter_dims_to_operand_dims=[2] index_vector_dim=1 "
            "oob=error)");
}

TEST(OpText, GatherExample) {
  Gather g;
  g.operand = {DType::f32, {kDynamic, 64}, {}};
  g.indices = {DType::u32, {7}, {}};
  g.result = {DType::f16, {7, 64}, {128, 1}};
  g.dims = {{1}, {0}, {}, {}, {0}, 1};
  g.slice_sizes = {1, 64};
  g.oob = OobPolicy::fill_window;
  g.fill = {DType::f32, {0xbfc00000, 0}};
  EXPECT_EQ(print(Op(g)),
            "strew1.gather(operand=f32[?,64] indices=u32[7] result=f16[7,64]{128,1} offset_dims=[1] collapsed_slice_dims=[0] "
            "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,64] oob=fill_window fill=-1.5:f32)");
}

TEST(OpText, VariadicScatterWithExpressionExample) {
  Scatter s;
  s.operands = {{DType::f32, {9}, {}}, {DType::i32, {9}, {}}};
  s.results = s.operands;
  s.indices = {DType::i8, {3, 1}, {}};
  s.updates = {{DType::bf16, {3}, {}}, {DType::i32, {3}, {}}};
  s.extras = {{ExtraKind::per_position, {DType::f32, {3}, {}}}};
  s.dims = {{}, {0}, {}, {}, {0}, 1};
  ExprNode two{ExprOp::literal, DType::f32, {}, 0, {DType::f32, {0x40000000, 0}}};
  s.combiner = CombinerKind::expr;
  s.expr = {{{ExprOp::current, DType::f32, {}, 0, {}},
             two,
             {ExprOp::mul, DType::f32, {0, 1}, 0, {}},
             {ExprOp::update, DType::i32, {}, 1, {}}},
            {2, 3}};
  EXPECT_EQ(print(Op(s)),
            "strew1.scatter(operand=[f32[9],i32[9]] indices=i8[3,1] updates=[bf16[3],i32[3]] extras=[per_position:f32[3]] "
            "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=expr "
            "expr={%0=current(0):f32; %1=constant(2):f32; %2=multiply(%0,%1):f32; %3=update(1):i32; return %2, %3})");
  EXPECT_EQ(*parse_op(print(Op(s))), Op(s));
}

TEST(OpText, AGraphStaysAGraphEvenWhereANameSaysTheSame) {
  // compiler/rewrite/rewrites.cc makes one op of the two.
  const std::string text =
      "strew1.scatter(operand=bf16[8] indices=i32[4] updates=f32[4] result=f64[8] combiner=expr expr={%0=update(0):f32; "
      "%1=convert(%0):f64; %2=current(0):f64; %3=subtract(%2,%1):f64; return %3})";
  const Expected<Op> op = parse_op(text);
  ASSERT_TRUE(op.ok()) << op.status().message();
  EXPECT_EQ(std::get<Scatter>(*op).combiner, CombinerKind::expr);
  EXPECT_EQ(print(*op), text);
}

TEST(OpText, RandomOpsRoundTrip) {
  const uint64_t seed = seed_of_run();
  SCOPED_TRACE("STREW_TEST_SEED=" + std::to_string(seed));
  Random r(seed);
  for (int i = 0; i < 20000; ++i) {
    const Op op = random_op(r);
    const std::string text = print(op);
    const Expected<Op> back = parse_op(text);
    ASSERT_TRUE(back.ok()) << text << "\n" << back.status().message();
    ASSERT_EQ(*back, op) << text;
    ASSERT_EQ(print(*back), text);
  }
}

TEST(OpText, SpacesAndFieldOrderAreFree) {
  const std::string text =
      "  strew1 . scatter (\n  index_vector_dim = 1 oob= error updates=bf16 [8, 8,1 ,128] input_batching_dims=[0]\n"
      "update_window_dims=[ 1,2,3 ]scatter_indices_batching_dims=[0] operand=[bf16[8,8,2048,128]] combiner=assign\n"
      "scatter_dims_to_operand_dims=[2] indices=i64[8]{} ) ";
  const Expected<Op> op = parse_op(text);
  ASSERT_TRUE(op.ok()) << op.status().message();
  EXPECT_EQ(*op, Op(kv_write()));
}

TEST(OpText, MutatedTextNeverCrashes) {
  const uint64_t seed = seed_of_run();
  SCOPED_TRACE("STREW_TEST_SEED=" + std::to_string(seed));
  Random r(seed);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = print(random_op(r));
    for (int64_t n = pick(r, 1, 3); n > 0 && !text.empty(); --n) {
      const size_t at = static_cast<size_t>(pick(r, 0, static_cast<int64_t>(text.size()) - 1));
      switch (pick(r, 0, 3)) {
        case 0:
          text[at] = static_cast<char>(r());
          break;
        case 1:
          text.erase(at, static_cast<size_t>(pick(r, 1, 9)));
          break;
        case 2:
          text.insert(at, text.substr(static_cast<size_t>(pick(r, 0, static_cast<int64_t>(at))), 20));
          break;
        default:
          text.resize(at);
      }
    }
    const Expected<Op> op = parse_op(text);
    if (!op.ok()) {
      ++refused;
      EXPECT_EQ(op.status().code(), Code::invalid_argument);
      EXPECT_THAT(op.status().message(), HasSubstr("op text, offset "));
    } else {
      const Expected<Op> again = parse_op(print(*op));
      ASSERT_TRUE(again.ok()) << text;
      EXPECT_EQ(*again, *op) << text;
    }
  }
  EXPECT_GT(refused, 10000);
}

struct BadText {
  std::string text, message;
};
class BadOpText : public testing::TestWithParam<BadText> {};
TEST_P(BadOpText, NamesOffsetAndExpectation) {
  const Expected<Op> op = parse_op(GetParam().text);
  ASSERT_FALSE(op.ok());
  EXPECT_EQ(op.status().message(), GetParam().message);
}
const std::string kMinimal = "strew1.scatter(operand=f32[2] indices=i32[1] updates=f32[1]";
INSTANTIATE_TEST_SUITE_P(
    OpText, BadOpText,
    testing::Values(
        BadText{"", "op text, offset 0: expected strew1.scatter(...) or strew1.gather(...)"},
        BadText{"strew2.scatter()", "op text, offset 0: expected strew1.scatter(...) or strew1.gather(...)"},
        BadText{"strew1.sort()", "op text, offset 7: found \"sort\"; expected scatter or gather"},
        BadText{kMinimal,
                "op text, offset 59: the text ends; expected ')' or a field (operand, indices, more_indices, updates, extras, "
                "lookups, row_reductions, result, "
                "update_window_dims, inserted_window_dims, input_batching_dims, scatter_indices_batching_dims, "
                "scatter_dims_to_operand_dims, index_vector_dim, combiner, expr, init, fill, oob, normalize_negative, "
                "order, accumulate, indices_are_sorted, unique_indices)"},
        BadText{kMinimal + ") x", "op text, offset 61: found \"x\"; expected the end of the text"},
        BadText{kMinimal + " indices=i8[])", "op text, offset 60: field indices is given twice"},
        BadText{"strew1.scatter(operand=f32[2])", "op text, offset 30: field indices is missing"},
        BadText{"strew1.gather(operand=f33[2])", "op text, offset 22: found \"f33\"; expected a dtype (f32, i64, bool, ...)"},
        BadText{"strew1.gather(operand=f32[9223372036854775808])",
                "op text, offset 26: found \"9223372036854775808\"; expected an integer of 64 bits"},
        BadText{kMinimal + " oob=drop)",
                "op text, offset 64: found \"drop\"; expected one of undefined, skip_element, skip_window, "
                "clamp, wrap, error, fill_element, fill_window"},
        BadText{kMinimal + " fill=256:u8)", "op text, offset 65: scalar \"256\": expected an integer from 0 to 255 for u8"},
        BadText{kMinimal + " combiner=expr)", "op text, offset 74: combiner is expr without nodes; expected an expression graph"},
        BadText{kMinimal + " combiner=expr expr={return})",
                "op text, offset 88: combiner is expr without nodes; expected an expression graph"},
        BadText{kMinimal + " combiner=add expr={%0=update(0):f32; return %0})",
                "op text, offset 108: combiner is add with an expression graph; expected one with combiner expr only"},
        BadText{kMinimal + " expr={%0=update(0):f32; return %0})",
                "op text, offset 95: combiner is assign with an expression graph; expected one with combiner expr only"},
        BadText{kMinimal + " unique_indices=yes)", "op text, offset 75: found \"yes\"; expected true or false"},
        BadText{kMinimal + " expr={%1=current(0):f32;", "op text, offset 66: found node %1; expected %0"},
        BadText{kMinimal + " expr={%0=frob(0):f32;",
                "op text, offset 69: found \"frob\"; expected an expression node (add, convert, ...)"}));

TEST(OpText, ListsAreBounded) {
  std::string many = "strew1.gather(operand=f32[1";
  for (int i = 0; i < kMaxRank; ++i) many += ",1";
  EXPECT_THAT(parse_op(many).status().message(), HasSubstr("expected at most 64 entries"));
  EXPECT_THAT(parse_op(std::string(kMaxOpText + 1, ' ')).status().message(), HasSubstr("expected at most 1048576"));
}

TEST(ScalarText, EveryCodeOfEveryDTypeRoundTrips) {
  const uint64_t seed = seed_of_run();
  SCOPED_TRACE("STREW_TEST_SEED=" + std::to_string(seed));
  Random r(seed);
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    const int width = bits(dtype);
    const int64_t codes = width <= 16 ? int64_t{1} << width : 20000;
    for (int64_t i = 0; i < codes; ++i) {
      Scalar s = random_scalar(r, dtype);
      if (width <= 16) s.bits = {static_cast<uint64_t>(i), 0};
      const Expected<Scalar> back = parse_scalar(print(s), dtype);
      ASSERT_TRUE(back.ok()) << back.status().message();
      ASSERT_EQ(*back, s) << name(dtype) << " " << print(s);
    }
  }
}

TEST(ScalarText, Forms) {
  const auto text = [](DType dtype, uint64_t low, uint64_t high = 0) { return print(Scalar{dtype, {low, high}}); };
  EXPECT_EQ(text(DType::boolean, 1), "true");
  EXPECT_EQ(text(DType::boolean, 2), "0x02");
  EXPECT_EQ(text(DType::i4, 0x8), "-8");
  EXPECT_EQ(text(DType::i64, uint64_t{1} << 63), "-9223372036854775808");
  EXPECT_EQ(text(DType::u64, ~uint64_t{0}), "18446744073709551615");
  EXPECT_EQ(text(DType::f32, 0x3dcccccd), "0.1");
  EXPECT_EQ(text(DType::f32, 0x80000000), "-0");
  EXPECT_EQ(text(DType::f32, 0x7fa00001), "0x7fa00001");
  EXPECT_EQ(text(DType::f64, 0x7ff0000000000000), "0x7ff0000000000000");
  EXPECT_EQ(text(DType::bf16, 0x3dcd), "0.1");
  EXPECT_EQ(text(DType::f16, 0x7bff), "65500");
  EXPECT_EQ(text(DType::f8e4m3fn, 0x7e), "450");
  EXPECT_EQ(text(DType::f8e8m0, 0x7f), "0x7f");
  EXPECT_EQ(text(DType::complex64, 0x7fc000003f800000), "(1,0x7fc00000)");
  EXPECT_EQ(text(DType::string, 0xab, 1), "0x000000000000000100000000000000ab");
}

TEST(ScalarText, ReadsSpecialsWhereTheDTypeHasThem) {
  EXPECT_EQ(parse_scalar("-inf", DType::bf16)->bits[0], 0xff80u);
  EXPECT_TRUE(is_nan(DType::f8e4m3fn, parse_scalar("nan", DType::f8e4m3fn)->bits[0]));
  EXPECT_EQ(parse_scalar("inf", DType::f8e4m3fn).status().message(),
            "scalar \"inf\": expected a finite number, there is no inf, for f8e4m3fn");
  EXPECT_FALSE(parse_scalar("nan", DType::f4e2m1).ok());
  EXPECT_FALSE(parse_scalar("1e39", DType::f32).ok());
  EXPECT_FALSE(parse_scalar("1e6", DType::f16).ok());
  EXPECT_FALSE(parse_scalar("0x100000000", DType::f32).ok());
  EXPECT_FALSE(parse_scalar("1.5", DType::i32).ok());
}

TEST(OpHash, IsPinned) {
  EXPECT_EQ(to_hex(hash_text("")), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(to_hex({0x0123456789abcdef, 0xfedcba9876543210}), "fedcba98765432100123456789abcdef");
  Scatter other = kv_write();
  other.combiner = CombinerKind::add;
  EXPECT_NE(hash(Op(kv_write())), hash(Op(other)));
  EXPECT_EQ(hash(Op(kv_write())), hash_text(print(Op(kv_write()))));
}

}  // namespace
}  // namespace strew
