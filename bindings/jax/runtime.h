// The runtime whose kernels the custom calls of this process run. Tested by tests/jax/handler_test.py.
#pragma once

#include "strew/strew.h"

namespace strew::jax {

/// Its kernels run on the threads of the pool of the call that uses them. Made by the first call, and never freed: calls may come while the process ends.
strew_status find_runtime(strew_runtime** out);

}  // namespace strew::jax
