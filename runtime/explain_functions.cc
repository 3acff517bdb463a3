// See explain_functions.h.
#include "runtime/explain_functions.h"

#include "compiler/op/combiner.h"

namespace strew::inline v0 {

const ExplainFunctions& explain_functions() {
  static constexpr ExplainFunctions kFunctions = {explain_costs, explain_sharing, scratch_bytes, sums_floats};
  return kFunctions;
}

}  // namespace strew::inline v0
