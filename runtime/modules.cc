// Opening libstrew_llvm, libstrew_halide and libstrew_import_mlir.
//
// Each lies beside libstrew itself (found through dladdr), is opened once under a lock and stays open: LLVM is NODELETE, closing
// frees nothing. RTLD_LOCAL, because a module's only symbol we need is its registration function and LLVM's symbols must not meet
// another LLVM in the process. A module that failed to open is tried again on the next call. Tested by tests/unit/kernel_test.cc.
#include "runtime/modules.h"

#include <dlfcn.h>

#include <mutex>

namespace strew {
namespace {

std::string own_folder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<void*>(&own_folder), &info) || !info.dli_fname) return "";
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

Expected<void*> open_symbol(const std::string& file, const char* symbol, const char* needed_for) {
  const std::string path = own_folder() + file;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = dlerror();
    return unsupported(std::string(needed_for) + " needs " + path +
                       ", which could not be opened: " + (why ? why : "unknown reason"));
  }
  void* address = dlsym(handle, symbol);
  if (!address) return internal_error(path + " has no symbol " + symbol + ": it belongs to another version of strew");
  return address;
}

template <class Module>
Expected<const Module*> open_once(const std::string& file, const char* symbol, const char* needed_for) {
  static std::mutex mutex;
  static const Module* opened = nullptr;
  const std::lock_guard lock(mutex);
  if (opened) return opened;
  STREW_ASSIGN(void* address, open_symbol(file, symbol, needed_for));
  const Module* module = reinterpret_cast<const Module* (*)()>(address)();
  if (!module) return internal_error(file + ": " + symbol + "() returned nothing");
  opened = module;
  return module;
}

}  // namespace

Expected<const LlvmModule*> open_llvm_module() {
  return open_once<LlvmModule>("libstrew_llvm.so", "strew_llvm_module", "backend llvm");
}

Expected<const HalideModule*> open_halide_module() {
  return open_once<HalideModule>("libstrew_halide.so", "strew_halide_module", "backend halide");
}

Expected<const MlirModule*> open_mlir_module() {
  return open_once<MlirModule>("libstrew_import_mlir.so", "strew_import_mlir_module", "reading .mlir");
}

}  // namespace strew
