// See learned_wisdom.h.
#include "runtime/learned_wisdom.h"

#include <fmt/chrono.h>

#include <ctime>
#include <memory>
#include <new>
#include <utility>

#include "backends/backend.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/machine_costs.h"
#include "base/run_queue.h"
#include "schedules/wisdom/learned.h"
#include "schedules/wisdom/wisdom_file.h"

namespace strew::inline v0 {
namespace {

/// The kernel that runs every call in the way. A strategy is the schedule's alone if calls do not choose; they go on choosing stores.
Schedule schedule_of(Schedule schedule, const CallWay& way, const CallWay& first) {
  if (way.strategy >= 0) schedule.strategy = static_cast<Strategy>(way.strategy);
  if (way.strategy != first.strategy) schedule.adapts = false;
  schedule.nontemporal = way.streams;
  return schedule;
}

}  // namespace

std::string date_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

WisdomRecord record_here(const Compiled& planned, const Compiled& sized) {
  return {.family = family_of(planned.identity),
          .op = planned.identity_text,
          .shape = shape_features(sized.plan),
          .machine = machine_key(machine()),
          .features = features_key(planned.target),
          .generator = std::string(generator_version()),
          .date = date_now()};
}

std::vector<WisdomRecord> records_in_service(const Compiled& planned, const ServiceOutcome& outcome) {
  WisdomRecord record = record_here(planned, planned);
  record.indices = "in service";
  record.temperature = "hot";  // calls found what those before them had left in the caches
  record.threads = outcome.threads;
  record.rounds = outcome.rounds;
  record.is_confirmed = true;
  record.is_busy = outcome.is_busy;
  record.is_default = true;
  record.backend = outcome.first.backend;
  record.schedule = print(outcome.first.schedule);
  if (outcome.other == outcome.first) return {record};
  WisdomRecord other = record;
  other.is_default = false;
  other.backend = outcome.other.backend;
  other.schedule = print(outcome.other.schedule);
  other.ratio = outcome.ratio.median;
  other.ratio_low = outcome.ratio.low;
  other.ratio_high = outcome.ratio.high;
  return {record, other};
}

KeepLesson lesson_keeper(const Kernel::State& state, std::string wisdom_file) {
  if (state.callable->is_open || state.descriptor != state.built->descriptor) return {};
  return [built = state.built, wisdom_file = std::move(wisdom_file),
          host = std::make_shared<HostWatch>()](const LessonOutcome& learned) {
    try {
      const Compiled& made = built->compiled;
      const auto kernel = [&](const CallWay& way) {
        return ServiceKernel{made.backend->name(), schedule_of(made.schedule, way, learned.first)};
      };
      const ServiceOutcome outcome{kernel(learned.first), kernel(learned.other), learned.ratio,
                                   learned.trials,        learned.threads,       host->was_busy()};
      if (const Status status = append_wisdom(wisdom_file, records_in_service(made, outcome)); !status.ok())
        log(LogLevel::warn, status.message() + "; what the calls of " + made.symbol + " learned is not kept");
    } catch (const std::bad_alloc&) {  // the call has done its work, and goes on without
    }
  };
}

}  // namespace strew::inline v0
