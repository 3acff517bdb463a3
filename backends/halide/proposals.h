// What Halide's autoschedulers propose for a kernel's loop body, in the terms of our knobs. Tested by
// tests/unit/backends/halide/halide_test.cc.
#pragma once

#include <Halide.h>

#include <vector>

#include "backends/backend.h"
#include "backends/halide/can_build/body_signature.h"

namespace strew::inline v0 {

/// Schedules that differ from the request's in `vector_bytes` and `unroll`; each once, without the request's own.
std::vector<Schedule> proposed_schedules(const BuildRequest& request, const BodySignature& signature,
                                         const Halide::Target& target);

}  // namespace strew::inline v0
