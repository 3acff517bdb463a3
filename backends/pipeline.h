// The pipeline: verify -> canonicalise -> plan -> schedule -> backend -> build. Compiling, explaining and emitting all run this one pipeline; the
// product of each stage stays in `Compiled`, where it can be printed. NPU targets pass through the same stages, but their schedule has no knobs,
// because the program's planner chooses the tiles, and their artifact is a program. Tested by tests/unit/backends/kernel_test.cc.
#pragma once

#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/descriptor.h"
#include "compiler/plan/plan.h"
#include "compiler/rewrite/rewrites.h"
#include "schedules/schedule.h"
#include "schedules/wisdom/learned.h"
#include "strew/export.h"
#include "strew/kernel_options.h"
#include "strew/status.h"
#include "strew/target.h"
#include "strew/text.h"
#include "strew/verified.h"

namespace strew::inline v0 {

struct Machine;  // base/machine.h

/// A backend, and its answer to can_build: ok, or the reason why not.
struct Candidate {
  const Backend* backend;
  Status status;
};

/// A kernel on its way through the pipeline: every stage's product, in order. plan_kernel() fills all but the artifact.
struct Compiled {
  explicit Compiled(const VerifiedOp& given) : op(given), op_text(print(*given)), identity(given), canonical(given) {}

  VerifiedOp op;  ///< the op as the user gave it
  std::string op_text;
  /// The form that all spellings of an op share if calls bind the same tensors and report the same messages (compiler/rewrite).
  VerifiedOp identity;
  std::string identity_text;
  VerifiedOp canonical;
  std::vector<const Rewrite*> applied;  ///< the rewrites that led to `canonical`
  Target target;
  /// The most threads that a call may use, from the schedule's text or the options; 0: all. Not a part of the schedule.
  int threads = 0;
  Plan plan;
  Schedule heuristic;
  std::string why;  ///< the heuristic's reason for its strategy
  /// What wisdom says (schedules/wisdom): its schedule, if it has one, takes the place of the heuristic's, and its backend, if it can build the
  /// kernel, that of the first in the list.
  Learned learned;
  Schedule schedule;
  Status scheduled;    ///< not ok: the schedule that was asked for is illegal, and the members below are not filled
  std::string symbol;  ///< empty if no backend was chosen
  /// Wide accumulation: the kernels that this one is made of: those of STREW_FOLD, STREW_NARROW, STREW_START and STREW_SUMS that there are.
  std::vector<Compiled> parts;
  int part = 0;      ///< of a part: which one
  std::string sums;  ///< wide accumulation: why rows are summed in registers, or not
  /// The backends that `auto` chooses from, best first; for an NPU target, the one of the target's name.
  std::vector<Candidate> backends;
  const Backend* backend = nullptr;
  Status chosen;  ///< not ok: why there is no backend
  DescriptorImage descriptor;
  DescriptorImage packed;  ///< if not empty, the artifact is for a kernel library (BuildRequest::is_packed)
  Artifact artifact;       ///< contains the code of the parts

  const pto::ProgramOptions* program = nullptr;  ///< NPU targets: what the caller asks of the program; null: nothing

  /// The part of this that backends read. It refers to members of this object.
  STREW_API BuildRequest request() const;
};

/// Decides everything and builds nothing. It fails if the options make no sense for any op (an unknown target, more than 1024 threads); if they
/// are illegal for this op, `scheduled` or `chosen` says so. `program`: what is asked of an NPU's program; it must live until build() returns.
Expected<Compiled> plan_kernel(const VerifiedOp& op, const KernelOptions& options, const pto::ProgramOptions* program = nullptr);
/// The same for tests, which pass the machine that target `native` stands for.
Expected<Compiled> plan_kernel(const VerifiedOp& op, const KernelOptions& options, const Machine& machine,
                               const pto::ProgramOptions* program = nullptr);
/// The kernel, planned, for another backend; fails if that cannot build it.
Expected<Compiled> with_backend(Compiled planned, const Backend& backend);
/// Makes the artifact that plan_kernel() decided on, or says why there is none.
STREW_API Status build(Compiled& kernel);
/// Runs the whole pipeline.
Expected<Compiled> compile(const Op& op, const KernelOptions& options);

}  // namespace strew::inline v0
