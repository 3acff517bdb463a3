// fold_computes: operations around the kernels of an imported file become part of them, wherever bits stay the same.
#pragma once

#include "compiler/import/importer.h"

namespace strew::fold {

/// Sets each Compute's fate, rewires kernels, and notes in each what it took in. What is left is interpreted.
void fold_computes(Imported& imported, const ImportOptions& options);

}  // namespace strew::fold
