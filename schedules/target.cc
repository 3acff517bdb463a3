// Text of targets: parsing and printing, and the traits that follow from a set of features.
//
// Grammar: [ARCH-]CPU{(+|-)FEATURE}, or an NPU. CPU names contain '-' themselves, so the longest known name that is
// followed by the end or a sign is taken. A feature brings what it implies ("+avx512bw" switches avx2 on) and takes
// with it what implies it ("-avx" switches avx2 off). "+host_fp" is no feature of the machine, and comes last. The text lists only what differs from the CPU's own features,
// sorted, so equal targets print equal text. Cores and caches are the machine's for `native` and those of the CPU's row
// otherwise. check() is for targets that a program put together. Tested by tests/unit/schedules/target_test.cc.
#include "schedules/target.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "base/machine_costs.h"
#include "base/options.h"

namespace strew::inline v0 {
namespace {

/// NPUs, with the cores of the largest models.
struct Npu {
  std::string_view name;
  int cores;
};
/// Sets Target::host_fp.
constexpr std::string_view kHostFp = "host_fp";
constexpr Npu kNpus[] = {{"npu-a3", 48}, {"npu-a5", 64}};

FeatureSet with(FeatureSet set, const FeatureInfo& feature) { return set | bit_of(&feature) | feature.implies; }

FeatureSet without(FeatureSet set, const FeatureInfo& feature) {
  for (const FeatureInfo& other : known_features())
    if (other.implies & bit_of(&feature)) set &= ~bit_of(&other);
  return set & ~bit_of(&feature);
}

std::string cpu_list() {
  std::string list;
  for (const CpuInfo& cpu : known_cpus()) list += (list.empty() ? "" : ", ") + std::string(cpu.name);
  for (const Npu& npu : kNpus) list += ", " + std::string(npu.name);
  return list;
}

std::string feature_list(std::string_view arch) {
  std::string list;
  for (const FeatureInfo& feature : known_features())
    if (feature.arch == arch) list += (list.empty() ? "" : ", ") + std::string(feature.name);
  return list;
}

/// The length of the longest known CPU name at the start of `text` that is followed by the end of the text or a sign.
size_t cpu_prefix(std::string_view text) {
  size_t best = 0;
  auto consider = [&](std::string_view name) {
    if (!text.starts_with(name) || name.size() <= best) return;
    if (text.size() == name.size() || text[name.size()] == '+' || text[name.size()] == '-') best = name.size();
  };
  consider("native");
  for (const CpuInfo& cpu : known_cpus()) consider(cpu.name);
  return best;
}

/// The target with this CPU's cores and caches and exactly these features.
Target target_with(const CpuInfo& cpu, FeatureSet features) {
  Target target;
  target.arch = cpu.arch;
  target.cpu = cpu.name;
  for (const FeatureInfo& feature : known_features()) {
    const FeatureSet bit = bit_of(&feature);
    if ((features ^ cpu.features) & bit) target.features.push_back((features & bit ? "+" : "-") + std::string(feature.name));
  }
  std::sort(target.features.begin(), target.features.end());
  const bool wide = (features & feature_bit("avx512bw")) && (features & feature_bit("avx512vl")) && cpu.wide;
  target.vector_bytes = wide ? 64 : features & feature_bit("avx") ? 32 : 16;
  target.f16c = (features & feature_bit("f16c")) != 0 || cpu.arch == "aarch64";  // every AArch64 CPU converts f16
  target.cores = cpu.cores;
  target.l1d_bytes = int64_t{cpu.l1d_kib} << 10;
  target.l2_bytes = int64_t{cpu.l2_kib} << 10;
  target.l3_bytes = int64_t{cpu.l3_kib} << 10;
  target.costs = nominal_costs(cpu);
  return target;
}

/// The NPU of that name, or null.
const Npu* find_npu(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kNpus), std::end(kNpus), [&](const Npu& npu) { return npu.name == name; });
  return found == std::end(kNpus) ? nullptr : found;
}

