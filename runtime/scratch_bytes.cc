// See scratch_bytes.h.
#include "runtime/scratch_bytes.h"

#include <algorithm>

#include "runtime/call/strategies/partition.h"
#include "runtime/call/strategies/private_tables.h"
#include "runtime/call/wide.h"

namespace strew::inline v0 {

int64_t scratch_bytes(const Scatter& scatter, const Compiled& stages) {
  const Schedule& schedule = stages.schedule;
  const int threads = most_threads(stages);
  const int64_t allowed = int64_t{schedule.scratch_mib} << 20;
  if (schedule.strategy == Strategy::radix && scatter.accumulate == Accumulate::native)
    return PartitionLayout::most_scratch_bytes(threads, Bytes(allowed), kDefaultLimits).count();
  if (schedule.strategy != Strategy::private_tables && scatter.accumulate == Accumulate::native) return 0;
  int64_t elements = 1;
  for (int64_t dim : scatter.results[0].dims) {
    if (dim == kDynamic) return kDynamic;
    elements *= dim;
  }
  if (stages.descriptor.bytes.empty()) return 0;
  const auto kernel = materialise(stages.descriptor, [](const std::string&) { return nullptr; });
  // Either accumulators for the whole result, or lists of updates within the limit (runtime/call/wide).
  if (scatter.accumulate != Accumulate::native) return std::max(wide_scratch_bytes(*kernel, elements), allowed);
  // The limit applies to all tables together: their number decides the result's bits, so it does not depend on the
  // threads. Each thread has one at a time.
  const int tables = kernel->regroups != 0 ? std::min(schedule.tables, threads) : schedule.tables;
  if (private_bytes(*kernel, elements, tables) > allowed) return 0;
  return private_bytes(*kernel, elements, std::min(threads, tables - 1));
}

}  // namespace strew::inline v0
