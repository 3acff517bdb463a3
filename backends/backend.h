// Backend: turns a plan into an Artifact. Backends are entries of one ordered list (backends.h); `auto` takes the first that can.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/tensor_view.h"
#include "compiler/op/verified.h"
#include "compiler/plan/plan.h"
#include "schedules/entries.h"
#include "schedules/schedule.h"
#include "schedules/target.h"
#include "strew/abi.h"

namespace strew {

struct DescriptorImage;

/// What every backend reads. The reference reads only `op`; the others never do.
struct BuildRequest {
  const VerifiedOp& op;  ///< as the user gave it
  const Plan& plan;      ///< of the canonicalised op
  const Schedule& schedule;
  const Target& target;
  std::string symbol;                           ///< of the descriptor, and prefix of the entries' symbols; see kernel_symbol()
  const DescriptorImage* descriptor = nullptr;  ///< goes into the object; null: entries only
  /// Wide accumulation: the kernels that this one is made of. It has no entries of its own then, and one object holds them all.
  std::vector<BuildRequest> parts = {};
};

/// Runs an op where there is no code for it.
class Interpreter {
 public:
  virtual ~Interpreter() = default;
  /// As run_reference().
  virtual Status run(const VerifiedOp& op, std::span<const TensorView> tensors, strew_fault* fault) const = 0;
};

/// What a backend produces: one relocatable object with the descriptor and the entries, entries_of(plan, schedule), of the request and of its
/// parts.
struct Artifact {
  std::string object;        ///< ELF bytes; none when `interpreted`
  bool interpreted = false;  ///< no code: the kernel runs `interpreter`, or without one the reference, on the op
  std::shared_ptr<const Interpreter> interpreter;
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
  /// Text for `strew compile --emit KIND` ("ll", "asm", …) or unsupported.
  virtual Expected<std::string> emit_text(const BuildRequest& request, std::string_view kind) const = 0;
};

/// All backends, best first, reference last.
const std::vector<const Backend*>& backends();
/// Those that simulate another machine: found by name, never chosen.
const std::vector<const Backend*>& simulated_backends();
const Backend* find_backend(std::string_view name);

/// strew_ and 32 hex digits of the op's, schedule's and target's text.
std::string kernel_symbol(const std::string& op_text, const Schedule& schedule, const Target& target);

}  // namespace strew
