// See machine.h. Everything is detected once per process.
//
// The CPU's name comes from cpuid's family and model, or AArch64's MIDR_EL1, if the table (base/cpus) has them; otherwise
// it is the CPU of the table that is most like it: virtual machines hide models, but not the features that programs need. On x86-64, features come from the compiler's cpuid
// helper, which also checks that the operating system saves the registers, so what a hypervisor hides is missing here,
// too; on AArch64 from the kernel's AT_HWCAP. The number of cores is that
// of the affinity mask, reduced to the cgroup's CPU quota (v2 of the process's group, else v1). Cache sizes come from
// /sys and not from hwloc, because hwloc takes milliseconds to build its topology, and `strew check` takes four in
// all. Tested by tests/unit/base/machine_test.cc and tests/unit/schedules/target_test.cc.
#include "base/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <thread>

#include "base/cores.h"
#include "base/machine_costs.h"

#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif

namespace strew::inline v0 {
namespace {

#if defined(__x86_64__)
FeatureSet cpu_features() {
  FeatureSet set = 0;
  __builtin_cpu_init();
#define STREW_HAS(id, name, implies) \
  if (__builtin_cpu_supports(name)) set |= feature_bit(name);
  STREW_X86_FEATURES(STREW_HAS)
#undef STREW_HAS
  return set;
}

/// LLVM's name of the CPU, from vendor, family and model; empty if it is not known. AMD's families: 0x17 is Zen 1 and
/// 2, 0x19 is Zen 3 and 4, 0x1a is Zen 5.
std::string_view cpu_model() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(0, &a, &b, &c, &d)) return {};
  const bool amd = b == 0x68747541, intel = b == 0x756e6547;  // the first letters of "AuthenticAMD", "GenuineIntel"
  if (!__get_cpuid(1, &a, &b, &c, &d)) return {};
  unsigned family = (a >> 8) & 15, model = (a >> 4) & 15;
  if (family == 15) family += (a >> 20) & 255;
  if (family == 6 || family >= 15) model += ((a >> 16) & 15) << 4;
  if (amd) {
    if (family == 0x17) return model >= 0x30 ? "znver2" : "znver1";
    if (family == 0x19) return (model >= 0x10 && model <= 0x1f) || model >= 0x60 ? "znver4" : "znver3";
    if (family == 0x1a) return "znver5";
  }
  struct Model {
    unsigned number;
    std::string_view name;
  };
  constexpr unsigned kServerSkylake = 0x55;
  constexpr Model kIntel[] = {
      {0x1a, "nehalem"},        {0x1e, "nehalem"},        {0x2e, "nehalem"},        {0x2a, "sandybridge"},
      {0x2d, "sandybridge"},    {0x3c, "haswell"},        {0x3f, "haswell"},        {0x45, "haswell"},
      {0x46, "haswell"},        {0x3d, "broadwell"},      {0x47, "broadwell"},      {0x4f, "broadwell"},
      {0x56, "broadwell"},      {0x4e, "skylake"},        {0x5e, "skylake"},        {0x8e, "skylake"},
      {0x9e, "skylake"},        {0xa5, "skylake"},        {0xa6, "skylake"},        {kServerSkylake, "skylake-avx512"},
      {0x7d, "icelake-client"}, {0x7e, "icelake-client"}, {0x6a, "icelake-server"}, {0x6c, "icelake-server"},
      {0x97, "alderlake"},      {0x9a, "alderlake"},      {0xb7, "alderlake"},      {0xba, "alderlake"},
      {0xbf, "alderlake"},      {0x8f, "sapphirerapids"}, {0xcf, "emeraldrapids"},  {0xad, "graniterapids"},
      {0xae, "graniterapids"}};
  if (!intel || family != 6) return {};
  if (model == kServerSkylake && __builtin_cpu_supports("avx512vnni")) return "cascadelake";
  for (const Model& each : kIntel)
    if (each.number == model) return each.name;
  return {};
}

const CpuInfo& best_cpu(FeatureSet features) {
  const CpuInfo* const cpu = find_cpu(cpu_model());
  return cpu != nullptr ? *cpu : *most_like(features);
}
#else
/// The kernel's words are the only source: instructions that a feature adds need not trap where it is absent.
FeatureSet cpu_features() {
  struct Bit {
    std::string_view name;
    unsigned long word;
    int bit;
  };
  constexpr Bit kBits[] = {{"lse", AT_HWCAP, 8},  {"rdm", AT_HWCAP, 12},  {"fullfp16", AT_HWCAP, 10}, {"dotprod", AT_HWCAP, 20},
                           {"sve", AT_HWCAP, 22}, {"sve2", AT_HWCAP2, 1}, {"bf16", AT_HWCAP2, 14},    {"i8mm", AT_HWCAP2, 13}};
  FeatureSet set = 0;
  for (const Bit& each : kBits)
    if ((getauxval(each.word) >> each.bit & 1) != 0) set |= feature_bit(each.name);
  return set;
}

