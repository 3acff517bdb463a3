// The corridor's stages one by one, for the commands that show them: what compile() does, with every failure kept.
#pragma once

#include <string>
#include <vector>

#include "backends/backend.h"
#include "compiler/rewrite/rewrites.h"
#include "runtime/kernel.h"

namespace strew::cli {

struct Stages {
  VerifiedOp op;
  std::string op_text;
  VerifiedOp canonical;
  std::vector<const Rewrite*> applied;
  Status planned;  ///< not ok: no plan can hold the op, and `plan` is empty
  Plan plan;
  Target target;
  Schedule heuristic, schedule;
  std::string why;   ///< the reason for the heuristic's strategy
  Status scheduled;  ///< not ok: --schedule is illegal here
  std::string symbol;

  BuildRequest request() const { return {op, plan, schedule, target, symbol}; }
};

/// Fails only when the target is unknown.
Expected<Stages> make_stages(const VerifiedOp& op, const KernelOptions& options);

/// Ok, or why `backend` cannot build it.
Status can_build(const Backend& backend, const Stages& stages);

/// The backend that `options` choose: the named one, which must be able to build, or the first that can.
Expected<const Backend*> choose_backend(const Stages& stages, const KernelOptions& options);

}  // namespace strew::cli
