// NpuData: the data of one call of an op that is compiled for an NPU, and what the reference makes of it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "strew/verified.h"
#include "tests/differential/blueprint.h"
#include "tests/differential/call.h"
#include "tests/differential/geometry.h"
#include "tests/support/guarded.h"
#include "tests/support/rng.h"

namespace strew::test {

struct NpuData {
  NpuData(GuardedPool& pool, Rng& rng, Op concrete, DataMode mode) : call(pool, rng, std::move(concrete), mode) {}
  Call call;
  Touched touched;
  Call::Image before, expected;
  bool refused = false;  ///< policy error, and an index is out of bounds; or a negative one where the program refuses those
  std::string text;
};

struct DrawnData {
  std::unique_ptr<NpuData>
      data;                ///< null: what was drawn may not be called, because of an index that may not be bad or occur twice
  bool too_large = false;  ///< the op moves more than `most_moved` elements
};

struct NpuDataLimits {
  int64_t most_moved = 6000;  ///< elements
  bool non_negative = false;  ///< the program refuses negative indices (pto::ProgramOptions)
};

/// Draws data for a call of an op, and runs the reference. The buffers belong to `pool`.
DrawnData draw_npu_data(GuardedPool& pool, Rng& rng, const Blueprint& blueprint, const VerifiedOp& op,
                        const NpuDataLimits& limits);

/// What is wrong with the results that are now in the call's buffers, or nothing.
std::optional<std::string> difference_from_reference(const NpuData& data);

}  // namespace strew::test
