// Pipeline: the algorithm. One Func whose update applies a position, or a list of them (can_build/body_signature.h), to the results in place: its pure
// definition is undef, so nothing but the update touches the caller's buffers. How it is run is schedule.h's, apart from it.
#pragma once

#include <Halide.h>

#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/halide/can_build/body_signature.h"

namespace strew {

struct HalidePipeline {
  Halide::Func apply{"result"};
  std::vector<Halide::RVar> window;  ///< of the plan's window loops, outermost first
  Halide::RVar entry;                ///< the list's entries, where there is one
  std::vector<Halide::Argument> arguments;
};

HalidePipeline make_pipeline(const BuildRequest& request, const BodySignature& signature);

/// Halide's text without the numbers by which it tells the process's functions apart.
std::string plain_names(const std::string& text);
/// The update as text, with its domain.
std::string print_algorithm(const HalidePipeline& pipeline, const Plan& plan, bool listed);

}  // namespace strew
