// cache_functions(): the disk cache, for the commands (runtime/disk_cache/disk_cache_functions.h).
#pragma once

#include "runtime/disk_cache/disk_cache_functions.h"
#include "tune/tuning_functions.h"

namespace strew::cli {

inline const DiskCacheFunctions& cache_functions() { return tuning_functions().disk_cache(); }

}  // namespace strew::cli
