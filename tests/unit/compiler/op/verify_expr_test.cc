// Every label verify() can give for an expression graph, with its message pinned; a legal node of every operation.
#include <string>

#include "compiler/op/limits.h"
#include "gtest/gtest.h"
#include "strew/builder.h"
#include "strew/verify.h"

namespace strew {
namespace {

ExprNode current(DType dtype) { return {ExprOp::current, dtype, {}, 0, {}}; }

/// A node over currents of the given dtypes.
std::string verdict(ExprOp op, DType result, const std::vector<DType>& args) {
  Expr e;
  ExprNode node{op, result, {}, 0, {}};
  for (DType arg : args) {
    node.args.push_back(static_cast<int32_t>(e.nodes.size()));
    e.nodes.push_back(current(arg));
  }
  e.results = {static_cast<int32_t>(e.nodes.size())};
  e.nodes.push_back(node);
  const Status status = verify(e, 1, 0, 0);
  return status.ok() ? "ok" : status.message();
}

std::string verdict(const Expr& e, int currents = 1) {
  const Status status = verify(e, currents, 1, 1);
  return status.ok() ? "ok" : status.message();
}

TEST(VerifyExpr, Form) {
  EXPECT_EQ(verdict(Expr{{current(DType::f32), {ExprOp::add, DType::f32, {0}, 0, {}}}, {1}}),
            "expr node %1, add:f32, has 1 arguments; expected 2 [expr_form]");
  EXPECT_EQ(verdict(Expr{{current(DType::f32), {ExprOp::neg, DType::f32, {1}, 0, {}}}, {1}}),
            "expr node %1, negate:f32, reads %1; expected an earlier node [expr_form]");
  EXPECT_EQ(verdict(Expr{{{ExprOp::current, DType::f32, {}, 0, {DType::f32, {1, 0}}}}, {0}}),
            "expr node %0, current:f32, has a value; only a constant does [expr_form]");
  EXPECT_EQ(verdict(Expr{{current(DType::f32), {ExprOp::neg, DType::f32, {0}, 3, {}}}, {1}}),
            "expr node %1, negate:f32, has an index; only current, update and extra do [expr_form]");
}

TEST(VerifyExpr, ANumberThatIsNoOperation) {
  for (const int number : {static_cast<int>(ExprOp::fma) + 1, 200, 255}) {
    EXPECT_EQ(verdict(Expr{{{ExprOp(number), DType::f32, {}, 0, {}}}, {0}}),
              "expr node %0, operation, has number " + std::to_string(number) + "; expected 0 to " +
                  std::to_string(static_cast<int>(ExprOp::fma)) + " [op_enum]");
    EXPECT_EQ(name(ExprOp(number)), "(no operation)");
  }
}

TEST(VerifyExpr, ConstantsHaveValues) {
  EXPECT_EQ(verdict(Expr{{{ExprOp::literal, DType::f32, {}, 0, {}}}, {0}}),
            "expr node %0, constant, has no value; expected one of dtype f32, as from Scalar::of [expr_types]");
  EXPECT_EQ(verdict(Expr{{{ExprOp::literal, DType::f32, {}, 0, Scalar::of(1)}}, {0}}),
            "expr node %0, constant, is 1 of dtype i32; expected dtype f32 [expr_types]");
  ExprBuilder builder;
  const int32_t empty = builder.literal(Scalar{});
  EXPECT_EQ(verdict(builder.returns({empty})), "expr node %0 has dtype number 255; expected 0 to 31 [op_dtype]");
}

TEST(VerifyExpr, Inputs) {
  EXPECT_EQ(verdict(Expr{{{ExprOp::current, DType::f32, {}, 1, {}}}, {0}}),
            "expr node %0, current:f32, reads number 1; expected from 0 to below 1 [expr_inputs]");
  EXPECT_EQ(verdict(Expr{{{ExprOp::extra, DType::f32, {}, -1, {}}}, {0}}),
            "expr node %0, extra:f32, reads number -1; expected from 0 to below 1 [expr_inputs]");
}

TEST(VerifyExpr, Results) {
  EXPECT_EQ(verdict(Expr{{current(DType::f32)}, {0}}, 2), "expr returns 1 values; expected 2 [expr_results]");
  EXPECT_EQ(verdict(Expr{{current(DType::f32)}, {1}}), "expr returns %1; expected a node from %0 to below %1 [expr_results]");
}

TEST(VerifyExpr, Limits) {
  Expr e;
  e.nodes.assign(kMaxExprNodes + 1, current(DType::f32));
  e.results = {0};
  EXPECT_EQ(verdict(e), "expr has 4097 nodes; expected at most 4096 [op_limits]");
  e.nodes.pop_back();
  EXPECT_EQ(verdict(e), "ok");
}

TEST(VerifyExpr, Types) {
  using E = ExprOp;
  using D = DType;
  EXPECT_EQ(verdict(E::add, D::f32, {D::f32, D::bf16}),
            "expr node %2, add:f32, has arguments of dtypes f32 and bf16; expected one dtype [expr_types]");
  EXPECT_EQ(verdict(E::add, D::f64, {D::f32, D::f32}),
            "expr node %2, add:f64, is of arguments of dtype f32; expected result dtype f32 [expr_types]");
  EXPECT_EQ(verdict(E::bit_and, D::f32, {D::f32, D::f32}),
            "expr node %2, and:f32, has an argument of dtype f32; expected one of: bool, integers [expr_types]");
  EXPECT_EQ(verdict(E::add, D::f8e8m0, {D::f8e8m0, D::f8e8m0}),
            "expr node %2, add:f8e8m0, has an argument of dtype f8e8m0; expected one of: bool, integers, floats, complex, "
            "with arithmetic (this one only moves) [expr_types]");
  EXPECT_EQ(verdict(E::abs, D::u8, {D::u8}),
            "expr node %1, abs:u8, has an argument of dtype u8; expected one of: signed integers, floats [expr_types]");
  EXPECT_EQ(verdict(E::lt, D::f32, {D::f32, D::f32}),
            "expr node %2, lt:f32, is of arguments of dtype f32; expected result dtype bool [expr_types]");
  EXPECT_EQ(verdict(E::convert, D::f32, {D::complex64}),
            "expr node %1, convert:f32, has an argument of dtype complex64, which does not convert to it [expr_types]");
  EXPECT_EQ(verdict(E::bitcast, D::boolean, {D::u8}),
            "expr node %1, bitcast_convert:bool, has an argument of dtype u8; expected an integer or float dtype of the "
            "same width (not bool, f6, complex or string) [expr_types]");
  EXPECT_EQ(verdict(E::select, D::f32, {D::i8, D::f32, D::f32}),
            "expr node %3, select:f32, chooses by i8; expected bool [expr_types]");
  EXPECT_EQ(verdict(E::complex, D::complex64, {D::f16, D::f16}),
            "expr node %2, complex:complex64, has parts of dtype f16; expected f32 or f64 [expr_types]");
  EXPECT_EQ(verdict(Expr{{{E::literal, D::f32, {}, 0, {D::f64, {0, 0}}}}, {0}}),
            "expr node %0, constant, is 0 of dtype f64; expected dtype f32 [expr_types]");
  EXPECT_EQ(verdict(Expr{{{E::literal, D::i4, {}, 0, {D::i4, {16, 0}}}}, {0}}),
            "expr node %0, constant, is 0x00000000000000000000000000000010; expected at most 4 bits [expr_types]");
}

TEST(VerifyExpr, EveryOperationHasALegalDType) {
  const DType tried[] = {DType::boolean, DType::i32, DType::f32, DType::complex64};
  for (const ExprOpInfo& row : expr_ops()) {
    if (row.arity == 0) continue;
    bool legal = false;
    for (DType dtype : tried) {
      ExprBuilder b;
      std::vector<int32_t> args;
      for (int i = 0; i < row.arity; ++i)
        args.push_back(b.current(0, i == 0 && row.op == ExprOp::select ? DType::boolean : dtype));
      legal = legal || verify(b.returns({b.apply(row.op, args)}), 1, 0, 0).ok();
    }
    EXPECT_TRUE(legal) << row.name;
  }
}

TEST(VerifyExpr, BitcastAndSelectMoveAnything) {
  EXPECT_EQ(verdict(ExprOp::bitcast, DType::f8e8m0, {DType::i8}), "ok");
  EXPECT_EQ(verdict(ExprOp::bitcast, DType::f64, {DType::u64}), "ok");
  EXPECT_EQ(verdict(ExprOp::select, DType::string, {DType::boolean, DType::string, DType::string}), "ok");
}

}  // namespace
}  // namespace strew
