// See machine_costs.h. The rows of Zen 3, Zen 4 and Zen 5 are rounded from measurements on virtual machines of such servers, that of Zen 4 from the
// medians of fourteen runs of `strew target --measure` on two cores of a quiet one; the scales, which take more cores, are estimates. So is its
// latency of the last-level cache: loads one by one found 4 MiB in it after 16 ns and 16 MiB, most of which others had driven out, after 120; with 16
// as the latency, kernels that need prefetches get none (rows of 12 bytes of a table of 6 MB took 1.4 times as long). The row of
// Zen 3 was made while random lines were prefetched 32 lines before, so that its random lines of main memory may be faster than it says. The row of
// Ice Lake to Granite Rapids servers is from two cores of a virtual machine of one with AMX and 480 MiB of last-level cache, whose slices lie behind a mesh. `strew target --measure` asks it for half of that, of
// which others hold most; the row's last-level cache is what programs found whose tensors have 4 to 16 MiB, and its share is a tenth. The
// other rows are estimates from published latencies and bandwidths: they rank schedules, they do not predict times.
//
// Fork and join takes nine times as long as a line from another core, in every row: on Zen 4, 420 ns where that line takes 50 because both cores
// share a last-level cache, and 1,690 where it takes 180. What waking a thread takes is the system's more than the CPU's: the virtual machine
// of Zen 4 took 60 us, and the other rows say what machines take that are none.
#include "base/machine_costs.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/file.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/options.h"