Target target_of(const Npu& npu) {
  Target target;
  target.arch = "npu";
  target.cpu = npu.name;
  target.cores = npu.cores;
  return target;
}

/// The CPU and those whose names continue its name, as x86-64-v2 does x86-64; empty if there are no such.
std::string cpus_of_family(std::string_view name) {
  std::string list;
  for (const CpuInfo& cpu : known_cpus())
    if (cpu.name.starts_with(std::string(name) + "-")) list += ", " + std::string(cpu.name);
  return list.empty() ? list : std::string(name) + list;
}

Status refuse(std::string_view field, const std::string& value, const std::string& expected) {
  return invalid_argument("target: " + std::string(field) + " is " + value + ", expected " + expected);
}

std::string joined(const std::vector<std::string>& features) {
  std::string text;
  for (const std::string& feature : features) text += feature;
  return "'" + text + "'";
}

Status check_sizes(const Target& target) {
  if (target.cores < 1) return refuse("cores", std::to_string(target.cores), "1 or more");
  const std::pair<std::string_view, int64_t> caches[] = {
      {"l1d_bytes", target.l1d_bytes}, {"l2_bytes", target.l2_bytes}, {"l3_bytes", target.l3_bytes}};
  for (const auto& [field, bytes] : caches)
    if (bytes < 0) return refuse(field, std::to_string(bytes), "0 or more");
  for (const NamedCost& cost : named_costs(target.costs))
    if (!std::isfinite(cost.value) || cost.value < 0)
      return refuse("costs." + cost.name, std::to_string(cost.value), "0 or more");
  return {};
}

/// Each feature is a sign and a name that the architecture knows.
Status check_features(const Target& target) {
  for (const std::string& feature : target.features) {
    const bool has_sign = !feature.empty() && (feature[0] == '+' || feature[0] == '-');
    if (!has_sign || find_feature(std::string_view(feature).substr(1), target.arch) == nullptr)
      return refuse("a feature", "'" + feature + "'", "+ or - before one of " + feature_list(target.arch));
  }
  return {};
}

/// The fields that follow from the target's text are those of `same`, which was made from the text.
Status check_consistent(const Target& target, const Target& same) {
  const std::string of_cpu = ", as of cpu " + same.cpu, of_text = ", as of " + print(same) + "; parse_target() sets it";
  if (target.arch != same.arch) return refuse("arch", "'" + target.arch + "'", same.arch + of_cpu);
  if (target.features != same.features)
    return refuse("features", joined(target.features),
                  joined(same.features) + ": those in which it differs from cpu " + same.cpu + ", sorted");
  if (target.vector_bytes != same.vector_bytes)
    return refuse("vector_bytes", std::to_string(target.vector_bytes), std::to_string(same.vector_bytes) + of_text);
  if (target.f16c != same.f16c) return refuse("f16c", target.f16c ? "true" : "false", (same.f16c ? "true" : "false") + of_text);
  if (target.host_fp && is_npu(target)) return refuse("host_fp", "true", "false, as of " + print(same));
  return {};
}

/// Copies the cores and cache sizes that this process may use, and what they cost.
void take_sizes(const Machine& machine, Target& target) {
  target.cores = machine.cores;
  target.l1d_bytes = machine.l1d_bytes;
  target.l2_bytes = machine.l2_bytes;
  target.l3_bytes = machine.l3_bytes;
  target.costs = machine.costs;
}

}  // namespace

FeatureSet features_of(const Target& target) {
  const CpuInfo* cpu = find_cpu(target.cpu);
  FeatureSet set = cpu ? cpu->features : 0;
  for (const std::string& feature : target.features) {
    const FeatureSet bit = feature_bit(std::string_view(feature).substr(1));
    set = feature[0] == '+' ? set | bit : set & ~bit;
  }
  return set;
}

Status check(const Target& target) {
  STREW_TRY(check_sizes(target));
  if (const Npu* const npu = find_npu(target.cpu)) return check_consistent(target, target_of(*npu));
  const CpuInfo* const cpu = find_cpu(target.cpu);
  if (cpu == nullptr) return refuse("cpu", "'" + target.cpu + "'", "one of " + cpu_list());
  if (target.arch == cpu->arch) STREW_TRY(check_features(target));
  return check_consistent(target, target_with(*cpu, features_of(target)));
}

