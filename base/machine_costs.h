// The costs of machines (strew/machine_costs.h): the nominal row of every CPU, the table of the numbers' names, and the file
// in which measured ones are kept. Tested by tests/unit/base/machine_costs_test.cc.
#pragma once

#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cpus.h"
#include "strew/machine_costs.h"
#include "strew/status.h"

namespace strew::inline v0 {

struct Machine;

/// The CPU's row.
MachineCosts nominal_costs(const CpuInfo& cpu);
/// The same for a machine with these cores and caches: a cache that it has not costs what the next level costs, and all cores
/// together are at most as many times as fast as one.
MachineCosts derived_costs(const Machine& machine);

inline constexpr std::string_view kCostLevels[] = {"l1d", "l2", "l3", "memory"};

struct MemoryCostField {
  std::string_view name;
  float MemoryCosts::*field;
};
inline constexpr MemoryCostField kMemoryCostFields[] = {
    {"latency_ns", &MemoryCosts::latency_ns},
    {"read_line_ns", &MemoryCosts::read_line_ns},
    {"update_line_ns", &MemoryCosts::update_line_ns},
    {"stream_ns", &MemoryCosts::stream_ns},
    {"store_ns", &MemoryCosts::store_ns},
    {"line_scale", &MemoryCosts::line_scale},
    {"stream_scale", &MemoryCosts::stream_scale},
};
struct CostField {
  std::string_view name;
  float MachineCosts::*field;
};
inline constexpr CostField kCostFields[] = {
    {"last_level_share", &MachineCosts::last_level_share},
    {"streaming_ns", &MachineCosts::streaming_ns},
    {"position_ns", &MachineCosts::position_ns},
    {"vector_ns", &MachineCosts::vector_ns},
    {"key_ns", &MachineCosts::key_ns},
    {"chain_ns", &MachineCosts::chain_ns},
    {"branch_miss_ns", &MachineCosts::branch_miss_ns},
    {"call_ns", &MachineCosts::call_ns},
    {"transfer_ns", &MachineCosts::transfer_ns},
    {"fork_join_ns", &MachineCosts::fork_join_ns},
    {"wake_ns", &MachineCosts::wake_ns},
    {"in_flight", &MachineCosts::in_flight},
};

/// Calls visit(name, number) for every number of `costs`; the names are "l1d.latency_ns" or "fork_join_ns".
template <class Costs, class Visit>
void for_each_cost(Costs& costs, Visit visit) {
  for (size_t level = 0; level < std::size(kCostLevels); ++level)
    for (const MemoryCostField& each : kMemoryCostFields)
      visit(std::string(kCostLevels[level]) + "." + std::string(each.name), costs.memory[level].*each.field);
  for (const CostField& each : kCostFields) visit(std::string(each.name), costs.*each.field);
}
struct NamedCost {
  std::string name;
  float value;
};
inline std::vector<NamedCost> named_costs(const MachineCosts& costs) {
  std::vector<NamedCost> all;
  for_each_cost(costs, [&](std::string name, float value) { all.push_back({std::move(name), value}); });
  return all;
}

/// The text of a costs file: a line with the machine's key, then NAME VALUE lines.
std::string print_costs(const MachineCosts& costs, std::string_view machine_key);
/// Reads it. Fails if the text is of another machine, or lacks a number or has one that cannot be; names the line.
Expected<MachineCosts> parse_costs(std::string_view text, std::string_view machine_key);

/// What tells machines apart whose costs differ: "znver4, 2 cores, caches 32 1024 32768 KiB".
std::string machine_key(const Machine& machine);
/// The file that keeps the costs of this machine: Options::costs_file, or one in the user's cache folder. Empty: there is none.
std::string costs_path(const Machine& machine);
/// The costs in that file; those of derived_costs() if there is none, and with a warning if it cannot be used.
MachineCosts known_costs(const Machine& machine);

}  // namespace strew::inline v0
