// The corridor: an op becomes an artifact. verify -> canonicalise -> plan -> schedule -> backend -> build.
#pragma once

#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/descriptor.h"
#include "base/status.h"
#include "compiler/op/text.h"
#include "compiler/op/verified.h"
#include "compiler/plan/plan.h"
#include "schedules/schedule.h"
#include "schedules/target.h"

namespace strew {

struct KernelOptions {
  std::string backend = "auto";  ///< or a backend's name: then anything else is an error
  std::string schedule;          ///< knobs to set over the heuristic's choice, "threads=2,unroll=8"; empty: none
  std::string target = "native";
  int threads = 0;  ///< most threads a call may use; 0: all cores
};

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
  DescriptorImage descriptor;
  Artifact artifact;
  std::vector<Compiled>
      parts;  ///< wide accumulation: the fold, the narrowing and, where there is one, the start; `artifact` is then empty
};

/// Verifies `op` first.
Expected<Compiled> compile(const Op& op, const KernelOptions& options);
/// The plan of the op's canonical form.
Expected<Plan> canonical_plan(const VerifiedOp& op);

}  // namespace strew
