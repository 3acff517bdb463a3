// The reference as a backend: it can build every op and generates no code; a call interprets the op. Tested by
// tests/unit/backends/kernel_test.cc.
#pragma once

#include "backends/backend.h"

namespace strew::inline v0 {

const Backend* reference_backend();

}  // namespace strew::inline v0
