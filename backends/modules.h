// Modules: the parts of strew that need a heavy library, opened when first needed and never closed.
//
// libstrew_llvm (the LLVM backend and the linker), libstrew_halide (the Halide backend's pipelines) and libstrew_import_mlir (StableHLO and
// tensor-dialect front ends) lie beside libstrew; each exports one C function that returns its interface. Opening costs 10-20 ms (research: LLVM's relocations), so
// nothing opens them before it must.
#pragma once

#include <string>
#include <string_view>

#include "backends/backend.h"
#include "backends/link.h"
#include "base/status.h"

namespace strew {

struct Form;
/// Loops that another backend made: their calling convention, and SYMBOL_apply as LLVM bitcode.
struct OutsideLoops {
  const Form& form;
  const std::string& bitcode;
};

/// extern "C" const LlvmModule* strew_llvm_module()
struct LlvmModule {
  /// `loops`: the range and list entries call these; null: they have their own.
  Expected<Artifact> (*build)(const BuildRequest& request, const OutsideLoops* loops);
  Expected<std::string> (*emit_text)(const BuildRequest& request, const OutsideLoops* loops, std::string_view kind);
  Linker* (*linker)();  ///< one per process
};
Expected<const LlvmModule*> open_llvm_module();

/// extern "C" const HalideModule* strew_halide_module()
struct HalideModule {
  Expected<std::string> (*build)(const BuildRequest& request, const Form& form);  ///< bitcode
  Expected<std::string> (*emit_text)(const BuildRequest& request, const Form& form);
};
Expected<const HalideModule*> open_halide_module();

struct Imported;
struct ImportOptions;
/// extern "C" const MlirModule* strew_import_mlir_module()
struct MlirModule {
  Expected<Imported> (*import_text)(std::string_view text, const std::string& path, const ImportOptions& options);
};
Expected<const MlirModule*> open_mlir_module();

}  // namespace strew
