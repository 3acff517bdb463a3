// See pipeline.h. plan_kernel() has the stages of the picture in docs/architecture.md. The knobs in a schedule's text
// replace those that the heuristic chose. A backend that the caller names must be able to build the kernel; `auto`
// takes the first that can, and the reference always can. A wide accumulation is a kernel made of parts
// (compiler/rewrite/split_wide.h): fold (updates into a wide accumulator), narrow (the accumulator into the result,
// rounded once) and, if operand and result differ in dtype, start (the initial values of the accumulator). Where it pays,
// another part, sums, does it all in one pass over sorted destinations (runtime/call/wide_sums). The parts
// pass through the same stages and end in the same object. Tested by tests/unit/backends/kernel_test.cc.
#include "backends/pipeline.h"

#include <algorithm>

#include "backends/arithmetic.h"
#include "backends/dump.h"
#include "backends/lower/walk.h"
#include "base/fp_environment.h"
#include "base/machine.h"
#include "base/options.h"
#include "compiler/rewrite/split_wide.h"
#include "schedules/strategies/strategy.h"
#include "schedules/target.h"

namespace strew::inline v0 {
namespace {

/// Is sparse widening legal for these parts: may a call widen only the blocks of the result that updates reach
/// (runtime/call/wide_sparse)? In addition, fold must be scheduled with an owner strategy, and narrow with strategy
/// window.
bool sparse_widening_legal(const Plan& fold, const Plan& narrow) {
  if (fold.pairs != 1 || !legal(Strategy::owner, fold).ok() || fold.accumulate != Accumulate::native) return false;
  // The window of a key must be the `unit` elements from the key on, and narrow must be one run over all elements.
  const Term& unit = fold.keys->units[0];
  const auto result = static_cast<size_t>(fold.result(0));
  const bool row = fold.window.size() == 1 && fold.window[0].strides[result].is(1) && fold.window[0].extent == unit;
  const bool element = fold.window.empty() && unit.is(1);
  return (row || element) && narrow.window.size() == 1 && narrow.window[0].strides[static_cast<size_t>(narrow.result(0))].is(1) &&
         narrow.positions.empty();
}

/// The CPU features that code for the target may use, in the format of strew_kernel.features.
std::string feature_text(const Target& target) {
  std::string text;
  const FeatureSet set = features_of(target);
  for (const FeatureInfo& feature : known_features())
    if ((set & bit_of(&feature)) != 0) text += (text.empty() ? "" : ",") + std::string(feature.name);
  return text;
}

/// Refuses values that no text of options stands for: the caller fills in the struct. Knobs are checked with the schedule.
Status check_options(const KernelOptions& options) {
  STREW_TRY(check_threads(options.threads));
  if (!is_backend(options.backend))
    return invalid_argument("backend: number " + std::to_string(static_cast<int>(options.backend)) + ", expected one of " +
                            backend_names());
  return options.target ? check(*options.target) : Status();
}

/// Runs the stages up to the schedule. `wanted`: the schedule to take; null: the heuristic's, with the knobs that the
/// options set.
Expected<Compiled> schedule_kernel(const VerifiedOp& op, const Target& target, const KernelOptions& options,
                                   const Schedule* wanted) {
  Compiled out(op);
  STREW_ASSIGN(Canonical canonical, canonicalise(op));
  out.identity = std::move(canonical.identity);
  out.identity_text = print(*out.identity);
  out.canonical = std::move(canonical.op);
  out.applied = std::move(canonical.applied);
  out.target = target;
  out.plan = make_plan(out.canonical);
  out.threads = options.threads;
  if (is_npu(target)) {
    out.why = "the planner of the program chooses tiles and how cores share them";
    if (options.schedule != ScheduleOverrides{})
      out.scheduled = unsupported("schedule '" + print(options.schedule) + "': target " + target.cpu +
                                  " has no such knobs, expected none: a program's are asked for as ProgramOptions");
    return out;
  }
  out.schedule = out.heuristic = choose_schedule(out.plan, out.target, out.threads, &out.why);
  if (wanted == nullptr && options.wisdom != nullptr)
    out.learned = learn(*options.wisdom, out.identity, out.identity_text, out.plan, out.target,
                        planned_threads(out.target, out.threads), out.heuristic);
  if (wanted != nullptr) {
    out.schedule = *wanted;
  } else if (Expected<Schedule> schedule = apply(options.schedule, out.learned.schedule.value_or(out.heuristic)); schedule.ok()) {
    out.schedule = *schedule;
  } else {
    out.scheduled = schedule.status();
  }
  if (out.scheduled.ok()) out.scheduled = check_schedule(out.schedule, out.plan, out.target);
  return out;
}

/// Runs the stages up to the schedule for one part of a wide accumulation. The accumulator has other strides than the
/// result, so a schedule that is legal for the whole op may be illegal for a part; that part falls back to strategy
/// `sequential`.
Expected<Compiled> schedule_part(const Op& op, const Compiled& whole, const KernelOptions& options, const Schedule* wanted) {
  STREW_ASSIGN(const VerifiedOp verified, VerifiedOp::of(op));
  STREW_ASSIGN(Compiled part, schedule_kernel(verified, whole.target, options, wanted));
  if (part.scheduled.ok()) return part;
  part.schedule.strategy = Strategy::sequential;
  part.scheduled = check_schedule(part.schedule, part.plan, part.target);
  return part;
}

/// The part of a wide accumulation that sums rows in registers, for destinations that the op says are sorted. Fails with the reason if there is no such
/// way for the plan.
Expected<Compiled> schedule_sums(const KernelOptions& options, const Compiled& out) {
  const auto not_so = [](const std::string& why) { return unsupported("not in registers: " + why); };
  if (out.plan.order == Order::relaxed) return not_so("order relaxed says in which groups updates are summed");
  if (const Status legal = strew::legal(Strategy::runs, out.plan); !legal.ok()) return not_so(legal.message());
  STREW_ASSIGN(Compiled sums, schedule_kernel(out.identity, out.target, options, &out.schedule));
  sums.part = STREW_SUMS;
  if (sums.schedule.strategy != Strategy::sequential) sums.schedule.strategy = Strategy::runs;
  sums.schedule.adapts = false;
  if (const Status legal = check_schedule(sums.schedule, sums.plan, sums.target); !legal.ok()) return not_so(legal.message());
  lowered::Kernel kernel = lowered::lower_kernel(sums.plan, sums.schedule);
  lowered::run_passes(kernel, sums.target);
  if (kernel.find(EntryKind::range)->walk.way != lowered::Walk::Way::row_run)
    return not_so("the registers do not hold a row, or it is too short");
  return sums;
}

/// Schedules the parts of a wide accumulation. If a call may have few updates for the size of the result, fold takes
/// strategy owner and narrow strategy window, which sparse widening needs (runtime/call/wide_sparse).
Status schedule_parts(WideSplit split, const KernelOptions& options, Compiled& out) {
  KernelOptions plain = options;
  // A part takes the whole op's schedule if there is a learned or a given one, else the heuristic's for the part.
  plain.schedule = {};
  plain.wisdom = nullptr;
  const bool is_given = options.schedule != ScheduleOverrides{} || (out.learned.schedule && out.schedule != out.heuristic);
  Expected<Compiled> sums = schedule_sums(plain, out);
  // Then the fold gets the calls of which the hint is false, or one destination has too many updates for one thread.
  if (sums.ok()) split.fold.indices_are_sorted = false;
  STREW_ASSIGN(Compiled fold, schedule_part(split.fold, out, plain, is_given ? &out.schedule : nullptr));
  STREW_ASSIGN(Compiled narrow, schedule_part(split.narrow, out, plain, is_given ? &out.schedule : nullptr));
  const auto set_strategy = [](Compiled& part, Strategy strategy) {
    const Strategy before = part.schedule.strategy;
    part.schedule.strategy = strategy;
    if (!check_schedule(part.schedule, part.plan, part.target).ok())
      part.schedule.strategy = before == strategy ? Strategy::sequential : before;
  };
  if (!is_given && sparse_widening_legal(fold.plan, narrow.plan) && updates_may_be_few(fold.plan))
    set_strategy(fold, Strategy::owner);
  set_strategy(narrow, Strategy::window);
  const auto add = [&](int number, Compiled part) {
    part.part = number;
    out.parts.push_back(std::move(part));
  };
  add(STREW_FOLD, std::move(fold));
  add(STREW_NARROW, std::move(narrow));
  if (split.start) {
    STREW_ASSIGN(Compiled start, schedule_part(*split.start, out, plain, nullptr));
    add(STREW_START, std::move(start));
  }
  if (sums.ok())
    out.parts.push_back(*std::move(sums));
  else
    out.sums = sums.status().message();
  return {};
}

bool has_part(const Compiled& kernel, int number) {
  return std::ranges::find(kernel.parts, number, &Compiled::part) != kernel.parts.end();
}

/// Drops the parts that the backend does not build: one that interprets takes a wide accumulation whole.
void drop_parts(const Backend& backend, Compiled& kernel) {
  if (backend.interprets()) kernel.parts.clear();
  if (backend.sums_in_registers() || !has_part(kernel, STREW_SUMS)) return;
  kernel.parts.pop_back();
  kernel.sums = "not in registers: backend " + std::string(backend.name()) + " builds no such part";
}

/// Asks the backend whether it can build the kernel with the parts that drop_parts() leaves.
Status can_build(const Backend& backend, const Compiled& kernel) {
  if (kernel.target.host_fp && !backend.has_host_fp() && computes_floats(kernel.plan))
    return unsupported("backend " + std::string(backend.name()) +
                       ": its kernels compute in the default floating-point environment, expected a target without host_fp");
  BuildRequest request = kernel.request();
  if (backend.interprets())
    request.parts.clear();
  else if (!backend.sums_in_registers() && has_part(kernel, STREW_SUMS))
    request.parts.pop_back();
  return backend.can_build(request);
}

/// An NPU target has one backend, which has the target's name.
void choose_npu_backend(BackendChoice wanted, Compiled& out) {
  const Backend* const backend = find_backend(out.target.cpu);
  out.backends.push_back({backend, can_build(*backend, out)});
  out.chosen = wanted == BackendChoice::automatic || name(wanted) == out.target.cpu
                   ? out.backends[0].status
                   : unsupported("backend " + std::string(name(wanted)) + ": target is " + out.target.cpu +
                                 ", expected backend auto or " + out.target.cpu);
  if (out.chosen.ok()) out.backend = backend;
}

void choose_backend(BackendChoice wanted, Compiled& out) {
  if (is_npu(out.target)) return choose_npu_backend(wanted, out);
  for (const Backend* backend : backends()) out.backends.push_back({backend, can_build(*backend, out)});
  if (wanted == BackendChoice::automatic) {
    for (const Candidate& each : out.backends) {
      const bool is_learned = out.learned.schedule && each.backend->name() == out.learned.backend;
      if (each.status.ok() && (out.backend == nullptr || is_learned)) out.backend = each.backend;
    }
    if (out.backend != nullptr) return;
    out.chosen =
        out.target.host_fp ? out.backends.front().status : internal_error("no backend can build the op, not even the reference");
    return;
  }
  const Backend* const backend = find_backend(name(wanted));
  out.chosen = can_build(*backend, out);
  if (out.chosen.ok()) out.backend = backend;
}

/// Makes the symbol and the descriptor of the kernel, after those of its parts.
void describe(Compiled& out) {
  const bool interpreted = out.backend->interprets();
  drop_parts(*out.backend, out);
  std::string made_of = out.identity_text;
  for (Compiled& part : out.parts) {
    part.backend = out.backend;
    describe(part);
    made_of += "\n" + part.symbol;  // a part's schedule may differ from the whole op's, and its symbol contains the schedule
  }
  out.symbol = kernel_symbol(made_of, out.schedule, out.target, out.backend->name());
  DescriptorRequest request{out.identity, out.plan, out.schedule, out.symbol, out.identity_text};
  const bool precompiled = out.backend->is_precompiled();
  request.features = interpreted || precompiled ? "" : feature_text(out.target);
  request.has_program = precompiled;
  request.target = print(out.target);
  request.host_fp = out.target.host_fp;
  request.backend = out.backend->name();
  request.has_entries = !interpreted && out.parts.empty();
  for (const Compiled& part : out.parts) {
    request.parts.resize(static_cast<size_t>(part.part) + 1);
    request.parts.back() = part.symbol;
  }
  if (!out.parts.empty() && !has_part(out, STREW_START)) {
    const Compiled &fold = out.parts[STREW_FOLD], &narrow = out.parts[STREW_NARROW];
    request.widens_touched = traits_of(fold.schedule.strategy).has_owners() && narrow.schedule.strategy == Strategy::window &&
                             sparse_widening_legal(fold.plan, narrow.plan);
  }
  out.descriptor = make_descriptor(request);
}

}  // namespace

BuildRequest Compiled::request() const {
  BuildRequest out{tensor_slots(op), plan, schedule, target, symbol};
  out.is_packed = !packed.bytes.empty();
  if (!descriptor.bytes.empty()) out.descriptor = out.is_packed ? &packed : &descriptor;
  for (const Compiled& part : parts) out.parts.push_back(part.request());
  out.program = program;
  return out;
}

Expected<Compiled> plan_kernel(const VerifiedOp& op, const KernelOptions& options, const pto::ProgramOptions* program) {
  KernelOptions named = options;
  if (!named.target) {
    named.target = process_target();
    if (named.wisdom == nullptr) named.wisdom = Wisdom::process();
  }
  return plan_kernel(op, named, machine(), program);
}

Expected<Compiled> plan_kernel(const VerifiedOp& op, const KernelOptions& options, const Machine& machine,
                               const pto::ProgramOptions* program) {
  const FpEnvironment environment(true);  // constants are folded with rounding to nearest, whatever the caller's rounding mode is
  STREW_TRY(check_options(options));
  STREW_ASSIGN(const Target target, options.target ? Expected<Target>(*options.target) : parse_target("native", machine));
  STREW_ASSIGN(Compiled out, schedule_kernel(op, target, options, nullptr));
  out.program = program;
  if (!out.scheduled.ok()) return out;
  // The planner of NPU programs takes a wide accumulation whole.
  std::optional<WideSplit> split = is_npu(target) ? std::nullopt : split_wide(out.identity);
  if (split) STREW_TRY(schedule_parts(*std::move(split), options, out));
  choose_backend(options.backend, out);
  if (out.backend != nullptr) describe(out);
  return out;
}

Expected<Compiled> with_backend(Compiled planned, const Backend& backend) {
  STREW_TRY(planned.scheduled);
  STREW_TRY(can_build(backend, planned));
  planned.backend = &backend;
  planned.chosen = {};
  describe(planned);
  return planned;
}

Status build(Compiled& kernel) {
  const FpEnvironment environment(true);
  STREW_TRY(kernel.scheduled);
  STREW_TRY(kernel.chosen);
  const BuildRequest request = kernel.request();
  STREW_ASSIGN(kernel.artifact, kernel.backend->build(request));
  dump_kernel(process_options().dump_dir, *kernel.backend, request, kernel.artifact);
  return {};
}

Expected<Compiled> compile(const Op& op, const KernelOptions& options) {
  STREW_ASSIGN(const VerifiedOp verified, VerifiedOp::of(op));
  STREW_ASSIGN(Compiled kernel, plan_kernel(verified, options));
  STREW_TRY(build(kernel));
  return kernel;
}

}  // namespace strew::inline v0
