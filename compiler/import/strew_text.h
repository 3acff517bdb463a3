// `.strew`: canonical op text, one op per line.
#pragma once

#include <string>
#include <string_view>

#include "compiler/import/importer.h"

namespace strew {

/// Lines that are empty or start with # are skipped. Each op is a kernel (op_1, op_2, …) whose tensors are inputs of the file, named
/// after their roles, and whose results are outputs.
Expected<Imported> import_strew_text(std::string_view text, const std::string& path, const ImportOptions& options);

}  // namespace strew
