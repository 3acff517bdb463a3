// The front end for MLIR's tensor dialect (semantics.md section 7): tensor.gather, tensor.scatter, and the elementwise operations between
// them.
#pragma once

#include "compiler/import/importer.h"

namespace strew {

class ParsedModule;
Expected<Imported> import_tensor(const ParsedModule& parsed, const ImportOptions& options);

}  // namespace strew
