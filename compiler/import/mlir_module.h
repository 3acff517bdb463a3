// The interface of libstrew_import_mlir, the module with the front ends that need MLIR's parser (base/module.h loads modules).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strew/import.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// What the module's only exported function returns: extern "C" const MlirModule* strew_import_mlir_module()
struct MlirModule {
  uint32_t version;  ///< kModuleVersion
  Expected<Program> (*import_text)(std::string_view text, const std::string& path, const ImportOptions& options);
  std::vector<std::string> (*stablehlo_operations)();  ///< the operations that the StableHLO front end reads: "stablehlo.add"
  std::vector<std::string> (*tensor_operations)();     ///< those of tensor, linalg, arith and math
};

}  // namespace strew::inline v0
