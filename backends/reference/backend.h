// The reference as a backend: builds anything, produces no code; the kernel interprets the op.
#pragma once

#include "backends/backend.h"

namespace strew::inline v0 {

const Backend* reference_backend();

}  // namespace strew::inline v0
