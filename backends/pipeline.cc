// plan_kernel() reads like the picture in docs/architecture.md. A schedule's text sets knobs over the heuristic's choice; a backend named by
// the caller must be able, `auto` takes the first that is (the reference always is). Wide accumulation is a kernel made of parts, which pass
// through the same stages and end in the same object. Tested by tests/unit/kernel_test.cc.
#include "backends/pipeline.h"

#include <algorithm>

#include "base/fp_environment.h"
#include "base/machine.h"
#include "compiler/rewrite/split_wide.h"
#include "schedules/strategies/strategy.h"

namespace strew {
namespace {

/// May the parts widen only what updates touch (runtime/call/wide_touched)? Their schedules must be of strategies owner (fold) and window
/// (narrow).
bool touched_legal(const Plan& fold, const Plan& narrow) {
  if (fold.pairs != 1 || !legal(Strategy::owner, fold).ok() || fold.accumulate != Accumulate::native) return false;
  // A key's window is the elements from its key on; the narrowing is one run over all elements.
  const int64_t unit = key_unit(fold);
  const auto result = static_cast<size_t>(fold.result(0));
  const bool row = fold.window.size() == 1 && fold.window[0].strides[result].is(1) && fold.window[0].extent.is(unit);
  const bool element = fold.window.empty() && unit == 1;
  return (row || element) && narrow.window.size() == 1 && narrow.window[0].strides[static_cast<size_t>(narrow.result(0))].is(1) &&
         narrow.positions.empty();
}

/// The features that code for the target may use, as strew_kernel.features.
std::string feature_text(const Target& target) {
  std::string text;
  const FeatureSet set = features_of(target);
  for (const FeatureInfo& feature : known_features())
    if ((set & bit_of(&feature)) != 0) text += (text.empty() ? "" : ",") + std::string(feature.name);
  return text;
}

/// The stages up to the schedule. `wanted`: the schedule, decided already; null: the heuristic's, with the knobs that the options set.
Expected<Compiled> schedule_kernel(const VerifiedOp& op, const Target& target, const KernelOptions& options,
                                   const Schedule* wanted) {
  Compiled out(op);
  STREW_ASSIGN(Canonical canonical, canonicalise(op));
  out.identity = std::move(canonical.identity);
  out.identity_text = print(*out.identity);
  out.canonical = std::move(canonical.op);
  out.applied = std::move(canonical.applied);
  out.target = target;
  STREW_ASSIGN(out.plan, make_plan(out.canonical));
  const Expected<ScheduleText> text = split_threads(options.schedule);
  out.threads = text.ok() && text->threads != 0 ? text->threads : options.threads;
  if (is_npu(target)) {
    out.why = "the planner of the program chooses tiles and how cores share them";
    if (!options.schedule.empty())
      out.scheduled = unsupported("schedule '" + options.schedule + "': target " + target.cpu +
                                  " has no such knobs, expected none: a program's are asked for as ProgramOptions");
    return out;
  }
  out.schedule = out.heuristic = choose_schedule(out.plan, out.target, out.threads, &out.why);
  if (wanted != nullptr) {
    out.schedule = *wanted;
  } else if (!text.ok()) {
    out.scheduled = text.status();
  } else if (Expected<Schedule> schedule = parse_schedule(text->knobs, out.heuristic); schedule.ok()) {
    out.schedule = *schedule;
  } else {
    out.scheduled = schedule.status();
  }
  if (out.scheduled.ok()) out.scheduled = check_schedule(out.schedule, out.plan, out.target);
  return out;
}

/// A part of a wide accumulation. Its scratch lies otherwise than the results, so a strategy asked for and legal for the whole op may not be
/// for the part: that one then runs on one thread.
Expected<Compiled> schedule_part(const Op& op, const Compiled& whole, const KernelOptions& options, const Schedule* wanted) {
  STREW_ASSIGN(const VerifiedOp verified, VerifiedOp::of(op));
  STREW_ASSIGN(Compiled part, schedule_kernel(verified, whole.target, options, wanted));
  if (part.scheduled.ok()) return part;
  part.schedule.strategy = Strategy::sequential;
  part.scheduled = check_schedule(part.schedule, part.plan, part.target);
  return part;
}

/// Where updates may be few against the result, the fold takes the strategy and the narrowing the split that let runtime/call/wide_touched
/// widen only what is touched.
Status schedule_parts(const WideSplit& split, const KernelOptions& options, Compiled& out) {
  KernelOptions plain = options;
  plain.threads = out.threads;
  plain.schedule.clear();  // parts get the whole's schedule, or their own heuristic's
  const Expected<ScheduleText> text = split_threads(options.schedule);
  const bool is_given = text.ok() && !text->knobs.empty();
  STREW_ASSIGN(Compiled fold, schedule_part(split.fold, out, plain, is_given ? &out.schedule : nullptr));
  STREW_ASSIGN(Compiled narrow, schedule_part(split.narrow, out, plain, is_given ? &out.schedule : nullptr));
  const auto set_strategy = [](Compiled& part, Strategy strategy) {
    const Strategy before = part.schedule.strategy;
    part.schedule.strategy = strategy;
    if (!check_schedule(part.schedule, part.plan, part.target).ok())
      part.schedule.strategy = before == strategy ? Strategy::sequential : before;
  };
  if (!is_given && touched_legal(fold.plan, narrow.plan) && updates_may_be_few(fold.plan)) set_strategy(fold, Strategy::owner);
  set_strategy(narrow, Strategy::window);
  out.parts.push_back(std::move(fold));
  out.parts.push_back(std::move(narrow));
  if (!split.start) return {};
  STREW_ASSIGN(Compiled start, schedule_part(*split.start, out, plain, nullptr));
  out.parts.push_back(std::move(start));
  return {};
}

std::string backend_names() {
  std::string list = "auto";
  for (const auto* each : {&backends(), &simulated_backends()})
    for (const Backend* backend : *each) list += ", " + std::string(backend->name());
  return list;
}

/// An interpreter takes the op whole; others build its parts.
Status can_build(const Backend& backend, const Compiled& kernel) {
  BuildRequest request = kernel.request();
  if (backend.interprets()) request.parts.clear();
  return backend.can_build(request);
}

/// An NPU's programs come from the backend of its name.
void choose_npu_backend(const std::string& wanted, Compiled& out) {
  const Backend* const backend = find_backend(out.target.cpu);
  out.backends.push_back({backend, can_build(*backend, out)});
  out.chosen =
      wanted == "auto" || wanted == out.target.cpu
          ? out.backends[0].status
          : unsupported("backend " + wanted + ": target is " + out.target.cpu + ", expected backend auto or " + out.target.cpu);
  if (out.chosen.ok()) out.backend = backend;
}

void choose_backend(const std::string& wanted, Compiled& out) {
  if (is_npu(out.target)) return choose_npu_backend(wanted, out);
  for (const Backend* backend : backends()) out.backends.push_back({backend, can_build(*backend, out)});
  if (wanted == "auto") {
    const auto first = std::find_if(out.backends.begin(), out.backends.end(), [](const Candidate& c) { return c.status.ok(); });
    if (first != out.backends.end()) out.backend = first->backend;
    if (out.backend == nullptr) out.chosen = internal_error("no backend can build the op, not even the reference");
    return;
  }
  const Backend* const backend = find_backend(wanted);
  if (backend == nullptr)
    out.chosen = invalid_argument("backend: '" + wanted + "', expected one of " + backend_names());
  else
    out.chosen = can_build(*backend, out);
  if (out.chosen.ok()) out.backend = backend;
}

/// The symbol, and what a call needs.
void describe(Compiled& out) {
  const bool interpreted = out.backend->interprets();
  if (interpreted) out.parts.clear();
  std::string made_of = out.identity_text;
  for (Compiled& part : out.parts) {
    part.backend = out.backend;
    describe(part);
    made_of += "\n" + part.symbol;  // their schedules may not follow from the whole's
  }
  out.symbol = kernel_symbol(made_of, out.schedule, out.target, out.backend->name());
  DescriptorRequest request{out.identity, out.plan, out.schedule, out.symbol, out.identity_text};
  request.features = interpreted ? "" : feature_text(out.target);
  request.has_entries = !interpreted && out.parts.empty();
  for (const Compiled& part : out.parts) request.parts.push_back(part.symbol);
  if (out.parts.size() == STREW_START) {
    const Compiled &fold = out.parts[STREW_FOLD], &narrow = out.parts[STREW_NARROW];
    request.widens_touched = uses_owners(fold.schedule.strategy) && narrow.schedule.strategy == Strategy::window &&
                             touched_legal(fold.plan, narrow.plan);
  }
  out.descriptor = make_descriptor(request);
}

}  // namespace

BuildRequest Compiled::request() const {
  BuildRequest out{tensor_slots(op), plan, schedule, target, symbol};
  if (!descriptor.bytes.empty()) out.descriptor = &descriptor;
  for (const Compiled& part : parts) out.parts.push_back(part.request());
  out.program = program;
  return out;
}

Expected<Compiled> plan_kernel(const VerifiedOp& op, const KernelOptions& options, const pto::ProgramOptions* program) {
  return plan_kernel(op, options, machine(), program);
}

Expected<Compiled> plan_kernel(const VerifiedOp& op, const KernelOptions& options, const Machine& machine,
                               const pto::ProgramOptions* program) {
  const FpEnvironment environment(true);  // constants are folded whatever the caller rounds to
  if (options.threads < 0 || options.threads > 1024)
    return invalid_argument("threads: " + std::to_string(options.threads) + ", expected 0..1024");
  STREW_ASSIGN(const Target target, parse_target(options.target, machine));
  STREW_ASSIGN(Compiled out, schedule_kernel(op, target, options, nullptr));
  out.program = program;
  if (!out.scheduled.ok()) return out;
  // An NPU's planner takes wide accumulation whole.
  const std::optional<WideSplit> split = is_npu(target) ? std::nullopt : split_wide(out.identity);
  if (split) STREW_TRY(schedule_parts(*split, options, out));
  choose_backend(options.backend, out);
  if (out.backend != nullptr) describe(out);
  return out;
}

Status build(Compiled& kernel) {
  const FpEnvironment environment(true);
  STREW_TRY(kernel.scheduled);
  STREW_TRY(kernel.chosen);
  STREW_ASSIGN(kernel.artifact, kernel.backend->build(kernel.request()));
  return {};
}

Expected<Compiled> compile(const Op& op, const KernelOptions& options) {
  STREW_ASSIGN(const VerifiedOp verified, VerifiedOp::of(op));
  STREW_ASSIGN(Compiled kernel, plan_kernel(verified, options));
  STREW_TRY(build(kernel));
  return kernel;
}

}  // namespace strew
