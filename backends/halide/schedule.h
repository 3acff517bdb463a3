// apply_schedule: the schedule half of a Halide program. It turns strew's schedule knobs into Halide directives, as the section on Halide of
// schedules/README.md says. Tested by tests/unit/backends/halide/halide_test.cc.
#pragma once

#include <string>

#include "backends/halide/pipeline.h"

namespace strew::inline v0 {

/// The bits of the widest element that the body loads, computes with or stores: a vector has Schedule::vector_bytes of these.
int widest_bits(const BuildRequest& request, const BodySignature& signature);

/// Applies the directives and returns them as text, one per line.
std::string apply_schedule(HalidePipeline& pipeline, const BuildRequest& request, const BodySignature& signature);

}  // namespace strew::inline v0
