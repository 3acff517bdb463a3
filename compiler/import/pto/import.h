// Front end for `.pto`: mscatter and mgather programs of Ascend's tile language (compiler/pto), lifted to ops.
#pragma once

#include <string>
#include <string_view>

#include "compiler/import/importer.h"

namespace strew::pto {

Expected<Imported> import_program(std::string_view text, const std::string& path, const ImportOptions& options);

}  // namespace strew::pto
