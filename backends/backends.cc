// The ordered list of backends, the version of the code generator, and the symbols of kernels. Backend `auto` is the
// first backend of the list that can build the kernel; a backend that the caller names must be able to build it. A new
// backend is a folder, a line in backend.h and one here. Tested by tests/unit/backends/kernel_test.cc.
#include "backends/backend.h"
#include "strew/abi.h"
#include "strew/text.h"

namespace strew::inline v0 {

const std::vector<const Backend*>& backends() {
  static const auto& list =
      *new const std::vector<const Backend*>{llvm_backend(), halide_backend(), portable_backend(), reference_backend()};
  return list;
}

const std::vector<const Backend*>& simulated_backends() {
  static const auto& list = *new const std::vector<const Backend*>{npu_a3_backend(), npu_a5_backend()};
  return list;
}

const Backend* find_backend(std::string_view name) {
  for (const auto* list : {&backends(), &simulated_backends()})
    for (const Backend* backend : *list)
      if (backend->name() == name) return backend;
  return nullptr;
}

std::string_view generator_version() { return STREW_GENERATOR_VERSION; }

std::string kernel_symbol(const std::string& identity, const Schedule& schedule, const Target& target, std::string_view backend) {
  std::string text = identity + "\n" + print(schedule) + "\n" + print(target) + "\n";
  text += std::string(backend) + "\n" + std::string(generator_version()) + "\n" + std::to_string(STREW_ABI_VERSION);
  return "strew_" + to_hex(hash_text(text));
}

}  // namespace strew::inline v0
