// The StableHLO front end (semantics.md section 7): scatter, gather, dynamic_slice, dynamic_update_slice.
#pragma once

#include "compiler/import/importer.h"

namespace strew {

class ParsedModule;
Expected<Imported> import_stablehlo(const ParsedModule& parsed, const ImportOptions& options);

}  // namespace strew
