// See cpus.h. The table of CPUs and features of x86-64 and AArch64.
//
// The rows are what LLVM 22's MCSubtargetInfo answers for each name; armv8.2-a, which is no CPU to LLVM, is its generic
// CPU with the architecture v8.2-A (backends/llvm/codegen/codegen.cc). A CPU that is not in the table is described by
// the one that is most like it and its features, so code for a new machine only lacks LLVM's scheduling model for it. `wide`
// is false for CPUs whose clock 64-byte vectors lower (Skylake and Cascade Lake servers). Tested by
// tests/unit/schedules/target_test.cc.
#include "base/cpus.h"

#include <bit>

namespace strew::inline v0 {
namespace {

enum : int {
#define STREW_FEATURE(id, name, implies) id,
  STREW_X86_FEATURES(STREW_FEATURE) STREW_ARM_FEATURES(STREW_FEATURE)
#undef STREW_FEATURE
};

constexpr FeatureSet set() { return 0; }
template <class... Rest>
constexpr FeatureSet set(int first, Rest... rest) {
  return (FeatureSet{1} << first) | set(rest...);
}

constexpr FeatureSet kToSse42 = set(kSse3, kSsse3, kSse41, kSse42);
constexpr FeatureSet kToAvx = kToSse42 | set(kAvx);
constexpr FeatureSet kTo512f = kToAvx | set(kF16c, kFma, kAvx2, k512f);

constexpr std::string_view kX86 = "x86_64", kArm = "aarch64";

constexpr FeatureInfo kFeatures[] = {
#define STREW_X86_ROW(id, name, implies) {name, kX86, implies},
#define STREW_ARM_ROW(id, name, implies) {name, kArm, implies},
    STREW_X86_FEATURES(STREW_X86_ROW) STREW_ARM_FEATURES(STREW_ARM_ROW)
#undef STREW_X86_ROW
#undef STREW_ARM_ROW
};

constexpr FeatureSet kV2 = kToSse42 | set(kPopcnt);
constexpr FeatureSet kV3 = kV2 | kToAvx | set(kMovbe, kLzcnt, kBmi, kBmi2, kF16c, kFma, kAvx2);
constexpr FeatureSet kV4 = kV3 | kTo512f | set(k512cd, k512bw, k512dq, k512vl);
constexpr FeatureSet kIceLake = kV4 | set(kGfni, k512ifma, k512vbmi, k512vbmi2, k512vnni, k512bitalg, k512popcnt);
constexpr FeatureSet kSapphire = kIceLake | set(kAvxVnni, k512bf16, k512fp16);

constexpr FeatureSet kArm82 = set(kLse, kRdm), kNeoverseN1 = kArm82 | set(kFullFp16, kDotProduct);
constexpr FeatureSet kNeoverseV1 = kNeoverseN1 | set(kSve, kBf16, kI8mm), kNeoverseV2 = kNeoverseV1 | set(kSve2);

constexpr CpuInfo kCpus[] = {
    {"x86-64", kX86, 0, true, 4, 32, 256, 8192},
    {"x86-64-v2", kX86, kV2, true, 4, 32, 256, 8192},
    {"x86-64-v3", kX86, kV3, true, 8, 32, 512, 16384},
    {"x86-64-v4", kX86, kV4, true, 16, 48, 1024, 32768},
    {"nehalem", kX86, kV2, true, 4, 32, 256, 8192},
    {"sandybridge", kX86, kV2 | kToAvx, true, 4, 32, 256, 8192},
    {"haswell", kX86, kV3, true, 4, 32, 256, 8192},
    {"broadwell", kX86, kV3, true, 4, 32, 256, 8192},
    {"skylake", kX86, kV3, true, 8, 32, 256, 16384},
    {"alderlake", kX86, kV3 | set(kAvxVnni, kGfni), true, 8, 48, 1280, 24576},
    {"skylake-avx512", kX86, kV4, false, 16, 32, 1024, 22528},
    {"cascadelake", kX86, kV4 | set(k512vnni), false, 16, 32, 1024, 22528},
    {"icelake-client", kX86, kIceLake, true, 4, 48, 512, 8192},
    {"icelake-server", kX86, kIceLake, true, 32, 48, 1280, 49152},
    {"sapphirerapids", kX86, kSapphire, true, 32, 48, 2048, 61440},
    {"emeraldrapids", kX86, kSapphire, true, 32, 48, 2048, 163840},
    {"graniterapids", kX86, kSapphire, true, 64, 48, 2048, 262144},
    {"znver1", kX86, kV3 | set(kSse4a), true, 8, 32, 512, 16384},
    {"znver2", kX86, kV3 | set(kSse4a), true, 8, 32, 512, 32768},
    {"znver3", kX86, kV3 | set(kSse4a), true, 8, 32, 512, 32768},
    {"znver4", kX86, kIceLake | set(kSse4a, k512bf16), true, 8, 32, 1024, 32768},
    {"znver5", kX86, kIceLake | set(kSse4a, k512bf16, kAvxVnni, k512vp2), true, 8, 48, 1024, 32768},
    {"generic", kArm, 0, true, 4, 64, 512, 4096},
    {"armv8.2-a", kArm, kArm82, true, 4, 64, 512, 4096},
    {"cortex-a53", kArm, 0, true, 4, 32, 512, 0},
    {"cortex-a57", kArm, 0, true, 4, 32, 2048, 0},
    {"cortex-a72", kArm, 0, true, 4, 32, 1024, 0},
    {"cortex-a76", kArm, kNeoverseN1, true, 4, 64, 512, 4096},
    {"neoverse-n1", kArm, kNeoverseN1, true, 64, 64, 1024, 32768},
    {"neoverse-v1", kArm, kNeoverseV1, true, 64, 64, 1024, 32768},
    {"neoverse-n2", kArm, kNeoverseV2, true, 64, 64, 1024, 32768},
    {"neoverse-v2", kArm, kNeoverseV2, true, 72, 64, 2048, 116736},
    {"a64fx", kArm, kArm82 | set(kFullFp16, kSve), true, 48, 64, 8192, 0},
};

}  // namespace

std::span<const FeatureInfo> known_features() { return kFeatures; }
std::span<const CpuInfo> known_cpus() { return kCpus; }

const CpuInfo* find_cpu(std::string_view name) {
  for (const CpuInfo& cpu : kCpus)
    if (cpu.name == name) return &cpu;
  return nullptr;
}

const CpuInfo* most_like(FeatureSet features) {
  const FeatureSet amd = bit_of(find_feature("sse4a", kX86));  // no other maker's CPUs have it
  const auto is_possible = [&](const CpuInfo& cpu) {
    const bool is_level = cpu.name.starts_with("x86-64");
    return cpu.arch == kX86 && (cpu.features & ~features) == 0 && (is_level || ((cpu.features ^ features) & amd) == 0);
  };
  const CpuInfo* best = nullptr;
  for (const CpuInfo& cpu : kCpus)
    if (is_possible(cpu) && (best == nullptr || std::popcount(cpu.features) > std::popcount(best->features))) best = &cpu;
  return best;
}

const FeatureInfo* find_feature(std::string_view name, std::string_view arch) {
  for (const FeatureInfo& feature : kFeatures)
    if (feature.name == name && feature.arch == arch) return &feature;
  return nullptr;
}

FeatureSet feature_bit(std::string_view name) {
  for (const FeatureInfo& feature : kFeatures)
    if (feature.name == name) return bit_of(&feature);
  return 0;
}

}  // namespace strew::inline v0
