// Modules: the interfaces of the three libraries with backends that are opened on demand (base/module.h), and functions that open them. Each
// library exports one C function, which returns its interface: a struct of a version and function pointers.
// Tested by tests/unit/backends/kernel_test.cc and tests/error/planted_library_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "backends/link.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// The kernels of a request that have entries of their own: the request itself or, for wide accumulation, its parts.
inline std::span<const BuildRequest> units_of(const BuildRequest& request) {
  return request.parts.empty() ? std::span(&request, 1) : std::span(request.parts);
}

struct BodySignature;
/// A loop body that Halide compiled: its calling convention, and the function SYMBOL_apply as LLVM bitcode
/// (backends/llvm/entries/external_body.h).
struct ExternalBodyCode {
  const BodySignature& signature;
  const std::string& bitcode;
};

/// A kernel with entries of its own. `body`: the entries range, list and clip call it; null: they have loops of their own.
struct ObjectUnit {
  const BuildRequest& request;
  const ExternalBodyCode* body = nullptr;
};

/// A member of an archive (.a).
struct ArchiveMember {
  std::string name, bytes;
};

/// extern "C" const LlvmModule* strew_llvm_module()
struct LlvmModule {
  uint32_t version;  ///< kModuleVersion (base/module.h)
  /// `units`: those of units_of(request).
  Expected<Artifact> (*build)(const BuildRequest& request, std::span<const ObjectUnit> units);
  Expected<std::string> (*emit_text)(const BuildRequest& request, std::span<const ObjectUnit> units, std::string_view kind);
  /// Links the objects with each other, and looks up `symbols` in them. Thread-safe, as is `load`.
  Expected<std::shared_ptr<LinkedObject>> (*link)(const std::vector<std::string>& objects,
                                                  const std::vector<std::string>& symbols);
  /// Links all objects of a file, which is an object or an archive of objects, and lists the constants that they export. Fails if the file is
  /// neither, or if an object is for another architecture.
  Expected<std::shared_ptr<LinkedObject>> (*load)(std::string_view file);
  /// The object of a constant, which it exports as `name`, for the target.
  Expected<std::string> (*emit_constant)(const DescriptorImage& image, const std::string& name, const Target& target);
  /// The same of a registry, which it hides: it exports a function `name`(uint32_t version), which returns the registry's address if `version`
  /// is this one, and null otherwise. A program could not refer to the constant in a shared library without a copy of it.
  Expected<std::string> (*emit_registry)(const DescriptorImage& image, const std::string& name, uint32_t version,
                                         const Target& target);
  /// The object with a library's functions for TVM-FFI: `__tvm_ffi_NAME` for each of `kernels`, which are in the order of the registry that
  /// emit_registry() emitted as `registry`; each calls strew_tvm_ffi_call() (strew/library.h).
  Expected<std::string> (*emit_tvm_ffi)(const std::vector<std::string>& kernels, const std::string& registry,
                                        const Target& target);
  /// The objects that an archive consists of, or the file itself if it is an object. An archive's members have names.
  Expected<std::vector<ArchiveMember>> (*read_archive)(std::string_view file);
  /// The symbols that an object refers to and does not define, in alphabetical order.
  Expected<std::vector<std::string>> (*undefined_symbols)(std::string_view object);
  /// An archive for linkers, with a table of symbols. The same members give the same bytes.
  Expected<std::string> (*write_archive)(const std::vector<ArchiveMember>& members);
};
Expected<const LlvmModule*> open_llvm_module();

/// extern "C" const HalideModule* strew_halide_module()
struct HalideModule {
  uint32_t version;
  /// The bitcode of the function SYMBOL_apply.
  Expected<std::string> (*build)(const BuildRequest& request, const BodySignature& signature);
  /// Algorithm, schedule and loop nest as text.
  Expected<std::string> (*emit_text)(const BuildRequest& request, const BodySignature& signature);
  /// What Halide's autoschedulers would choose (backends/halide/proposals.h).
  Expected<std::vector<Schedule>> (*propose)(const BuildRequest& request, const BodySignature& signature);
};
Expected<const HalideModule*> open_halide_module();
/// Opens the modules that the backend of this name needs; ok if it needs none.
Status open_modules_of(std::string_view backend);
/// Whether it can be opened, as far as that is known without opening it: an installation may lack the module.
Status find_halide_module();

namespace pto {
enum class Chip : uint8_t;
struct TileProgram;
struct ProgramOptions;
}  // namespace pto

/// extern "C" const PtoModule* strew_pto_module()
struct PtoModule {
  uint32_t version;
  /// pto::plan_program
  Expected<pto::TileProgram> (*plan_program)(std::span<const TensorSlot> tensors, const Plan& plan, pto::Chip chip,
                                             const pto::ProgramOptions& options);
  /// pto::program_text
  Expected<std::string> (*program_text)(const std::vector<pto::TileProgram>& programs, std::string_view kind);
  /// Runs the program on `tensors`, which stand in the order in which a call binds them. False: policy error found an index out of bounds, and
  /// nothing was written.
  Expected<bool> (*simulate)(const pto::TileProgram& program, std::span<const TensorView> tensors);
};
Expected<const PtoModule*> open_pto_module();

}  // namespace strew::inline v0
