// Headroom: checks whether this process may map more memory. It is called before libraries that end the process when
// memory runs out. Limit: see headroom.cc. Tested by tests/unit/base/headroom_test.cc.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/units.h"
#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Ok if the process may map `bytes` more now, in `mappings` more mappings; nothing is kept. Otherwise `resource_exhausted`:
/// the message starts with `what` and names what is short, how much is needed and which limit may be the cause. Takes
/// about 10 us.
STREW_API Status check_headroom(std::string_view what, Bytes bytes, int mappings);

/// Needs of opening a module of LLVM, Halide or MLIR (libLLVM maps 150 MB), of building one kernel, and of linking
/// one.
inline constexpr Bytes kModuleBytes(int64_t{320} << 20), kBuildBytes(int64_t{64} << 20), kLinkBytes(int64_t{4} << 20);
inline constexpr int kModuleMappings = 64, kBuildMappings = 32, kLinkMappings = 6;

}  // namespace strew::inline v0
