// ExplainFunctions: what `strew explain` asks about a kernel besides the products of the pipeline, as a table of functions, because libstrew
// exports few names (as tune/tuning_functions.h does). Within libstrew the functions are called by their own headers. Tested by
// tests/error/cli_test.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "runtime/scratch_bytes.h"
#include "runtime/shape_families.h"
#include "schedules/costs/explained.h"
#include "strew/export.h"

namespace strew::inline v0 {

struct ExplainFunctions {
  ExplainedCosts (*costs)(const Plan& plan, const Schedule& schedule, const Target& target, int max_threads);
  Expected<std::vector<Sharing>> (*sharing)(const Op& op, const KernelOptions& options, int exact);
  int64_t (*scratch_bytes)(const Scatter& scatter, const Compiled& kernel);
  bool (*sums_floats)(const Scatter& scatter);
  std::string (*notation)(const Op& op, std::span<const std::string> names);
  /// Ok if the library that the backend of this name needs can be opened, or it needs none.
  Status (*opens)(std::string_view backend);
  double open_extent;  ///< what predictions take for an extent that only the call knows
};
STREW_API const ExplainFunctions& explain_functions();

}  // namespace strew::inline v0
