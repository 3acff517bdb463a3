// See can_run.h. detect_target() asks the processor and the operating system; this file compares the result feature by
// feature. Tested by tests/unit/base/machine_test.cc, tests/unit/backends/kernel_test.cc and tests/error/cli_test.cc.
#include "schedules/can_run.h"

#include <string>

#include "base/cpus.h"
#include "schedules/target.h"

namespace strew::inline v0 {

Status can_run(const Target& machine, const Target& target) {
  STREW_TRY(check(target));
  const auto refuse = [&](const std::string& why) {
    return unsupported(
        "target '" + print(target) + "': " + why +
        "; kernels for this target can be compiled here, but not run: expected target native or one whose features this "
        "machine has");
  };
  if (target.arch != machine.arch) return refuse("its architecture is " + target.arch + ", this machine's is " + machine.arch);
  const FeatureSet lacking = features_of(target) & ~features_of(machine);
  if (lacking == 0) return {};
  std::string list;
  for (const FeatureInfo& feature : known_features())
    if (lacking & bit_of(&feature)) list += (list.empty() ? "" : ", ") + std::string(feature.name);
  return refuse("this machine (" + print(machine) + ") lacks " + list);
}

Status machine_can_run(const Target& target) { return can_run(detect_target(), target); }

std::vector<std::string_view> runnable_x86_64_levels() {
  std::vector<std::string_view> levels;
  for (const std::string_view level : {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    const auto target = parse_target(level);
    if (target.ok() && machine_can_run(*target).ok()) levels.push_back(level);
  }
  return levels;
}

}  // namespace strew::inline v0
