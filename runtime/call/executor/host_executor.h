// Running the chunks of a phase on an executor of the host program (strew/executor.h).
//
// The host is not trusted to follow the contract: whatever it does, each chunk runs exactly once, and the phase ends when
// all chunks have run. What it did wrong is logged once per process and kind. Tested by
// tests/unit/runtime/call/executor/host_executor_test.cc.
#pragma once

#include "strew/executor.h"

namespace strew::inline v0 {

/// work(context, i) once for each i in [0, chunks); returns when all are done.
void run_on_host(Executor& host, int chunks, Executor::Task work, void* context);

}  // namespace strew::inline v0
