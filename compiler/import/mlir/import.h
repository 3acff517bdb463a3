// The StableHLO front end (semantics.md section 7): scatter, gather, dynamic_slice, dynamic_update_slice.
#pragma once

#include "strew/import.h"

namespace strew::inline v0 {

class ParsedModule;
Expected<Imported> import_stablehlo(const ParsedModule& parsed, const ImportOptions& options);

}  // namespace strew::inline v0
