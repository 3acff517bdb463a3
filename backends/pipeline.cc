// compile() reads like the picture in docs/architecture.md. A schedule's text sets knobs over the heuristic's choice; a backend named by
// the caller must be able, `auto` takes the first that is (the reference always is). An op that no plan can hold goes to the reference
// alone. Tested by tests/unit/kernel_test.cc.
#include "backends/pipeline.h"

#include <future>
#include <system_error>

#include "base/fp_environment.h"
#include "compiler/rewrite/rewrites.h"
#include "compiler/rewrite/split_wide.h"
#include "schedules/strategies/strategy.h"

namespace strew {
namespace {

Expected<Schedule> make_schedule(const Plan& plan, const Target& target, const KernelOptions& options) {
  if (options.threads < 0 || options.threads > 1024)
    return invalid_argument("threads: " + std::to_string(options.threads) + ", expected 0..1024");
  STREW_ASSIGN(Schedule schedule, parse_schedule(options.schedule, choose_schedule(plan, target, options.threads)));
  STREW_TRY(check_schedule(schedule, plan, target));
  return schedule;
}

std::string backend_names() {
  std::string list = "auto";
  for (const auto* each : {&backends(), &simulated_backends()})
    for (const Backend* backend : *each) list += ", " + std::string(backend->name());
  return list;
}

Expected<const Backend*> choose_backend(const BuildRequest& request, const Status& planned, const std::string& wanted) {
  if (wanted != "auto") {
    const Backend* backend = find_backend(wanted);
    if (!backend) return invalid_argument("backend: '" + wanted + "', expected one of " + backend_names());
    if (!planned.ok() && backend != backends().back()) return planned;
    STREW_TRY(backend->can_build(request));
    return backend;
  }
  if (!planned.ok()) return backends().back();
  for (const Backend* backend : backends())
    if (backend->can_build(request).ok()) return backend;
  return internal_error("no backend can build the op, not even " + std::string(backends().back()->name()));
}

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

/// What a call needs, once the entries and the parts are known.
void describe(Compiled& out) {
  DescriptorRequest request{out.op, out.plan, out.schedule, out.symbol, out.op_text, "", {}, {}, false};
  if (!out.artifact.interpreted) request.features = feature_text(out.target);
  for (const EntryKind kind : out.artifact.entries) request.entries.push_back(static_cast<int>(kind));
  for (const Compiled& part : out.parts) request.parts.push_back(part.symbol);
  if (out.parts.size() == STREW_START) {
    const Compiled &fold = out.parts[STREW_FOLD], &narrow = out.parts[STREW_NARROW];
    request.widens_touched = uses_owners(fold.schedule.strategy) && narrow.schedule.strategy == Strategy::window &&
                             touched_legal(fold.plan, narrow.plan);
  }
  out.descriptor = make_descriptor(request);
}

/// A part that split_wide() made.
Expected<Plan> part_plan(const Op& part) {
  STREW_ASSIGN(const VerifiedOp verified, VerifiedOp::of(part));
  return canonical_plan(verified);
}

/// A half of a wide accumulation. Its scratch lies otherwise than the results, so a strategy asked for and legal for the whole op may not be
/// for the half: that one then runs on one thread.
Expected<Compiled> compile_part(const Op& part, const Plan& plan, Schedule schedule, const KernelOptions& whole) {
  KernelOptions options = whole;
  STREW_ASSIGN(const Target target, parse_target(options.target));
  if (!check_schedule(schedule, plan, target).ok()) schedule.strategy = Strategy::sequential;
  options.schedule = print(schedule);
  return compile(part, options);
}

/// function(), on a thread of its own where that is wanted and there is one to be had; else when it is asked for.
template <class Function>
auto beside(bool wanted, const Function& function) {
  if (!wanted) return std::async(std::launch::deferred, function);
  try {
    return std::async(std::launch::async, function);
  } catch (const std::system_error&) {
    return std::async(std::launch::deferred, function);
  }
}

/// Both halves, at the same time. Where updates may be few against the result, the fold takes the strategy and the narrowing the split
/// that let runtime/call/wide_touched widen only what is touched.
Status compile_halves(const WideSplit& split, const KernelOptions& options, Compiled& out) {
  STREW_ASSIGN(const Plan fold_plan, part_plan(split.fold));
  STREW_ASSIGN(const Plan narrow_plan, part_plan(split.narrow));
  Schedule fold_schedule = out.schedule, narrow_schedule = out.schedule;
  if (options.schedule.empty()) {
    fold_schedule = choose_schedule(fold_plan, out.target, options.threads);
    narrow_schedule = choose_schedule(narrow_plan, out.target, options.threads);
    if (touched_legal(fold_plan, narrow_plan) && updates_may_be_few(fold_plan)) fold_schedule.strategy = Strategy::owner;
  }
  narrow_schedule.strategy = Strategy::window;
  auto second = beside(options.threads != 1, [&] { return compile_part(split.narrow, narrow_plan, narrow_schedule, options); });
  Expected<Compiled> fold = compile_part(split.fold, fold_plan, fold_schedule, options);
  Expected<Compiled> narrow = second.get();
  if (!fold.ok()) return fold.status();
  if (!narrow.ok()) return narrow.status();
  out.parts.push_back(std::move(*fold));
  out.parts.push_back(std::move(*narrow));
  if (!split.start) return {};
  STREW_ASSIGN(const Plan start_plan, part_plan(*split.start));
  STREW_ASSIGN(Compiled start,
               compile_part(*split.start, start_plan, choose_schedule(start_plan, out.target, options.threads), options));
  out.parts.push_back(std::move(start));
  return {};
}

}  // namespace

Expected<Plan> canonical_plan(const VerifiedOp& op) {
  STREW_ASSIGN(const Canonical canonical, canonicalise(op));
  return make_plan(canonical.op);
}

Expected<Compiled> compile(const Op& given, const KernelOptions& options) {
  const FpEnvironment environment(true);  // constants are folded whatever the caller rounds to
  STREW_ASSIGN(const VerifiedOp op, VerifiedOp::of(given));
  Compiled out(op);
  STREW_ASSIGN(out.target, parse_target(options.target));

  auto plan = canonical_plan(op);
  out.planned = plan.ok();
  if (plan.ok()) out.plan = std::move(*plan);

  STREW_ASSIGN(out.schedule, make_schedule(out.plan, out.target, options));
  out.symbol = kernel_symbol(out.op_text, out.schedule, out.target);
  const BuildRequest request{out.op, out.plan, out.schedule, out.target, out.symbol};
  STREW_ASSIGN(out.backend, choose_backend(request, plan.status(), options.backend));
  const std::optional<WideSplit> split = split_wide(op);
  if (split && !out.backend->interprets()) {
    STREW_TRY(compile_halves(*split, options, out));
  } else {
    STREW_ASSIGN(out.artifact, out.backend->build(request));
  }
  describe(out);
  return out;
}

}  // namespace strew
