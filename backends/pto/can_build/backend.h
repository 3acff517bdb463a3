// The NPU backends as the list sees them; libstrew_pto plans and simulates their programs.
#pragma once

#include "backends/backend.h"

namespace strew::inline v0 {

/// npu-a3 and npu-a5.
const Backend* npu_a3_backend();
const Backend* npu_a5_backend();

}  // namespace strew::inline v0
