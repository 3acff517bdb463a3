// The constants of a kernel library, as images for LlvmModule::emit_constant: the registry (strew_library in strew/library.h) and the packed
// descriptors that it refers to. Their layout is runtime/call/packed_kernel.h. Tested by tests/library.
#pragma once

#include <string>
#include <vector>

#include "backends/descriptor.h"

namespace strew::inline v0 {

struct RegistryKernel {
  std::string name;
  std::vector<std::string> variants;  ///< symbols of kernels, the baseline first
};

DescriptorImage make_registry(const std::string& library, const std::vector<RegistryKernel>& kernels);

/// A descriptor without addresses. `parts`: those of DescriptorRequest.
DescriptorImage pack(const DescriptorImage& descriptor, const std::vector<std::string>& parts);

}  // namespace strew::inline v0
