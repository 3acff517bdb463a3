// Backend: turns a plan into an Artifact. Backends are entries of one ordered list (backends.h); `auto` takes the first that can.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/tensor_view.h"
#include "compiler/op/op.h"
#include "compiler/plan/plan.h"
#include "schedules/entries.h"
#include "schedules/schedule.h"
#include "schedules/target.h"
#include "strew/abi.h"

namespace strew {

struct DescriptorImage;
namespace pto {
struct Program;
struct ProgramOptions;
}  // namespace pto

/// What backends read. The op itself is not in it: the reference alone reads that, when a call runs it (backends/reference/reference.h).
struct BuildRequest {
  std::vector<TensorSlot> tensors;  ///< what a call binds, as the user gave it; points into the op
  const Plan& plan;                 ///< of the canonicalised op
  const Schedule& schedule;
  const Target& target;
  std::string symbol;  ///< of the descriptor, and prefix of the entries' symbols; see kernel_symbol()
  const DescriptorImage* descriptor =
      nullptr;  ///< goes into the object, as the one symbol it exports; null: it exports the entries
  /// Wide accumulation: the kernels that this one is made of. It has no entries of its own then, and one object holds them all.
  std::vector<BuildRequest> parts = {};
  const pto::ProgramOptions* program = nullptr;  ///< targets that are NPUs: what is asked of the program; null: nothing
};

/// Runs a kernel where there is no code for it.
class Interpreter {
 public:
  virtual ~Interpreter() = default;
  /// On the tensors of BuildRequest::tensors. False: policy error met an index out of bounds, and nothing was written; the reference says which.
  virtual Expected<bool> run(std::span<const TensorView> tensors) const = 0;
};

/// What a backend produces: one relocatable object with the descriptor and the entries, entries_of(plan, schedule), of the request and of its
/// parts.
struct Artifact {
  std::string object;        ///< ELF bytes; none when `interpreted`
  bool interpreted = false;  ///< no code: the kernel runs `interpreter`, or without one the reference, on the op
  std::shared_ptr<const Interpreter> interpreter;
  std::shared_ptr<const pto::Program> program;  ///< for an NPU (backends/pto/program.h)
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// Its artifacts hold no code, and take an op whole.
  virtual bool interprets() const { return false; }
  /// Ok, or Code::unsupported with the reason.
  virtual Status can_build(const BuildRequest& request) const = 0;
  virtual Expected<Artifact> build(const BuildRequest& request) const = 0;
  /// Text for `strew compile --emit KIND` ("ll", "asm", "pto-ir", …) or unsupported.
  virtual Expected<std::string> emit_text(const BuildRequest& request, std::string_view kind) const = 0;
};

/// All backends, best first, reference last.
const std::vector<const Backend*>& backends();
/// Those that simulate another machine: found by name, never chosen.
const std::vector<const Backend*>& simulated_backends();
const Backend* find_backend(std::string_view name);

/// What makes code: "strew 0.1.0, LLVM 22.1.2". Part of every symbol, so that objects of two generators never pass for each other's.
std::string_view generator_version();

/// strew_ and 32 hex digits. Depends on what the code depends on: the text of the op's identity (compiler/rewrite), of the schedule and of the
/// target, the backend and the generator; never on the machine that builds.
std::string kernel_symbol(const std::string& identity, const Schedule& schedule, const Target& target, std::string_view backend);

}  // namespace strew