/// LLVM's name of the CPU, from implementer and part number of its main identification register (MIDR_EL1); empty if it is not known.
std::string_view cpu_model() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1");
  uint64_t midr = 0;
  if (!(file >> std::hex >> midr)) return {};
  struct Model {
    unsigned implementer, part;
    std::string_view name;
  };
  constexpr unsigned kArm = 0x41, kFujitsu = 0x46;
  constexpr Model kModels[] = {{kArm, 0xd03, "cortex-a53"},  {kArm, 0xd07, "cortex-a57"},  {kArm, 0xd08, "cortex-a72"},
                               {kArm, 0xd0b, "cortex-a76"},  {kArm, 0xd0c, "neoverse-n1"}, {kArm, 0xd40, "neoverse-v1"},
                               {kArm, 0xd49, "neoverse-n2"}, {kArm, 0xd4f, "neoverse-v2"}, {kFujitsu, 0x001, "a64fx"}};
  for (const Model& model : kModels)
    if (model.implementer == (midr >> 24 & 0xff) && model.part == (midr >> 4 & 0xfff)) return model.name;
  return {};
}

const CpuInfo& best_cpu(FeatureSet features) {
  if (const CpuInfo* cpu = find_cpu(cpu_model())) return *cpu;
  const CpuInfo* const v82 = find_cpu("armv8.2-a");
  return (v82->features & ~features) == 0 ? *v82 : *find_cpu("generic");
}
#endif

constexpr int kNoQuota = 1 << 20;
/// The number of cores that the cgroup's quota is equal to, rounded up; kNoQuota if there is no quota.
int quota_cores(const std::string& quota, const std::string& period) {
  char* end = nullptr;
  const double q = std::strtod(quota.c_str(), &end), p = std::strtod(period.c_str(), nullptr);
  if (end == quota.c_str() || q <= 0 || p <= 0) return kNoQuota;
  return static_cast<int>(std::clamp<double>((q + p - 1) / p, 1, kNoQuota));
}

int cgroup_cores() {
  std::string quota, period, line, group;
  std::ifstream self("/proc/self/cgroup");
  while (std::getline(self, line))
    if (line.starts_with("0::")) group = line.substr(3);
  int cores = kNoQuota;
  // The quotas of all ancestors apply. Inside a container, its own group is mounted as the root.
  for (std::string path = group;; path = path.substr(0, path.rfind('/'))) {
    std::ifstream v2("/sys/fs/cgroup" + path + "/cpu.max");
    if (v2 >> quota >> period) cores = std::min(cores, quota_cores(quota, period));
    if (path.empty() || path.find('/') == std::string::npos) break;
  }
  std::ifstream v1_quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), v1_period("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (v1_quota >> quota && v1_period >> period) cores = std::min(cores, quota_cores(quota, period));
  return cores;
}

int affinity_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) return std::max(1, CPU_COUNT(&mask));
  // The mask is too small for machines with more than 1024 CPUs.
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void read_caches(Machine& machine) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::ifstream level_file(folder + "level"), type_file(folder + "type"), size_file(folder + "size");
    int level = 0;
    std::string type;
    int64_t size = 0;
    char unit = 0;
    if (!(level_file >> level) || !(type_file >> type) || !(size_file >> size)) break;
    if (size_file >> unit) size <<= unit == 'K' ? 10 : unit == 'M' ? 20 : 0;
    if (type == "Instruction" || size <= 0) continue;
    if (level == 1) machine.l1d_bytes = size;
    if (level == 2) machine.l2_bytes = size;
    if (level == 3) machine.l3_bytes = size;
  }
}

/// How many different lines the file has among those of the cores; 1 if the system has no such file.
int different_lines(const CoreList& cores, const std::string& file) {
  std::set<std::string> lines;
  for (int i = 0; i < cores.count; ++i) {
    std::ifstream in("/sys/devices/system/cpu/cpu" + std::to_string(cores.numbers[static_cast<size_t>(i)]) + file);
    if (std::string line; std::getline(in, line)) lines.insert(line);
  }
  return std::max<int>(1, static_cast<int>(lines.size()));
}

/// How many folders node0, node1 and so on of a core: one says on which memory node it is.
int count_nodes(const CoreList& cores) {
  std::set<int> nodes;
  constexpr int kMostNodes = 64;
  for (int i = 0; i < cores.count; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cores.numbers[static_cast<size_t>(i)]) + "/node";
    for (int node = 0; node < kMostNodes; ++node)
      if (access((folder + std::to_string(node)).c_str(), F_OK) == 0) nodes.insert(node);
  }
  return std::max<int>(1, static_cast<int>(nodes.size()));
}

Machine detect() {
  Machine machine;
  machine.cores = std::min(affinity_cores(), cgroup_cores());
  read_caches(machine);
  machine.features = machine_features();
  machine.cpu = &best_cpu(machine.features);
  machine.costs = derived_costs(machine);
  return machine;
}

}  // namespace

FeatureSet machine_features() {
  static const FeatureSet features = cpu_features();
  return features;
}

Topology detect_topology() {
  const CoreList cores = cores_by_node();
  return {different_lines(cores, "/topology/physical_package_id"), count_nodes(cores),
          different_lines(cores, "/cache/index3/shared_cpu_list")};
}

const Machine& machine() {
  static const Machine machine = detect();
  return machine;
}

std::string lacking_features(std::string_view wanted, FeatureSet present) {
  std::string lacking;
  while (!wanted.empty()) {
    const size_t comma = std::min(wanted.find(','), wanted.size());
    const std::string_view name = wanted.substr(0, comma);
    if ((present & feature_bit(name)) == 0) lacking += (lacking.empty() ? "" : ", ") + std::string(name);
    wanted.remove_prefix(std::min(comma + 1, wanted.size()));
  }
  return lacking;
}

}  // namespace strew::inline v0
