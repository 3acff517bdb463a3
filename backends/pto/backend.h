// The NPU backends: a program for an Ascend chip, run by the simulator.
#pragma once

#include "backends/backend.h"

namespace strew {

/// npu-a3 and npu-a5.
const Backend* npu_a3_backend();
const Backend* npu_a5_backend();

}  // namespace strew
