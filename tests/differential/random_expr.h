// Random expression graphs: typed, small, with shared nodes, over given inputs.
#pragma once

#include <vector>

#include "strew/expr.h"
#include "tests/support/rng.h"

namespace strew::test {

struct ExprInput {
  ExprOp op = ExprOp::current;
  int index = 0;
  DType dtype = DType::f32;
};

struct ExprLimits {
  int depth = 3;
  bool functions = true;  ///< exp, log, sin, …
};

/// A graph whose results have `results` dtypes. A dtype without arithmetic can only be passed through or selected.
Expr random_expr(Rng& rng, const std::vector<ExprInput>& inputs, const std::vector<DType>& results, const ExprLimits& limits);

/// Dtypes in which graphs compute.
const std::vector<DType>& arithmetic_dtypes();

}  // namespace strew::test
