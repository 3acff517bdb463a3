// random_expr: small, typed expression graphs with shared nodes, over given inputs. Tested by every differential run.
#pragma once

#include <vector>

#include "strew/expr.h"
#include "strew/op.h"
#include "tests/support/rng.h"

namespace strew::test {

struct ExprInput {
  ExprOp op = ExprOp::current;
  int index = 0;
  DType dtype = DType::f32;
};

struct ExprLimits {
  int depth = 3;
  bool functions = true;  ///< allow exp, log, sin, …
};

/// A graph whose results have the dtypes `results`. A value of a dtype without arithmetic is only passed on or
/// selected.
Expr random_expr(Rng& rng, const std::vector<ExprInput>& inputs, const std::vector<DType>& results, const ExprLimits& limits);

/// At most `count` reductions over rows, of values of `inputs`, which are not current values, and of the reductions before; these are extras from number
/// `extras` on. Their dtypes are often `like`.
std::vector<RowReduction> random_reductions(Rng& rng, int64_t count, std::vector<ExprInput> inputs, int extras, DType like,
                                            const ExprLimits& limits);

/// The dtypes in which graphs compute.
const std::vector<DType>& arithmetic_dtypes();

}  // namespace strew::test
