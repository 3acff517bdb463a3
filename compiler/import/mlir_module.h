// The interface of libstrew_import_mlir, the module with the front ends that need MLIR's parser (base/module.h loads modules).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/mlir_text.h"
#include "strew/import.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// A module's text as a program, with where each part of the text stands.
struct MlirText {
  Program program;  ///< FileNode::begin is a statement's
  TextIndex index;
};

/// What the module's only exported function returns: extern "C" const MlirModule* strew_import_mlir_module()
struct MlirModule {
  uint32_t version;  ///< kModuleVersion
  Expected<Program> (*import_text)(std::string_view text, const std::string& path, const ImportOptions& options);
  /// Reads a module for XLA, whose rules hold whatever its attributes say. It may have no scatter or gather, and calls of functions are opaque.
  Expected<MlirText> (*read_text)(std::string_view text, const std::string& path, const ImportOptions& options);
  std::vector<std::string> (*stablehlo_operations)();  ///< the operations that the StableHLO front end reads: "stablehlo.add"
  std::vector<std::string> (*tensor_operations)();     ///< those of tensor, linalg, arith and math
};

}  // namespace strew::inline v0
