// Runs work in a child process, so that a crash in code that is being tried ends the child and not the program.
#pragma once

#include <functional>

#include "strew/status.h"

namespace strew::inline v0 {

/// Runs `work` in a fork of this process and returns its status. What it changes in memory is lost. Fails with Code::internal if the
/// child is ended by a signal, which the message names, or has not ended after `seconds`; then it is killed.
Status run_isolated(const std::function<Status()>& work, double seconds);

}  // namespace strew::inline v0
