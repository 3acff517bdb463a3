// See modules.h. Tested by tests/unit/backends/kernel_test.cc and tests/error/planted_library_test.cc.
#include "backends/modules.h"

#include "base/module.h"
#include "strew/kernel_options.h"

namespace strew::inline v0 {

Expected<const LlvmModule*> open_llvm_module() {
  return open_module<LlvmModule>("libstrew_llvm.so", "strew_llvm_module", "backend llvm");
}

namespace {
constexpr const char *kHalideFile = "libstrew_halide.so", *kHalide = "backend halide";
}  // namespace

Expected<const HalideModule*> open_halide_module() {
  return open_module<HalideModule>(kHalideFile, "strew_halide_module", kHalide);
}
Status open_modules_of(std::string_view backend) {
  const bool is_halide = backend == name(BackendChoice::halide);
  if (!is_halide && backend != name(BackendChoice::llvm)) return {};
  STREW_TRY(open_llvm_module().status());
  return is_halide ? open_halide_module().status() : Status();
}
Status find_halide_module() { return find_module(kHalideFile, kHalide); }

Expected<const PtoModule*> open_pto_module() {
  return open_module<PtoModule>("libstrew_pto.so", "strew_pto_module", "an NPU program");
}

}  // namespace strew::inline v0