/// This machine with the costs that were measured on it, read once.
const Machine& measured_machine() {
  static const Machine& measured = *new const Machine([] {
    Machine copy = machine();
    copy.costs = known_costs(copy);
    return copy;
  }());
  return measured;
}

Target detect_target() {
  static const Target& target = *new const Target(*parse_target("native", measured_machine()));
  return target;
}

std::string with_native(std::string_view text, std::string_view native) {
  constexpr std::string_view kNative = "native";
  const bool is_native =
      text.starts_with(kNative) && (text.size() == kNative.size() || text[kNative.size()] == '+' || text[kNative.size()] == '-');
  return is_native ? std::string(native) + std::string(text.substr(kNative.size())) : std::string(text);
}

Expected<Target> parse_target(std::string_view text) {
  return parse_target(with_native(text, process_native()), measured_machine());
}

Expected<Target> parse_target(std::string_view text, const Machine& machine) {
  const std::string_view whole = text;
  if (const Npu* const npu = find_npu(text)) return target_of(*npu);
  std::string_view arch;
  for (const std::string_view each : {"x86_64", "aarch64"})
    if (text.starts_with(std::string(each) + "-")) arch = each;
  if (!arch.empty()) text.remove_prefix(arch.size() + 1);
  const size_t length = cpu_prefix(text);
  if (length == 0) {
    return invalid_argument("target '" + std::string(whole) + "': unknown CPU '" + std::string(text.substr(0, text.find('+'))) +
                            "', expected one of native, " + cpu_list());
  }
  const std::string_view cpu_name = text.substr(0, length);
  const bool is_native = cpu_name == "native";
  const CpuInfo& cpu = is_native ? *machine.cpu : *find_cpu(cpu_name);
  if (!arch.empty() && arch != cpu.arch)
    return invalid_argument("target '" + std::string(whole) + "': CPU '" + std::string(cpu_name) + "' is of architecture " +
                            std::string(cpu.arch) + ", not " + std::string(arch));
  FeatureSet features = is_native ? machine.features : cpu.features;
  bool host_fp = false;
  text.remove_prefix(length);
  while (!text.empty()) {
    const char sign = text[0];
    const size_t end = std::min(text.find_first_of("+-", 1), text.size());
    const std::string_view name = text.substr(1, end - 1);
    if (sign == '+' && name == kHostFp) {
      host_fp = true;
      text.remove_prefix(end);
      continue;
    }
    const FeatureInfo* feature = find_feature(name, cpu.arch);
    if (!feature) {
      // In 'x86-64-v9' the end is no feature to leave out but a misspelt CPU.
      const std::string longer = cpus_of_family(cpu_name);
      if (sign == '-' && !longer.empty())
        return invalid_argument("target '" + std::string(whole) + "': unknown CPU '" + std::string(cpu_name) + "-" +
                                std::string(name) + "', expected one of " + longer +
                                ", or a feature to leave out: " + feature_list(cpu.arch));
      return invalid_argument("target '" + std::string(whole) + "': unknown feature '" + std::string(name) +
                              "', expected one of " + feature_list(cpu.arch));
    }
    features = sign == '+' ? with(features, *feature) : without(features, *feature);
    text.remove_prefix(end);
  }
  Target target = target_with(cpu, features);
  target.host_fp = host_fp;
  if (is_native) take_sizes(machine, target);
  return target;
}

std::string print(const Target& target) {
  if (is_npu(target)) return target.cpu;
  std::string text = target.arch + "-" + target.cpu;
  for (const std::string& feature : target.features) text += feature;
  if (target.host_fp) text.append("+").append(kHostFp);
  return text;
}

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

// ---- What `native` stands for in this process (Options::target), and the check of all options, which includes the target. Tested by
// tests/unit/base/options_test.cc and options_effect_test.cc.

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
