// See explain_functions.h.
#include "runtime/explain_functions.h"

#include "backends/modules.h"
#include "compiler/op/combiner.h"
#include "compiler/op/notation.h"
#include "schedules/costs/workload.h"
#include "strew/kernel_options.h"

namespace strew::inline v0 {

namespace {

Status opens(std::string_view backend) {
  if (backend == name(BackendChoice::llvm)) return open_llvm_module().status();
  if (backend != name(BackendChoice::halide)) return {};
  STREW_TRY(open_llvm_module().status());
  return open_halide_module().status();
}

}  // namespace

const ExplainFunctions& explain_functions() {
  static constexpr ExplainFunctions kFunctions = {explain_costs, explain_sharing, scratch_bytes, sums_floats,
                                                  notation,      opens,           kOpenExtent};
  return kFunctions;
}

}  // namespace strew::inline v0
