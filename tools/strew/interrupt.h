// Interrupts of a command that can stop early and keep what it has: `strew tune`. Tested by tests/error/tune_test.cc.
#pragma once

namespace strew::cli {

/// From now on the first SIGINT or SIGTERM only makes is_interrupted() true; the second ends the process as usual.
void stop_at_interrupt();
bool is_interrupted();

}  // namespace strew::cli
