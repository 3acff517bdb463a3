// small_limits: execution limits under which small calls take every path of the executor.
#pragma once

#include "runtime/call/executor/limits.h"
#include "tests/support/rng.h"

namespace strew::test {

/// A call uses as many threads as it may have, up to `threads`, even if it is small. Chunks, queues, rounds and
/// blocks have a few elements, caches a few bytes. Calls with thousands of `positions` get larger rounds, because
/// each round takes two barriers.
ExecutionLimits small_limits(Rng& rng, int threads, int64_t positions);

}  // namespace strew::test
