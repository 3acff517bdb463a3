// MLIR bytecode: told what it is and how to make text of it.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace strew {

bool is_bytecode(std::string_view bytes);
/// What stands in the way of reading these bytes, with the command that helps.
Status refuse_bytecode(std::string_view bytes, const std::string& path);

}  // namespace strew
