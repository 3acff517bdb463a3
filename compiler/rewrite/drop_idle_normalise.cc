// See drop_idle_normalise.h. Tested by tests/golden/plan_test.cc.
#include "compiler/rewrite/drop_idle_normalise.h"

namespace strew::inline v0 {

bool drop_idle_normalise(Op& op) {
  return std::visit(
      [](auto& o) {
        if (!o.normalize_negative) return false;
        if (!is_unsigned_integer(o.indices.dtype) && o.oob != OobPolicy::wrap) return false;
        o.normalize_negative = false;
        return true;
      },
      op);
}

}  // namespace strew::inline v0
