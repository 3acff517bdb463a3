// What `native` stands for in this process (Options::target), and the check of all options, which includes the target. Tested by
// tests/unit/base/options_test.cc and options_effect_test.cc.
#include "base/log.h"
#include "base/machine.h"
#include "base/options.h"
#include "schedules/can_run.h"
#include "schedules/target.h"

namespace strew::inline v0 {

Status check_runnable(std::string_view text) {
  STREW_ASSIGN(const Target target, parse_target(text, machine()));
  return machine_can_run(target);
}

const std::string& process_native() {
  static const std::string& native = *new std::string([] {
    const std::string& wanted = process_options().target;
    const Status status = check_runnable(wanted);
    if (status.ok()) return wanted;
    log_or_keep_warning("environment variable STREW_TARGET: " + status.message() + "; it counts as native");
    return std::string("native");
  }());
  return native;
}

const Target& process_target() {
  static const Target& target = *new Target(*parse_target(process_native(), measured_machine()));
  return target;
}

Status check(const Options& options) {
  STREW_TRY(check_values(options));
  const Status status = check_runnable(options.target);
  return status.ok() ? status : invalid_argument("options: target: " + status.message());
}

}  // namespace strew::inline v0
