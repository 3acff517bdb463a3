// launch(): simulates a planned program on an op's own tensors.
#pragma once

#include <span>

#include "backends/pto/program.h"
#include "backends/pto/simulate/simulate.h"
#include "strew/tensor_view.h"

namespace strew::inline v0::pto {

struct Launched {
  SimulationReport report;
  bool fault = false;  ///< policy error: an index was out of bounds, and nothing was written
};

/// `module` is the program's, or its text read back. `views`: the tensors that a call binds, in that order, contiguous, extents known.
/// Results are written once the program is over; after an error, none.
Expected<Launched> launch(const Program& program, const Module& module, std::span<const TensorView> views,
                          const SimulateOptions& options);

}  // namespace strew::inline v0::pto
