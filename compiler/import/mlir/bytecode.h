// MLIR bytecode: recognises it, and refuses it with the command that converts it to MLIR text.
#pragma once

#include <string>
#include <string_view>

#include "strew/status.h"

namespace strew::inline v0 {

bool is_bytecode(std::string_view bytes);
/// The error for a bytecode file: why it is not read, and the command that converts it.
Status refuse_bytecode(std::string_view bytes, const std::string& path);

}  // namespace strew::inline v0
