// What the log says of builds. Tested by tests/unit/base/log_test.cc.
#pragma once

#include <string>

#include "runtime/kernel_state.h"
#include "strew/prepared_op.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// At level compile: what was built, and of an interpreted kernel why it is interpreted.
void log_built(const BuiltKernel& kernel);
/// The same of a kernel that the disk cache had in this folder.
void log_taken(const BuiltKernel& kernel, const std::string& folder);
/// A build that failed or was given up: at level compile, or at level error if it is an internal error, which is a bug in strew.
void log_not_built(const PreparedOp& op, const Status& status);

}  // namespace strew::inline v0
