// ProgramBuilder by itself: what it works out when a file is read, which extents it takes over from declarations, what it refuses, and that a short
// file cannot make it work out many large constants. The formats' own rules are in the tests of the formats.
#include "compiler/import/builder/program_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/import/builder/forms.h"
#include "strew/expr_builder.h"

namespace strew {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ProgramBuilding : public testing::Test {
 protected:
  int input(std::vector<int64_t> dims, DType dtype = DType::f32) {
    return build.input({"x", {dtype, std::move(dims), {}}, false});
  }
  std::vector<int64_t> dims(const Expected<int>& value) {
    EXPECT_TRUE(value.ok()) << value.status().message();
    return value.ok() ? build.type(*value).dims : std::vector<int64_t>{-99};
  }
  static std::string error(const Status& status) { return status.ok() ? "no error" : status.message(); }
  void TearDown() override { EXPECT_EQ(error(program.verify()), "no error"); }

  Program program;
  ProgramBuilder build{program, "FILE:1: op"};
};

Expr sum(DType dtype) {
  ExprBuilder e;
  const int32_t current = e.current(0, dtype), update = e.update(0, dtype);
  return e.returns({e.add(current, update)});
}

TEST_F(ProgramBuilding, ShapesFollowFromTheArguments) {
  const int x = input({4, kDynamic});
  EXPECT_THAT(dims(build.transpose(x, {1, 0})), ElementsAre(kDynamic, 4));
  EXPECT_EQ(*build.transpose(x, {0, 1}), x);
  EXPECT_THAT(dims(build.broadcast(input({1}), {2, 3}, {1})), ElementsAre(2, 3));
  EXPECT_THAT(dims(build.slice(x, {1, 0}, {2, kDynamic}, {1, 2})), ElementsAre(2, kDynamic));
  EXPECT_EQ(*build.slice(x, {0, 0}, {4, kDynamic}, {1, 1}), x);
  EXPECT_THAT(dims(build.concatenate({x, input({kDynamic, 3})}, 1)), ElementsAre(4, kDynamic));
  EXPECT_THAT(dims(build.update(x, input({2, 1}), {2, 0})), ElementsAre(4, kDynamic));
  EXPECT_THAT(dims(build.scan(sum(DType::f32), x, build.scalar(Scalar::of(DType::f32, 0)), 1, {})), ElementsAre(4, kDynamic));
  const auto reduced = build.reduce(sum(DType::f32), {x}, {build.scalar(Scalar::of(DType::f32, 0))}, {0});
  ASSERT_TRUE(reduced.ok()) << reduced.status().message();
  EXPECT_THAT(build.type(reduced->at(0)).dims, ElementsAre(kDynamic));
}

TEST_F(ProgramBuilding, ConstantsAreWorkedOutAndListsStayLists) {
  const int numbers = build.integers({3, 4, 5});
  const auto doubled = build.apply(ExprOp::add, {numbers, numbers});
  ASSERT_TRUE(doubled.ok());
  EXPECT_THAT(*build.integers(*doubled), ElementsAre(6, 8, 10));
  const int x = input({kDynamic, 7});
  const auto moved = build.apply(ExprOp::add, {build.shape(x, 0, 2), build.integer(1)});
  ASSERT_TRUE(moved.ok());
  EXPECT_THAT(*build.extents(*moved), ElementsAre(kDynamic, 8));
  EXPECT_EQ(program.computes().size(), 1U);  // of the one extent that is not known
  EXPECT_EQ(program.value(*build.iota({DType::i32, {4}, {}}, 0)).kind, ValueKind::compute);
}

TEST_F(ProgramBuilding, DeclaredExtentsAreTakenOverOrChecked) {
  const int x = input({kDynamic, 3});
  const auto fresh = build.transpose(x, {1, 0});
  ASSERT_TRUE(fresh.ok());
  EXPECT_EQ(*build.declared(*fresh, {3, 4}), *fresh);
  EXPECT_THAT(dims(fresh), ElementsAre(3, 4));
  const auto checked = build.declared(x, {5, kDynamic});  // what others read does not change
  EXPECT_NE(*checked, x);
  EXPECT_THAT(dims(checked), ElementsAre(5, 3));
  EXPECT_THAT(dims(Expected<int>(x)), ElementsAre(kDynamic, 3));
  EXPECT_EQ(*build.declared(x, {kDynamic, kDynamic}), x);
  EXPECT_EQ(error(build.declared(x, {5, 4}).status()), "shape of the result [5,4], expected [?,3]");
}

TEST_F(ProgramBuilding, RefusesWhatDoesNotFit) {
  const int x = input({4, 6}), zero = build.scalar(Scalar::of(DType::f32, 0));
  const auto refusal = [](const Expected<int>& value) { return error(value.status()); };
  EXPECT_EQ(refusal(build.transpose(x, {0})), "1 dims of the permutation, expected 2");
  EXPECT_EQ(refusal(build.transpose(x, {0, 2})), "the permutation holds 2, expected each of 0 to 1 once at most");
  EXPECT_EQ(refusal(build.reshape(x, {5, 5})), "f32[4,6] has 24 elements, expected 25");
  EXPECT_EQ(refusal(build.broadcast(x, {4, 5}, {0, 1})), "operand dim 1 is 6, expected 1 or 5");
  EXPECT_THAT(refusal(build.slice(x, {0, 5}, {4, 2}, {1, 1})),
              HasSubstr("dim 1: 2 elements from 5 on with stride 1 are not inside"));
  EXPECT_THAT(refusal(build.slice(x, {0, 0}, {4, 2}, {1, 0})), HasSubstr("stride 0"));
  EXPECT_THAT(refusal(build.slice(x, {0, 0}, {4, INT64_MAX}, {1, INT64_MAX})), HasSubstr("not inside"));
  EXPECT_THAT(refusal(build.update(x, input({5, 1}), {0, 0})), HasSubstr("dim 0: 5 elements from 0 on are not inside"));
  EXPECT_THAT(refusal(build.update(x, input({1, 1}, DType::i32), {0, 0})), HasSubstr("expected the same dtype and rank"));
  EXPECT_EQ(refusal(build.reverse(x, {1, 1})), "the list of reversed dims holds 1, expected each of 0 to 1 once at most");
  EXPECT_EQ(refusal(build.concatenate({}, 0)), "no tensors, expected one at least");
  EXPECT_EQ(refusal(build.concatenate({x, input({4, 6})}, 2)),
            "the dim along which tensors are concatenated is 2, expected 0 to 1");
  EXPECT_EQ(refusal(build.concatenate({x, input({3, 6})}, 1)), "shape of operand 1 [3,6], expected [4,6]");
  EXPECT_EQ(refusal(build.iota({DType::boolean, {4}, {}}, 0)), "the coordinates are bool, expected numbers");
  EXPECT_EQ(refusal(build.iota({DType::i32, {4}, {}}, 1)), "the dim of the coordinates is 1, expected 0 to 0");
  EXPECT_EQ(error(build.extents(build.integers({3, -1})).status()), "dim 1 of the shape is -1, expected 0 or more");
  EXPECT_THAT(error(build.extents(x).status()), HasSubstr("expected one integer per dim of the result"));
  EXPECT_EQ(refusal(build.scan(sum(DType::f32), x, zero, 2, {})), "the dim of a scan is 2, expected 0 to 1");
  EXPECT_EQ(refusal(build.scan(sum(DType::f32), x, x, 0, {})), "the initial value is f32[4,6], expected f32 of rank 0");
  EXPECT_EQ(error(build.reduce(sum(DType::f32), {x}, {x}, {0}).status()), "initial value 0 has rank 2, expected 0");
  EXPECT_EQ(error(build.reduce(sum(DType::f32), {x}, {zero}, {0, 0}).status()),
            "dimensions holds 0, expected each of 0 to 1 once at most");
  ExprBuilder e;
  const int32_t a = e.extra(0, DType::f32), b = e.extra(1, DType::f32);
  EXPECT_EQ(refusal(build.map(e.returns({e.add(a, b)}), {x, input({4, 5})})), "shape of operand 1 [4,5], expected [4,6]");
}

TEST_F(ProgramBuilding, PadsWithNumbersBeforeBetweenAndAfter) {
  const int x = input({kDynamic, 3}), zero = build.scalar(Scalar::of(DType::f32, 0));
  EXPECT_EQ(*pad(build, x, {0, 0}, {0, 0}, {0, 0}, zero), x);
  EXPECT_THAT(error(pad(build, x, {0, 1}, {0, 0}, {0, 0}, zero).status()), HasSubstr("open dims"));
  const int y = input({2, 3});
  EXPECT_THAT(dims(pad(build, y, {1, -1}, {0, 2}, {2, 0}, zero)), ElementsAre(5, 4));
  EXPECT_THAT(error(pad(build, y, {-2, 0}, {-1, 0}, {0, 0}, zero).status()), HasSubstr("less than nothing"));
  EXPECT_THAT(error(pad(build, y, {INT64_MIN, 0}, {0, 0}, {0, 0}, zero).status()), HasSubstr("2^31"));
  EXPECT_THAT(error(pad(build, y, {0, 0}, {0, 0}, {-1, 0}, zero).status()), HasSubstr("interior -1"));
  EXPECT_THAT(error(pad(build, y, {0}, {0, 0}, {0, 0}, zero).status()), HasSubstr("1 numbers before"));
  EXPECT_EQ(error(pad(build, y, {0, 1}, {0, 0}, {0, 0}, x).status()), "the padding value is f32[?,3], expected f32 of rank 0");
}

/// 6,000 operations that each repeat one number 4,096 times.
TEST_F(ProgramBuilding, ManyOperationsDoNotBecomeManyLargeConstants) {
  const int zero = build.scalar(Scalar::of(DType::f64, 0));
  for (int i = 0; i < 6000; ++i) ASSERT_TRUE(build.broadcast(zero, {4096}).ok());
  size_t bytes = 0;
  for (const Constant& constant : program.constants()) bytes += constant.bytes().size();
  EXPECT_LT(bytes, size_t{4096} * 4096 * 8 + 1024);
  EXPECT_GT(program.computes().size(), 1900U);
}

}  // namespace
}  // namespace strew
