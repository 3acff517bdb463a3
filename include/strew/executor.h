// Executor: the thread pool that runs large calls together with the calling thread. Its workers start when a call first
// needs them and sleep between calls; small calls run on the calling thread alone. Runtimes and compiled kernels share
// the executor of the process unless they are given another. Executors are thread-safe: calls of several threads share
// the workers.
#pragma once

#include <memory>

#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0 {

class Executor;

/// An executor of at most `threads` threads, the calling thread included: 1..1024, or 0 for as many as this process may
/// use cores. `pins`: each worker is pinned to a core of its own. Starts no thread. Fails if `threads` is out of range.
/// The workers end with the last reference.
STREW_API Expected<std::shared_ptr<Executor>> make_executor(int threads = 0, bool pins = false);

/// The executor of kernels that were given no other: as many threads as this process may use cores, unless STREW_THREADS and
/// STREW_PIN say otherwise (options.h). Never null.
STREW_API const std::shared_ptr<Executor>& process_executor();

}  // namespace strew::inline v0
