// strew target: prints the machine for which kernels are compiled. Tested by tests/error/cli_test.cc.
#include "strew/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/machine_costs.h"
#include "strew/options.h"
#include "tools/strew/message.h"
#include "tools/strew/options.h"
#include "tune/measure_costs.h"

namespace strew::cli {
namespace {

/// STREW_TARGET, if `target`, which is what `native` stands for, is the one it names. It is not where this machine cannot run that.
std::string overridden_by_environment(const Target& target) {
  const std::string& wanted = process_options().target;
  const Expected<Target> named = parse_target(wanted);
  return wanted != "native" && named.ok() && print(*named) == print(target) ? "STREW_TARGET=" + wanted : "";
}

/// A table: a row per level of memory, then what is not about memory.
std::string costs_table(const MachineCosts& c) {
  std::string out = fmt::format(
      "costs       {}; nanoseconds per line of 64 bytes, and how many times as fast all cores together are\n", name(c.source));
  out += fmt::format("  {:<12} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "", "latency", "read", "update", "stream", "store",
                     "lines x", "stream x");
  constexpr const char* kLevels[] = {"L1d", "L2", "L3", "memory"};
  for (size_t i = 0; i < c.memory.size(); ++i) {
    const MemoryCosts& m = c.memory[i];
    out += fmt::format("  {:<12} {:>8.3g} {:>8.3g} {:>8.3g} {:>8.3g} {:>8.3g} {:>8.3g} {:>8.3g}\n", kLevels[i], m.latency_ns,
                       m.read_line_ns, m.update_line_ns, m.stream_ns, m.store_ns, m.line_scale, m.stream_scale);
  }
  return out + fmt::format(
                   "  share of the last level {:.3g}, streaming store {:.3g}, position {:.3g}, vector {:.3g}, key {:.3g}, chain "
                   "{:.3g}, branch miss {:.3g}, call "
                   "{:.3g},\n"
                   "  line from another core {:.3g}, fork and join {:.4g}, wake {:.5g} ns; {:.0f} instructions in flight\n",
                   c.last_level_share, c.streaming_ns, c.position_ns, c.vector_ns, c.key_ns, c.chain_ns, c.branch_miss_ns,
                   c.call_ns, c.transfer_ns, c.fork_join_ns, c.wake_ns, c.in_flight);
}

nlohmann::ordered_json costs_json(const MachineCosts& costs) {
  nlohmann::ordered_json out = {{"source", name(costs.source)}};
  for (const NamedCost& each : named_costs(costs)) out[each.name] = each.value;
  return out;
}

}  // namespace

int target(const Options& options) {
  std::string kept, not_kept;
  Target t = *options.kernel.target;
  if (options.measure) {
    const Expected<KeptCosts> measured = measure_and_keep_costs(options.force);
    if (!measured.ok()) return fail(measured.status());
    kept = measured->path;
    if (kept.empty())
      not_kept = fmt::format(
          "nothing: other programs had this thread's core for {:.0f} % of the time; measure again on an idle machine, "
          "or with --force",
          100 * measured->waiting);
    t.costs = measured->costs;
  }
  const Topology topology = detect_topology();
  const std::string overridden = options.target_given ? "--target " + options.target : overridden_by_environment(t);
  if (options.json) {
    const nlohmann::ordered_json json = {{"target", print(t)},
                                         {"arch", t.arch},
                                         {"cpu", t.cpu},
                                         {"features", t.features},
                                         {"vector_bytes", t.vector_bytes},
                                         {"f16c", t.f16c},
                                         {"cores", t.cores},
                                         {"l1d_bytes", t.l1d_bytes},
                                         {"l2_bytes", t.l2_bytes},
                                         {"l3_bytes", t.l3_bytes},
                                         {"sockets", topology.sockets},
                                         {"memory_nodes", topology.nodes},
                                         {"last_level_caches", topology.last_level_caches},
                                         {"costs", costs_json(t.costs)},
                                         {"kept_in", kept},
                                         {"not_kept", not_kept},
                                         {"overridden", overridden}};
    return fail(print_out(json.dump(2) + "\n"));
  }
  return fail(print_out(fmt::format(
      "target      {}\n"
      "arch        {}\n"
      "cpu         {}\n"
      "features    {}\n"
      "vectors     {} bytes, f16 conversion in hardware: {}\n"
      "cores       {} usable by this process\n"
      "caches      L1d {} KiB, L2 {} KiB, L3 {} KiB\n"
      "this machine  {} sockets, {} memory nodes, {} last-level caches\n"
      "{}"
      "overridden  {}\n"
      "{}",
      print(t), t.arch, t.cpu, fmt::join(t.features, " "), t.vector_bytes, t.f16c ? "yes" : "no", t.cores, t.l1d_bytes >> 10,
      t.l2_bytes >> 10, t.l3_bytes >> 10, topology.sockets, topology.nodes, topology.last_level_caches, costs_table(t.costs),
      overridden.empty() ? "nothing" : overridden, options.measure ? "kept in     " + kept + not_kept + "\n" : "")));
}

}  // namespace strew::cli
