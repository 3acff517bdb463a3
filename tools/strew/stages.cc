// Stages of the corridor for `explain` and `compile --emit`. compile() in backends/pipeline.cc is the one that runs; this repeats its
// order with the same calls and stops nowhere, so that explain can show what comes after a refusal. Tested by tests/error/cli_test.cc.
#include "tools/strew/stages.h"

#include "compiler/op/text.h"

namespace strew::cli {

Expected<Stages> make_stages(const VerifiedOp& op, const KernelOptions& options) {
  STREW_ASSIGN(Canonical canonical, canonicalise(op));
  Stages out{op, print(op), std::move(canonical.op), std::move(canonical.applied)};
  STREW_ASSIGN(out.target, parse_target(options.target));
  Expected<Plan> plan = make_plan(out.canonical);
  if (plan.ok()) {
    out.plan = std::move(*plan);
  } else {
    out.planned = plan.status();
  }
  out.heuristic = choose_schedule(out.plan, out.target, options.threads, &out.why);
  Expected<Schedule> schedule = parse_schedule(options.schedule, out.heuristic);
  if (schedule.ok()) {
    out.schedule = *schedule;
    out.scheduled = check_schedule(out.schedule, out.plan, out.target);
  } else {
    out.scheduled = schedule.status();
  }
  out.symbol = kernel_symbol(out.op_text, out.schedule, out.target);
  return out;
}

Status can_build(const Backend& backend, const Stages& stages) {
  if (!stages.planned.ok() && &backend != backends().back()) return stages.planned;
  return backend.can_build(stages.request());
}

Expected<const Backend*> choose_backend(const Stages& stages, const KernelOptions& options) {
  STREW_TRY(stages.scheduled);
  std::string known;
  std::vector<const Backend*> all = backends();
  all.insert(all.end(), simulated_backends().begin(), simulated_backends().end());
  for (const Backend* backend : all) {
    known += (known.empty() ? "" : ", ") + std::string(backend->name());
    if (options.backend != "auto" && options.backend != backend->name()) continue;
    const Status status = can_build(*backend, stages);
    if (status.ok()) return backend;
    if (options.backend != "auto") return Status(status.code(), "backend " + options.backend + ": " + status.message());
  }
  return unsupported("backend " + options.backend + " is not part of this build, which has: " + known);
}

}  // namespace strew::cli
