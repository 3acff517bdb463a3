// The NPU backends npu-a3 and npu-a5, as entries of the list of backends (backends/backends.cc). libstrew_pto plans and
// simulates their programs. Tested by tests/unit/backends/pto/npu_backend_test.cc.
#pragma once

#include "backends/backend.h"

namespace strew::inline v0 {

const Backend* npu_a3_backend();
const Backend* npu_a5_backend();

}  // namespace strew::inline v0
