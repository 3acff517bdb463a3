// Terms: a constant times a product of symbols. Terms can be multiplied and compared exactly, which is all that
// planning needs to decide whether two loops over dynamic extents are contiguous. Tested by tests/golden/plan_test.cc.
#include <algorithm>

#include "compiler/plan/plan.h"

namespace strew::inline v0 {

Term constant(int64_t value) { return {value, {}}; }

Term operator*(const Term& a, const Term& b) {
  Term product;
  product.factor = static_cast<int64_t>(static_cast<uint64_t>(a.factor) * static_cast<uint64_t>(b.factor));
  if (product.factor == 0) return product;
  product.symbols.resize(a.symbols.size() + b.symbols.size());
  std::merge(a.symbols.begin(), a.symbols.end(), b.symbols.begin(), b.symbols.end(), product.symbols.begin());
  return product;
}

int64_t evaluate(const Term& term, const int64_t* dyn) {
  uint64_t value = static_cast<uint64_t>(term.factor);
  for (int symbol : term.symbols) value *= static_cast<uint64_t>(dyn[symbol]);
  return static_cast<int64_t>(value);
}

}  // namespace strew::inline v0
