// HalidePipeline: the algorithm half of a Halide program; schedule.h has the other half, which says how it runs. The algorithm is one Func whose
// update applies a position, or a list of positions, to the results in place (can_build/body_signature.h). The Func's pure definition is undef, so
// nothing but the update touches the caller's buffers. Tested by tests/unit/backends/halide/halide_test.cc and tests/differential.
#pragma once

#include <Halide.h>

#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/halide/can_build/body_signature.h"

namespace strew::inline v0 {

struct HalidePipeline {
  Halide::Func apply{"result"};
  std::vector<Halide::RVar> window;  ///< the variables of the plan's window loops, outermost first
  Halide::RVar entry;                ///< the variable of the loop over the list's entries, if the signature takes a list
  std::vector<Halide::Argument> arguments;
  std::vector<Halide::Param<int32_t>> numbers;  ///< the scalar arguments
  std::vector<Halide::ImageParam> inputs;       ///< in the order of BodySignature::inputs
  Halide::ImageParam list;                      ///< defined if the signature takes a list
};

HalidePipeline make_pipeline(const BuildRequest& request, const BodySignature& signature);

/// Halide's text without the numbers that make names unique in this process, so that equal pipelines print equal texts.
std::string plain_names(const std::string& text);
/// The update and the loops around it, as text.
std::string print_algorithm(const HalidePipeline& pipeline, const Plan& plan, bool listed);

}  // namespace strew::inline v0
