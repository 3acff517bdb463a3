// An op from its canonical text, for tests that write ops down; and the plan of an op that must have one.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "strew/text.h"
#include "strew/verified.h"
#include "tests/support/plan.h"

namespace strew::test {

/// `text` must parse.
inline Op op_of(const std::string& text) {
  const auto op = parse_op(text);
  EXPECT_TRUE(op.ok()) << op.status().message();
  return *op;
}

/// `op` must verify: where it does not, the test cannot go on and the program ends with what verify() says.
inline VerifiedOp verified(Op op) {
  Expected<VerifiedOp> out = VerifiedOp::of(std::move(op));
  if (!out.ok()) {
    ADD_FAILURE() << out.status().message();
    std::abort();
  }
  return std::move(out).value();
}

/// The plan of the canonical form of `op`, which must verify.
inline Expected<Plan> plan_of(const Op& op) { return canonical_plan(verified(op)); }

}  // namespace strew::test
