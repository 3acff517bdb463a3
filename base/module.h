// Modules: the parts of strew that need a large library. They are opened when they are first needed, and never
// closed.
//
// libstrew_llvm (the LLVM backend and the linker), libstrew_halide (the Halide backend's pipelines), libstrew_pto
// (programs for NPUs and their simulator) and libstrew_import_mlir (StableHLO and tensor-dialect front ends) are in
// a folder of their own below that of libstrew, strew-0.2 for version 0.2. Each exports one C function that returns its interface, a struct of a version and function
// pointers. Opening a module takes up to 20 ms (LLVM's relocations). Tested by tests/unit/backends/kernel_test.cc and
// tests/error/planted_library_test.cc.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "strew/dtype.h"
#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// The value of the field `version`, the first of every interface. It is raised with every change of an interface or
/// of the types that its functions take, so that a module of another version of strew is refused.
inline constexpr uint32_t kModuleVersion = 15;
static_assert(kDTypeCount == 32,
              "descriptors and modules hold the numbers of dtypes: raise kModuleVersion and STREW_ABI_VERSION (abi.h)");

/// The folder of the modules, with a slash at its end; empty if it is not known.
const std::string& module_folder();

/// Ok if `version`, that of the module `file`, is kModuleVersion. `needed_for` begins the message of a failure.
Status check_module_version(const std::string& file, const char* needed_for, uint32_t version);

/// From now on `registers` is called after every library that is opened, before anything in it is used: static objects of the library have
/// registered their destructors then, and what has to run before those at exit() can be registered. One function per process.
void after_modules_open(void (*registers)());
/// Calls that function. A library also makes static objects where its code runs for the first time, so its users call this after such code.
STREW_API void register_for_exit_again();

/// Ok if the library `file` is in the modules' folder; opens nothing. `needed_for` begins the message of a failure.
Status find_module(const std::string& file, const char* needed_for);
/// The address of `symbol` in the library `file` of the modules' folder. `needed_for` begins the message of a
/// failure.
Expected<void*> open_module_symbol(const std::string& file, const char* symbol, const char* needed_for);

/// The interface that the function `extern "C" const Module* symbol()` of the library returns. Use one `symbol` per
/// type. A module that failed to open is tried again by the next call.
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
