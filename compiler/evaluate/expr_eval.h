// ExprEvaluator: evaluates an expression graph on scalars, node by node, each rounded to its own dtype.
#pragma once

#include <span>
#include <vector>

#include "strew/expr.h"

namespace strew::inline v0::scalar_eval {

class ExprEvaluator {
 public:
  /// `expr` must be verified and outlive the evaluator. An evaluator is not thread-safe.
  explicit ExprEvaluator(const Expr& expr) : expr_(expr), values_(expr.nodes.size()) {}

  void run(std::span<const Scalar> current, std::span<const Scalar> update, std::span<const Scalar> extra);
  /// Result `i` of the last run.
  const Scalar& result(size_t i) const { return values_[static_cast<size_t>(expr_.results[i])]; }

 private:
  const Expr& expr_;
  std::vector<Scalar> values_;  // per node; kept between runs so that a run allocates nothing
};

}  // namespace strew::inline v0::scalar_eval
