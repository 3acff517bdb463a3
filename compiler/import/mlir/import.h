// The front end for MLIR's text (semantics.md section 7): StableHLO's scatter, gather, dynamic_slice and dynamic_update_slice, and the tensor
// dialect's gather and scatter, with the operations around them.
#pragma once

#include "strew/import.h"

namespace strew::inline v0 {

class ParsedModule;
Expected<Program> import_module(const ParsedModule& parsed, const ImportOptions& options);
/// As MlirModule::read_text says.
Expected<Program> read_module(const ParsedModule& parsed, const ImportOptions& options);

}  // namespace strew::inline v0
