// Graft: functions that another compiler made, given as bitcode, become part of a module made here.
#pragma once

#include <string>
#include <string_view>

#include "runtime/status.h"

namespace llvm {
class Module;
}

namespace strew {

/// Links `bitcode` into `module` and inlines its functions, then the module's own that are marked so, into all their callers.
Status graft(llvm::Module& module, std::string_view bitcode);

}  // namespace strew
