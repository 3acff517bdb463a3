// The corridor: an op becomes an artifact. verify -> canonicalise -> plan -> schedule -> backend -> build.
#pragma once

#include <string>
#include <vector>

#include "backends/backend.h"
#include "base/status.h"
#include "compiler/op/text.h"
#include "compiler/op/verified.h"
#include "compiler/plan/plan.h"
#include "runtime/kernel.h"
#include "schedules/schedule.h"
#include "schedules/target.h"

namespace strew {

/// All that was decided on the way, and the product.
struct Compiled {
  explicit Compiled(const VerifiedOp& given) : op(given), op_text(print(*given)) {}

  VerifiedOp op;  ///< as the user gave it
  std::string op_text;
  bool planned = false;  ///< false: no plan can hold the op (only the reference runs it); `plan` is then empty
  Plan plan;
  Schedule schedule;
  Target target;
  const Backend* backend = nullptr;
  std::string symbol;
  Artifact artifact;
  std::vector<Compiled> parts;  ///< wide accumulation: the fold and the narrowing (rewrite/split_wide); `artifact` is then empty
};

/// Verifies `op` first.
Expected<Compiled> compile(const Op& op, const KernelOptions& options);
/// The plan of the op's canonical form.
Expected<Plan> canonical_plan(const VerifiedOp& op);

}  // namespace strew
