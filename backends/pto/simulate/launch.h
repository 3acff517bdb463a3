// launch(): simulates a planned program on the tensors of a call. Tested by tests/differential/npu and
// tests/unit/backends/pto/npu_backend_test.cc.
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

/// `module`: the program's own, or its text parsed again. `views`: the tensors that a call binds, in that order; they
/// are contiguous and their extents are known. The results are written when the program has ended without an error.
Expected<Launched> launch(const TileProgram& program, const Module& module, std::span<const TensorView> views,
                          const SimulateOptions& options);

}  // namespace strew::inline v0::pto
