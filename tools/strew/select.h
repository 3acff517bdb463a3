// Importing FILE and choosing kernels of it, as every command does.
#pragma once

#include <string>

#include "strew/import.h"
#include "tools/strew/options.h"

namespace strew::cli {

/// The kernel named with --kernel, or -1 and `exit_status` set (reported). Without --kernel: the only one, else a usage error that
/// lists them.
int select_kernel(const Options& options, const Imported& imported, int& exit_status);

/// "present_k, present_v"
std::string kernel_names(const Imported& imported);

/// f32[2,?] for people.
std::string type_text(const TensorType& type);

}  // namespace strew::cli
