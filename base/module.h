// Modules: the parts of strew that need a heavy library, opened when first needed and never closed.
//
// libstrew_llvm (the LLVM backend and the linker), libstrew_halide (the Halide backend's pipelines), libstrew_pto (programs for NPUs and their
// simulator) and libstrew_import_mlir (StableHLO and tensor-dialect front ends) lie beside libstrew; each exports one C function that returns
// its interface, a struct of the version and functions. Opening costs up to 20 ms (LLVM's relocations), so nothing opens them before it must.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "strew/status.h"

namespace strew::inline v0 {

/// The first field of every interface, `version`. Raised with every change of one of them, or of what their functions take: a module of
/// another version of strew is refused.
inline constexpr uint32_t kModuleVersion = 1;

/// `file` opened for `needed_for` says it has `version`: ok where that is ours.
Status check_module_version(const std::string& file, const char* needed_for, uint32_t version);

/// The address of `symbol` in the library `file` of libstrew's own folder. `needed_for` opens the message of a failure.
Expected<void*> open_module_symbol(const std::string& file, const char* symbol, const char* needed_for);

/// The interface that extern "C" const Module* symbol() returns. One call per type; a module that failed to open is tried again.
template <class Module>
Expected<const Module*> open_module(const std::string& file, const char* symbol, const char* needed_for) {
  static std::mutex mutex;
  static const Module* opened = nullptr;
  const std::lock_guard lock(mutex);
  if (opened) return opened;
  STREW_ASSIGN(void* address, open_module_symbol(file, symbol, needed_for));
  const Module* module = reinterpret_cast<const Module* (*)()>(address)();
  if (!module) return internal_error(file + ": " + symbol + "() returned nothing");
  STREW_TRY(check_module_version(file, needed_for, module->version));
  opened = module;
  return module;
}

}  // namespace strew::inline v0
