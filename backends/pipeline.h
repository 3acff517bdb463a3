// The pipeline: verify -> canonicalise -> plan -> schedule -> backend -> build. Whoever compiles, explains or emits walks this one; each stage's
// product stays in `Compiled`, where it can be printed.
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
  explicit Compiled(const VerifiedOp& given) : op(given), op_text(print(*given)), canonical(given) {}

  VerifiedOp op;  ///< as the user gave it
  std::string op_text;
  VerifiedOp canonical;
  std::vector<const Rewrite*> applied;  ///< the rewrites that led there
  Target target;
  Plan plan;
  Schedule heuristic;
  std::string why;  ///< the heuristic's reason for its strategy
  Schedule schedule;
  Status scheduled;  ///< not ok: the schedule asked for is illegal; nothing after it is chosen then
  std::string symbol;
  /// Wide accumulation: the kernels it is made of, in the order of STREW_FOLD, STREW_NARROW and, where there is one, STREW_START.
  std::vector<Compiled> parts;
  std::vector<Candidate> backends;  ///< best first, the simulated ones not among them
  const Backend* backend = nullptr;
  Status chosen;  ///< not ok: why there is no backend
  DescriptorImage descriptor;
  Artifact artifact;  ///< with the code of the parts

  /// What backends read. Refers to this.
  BuildRequest request() const;
};

/// Decides everything and builds nothing. Fails where the options make no sense (an unknown target, more than 1024 threads); what is
/// illegal for this op is in `scheduled` and `chosen`.
Expected<Compiled> plan_kernel(const VerifiedOp& op, const KernelOptions& options);
/// Makes the artifact of what plan_kernel() decided, or says why it cannot be.
Status build(Compiled& kernel);
/// Verifies `op`, plans and builds.
Expected<Compiled> compile(const Op& op, const KernelOptions& options);
/// The plan of the op's canonical form.
Expected<Plan> canonical_plan(const VerifiedOp& op);

}  // namespace strew
