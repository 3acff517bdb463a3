// Front end for `.strew` files: the canonical text of ops, one per line.
#pragma once

#include <string>
#include <string_view>

#include "strew/import.h"

namespace strew::inline v0 {

/// Skips lines that are empty or start with #. Each op becomes a kernel (op_1, op_2, …). Its tensors become inputs of the file, named after
/// their roles, and its results become outputs.
Expected<Program> import_strew_text(std::string_view text, const std::string& path, const ImportOptions& options);

}  // namespace strew::inline v0
