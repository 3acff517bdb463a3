// Backend: turns a plan into an Artifact: an object with code, an interpreter, or an NPU program. Backends are entries of one ordered list
// (backends.cc); backend `auto` is the first of them that can build the kernel. Tested by tests/unit/backends/kernel_test.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/plan/plan.h"
#include "schedules/entries.h"
#include "schedules/schedule.h"
#include "strew/abi.h"
#include "strew/export.h"
#include "strew/op.h"
#include "strew/status.h"
#include "strew/target.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

struct DescriptorImage;
namespace pto {
struct TileProgram;
struct ProgramOptions;
}  // namespace pto

/// Everything that a backend reads. The op is not in it: only the reference reads that, when a call runs (backends/reference/reference.h).
struct BuildRequest {
  std::vector<TensorSlot> tensors;  ///< the tensors that a call binds, as the user gave them; point into the op
  const Plan& plan;                 ///< the plan of the canonicalised op
  const Schedule& schedule;
  const Target& target;
  std::string symbol;  ///< the descriptor's symbol, and the prefix of the entries' symbols; see kernel_symbol()
  /// The object contains this descriptor and exports only its symbol; null: the object exports the entries.
  const DescriptorImage* descriptor = nullptr;
  /// For a kernel library: the descriptor is packed (backends/descriptor.h), and the object has it and the entries as hidden symbols, which the
  /// library's other objects can refer to.
  bool is_packed = false;
  /// Wide accumulation: the kernels that this one is made of. It has no entries of its own then, and one object holds all parts.
  std::vector<BuildRequest> parts = {};
  const pto::ProgramOptions* program = nullptr;  ///< NPU targets: what the caller asks of the program; null: nothing
};

/// Runs a kernel for which there is no machine code.
class Interpreter {
 public:
  virtual ~Interpreter() = default;
  /// Runs the kernel on the tensors of BuildRequest::tensors. False: policy error met an index out of bounds, and nothing was written; the caller
  /// asks the reference which index it was.
  virtual Expected<bool> run(std::span<const TensorView> tensors) const = 0;
};

/// A kernel whose entries were compiled with strew and interpret a program, which strew_kernel.program points to.
struct PrecompiledKernel {
  std::string symbol;                   ///< of its descriptor
  std::shared_ptr<const void> program;  ///< must live as long as the descriptor
  size_t bytes = 0;                     ///< of memory that the program takes, roughly
  strew_entry (*entry_of)(EntryKind kind) = nullptr;
};

/// The product of a backend: one relocatable object with the descriptors and the entries, entries_of(plan, schedule), of the request and of its
/// parts; precompiled kernels; or an interpreter.
struct Artifact {
  std::string object;                          ///< the bytes of an ELF file; empty if there is no generated code
  std::vector<PrecompiledKernel> precompiled;  ///< of units_of(request) (backends/modules.h); empty if there is generated code
  bool interpreted = false;  ///< there is no object: a call runs `interpreter` or, if that is null, the reference
  std::shared_ptr<const Interpreter> interpreter;
  std::shared_ptr<const pto::TileProgram> program;  ///< NPU targets (backends/pto/program.h)
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// Are its artifacts interpreted? Such a backend takes a wide accumulation whole, without parts.
  virtual bool interprets() const { return false; }
  /// Are its artifacts precompiled kernels? Then it has no object code, and its kernels need no CPU feature beyond the architecture's baseline.
  virtual bool is_precompiled() const { return false; }
  /// Do its kernels compute in the floating-point environment of the thread that calls, if the target says so (Target::host_fp)?
  virtual bool has_host_fp() const { return false; }
  /// Does it build plans with wide accumulation, which sum rows in registers (lowered::WideSum)?
  virtual bool sums_in_registers() const { return false; }
  /// Ok, or Code::unsupported with the reason.
  virtual Status can_build(const BuildRequest& request) const = 0;
  virtual Expected<Artifact> build(const BuildRequest& request) const = 0;
  /// Schedules that the backend's own means would choose, which may be illegal: candidates for the tuner. Most backends have none.
  virtual Expected<std::vector<Schedule>> propose(const BuildRequest& request) const {
    static_cast<void>(request);
    return std::vector<Schedule>();
  }
  /// The text for `strew compile --emit KIND` ("ll", "asm", "pto-ir", …), or `unsupported`.
  virtual Expected<std::string> emit_text(const BuildRequest& request, std::string_view kind) const = 0;
};

/// The backends that `auto` chooses from, best first; the reference is the last.
STREW_API const std::vector<const Backend*>& backends();
/// The backends that simulate another machine. `auto` never chooses one; they are found by name.
const std::vector<const Backend*>& simulated_backends();
const Backend* find_backend(std::string_view name);

/// The entries of these lists, each in the file backend.cc of its backend. They are part of libstrew: whether a backend can build a kernel is known
/// without its library, which backends llvm and halide open to build, and backends npu-a3 and npu-a5 to plan.
const Backend* llvm_backend();
const Backend* halide_backend();
const Backend* portable_backend();
const Backend* reference_backend();
const Backend* npu_a3_backend();
const Backend* npu_a5_backend();

/// The versions of the code generator, like "strew 0.1.0, LLVM 22.1.2". They are part of every symbol, so that an object of another generator is
/// never taken for one of ours.
std::string_view generator_version();

/// The symbol of a kernel: "strew_" and 32 hex digits. They are a hash of everything that the code depends on: the texts of the op's identity
/// (compiler/rewrite), of the schedule and of the target, the backend, generator_version() and STREW_ABI_VERSION. The machine that builds is not part of it.
std::string kernel_symbol(const std::string& identity, const Schedule& schedule, const Target& target, std::string_view backend);

}  // namespace strew::inline v0
