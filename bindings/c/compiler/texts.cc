// Texts about kernels and ops of the C interface. strew_explain() tells of one op what `strew explain` tells of the kernels of a file
// (tools/strew/explain.cc), but for what follows from the file. Tested by tests/c_api/texts.c.
#include <string>
#include <string_view>

#include "backends/modules.h"
#include "backends/pipeline.h"
#include "bindings/c/compiler/handles.h"
#include "compiler/op/notation.h"
#include "schedules/costs/explained.h"
#include "schedules/costs/workload.h"
#include "schedules/target.h"
#include "strew/text.h"

namespace strew::inline v0::c_api {
namespace {

class Explained {
 public:
  void line(std::string_view about, const std::string& text) {
    constexpr size_t kColumn = 12;
    out_.append(about).append(about.size() < kColumn ? kColumn - about.size() : 1, ' ').append(text).append("\n");
  }
  void block(std::string_view about, std::string_view text) {
    out_.append(about).append("\n");
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      out_.append("  ").append(text.substr(0, end)).append("\n");
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

std::string schedule_source(const Compiled& planned) {
  if (planned.schedule == planned.heuristic) return "chosen by the cost model: " + planned.why;
  if (planned.learned.schedule && planned.schedule == *planned.learned.schedule) return "from wisdom: " + planned.learned.from;
  return "from the request";
}

std::string predicted_time(const Compiled& planned) {
  const ExplainedCosts costs = explain_costs(planned.plan, planned.schedule, planned.target, planned.threads);
  for (const ExplainedCosts::Candidate& each : costs.strategies) {
    if (each.schedule.strategy != planned.schedule.strategy) continue;
    std::string out = print(each.predicted);
    if (!planned.plan.symbols.empty()) out += ", if every open extent is " + std::to_string(static_cast<int64_t>(kOpenExtent));
    return out + "; calls of " + std::to_string(costs.threads) + (costs.threads == 1 ? " thread" : " threads");
  }
  return {};
}

Expected<std::string> explain(const VerifiedOp& op, const KernelOptions& options) {
  STREW_ASSIGN(const Compiled planned, plan_kernel(op, options));
  Explained out;
  out.line("does", notation(*op));
  out.line("op", planned.op_text);
  if (planned.backend != nullptr) {
    const Status opened = open_modules_of(planned.backend->name());
    out.line("runs on",
             std::string(planned.backend->name()) +
                 (opened.ok() ? "" : ", which cannot be opened, so that a portable kernel takes its place: " + opened.message()));
  } else {
    out.line("runs on", "nothing: " + (planned.scheduled.ok() ? planned.chosen : planned.scheduled).message());
  }
  out.line("target", print(planned.target));
  if (!is_npu(planned.target)) {
    out.line("schedule", print(planned.schedule));
    out.line("", planned.scheduled.ok() ? schedule_source(planned) : "illegal: " + planned.scheduled.message());
    if (const std::string predicted = predicted_time(planned); !predicted.empty()) out.line("predicted", predicted);
  }
  for (const Candidate& each : planned.backends)
    out.line("backend", std::string(each.backend->name()) + ": " + (each.status.ok() ? "yes" : "no: " + each.status.message()));
  out.block("plan", print(planned.plan));
  return out.take();
}

}  // namespace
}  // namespace strew::inline v0::c_api

using namespace strew;         // NOLINT(google-build-using-namespace): the definitions below are C's
using namespace strew::c_api;  // NOLINT(google-build-using-namespace)

strew_status strew_kernel_op_text(const strew_kernel_ref* kernel, strew_text** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(kernel, "kernel"));
    STREW_TRY(check_not_null(out, "out"));
    return give_text(kernel->op_text(), out);
  });
}
strew_status strew_kernel_plan_text(const strew_kernel_ref* kernel, strew_text** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(kernel, "kernel"));
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(std::string text, kernel->plan_text());
    return give_text(std::move(text), out);
  });
}
int32_t strew_kernel_is_stand_in(const strew_kernel_ref* kernel) { return kernel != nullptr && kernel->is_stand_in() ? 1 : 0; }

strew_status strew_explain(const strew_op* op, const strew_request* request, strew_text** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(op, "op"));
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(const KernelOptions options, kernel_options(request));
    STREW_ASSIGN(std::string text, explain(op->op, options));
    return give_text(std::move(text), out);
  });
}
