// Headroom: is there room in this process for what is asked of it next? Asked before libraries that end the process when memory runs out.
#pragma once

#include <cstdint>
#include <string_view>

#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Ok: right now the process may map `bytes` more and hold `mappings` more areas of memory; nothing is kept. Else `unsupported`: the message
/// starts with `what`, names what is short, how much was wanted and which limit it may be. Costs some 10 us.
STREW_API Status check_headroom(std::string_view what, int64_t bytes, int mappings);

/// What opening a module of LLVM, Halide or MLIR takes (libLLVM maps 150 MB), and what building or linking one kernel takes.
inline constexpr int64_t kModuleBytes = int64_t{320} << 20, kBuildBytes = int64_t{64} << 20, kLinkBytes = int64_t{4} << 20;
inline constexpr int kModuleMappings = 64, kBuildMappings = 32, kLinkMappings = 6;

}  // namespace strew::inline v0