namespace strew::inline v0 {
namespace {

struct Row {
  std::string_view cpus;  ///< names of base/cpus.cc, each followed by a space
  MachineCosts costs;
};

constexpr CostsSource kNominal = CostsSource::nominal;
/// latency, read_line, update_line, stream, store, line_scale, stream_scale of each level; then last_level_share, streaming, position,
/// vector, key, chain, branch_miss, call, transfer, fork_join, wake, in_flight.
// clang-format off
constexpr Row kRows[] = {
    {"znver5 ",
     {kNominal,
      {{{1.1F, .12F, .13F, .15F, .24F, 8, 8}, {3.8F, .15F, .44F, .19F, .26F, 8, 8}, {13, .33F, .54F, .6F, .3F, 7, 6}, {144, 2.8F, 2.5F, 1.55F, 1.5F, 7, 3}}},
      .5F, 1.45F, .29F, .65F, .2F, 2.7F, 5.2F, 12, 40, 360, 20000, 448}},
    {"znver4 ",
     {kNominal,
      {{{1.4F, .16F, .22F, .15F, .34F, 8, 8}, {5.4F, .54F, .75F, .53F, .59F, 8, 8}, {22, .93F, .98F, .76F, .6F, 7, 6}, {155, 8.2F, 8.4F, 1.75F, 1.9F, 5, 2.5F}}},
      .5F, 2.4F, .43F, .87F, .28F, 3.25F, 3.9F, 20, 50, 450, 60000, 320}},
    {"znver3 ",
     {kNominal,
      {{{1.2F, .25F, .35F, .3F, .25F, 8, 8}, {3.6F, .5F, .6F, .5F, .6F, 8, 8}, {14, 1, 1.1F, .8F, 1, 7, 6}, {120, 8, 8, 2.2F, 2.5F, 4, 1.8F}}},
      .5F, 2.6F, .6F, .5F, .6F, 3.6F, 5, 18, 30, 270, 20000, 256}},
    {"znver1 znver2 ",
     {kNominal,
      {{{1.3F, .3F, .4F, .4F, .3F, 8, 8}, {4, .7F, .8F, .6F, .7F, 8, 8}, {13, 1.3F, 1.5F, 1, 1.2F, 6, 5}, {110, 9, 10, 2.8F, 3, 4, 2}}},
      .5F, 3, .8F, .7F, .8F, 4, 5, 22, 40, 360, 25000, 208}},
    {"skylake-avx512 cascadelake ",
     {kNominal,
      {{{1.4F, .25F, .35F, .3F, .2F, 16, 16}, {4.8F, .6F, .8F, .6F, .6F, 16, 16}, {22, 1.8F, 2.1F, 1.3F, 1.4F, 12, 10}, {90, 6.5F, 7.5F, 4, 4, 9, 7}}},
      .5F, 4, .6F, .5F, .6F, 4, 5, 20, 50, 450, 30000, 224}},
    {"icelake-server sapphirerapids emeraldrapids graniterapids ",
     {kNominal,
      {{{1.6F, .13F, .19F, .16F, .23F, 32, 32}, {6, .57F, .9F, .66F, 1, 32, 32}, {75, 3, 3.5F, 1.5F, 3, 24, 18}, {200, 14, 11, 4.3F, 7.6F, 16, 12}}},
      .1F, 3, .42F, .35F, .31F, 2.1F, 8.3F, 13, 90, 900, 60000, 352}},
    {"icelake-client alderlake ",
     {kNominal,
      {{{1.1F, .2F, .25F, .25F, .15F, 8, 8}, {3.2F, .4F, .5F, .4F, .4F, 8, 8}, {12, 1, 1.2F, .7F, .8F, 6, 5}, {80, 4, 4.5F, 1.8F, 2, 2.5F, 1.4F}}},
      1, 2, .4F, .35F, .35F, 3, 4, 15, 35, 315, 20000, 352}},
    {"x86-64 x86-64-v2 nehalem sandybridge haswell broadwell skylake ",
     {kNominal,
      {{{1.3F, .3F, .4F, .35F, .25F, 4, 4}, {3.8F, .6F, .8F, .6F, .7F, 4, 4}, {13, 1.3F, 1.5F, 1, 1.2F, 3.5F, 3}, {85, 6, 7, 3, 3.2F, 2.5F, 1.5F}}},
      1, 3.2F, .7F, .6F, .7F, 4, 5, 20, 40, 360, 20000, 200}},
    {"neoverse-n1 cortex-a76 ",
     {kNominal,
      {{{1.4F, .35F, .45F, .4F, .3F, 16, 16}, {4, .8F, 1, .7F, .8F, 16, 16}, {30, 2.2F, 2.6F, 1.4F, 1.5F, 12, 10}, {100, 7, 8, 3, 3.5F, 8, 6}}},
      1, 4, .7F, .9F, .8F, 4, 5, 20, 50, 450, 30000, 128}},
    {"neoverse-v1 neoverse-n2 neoverse-v2 a64fx ",
     {kNominal,
      {{{1.4F, .25F, .35F, .3F, .25F, 16, 16}, {4, .6F, .8F, .5F, .6F, 16, 16}, {28, 1.8F, 2.1F, 1.1F, 1.2F, 12, 10}, {105, 5, 6, 2, 2.4F, 9, 7}}},
      1, 3, .5F, .6F, .5F, 4, 4, 17, 50, 450, 30000, 256}},
    {"cortex-a53 cortex-a57 cortex-a72 ",
     {kNominal,
      {{{2.5F, .9F, 1.2F, 1, .8F, 4, 4}, {9, 3.5F, 4.5F, 2.5F, 3, 4, 4}, {130, 15, 18, 8, 9, 2, 1.5F}, {130, 15, 18, 8, 9, 2, 1.5F}}},
      1, 10, 1.8F, 2, 2, 6, 7, 50, 60, 540, 50000, 64}},
};
// clang-format on
/// For CPUs in no row: the architecture levels x86-64-v3 and v4, and AArch64's generic and armv8.2-a.
constexpr std::string_view kLikeX86 = "znver3", kLikeArm = "neoverse-n1";

const Row* find_row(std::string_view cpu) {
  const std::string word = std::string(cpu) + " ";
  for (const Row& row : kRows)
    if (row.cpus.starts_with(word) || row.cpus.find(" " + word) != std::string_view::npos) return &row;
  return nullptr;
}

Status no_costs(size_t line, const std::string& what) { return invalid_argument("line " + std::to_string(line) + ": " + what); }

/// No time or ratio of a machine is beyond these.
bool is_possible(float value) { return std::isfinite(value) && value > 0 && value < 1e9F; }

}  // namespace

MachineCosts nominal_costs(const CpuInfo& cpu) {
  const Row* row = find_row(cpu.name);
  MachineCosts costs = (row != nullptr ? row : find_row(cpu.arch == "aarch64" ? kLikeArm : kLikeX86))->costs;
  for (MemoryCosts& level : costs.memory)  // a row may be of CPUs with different numbers of cores
    for (float* scale : {&level.line_scale, &level.stream_scale}) *scale = std::min(*scale, static_cast<float>(cpu.cores));
  return costs;
}

MachineCosts derived_costs(const Machine& machine) {
  MachineCosts costs = nominal_costs(*machine.cpu);
  costs.source = CostsSource::derived;
  if (machine.l3_bytes == 0) costs.memory[2] = costs.memory[3];
  if (machine.l2_bytes == 0) costs.memory[1] = costs.memory[2];
  const float cores = static_cast<float>(machine.cores), row_cores = static_cast<float>(machine.cpu->cores);
  for (MemoryCosts& level : costs.memory) {
    // With fewer cores than the row's machine has, each has a larger share of what they share: the square root lies between all and none.
    for (float* scale : {&level.line_scale, &level.stream_scale})
      *scale = cores >= row_cores ? std::min(*scale * std::sqrt(cores / row_cores), cores)
                                  : std::min(cores, std::max(1.0F, std::pow(*scale, std::log(std::max(cores, 1.0F)) /
                                                                                        std::log(std::max(row_cores, 2.0F)))));
  }
  return costs;
}

std::string machine_key(const Machine& machine) {
  return std::string(machine.cpu->name) + ", " + std::to_string(machine.cores) + " cores, caches " +
         std::to_string(machine.l1d_bytes >> 10) + " " + std::to_string(machine.l2_bytes >> 10) + " " +
         std::to_string(machine.l3_bytes >> 10) + " KiB";
}

std::string print_costs(const MachineCosts& costs, std::string_view machine_key) {
  std::string text = "strew costs 1 of " + std::string(machine_key) + "\n";
  for (const NamedCost& each : named_costs(costs)) {
    char number[32];
    const auto [end, error] = std::to_chars(std::begin(number), std::end(number), each.value);
    text += each.name + " " + std::string(number, end) + "\n";
  }
  return text;
}

Expected<MachineCosts> parse_costs(std::string_view text, std::string_view machine_key) {
  const auto next_line = [&] {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
  };
  const std::string expected = "strew costs 1 of " + std::string(machine_key);
  if (const std::string_view head = next_line(); head != expected)
    return no_costs(1, "'" + std::string(head.substr(0, 100)) + "', expected '" + expected + "'");
  MachineCosts costs;
  costs.source = CostsSource::measured;
  Status status;
  size_t line = 1;
  for_each_cost(costs, [&](const std::string& name, float& value) {
    if (!status.ok()) return;
    const std::string_view found = next_line();
    ++line;
    const std::string_view number = found.starts_with(name + " ") ? found.substr(name.size() + 1) : "";
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || end != number.data() + number.size() || !is_possible(value))
      status = no_costs(line, "'" + std::string(found.substr(0, 100)) + "', expected '" + name + "' and a positive number");
  });
  if (!status.ok()) return status;
  return costs;
}

std::string costs_path(const Machine& machine) {
  const std::string& chosen = process_options().costs_file;
  if (chosen == "off") return {};
  if (!chosen.empty()) return chosen;
  const std::string folder = user_cache_folder();
  if (folder.empty()) return {};
  std::string file = "costs-" + machine_key(machine);
  for (size_t at = 0; (at = file.find_first_of(", ", at)) != std::string::npos;)
    file.erase(at, file[at] == ',' ? 1 : 0), file[at] = '-';
  return folder + "/" + file;
}

MachineCosts known_costs(const Machine& machine) {
  constexpr int64_t kMostBytes = 1 << 16;
  const std::string path = costs_path(machine);
  const MachineCosts derived = derived_costs(machine);
  if (path.empty()) return derived;
  const Expected<std::string> text = read_file(path, kMostBytes);
  if (!text.ok()) return derived;  // nobody has measured
  const Expected<MachineCosts> measured = parse_costs(*text, machine_key(machine));
  if (measured.ok()) return *measured;
  log_or_keep_warning(path + ": " + measured.status().message() + "; `strew target --measure` writes it anew");
  return derived;
}

}  // namespace strew::inline v0
