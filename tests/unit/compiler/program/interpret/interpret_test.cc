// The interpreter of what stands around kernels: typed loops against the scalar path, walks of the moving operations, reductions.
#include "compiler/program/interpret/interpret.h"

#include <gmock/gmock.h>

#include <cstring>

#include "base/number.h"

namespace strew {
namespace {

using testing::ElementsAre;

Tensor tensor(DType dtype, std::vector<int64_t> dims, std::vector<double> values) {
  Tensor out = make_tensor(dtype, std::move(dims)).value();
  for (size_t i = 0; i < values.size(); ++i)
    store_element(dtype, out.data.data(), static_cast<int64_t>(i), Scalar{dtype, {encode(dtype, values[i]), 0}});
  return out;
}

std::vector<double> values(const Tensor& t) {
  std::vector<double> out;
  for (int64_t i = 0; i < t.elements(); ++i) out.push_back(decode(t.dtype, load_element(t.dtype, t.data.data(), i).bits[0]));
  return out;
}

/// One node over `count` extras of `dtype`; `detour` goes through a convert, which no typed loop takes.
Expr function(ExprOp op, DType dtype, DType result, int count, bool detour) {
  Expr out;
  for (int i = 0; i < count; ++i) {
    ExprNode node;
    node.op = ExprOp::extra;
    node.dtype = op == ExprOp::select && i == 0 ? DType::boolean : dtype;
    node.index = i;
    out.nodes.push_back(node);
  }
  ExprNode node;
  node.op = op;
  node.dtype = result;
  for (int i = 0; i < count; ++i) node.args.push_back(i);
  out.nodes.push_back(node);
  if (detour) {
    ExprNode same;
    same.op = ExprOp::convert;
    same.dtype = result;
    same.args = {count};
    out.nodes.push_back(same);
  }
  out.results = {static_cast<int32_t>(out.nodes.size()) - 1};
  return out;
}

TEST(Interpret, TypedLoopsAgreeWithScalars) {
  const std::vector<double> a = {0, 1, -1, 127, -128, 3, 200, -7, 5, 65535}, b = {1, 1, -1, -1, 1, 0, 9, 77, -5, 3};
  for (DType dtype : {DType::boolean, DType::i8, DType::u8, DType::i16, DType::u16, DType::i32, DType::u32, DType::i64,
                      DType::u64, DType::f32, DType::f64, DType::bf16, DType::i4}) {
    const Tensor x = tensor(dtype, {10}, a), y = tensor(dtype, {10}, b), which = tensor(DType::boolean, {10}, b);
    for (ExprOp op : {ExprOp::add, ExprOp::sub, ExprOp::mul, ExprOp::min, ExprOp::max, ExprOp::bit_and, ExprOp::bit_xor,
                      ExprOp::eq, ExprOp::lt, ExprOp::ge, ExprOp::select}) {
      if (is_float(dtype) && (op == ExprOp::bit_and || op == ExprOp::bit_xor)) continue;
      if (dtype == DType::boolean && op == ExprOp::sub) continue;
      const bool compares = op == ExprOp::eq || op == ExprOp::lt || op == ExprOp::ge;
      const DType result = compares ? DType::boolean : dtype;
      std::vector<const Tensor*> arguments = {&x, &y};
      if (op == ExprOp::select) arguments.insert(arguments.begin(), &which);
      Compute fast, slow;
      fast.results = slow.results = {{result, {10}, {}}};
      fast.op = MapOp{function(op, dtype, result, static_cast<int>(arguments.size()), false)};
      slow.op = MapOp{function(op, dtype, result, static_cast<int>(arguments.size()), true)};
      EXPECT_EQ(values(interpret(fast, arguments).value()[0]), values(interpret(slow, arguments).value()[0]))
          << name(op) << " " << name(dtype);
    }
  }
}

TEST(Interpret, RankZeroGoesWithEveryElement) {
  const Tensor which = tensor(DType::boolean, {}, {1}), x = tensor(DType::i4, {3}, {1, -2, 3}),
               y = tensor(DType::i4, {3}, {4, 5, 6});
  Compute c;
  c.results = {{DType::i4, {kDynamic}, {}}};
  c.op = MapOp{function(ExprOp::select, DType::i4, DType::i4, 3, false)};
  EXPECT_THAT(values(interpret(c, {&which, &x, &y}).value()[0]), ElementsAre(1, -2, 3));
  const Tensor longer = tensor(DType::i4, {4}, {0, 0, 0, 0});
  EXPECT_EQ(interpret(c, {&which, &x, &longer}).status().message(), "an operand has dims [4], expected [3]");
}

Compute move(ComputeOp op, DType dtype, std::vector<int64_t> dims) {
  return {std::move(op), "", {}, {{dtype, std::move(dims), {}}}};
}

TEST(Interpret, Moves) {
  for (DType dtype : {DType::i4, DType::i8, DType::f16, DType::f32, DType::f64}) {
    const Tensor x = tensor(dtype, {2, 3}, {1, 2, 3, 4, 5, 6}), row = tensor(dtype, {3}, {1, 2, 3});
    const auto run = [](const Compute& c, std::vector<const Tensor*> arguments) {
      return values(interpret(c, arguments).value()[0]);
    };
    EXPECT_THAT(run(move(TransposeOp{{1, 0}}, dtype, {3, 2}), {&x}), ElementsAre(1, 4, 2, 5, 3, 6));
    EXPECT_THAT(run(move(BroadcastOp{{0}}, dtype, {3, 2}), {&row}), ElementsAre(1, 1, 2, 2, 3, 3));
    EXPECT_THAT(run(move(BroadcastOp{{1}}, dtype, {2, 3}), {&row}), ElementsAre(1, 2, 3, 1, 2, 3));
    EXPECT_THAT(run(move(SliceOp{{1, 0}, {1, 2}}, dtype, {1, 2}), {&x}), ElementsAre(4, 6));
    EXPECT_THAT(run(move(ReshapeOp{}, dtype, {3, 2}), {&x}), ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_THAT(run(move(ConcatenateOp{1}, dtype, {2, 6}), {&x, &x}), ElementsAre(1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6));
    EXPECT_THAT(run(move(IotaOp{1}, dtype, {2, 3}), {}), ElementsAre(0, 1, 2, 0, 1, 2));
    EXPECT_THAT(run(move(IotaOp{0}, dtype, {2, 3}), {}), ElementsAre(0, 0, 0, 1, 1, 1));
    EXPECT_EQ(interpret(move(ReshapeOp{}, dtype, {4}), {&x}).status().message(), "operand has 6 elements, expected 4");
    EXPECT_TRUE(run(move(BroadcastOp{{1}}, dtype, {0, 3}), {&row}).empty());
  }
}

TEST(Interpret, PartsThatBeginAtRunTime) {
  const auto run = [](const Compute& c, const std::vector<const Tensor*>& arguments) {
    return values(interpret(c, arguments).value()[0]);
  };
  const Tensor x = tensor(DType::f32, {3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const Tensor one = tensor(DType::i64, {}, {1}), two = tensor(DType::i32, {}, {2}), minus = tensor(DType::i64, {}, {-2});
  const Tensor part = tensor(DType::f32, {1, 2}, {-1, -2});
  Compute slice = move(SliceOp{{0, 1}, {1, 1}}, DType::f32, {2, 2});
  EXPECT_THAT(run(slice, {&x, &one}), ElementsAre(5, 6, 9, 10)) << "starts are added to dims";
  EXPECT_THAT(run(slice, {&x, &one, &one}), ElementsAre(6, 7, 10, 11));
  EXPECT_EQ(interpret(slice, {&x, &two}).status().message(), "operand dim 0 is 3, which the slice leaves");
  EXPECT_EQ(interpret(slice, {&x, &minus}).status().message(), "the start in dim 0 is -2 more than 0, expected 0 or more in all");
  slice.results[0].dims = {kDynamic, 2};
  EXPECT_THAT(run(slice, {&x, &two}), ElementsAre(9, 10)) << "an open dim reaches to the end";
  const Compute update = move(UpdateOp{{1, 0}}, DType::f32, {3, 4});
  EXPECT_THAT(run(update, {&x, &part}), ElementsAre(0, 1, 2, 3, -1, -2, 6, 7, 8, 9, 10, 11));
  EXPECT_THAT(run(update, {&x, &part, &one, &two}), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2));
  EXPECT_EQ(interpret(update, {&x, &part, &two}).status().message(), "operand dim 0 is 3, which the update leaves");
}

TEST(Interpret, ReshapesFindTheirOpenDims) {
  const Tensor x = tensor(DType::i8, {2, 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), shape = tensor(DType::i32, {2}, {3, 4});
  const auto dims = [&](std::vector<int64_t> to, std::vector<const Tensor*> arguments) {
    const Compute reshape = move(ReshapeOp{arguments.size() > 1}, DType::i8, std::move(to));
    return interpret(reshape, arguments).value()[0].dims;
  };
  EXPECT_THAT(dims({kDynamic}, {&x}), ElementsAre(12));
  EXPECT_THAT(dims({4, kDynamic}, {&x}), ElementsAre(4, 3));
  EXPECT_THAT(dims({kDynamic, kDynamic}, {&x, &shape}), ElementsAre(3, 4));
  EXPECT_EQ(interpret(move(ReshapeOp{}, DType::i8, {5, kDynamic}), {&x}).status().message(),
            "operand has 12 elements, expected 10");
}

TEST(Interpret, ReducesOverAnyDims) {
  const Tensor x = tensor(DType::i32, {2, 3}, {1, 2, 3, 4, 5, 6}), zero = tensor(DType::i32, {}, {10});
  Expr sum = function(ExprOp::add, DType::i32, DType::i32, 2, false);
  sum.nodes[0].op = ExprOp::current;
  sum.nodes[1] = sum.nodes[0];
  sum.nodes[1].op = ExprOp::update;
  const auto run = [&](std::vector<int64_t> over, std::vector<int64_t> dims) {
    return values(interpret(move(ReduceOp{sum, std::move(over)}, DType::i32, std::move(dims)), {&x, &zero}).value()[0]);
  };
  EXPECT_THAT(run({0}, {3}), ElementsAre(15, 17, 19));
  EXPECT_THAT(run({1}, {2}), ElementsAre(16, 25));
  EXPECT_THAT(run({1, 0}, {}), ElementsAre(31));
}

}  // namespace
}  // namespace strew
