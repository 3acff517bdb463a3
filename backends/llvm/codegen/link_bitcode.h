// link_bitcode: functions that another compiler made, given as bitcode, become part of a module made here.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace llvm {
class Module;
}

namespace strew {

inline constexpr const char* kStreamAttribute = "strew-stream";

/// Links `bitcode` into `module` and inlines its functions, then the module's own that are marked so, into all their callers.
/// `unroll`: iterations of their loops over vectors in one (1: as they come). Where they are inlined into one with the attribute kStreamAttribute, their vectors are stored past the caches: each lies on its size.
Status link_bitcode(llvm::Module& module, std::string_view bitcode, int unroll);

}  // namespace strew
