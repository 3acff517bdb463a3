// The registry of a kernel library (strew_library in strew/library.h) as an image for LlvmModule::emit_constant. Tested by tests/library.
#pragma once

#include <string>
#include <vector>

#include "backends/descriptor.h"

namespace strew::inline v0 {

struct RegistryKernel {
  std::string name;
  std::vector<std::string> variants;  ///< symbols of descriptors, the baseline first
};

DescriptorImage make_registry(const std::string& library, const std::vector<RegistryKernel>& kernels);

}  // namespace strew::inline v0
