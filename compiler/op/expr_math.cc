// See expr_math.h. Tested by tests/unit/math_test.cc.
#include "compiler/op/expr_math.h"

#include <string_view>
#include <vector>

namespace strew {

const MathFunction* find_math_function(ExprOp op) {
  static const std::vector<const MathFunction*> rows = [] {
    std::vector<const MathFunction*> found;
    for (const ExprOpInfo& node : expr_ops()) {
      found.push_back(nullptr);
      for (const MathFunction& row : math_functions())
        if (node.name == std::string_view(row.name)) found.back() = &row;
    }
    return found;
  }();
  return rows[static_cast<size_t>(op)];
}

}  // namespace strew
