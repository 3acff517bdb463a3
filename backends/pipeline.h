// The pipeline: verify -> canonicalise -> plan -> schedule -> backend -> build. Whoever compiles, explains or emits walks this one; each stage's
// product stays in `Compiled`, where it can be printed. Targets that are NPUs pass through the same stages: their schedule has no knobs, since the
// planner of a program chooses its tiles, and the artifact is a program.
#pragma once

#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/descriptor.h"
#include "backends/kernel_options.h"
#include "base/status.h"
#include "compiler/op/text.h"
#include "compiler/op/verified.h"
#include "compiler/plan/plan.h"
#include "compiler/rewrite/rewrites.h"
#include "schedules/schedule.h"
#include "schedules/target.h"

namespace strew {

/// A backend, and why it may not build the kernel (or ok).
struct Candidate {
  const Backend* backend;
  Status status;
};

/// A kernel on its way through the pipeline: every stage's product, in order. plan_kernel() fills all but the artifact.
struct Compiled {
  explicit Compiled(const VerifiedOp& given) : op(given), op_text(print(*given)), identity(given), canonical(given) {}

  VerifiedOp op;  ///< as the user gave it
  std::string op_text;
  VerifiedOp identity;  ///< what all spellings of the op have in common, tensors and messages included (compiler/rewrite)
  std::string identity_text;
  VerifiedOp canonical;
  std::vector<const Rewrite*> applied;  ///< the rewrites that led there
  Target target;
  int threads =
      0;  ///< most that a call may use, 0: all: from the options, or said in the schedule's text. No part of the schedule
  Plan plan;
  Schedule heuristic;
  std::string why;  ///< the heuristic's reason for its strategy
  Schedule schedule;
  Status scheduled;    ///< not ok: the schedule asked for is illegal; nothing after it is chosen then
  std::string symbol;  ///< empty where there is no backend
  /// Wide accumulation: the kernels it is made of, in the order of STREW_FOLD, STREW_NARROW and, where there is one, STREW_START.
  std::vector<Compiled> parts;
  std::vector<Candidate> backends;  ///< best first, the simulated ones not among them
  const Backend* backend = nullptr;
  Status chosen;  ///< not ok: why there is no backend
  DescriptorImage descriptor;
  Artifact artifact;  ///< with the code of the parts

  const pto::ProgramOptions* program = nullptr;  ///< targets that are NPUs: what the caller asks of the program; null: nothing

  /// What backends read. Refers to this.
  BuildRequest request() const;
};

/// Decides everything and builds nothing. `program`: what is asked of the program of an NPU, which must outlive the kernel's build(). Fails where the options make no sense (an unknown target, more than 1024 threads); what is
/// illegal for this op is in `scheduled` and `chosen`.
Expected<Compiled> plan_kernel(const VerifiedOp& op, const KernelOptions& options, const pto::ProgramOptions* program = nullptr);
/// The same for target `native` on another machine: for tests.
Expected<Compiled> plan_kernel(const VerifiedOp& op, const KernelOptions& options, const Machine& machine,
                               const pto::ProgramOptions* program = nullptr);
/// Makes the artifact of what plan_kernel() decided, or says why it cannot be.
Status build(Compiled& kernel);
/// Verifies `op`, plans and builds.
Expected<Compiled> compile(const Op& op, const KernelOptions& options);

}  // namespace strew
