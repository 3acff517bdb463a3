// Graft: functions that another compiler made, given as bitcode, become part of a module made here.
#pragma once

#include <string>
#include <string_view>

#include "runtime/status.h"

namespace llvm {
class Module;
}

namespace strew {

/// Links `bitcode` into `module`, its definitions internal to it, and inlines each into its only caller.
Status graft(llvm::Module& module, std::string_view bitcode);

}  // namespace strew
