// The front end for MLIR's tensor dialect (semantics.md section 7): tensor.gather, tensor.scatter, and the elementwise operations between
// them.
#pragma once

#include "strew/import.h"

namespace strew::inline v0 {

class ParsedModule;
Expected<Imported> import_tensor(const ParsedModule& parsed, const ImportOptions& options);

}  // namespace strew::inline v0
