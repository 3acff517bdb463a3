// See measure_costs.h.
#include "tune/measure_costs.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/machine_costs.h"
#include "base/pending_file.h"
#include "base/run_queue.h"
#include "tune/kernel_costs.h"
#include "tune/memory_costs.h"

namespace strew::inline v0 {
namespace {

constexpr int64_t kLeastMemory = int64_t{64} << 20, kMostMemory = int64_t{512} << 20;

/// Half of a cache, so that it surely holds what is measured; for main memory, four times what the caches hold.
int64_t bytes_of(const Machine& machine, const MachineCosts& costs, size_t level) {
  const int64_t caches[] = {machine.l1d_bytes, machine.l2_bytes,
                            static_cast<int64_t>(static_cast<double>(machine.l3_bytes) * costs.last_level_share)};
  if (level < std::size(caches)) return caches[level] / 2;
  return std::clamp(4 * machine.l3_bytes, kLeastMemory, kMostMemory);
}

/// A virtual machine shares its last-level cache with others: a table of half the size may find no room in it. The share is the largest
/// power of 1/2 of which a line costs less than half of one of main memory.
float share_of_last_level(const Machine& machine, const MachineCosts& costs) {
  const float half = costs.memory[3].update_line_ns / 2;
  constexpr float kLeast = 1.0F / 16;
  for (float share = 1; share > kLeast; share /= 2) {
    const float line = measure_updates(static_cast<int64_t>(static_cast<float>(machine.l3_bytes) * share));
    if (line > 0 && line < half) return share;
  }
  return kLeast;
}

/// The loops that go over lines take most of the time while these are in the first-level cache. As in the cost model, what is shorter,
/// loop or memory, hides behind the longer but for 0.3 of it; so what a level took tells what its memory took.
void take_off_loops(MachineCosts& costs) {
  constexpr float kUnhidden = 0.3F;
  const MemoryCosts first = costs.memory[0];
  for (const auto field :
       {&MemoryCosts::read_line_ns, &MemoryCosts::update_line_ns, &MemoryCosts::stream_ns, &MemoryCosts::store_ns}) {
    const float loop = first.*field / (1 + kUnhidden * kUnhidden);  // the first-level cache itself hides behind the loop
    for (MemoryCosts& level : costs.memory) {
      const float both = level.*field;
      level.*field = both > (1 + kUnhidden) * loop ? both - kUnhidden * loop
                                                   : std::max(both - loop, kUnhidden * kUnhidden * loop) / kUnhidden;
    }
  }
}

Expected<MachineCosts> measure_once(const Machine& machine) {
  MachineCosts costs = derived_costs(machine);
  costs.source = CostsSource::measured;
  STREW_TRY(measure_kernels(costs));
  STREW_TRY(measure_threads(machine.cores, costs));
  const auto measure_level = [&](size_t level) {
    if (const int64_t bytes = bytes_of(machine, costs, level); bytes > 0)
      measure_memory(bytes, machine.cores, costs.memory[level], level == 3 ? &costs.streaming_ns : nullptr);
  };
  for (const size_t level : {size_t{0}, size_t{1}, size_t{3}}) measure_level(level);
  if (machine.l3_bytes > machine.l2_bytes) costs.last_level_share = share_of_last_level(machine, costs);
  measure_level(2);
  take_off_loops(costs);
  // A cache costs no more than what lies behind it; noise may say so.
  for (size_t level = costs.memory.size() - 1; level > 0; --level) {
    MemoryCosts &near = costs.memory[level - 1], &far = costs.memory[level];
    for (const auto field : {&MemoryCosts::latency_ns, &MemoryCosts::read_line_ns, &MemoryCosts::update_line_ns,
                             &MemoryCosts::stream_ns, &MemoryCosts::store_ns})
      near.*field = std::min(near.*field, far.*field);
  }
  costs.branch_miss_ns = measure_branch_miss();
  for (const NamedCost& cost : named_costs(costs))
    if (!std::isfinite(cost.value) || cost.value <= 0)
      return unsupported("measuring this machine: " + cost.name + " came out as " + std::to_string(cost.value));
  return costs;
}

}  // namespace

Expected<MachineCosts> measure_costs(const Machine& machine) {
  constexpr size_t kTimes = 3;
  std::vector<MachineCosts> all;
  for (size_t i = 0; i < kTimes; ++i) {
    STREW_ASSIGN(const MachineCosts costs, measure_once(machine));
    all.push_back(costs);
  }
  std::vector<float> medians;  // of each number: what else runs on the machine may spoil one of the three
  for (size_t number = 0; number < named_costs(all[0]).size(); ++number) {
    std::array<float, kTimes> values;
    for (size_t i = 0; i < kTimes; ++i) values[i] = named_costs(all[i])[number].value;
    std::nth_element(values.begin(), values.begin() + kTimes / 2, values.end());
    medians.push_back(values[kTimes / 2]);
  }
  MachineCosts costs = all[0];
  for_each_cost(costs, [&, next = medians.begin()](const std::string&, float& value) mutable { value = *next++; });
  return costs;
}

Expected<KeptCosts> measure_and_keep_costs(bool even_if_busy) {
  const std::string path = costs_path(machine());
  if (path.empty())
    return invalid_argument(
        "--measure: no file to keep costs in: the environment has neither HOME nor XDG_CACHE_HOME, or STREW_COSTS is off; "
        "set STREW_COSTS to a file");
  const HostWatch host;
  STREW_ASSIGN(const MachineCosts costs, measure_costs(machine()));
  const double waiting = host.waiting();
  if (waiting > kMostWaiting && !even_if_busy) return KeptCosts{costs, {}, waiting};
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);  // create() below says what is wrong
  STREW_ASSIGN(PendingFile file, PendingFile::create(path, print_costs(costs, machine_key(machine()))));
  STREW_TRY(file.commit());
  return KeptCosts{costs, path, waiting};
}

}  // namespace strew::inline v0
