// Executor: the threads that help callers to run large kernels. Its workers start when a call first needs them and sleep between calls; small
// calls run on the calling thread alone. Runtimes and compiled kernels share the executor of the process unless they are given another.
#pragma once

#include <memory>

#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0 {

class Executor;

/// An executor of at most `threads` threads, the caller included: 1..1024, or 0 for the cores that this process may use. `pins`: each worker
/// stays on a core of its own. No thread is started yet. Fails if `threads` is out of range.
STREW_API Expected<std::shared_ptr<Executor>> make_executor(int threads = 0, bool pins = false);

/// The one that kernels use which were given no other: all cores that this process may use. Never null.
STREW_API const std::shared_ptr<Executor>& process_executor();

}  // namespace strew::inline v0
