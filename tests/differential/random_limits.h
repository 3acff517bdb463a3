// Limits under which small calls take the executor's every path.
#pragma once

#include "runtime/call/executor/limits.h"
#include "tests/support/rng.h"

namespace strew::test {

/// As many threads as the call may have, up to `threads`, however small it is; chunks, queues, rounds and blocks of a few elements; caches of
/// a few bytes. Calls of thousands of `positions` get larger ones, because every round costs two barriers.
ExecutionLimits small_limits(Rng& rng, int threads, int64_t positions);

}  // namespace strew::test
