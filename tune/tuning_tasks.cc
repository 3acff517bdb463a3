// See tuning_tasks.h.
#include "tune/tuning_tasks.h"

#include <map>

#include "compiler/rewrite/rewrites.h"
#include "strew/text.h"

namespace strew::inline v0 {

Expected<std::vector<TuningTask>> tuning_tasks(const Program& imported, const std::string& only, const KnownUsage& known) {
  std::vector<TuningTask> tasks;
  std::map<std::string, size_t> by_identity;
  std::string names;
  for (const ProgramKernel& kernel : imported.kernels()) {
    names += (names.empty() ? "" : ", ") + kernel.name;
    if (!only.empty() && kernel.name != only) continue;
    STREW_ASSIGN(const Canonical canonical, canonicalise(kernel.op));
    const auto [found, is_new] = by_identity.emplace(print(*canonical.identity), tasks.size());
    if (!is_new) {
      ++tasks[found->second].usage.calls;
      continue;
    }
    Expected<InventedUsage> usage = invent_usage(kernel.op, known);
    if (!usage.ok()) return usage.status().with_prefix(kernel.name);
    tasks.push_back({kernel.name, kernel.op, std::move(usage->usage), std::move(usage->notes)});
  }
  if (!tasks.empty()) return tasks;
  if (only.empty()) return invalid_argument("the file has no kernel, expected one at least");
  return invalid_argument("kernel: '" + only + "' is not in the file, expected one of: " + names);
}

}  // namespace strew::inline v0
