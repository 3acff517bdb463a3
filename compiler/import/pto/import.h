// Front end for `.pto`: lifts mscatter and mgather programs of Ascend's tile language (compiler/pto) to ops.
#pragma once

#include <string>
#include <string_view>

#include "strew/import.h"

namespace strew::inline v0::pto {

Expected<Program> import_program(std::string_view text, const std::string& path, const ImportOptions& options);

}  // namespace strew::inline v0::pto
