// Writing a kernel library: what `strew library` and `strew compile --whole` do.
#pragma once

#include "library/manifest.h"
#include "tools/strew/options.h"

namespace strew::cli {

/// Compiles the kernels of the manifest, writes the folder of -o and prints the report. Returns the exit status.
int write_library(const Options& options, const Manifest& manifest);

}  // namespace strew::cli
