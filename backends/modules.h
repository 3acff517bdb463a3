// The interfaces of the backends that are opened on demand (base/module.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "backends/link.h"
#include "base/status.h"

namespace strew {

/// The kernels of a request that have entries: itself, or its parts.
inline std::span<const BuildRequest> units_of(const BuildRequest& request) {
  return request.parts.empty() ? std::span(&request, 1) : std::span(request.parts);
}

struct BodySignature;
/// Loops that another backend made: their calling convention, and SYMBOL_apply as LLVM bitcode.
struct ExternalBodyCode {
  const BodySignature& signature;
  const std::string& bitcode;
};

/// A kernel with entries of its own. `body`: the range and list entries call these; null: they have their own.
struct ObjectUnit {
  const BuildRequest& request;
  const ExternalBodyCode* body = nullptr;
};

/// extern "C" const LlvmModule* strew_llvm_module()
struct LlvmModule {
  uint32_t version;  ///< kModuleVersion (base/module.h)
  /// `units`: the request itself, or its parts.
  Expected<Artifact> (*build)(const BuildRequest& request, std::span<const ObjectUnit> units);
  Expected<std::string> (*emit_text)(const BuildRequest& request, std::span<const ObjectUnit> units, std::string_view kind);
  Linker* (*linker)();  ///< one per process
};
Expected<const LlvmModule*> open_llvm_module();

/// extern "C" const HalideModule* strew_halide_module()
struct HalideModule {
  uint32_t version;
  Expected<std::string> (*build)(const BuildRequest& request, const BodySignature& signature);  ///< bitcode
  Expected<std::string> (*emit_text)(const BuildRequest& request, const BodySignature& signature);
};
Expected<const HalideModule*> open_halide_module();

namespace pto {
enum class Chip : uint8_t;
struct Program;
struct ProgramOptions;
}  // namespace pto

/// extern "C" const PtoModule* strew_pto_module()
struct PtoModule {
  uint32_t version;
  /// pto::plan_program
  Expected<pto::Program> (*plan_program)(std::span<const TensorSlot> tensors, const Plan& plan, pto::Chip chip,
                                         const pto::ProgramOptions& options);
  /// pto::program_text
  Expected<std::string> (*program_text)(const std::vector<pto::Program>& programs, std::string_view kind);
  /// Runs the program on `tensors`, in the order in which a call binds them. False: policy error found an index out of bounds, and nothing was
  /// written.
  Expected<bool> (*simulate)(const pto::Program& program, std::span<const TensorView> tensors);
};
Expected<const PtoModule*> open_pto_module();

}  // namespace strew
