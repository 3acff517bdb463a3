// The choice of a kernel of the imported file, and short texts about kernels and types, for all commands. Tested by
// tests/error/cli_test.cc.
#pragma once

#include <string>

#include "strew/import.h"
#include "tools/strew/options.h"

namespace strew::cli {

/// The kernel that --kernel names; without --kernel the file's only kernel, and if there are several a usage error that
/// lists them. After an error, which is reported, it returns -1 and sets `exit_status`.
int select_kernel(const Options& options, const Program& imported, int& exit_status);

/// "present_k, present_v"
std::string kernel_names(const Program& imported);

}  // namespace strew::cli
