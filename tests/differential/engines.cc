// See engines.h. Kernels are requested by the public API, so binding, the cache and the executor are tested, too. The
// runtime forgets its kernels every two thousand kernels; their code is freed with the last handle. Tested by every
// differential run.
#include "tests/differential/engines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "backends/backend.h"
#include "backends/pipeline.h"
#include "schedules/knobs.h"
#include "tests/support/options.h"
#include "tests/support/plan.h"

namespace strew::test {
namespace {

constexpr int64_t kForgetEvery = 2000;
constexpr int kHalidePercent = 15;  // percentage of ops that Halide builds, too: it takes ten times as long as LLVM

/// The strategies that are legal for `plan`.
std::vector<Strategy> legal_strategies(const Plan& plan, const Target& target, Schedule schedule) {
  std::vector<Strategy> out;
  for (const Strategy strategy : kStrategies) {
    schedule.strategy = strategy;
    if (check_schedule(schedule, plan, target).ok()) out.push_back(strategy);
  }
  return out;
}

/// A value of the knob: its default, or a random one; small values are as likely as large ones.
int random_number(Rng& rng, const Knob& knob, int usual) {
  if (knob.doubles) {
    int count = 1;
    while (knob.least << count <= knob.most) ++count;
    return knob.least << rng.below(count);
  }
  if (rng.chance(60)) return usual;
  int64_t most = knob.least;
  while (most < knob.most && rng.chance(70)) most = std::min<int64_t>(2 * most + 1, knob.most);
  return static_cast<int>(rng.between(knob.least, most));
}

/// Draws all knobs. None of them changes results.
Schedule random_schedule(Rng& rng, const Schedule& base, Strategy strategy, const Target& target) {
  Schedule s = base;
  for (const Knob& knob : knobs()) {
    if (const auto* const number = std::get_if<int Schedule::*>(&knob.field))
      s.** number = random_number(rng, knob, Schedule{}.**number);
    else if (const auto* const flag = std::get_if<bool Schedule::*>(&knob.field); flag != nullptr && !knob.checks)
      s.** flag = rng.chance(25);
  }
  s.strategy = strategy;
  s.vector_bytes = std::min(target.vector_bytes, s.vector_bytes);
  return s;
}

/// The reason of a refusal without the numbers of nodes and tensors, so that equal reasons are counted together.
std::string reason_of(const Status& status) {
  std::string reason = status.message().substr(0, 120);
  for (size_t i = 1; i < reason.size(); ++i)
    if (reason[i - 1] == ' ' && std::isdigit(static_cast<unsigned char>(reason[i])))
      reason.replace(i, reason.find_first_not_of("0123456789", i) - i, 1, '#');
  return reason;
}

/// Does the backend generate code, which takes milliseconds, and which a library can hold?
bool is_compiled(const std::string& backend) {
  const Backend& each = *find_backend(backend);
  return !each.interprets() && !each.is_precompiled();
}

/// The options of one kernel with all knobs as they are planned for it. A library's kernels are planned without a number of threads, by which
/// the heuristic chooses; with all knobs given, kernels of the same request are the same.
KernelOptions planned_options(const Op& op, const std::string& backend, KernelOptions options) {
  options.backend = test::backend(backend);
  set_schedule(options, print(plan_kernel(VerifiedOp::of(op).value(), options).value().schedule));
  return options;
}

}  // namespace

std::vector<std::string> backend_names(const EngineOptions& options) {
  std::vector<std::string> names;
  for (const Backend* backend : backends())
    if (options.backend.empty() || options.backend == backend->name()) names.emplace_back(backend->name());
  return names;
}

EngineRoom::EngineRoom(EngineOptions options)
    : options_(std::move(options)),
      target_(options_.targets.empty() ? detect_target() : test::target(options_.targets[0])),
      names_(test::backend_names(options_)),
      limits_(std::make_shared<ExecutionLimits>()),
      runtime_(std::make_unique<Runtime>(
          ExecutionSettings{std::make_shared<ThreadPool>(ThreadPoolOptions{kMostThreads, false, true}), limits_})) {
  if (options_.library == nullptr) return;
  if (const Status status = runtime_->register_library(*options_.library); !status.ok()) {
    fmt::print(stderr, "strew_differential: {}\n", status.message());
    std::abort();
  }
}

void EngineRoom::set_limits(const ExecutionLimits& limits) {
  *limits_ = limits;
  limits_->trace = &trace_;
  trace_.clear();
}

Expected<Cell> EngineRoom::cell(const Op& op) const {
  STREW_ASSIGN(const VerifiedOp verified, VerifiedOp::of(op));
  STREW_ASSIGN(const Plan plan, canonical_plan(verified));
  return cell_of(op, plan.kind);
}

bool EngineRoom::allows(const Op& op, Strategy strategy) const {
  const Expected<VerifiedOp> verified = VerifiedOp::of(op);
  if (!verified.ok()) return false;
  const Expected<Plan> plan = canonical_plan(*verified);
  if (!plan.ok()) return false;
  Schedule schedule = choose_schedule(*plan, target_, 0);
  schedule.strategy = strategy;
  return check_schedule(schedule, *plan, target_).ok();
}

Schedule EngineRoom::legal_schedule(Rng& rng, const std::string& backend, const BuildRequest& usual,
                                    std::optional<Strategy> wish) const {
  const Target& target = usual.target;
  const std::vector<Strategy> legal = legal_strategies(usual.plan, target, usual.schedule);
  for (int tries = 0; tries < 10; ++tries) {
    const Strategy strategy = wish.value_or(legal[static_cast<size_t>(rng.below(static_cast<int64_t>(legal.size())))]);
    const Schedule schedule = random_schedule(rng, usual.schedule, strategy, target);
    const BuildRequest request{usual.tensors, usual.plan, schedule, target, usual.symbol};
    if (check_schedule(schedule, usual.plan, target).ok() && find_backend(backend)->can_build(request).ok()) return schedule;
  }
  return usual.schedule;
}

Status EngineRoom::add(std::vector<Engine>& engines, const Op& op, const std::string& backend, const KernelOptions& options) {
  if (only_records()) {
    if (is_compiled(backend)) options_.record(op, planned_options(op, backend, options));
    return {};
  }
  STREW_ASSIGN(Engine engine, one(op, backend, options));
  engines.push_back(std::move(engine));
  return {};
}

Expected<Engine> EngineRoom::one(const Op& op, const std::string& backend, const KernelOptions& wanted) {
  KernelOptions options = wanted;
  options.backend = test::backend(backend);
  if (options_.library != nullptr && is_compiled(backend)) options = planned_options(op, backend, options);
  Expected<Kernel> kernel = runtime_->get(op, options);
  if (!kernel.ok()) {
    return internal_error(fmt::format("backend {} says it can build this for target {}, schedule '{}', but: {}", backend,
                                      print(*options.target), print(options.schedule), kernel.status().message()));
  }
  if (kernel->backend() != backend)
    return internal_error(fmt::format("asked for backend {}, got {}", backend, kernel->backend()));
  if (++built_ % kForgetEvery == 0) runtime_->clear();
  return Engine{backend, fmt::format("threads={},{}", kernel->threads(), print(kernel->schedule())), print(*options.target),
                *kernel};
}

Expected<std::vector<Engine>> EngineRoom::build(const Op& op, Rng rng, std::optional<Strategy> wish) {
  STREW_ASSIGN(const VerifiedOp verified, VerifiedOp::of(op));
  STREW_ASSIGN(const Plan plan, canonical_plan(verified));
  KernelOptions options;
  const std::string& target_name = rng.pick(targets());
  STREW_ASSIGN(const Target target, parse_target(target_name));
  options.threads = kThreadCounts[rng.below(std::size(kThreadCounts))];
  options.target = target;
  const Schedule usual = choose_schedule(plan, target, options.threads);
  // Whether a call that only checks indices may skip the phases is decided when its kernel is built, so this limit is
  // set here.
  limits_->checked_alone = rng.chance(50) ? 0 : kDefaultLimits.checked_alone;
  coverage_.built_for(target_name);
  std::vector<Engine> engines;
  for (const std::string& name : names_) {
    const BuildRequest request{tensor_slots(verified), plan, usual, target, "strew_probe"};
    coverage_.asked(name);
    if (Status can = find_backend(name)->can_build(request); !can.ok()) {
      coverage_.refused(name, reason_of(can));
      if ((name == "llvm" || name == "portable") && is_promised(op))
        return internal_error(fmt::format("backend {} refuses an op it must build: {}", name, can.message()));
      continue;
    }
    if (name == "halide" && options_.backend.empty() && !rng.chance(kHalidePercent)) continue;
    // Building takes most of the time, so an op usually gets either the heuristic's schedule or random ones.
    if (wish && (name == "halide" || name == "reference"))
      continue;  // the runtime splits the work, whatever backend made the entries
    const bool is_cheap = !is_compiled(name);
    const bool only_random = name != "reference" && (wish || (!is_cheap && options_.schedules > 0 && rng.chance(45)));
    const bool only_usual = name == "reference" || (!is_cheap && options_.schedules == 1 && !only_random && rng.chance(60));
    if (!only_random) STREW_TRY(add(engines, op, name, options));
    for (int n = 0; n < std::max(options_.schedules, wish ? 1 : 0) && !only_usual; ++n) {
      KernelOptions scheduled = options;
      // The upper bound for all calls; small_limits() makes calls with fewer threads, too.
      scheduled.threads = rng.chance(75) ? kMostThreads : kThreadCounts[rng.below(std::size(kThreadCounts))];
      test::set_schedule(scheduled, print(legal_schedule(rng, name, request, wish)));
      STREW_TRY(add(engines, op, name, scheduled));
    }
  }
  return engines;
}

}  // namespace strew::test
