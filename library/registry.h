// The constants of a kernel library, as images for LlvmModule::emit_constant: the registry (strew_library in strew/library.h) and the packed
// descriptors that it refers to. Their layout is runtime/call/packed_kernel.h and runtime/call/library_program.h. Tested by tests/library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/descriptor.h"
#include "compiler/program/steps/steps.h"

namespace strew::inline v0 {

struct RegistryKernel {
  std::string name;
  std::vector<std::string> variants;  ///< symbols of kernels, the baseline first
};

struct RegistryProgram {
  std::string name;
  const ProgramSteps* steps = nullptr;
  std::vector<uint32_t> kernels;  ///< per step: the number of its kernel, for steps that call one
};

/// Fails if the programs have more than 1 GiB of constants.
Expected<DescriptorImage> make_registry(const std::string& library, const std::vector<RegistryKernel>& kernels,
                                        const std::vector<RegistryProgram>& programs);

/// A descriptor without addresses. `parts`: those of DescriptorRequest.
DescriptorImage pack(const DescriptorImage& descriptor, const std::vector<std::string>& parts);

}  // namespace strew::inline v0
