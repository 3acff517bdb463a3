// The front end of MLIR's tensor dialect (semantics.md section 7): tensor.gather, tensor.scatter, what is computed between them.
#pragma once

#include "compiler/import/importer.h"

namespace strew {

class ParsedModule;
Expected<Imported> import_tensor(const ParsedModule& parsed, const ImportOptions& options);

}  // namespace strew
