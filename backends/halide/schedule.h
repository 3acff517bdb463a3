// The schedule half of a pipeline: strew's knobs as Halide directives (schedules/README.md, section Halide).
#pragma once

#include <string>

#include "backends/halide/pipeline.h"

namespace strew {

/// Applies the directives and returns them as text, one per line.
std::string apply_schedule(HalidePipeline& pipeline, const BuildRequest& request, const BodySignature& signature);

}  // namespace strew
