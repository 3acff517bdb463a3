// See cpus.h. The table of CPUs and features: x86-64, and a generic row for aarch64.
//
// The rows are what LLVM 22's MCSubtargetInfo answers for each name. A CPU that is not in the table is described by
// its x86-64 level and its features, so code for a new machine only lacks LLVM's scheduling model for it. `wide` is
// false for CPUs whose clock 64-byte vectors lower (Skylake and Cascade Lake servers). Tested by
// tests/unit/target_test.cc.
#include "base/cpus.h"

#include <array>

namespace strew::inline v0 {
namespace {

enum : int {
  kSse3,
  kSsse3,
  kSse41,
  kSse42,
  kSse4a,
  kPopcnt,
  kMovbe,
  kLzcnt,
  kBmi,
  kBmi2,
  kAvx,
  kF16c,
  kFma,
  kAvx2,
  kAvxVnni,
  kGfni,
  k512f,
  k512cd,
  k512bw,
  k512dq,
  k512vl,
  k512ifma,
  k512vbmi,
  k512vbmi2,
  k512vnni,
  k512bitalg,
  k512popcnt,
  k512bf16,
  k512vp2,
  k512fp16,
  kCount,
};

constexpr FeatureSet set() { return 0; }
template <class... Rest>
constexpr FeatureSet set(int first, Rest... rest) {
  return (FeatureSet{1} << first) | set(rest...);
}

constexpr FeatureSet kToSse42 = set(kSse3, kSsse3, kSse41, kSse42);
constexpr FeatureSet kToAvx = kToSse42 | set(kAvx);
constexpr FeatureSet kTo512f = kToAvx | set(kF16c, kFma, kAvx2, k512f);

constexpr std::array<FeatureInfo, kCount> kFeatures = {{
    {"sse3", 0},
    {"ssse3", set(kSse3)},
    {"sse4.1", set(kSse3, kSsse3)},
    {"sse4.2", set(kSse3, kSsse3, kSse41)},
    {"sse4a", set(kSse3)},
    {"popcnt", 0},
    {"movbe", 0},
    {"lzcnt", 0},
    {"bmi", 0},
    {"bmi2", 0},
    {"avx", kToSse42},
    {"f16c", kToAvx},
    {"fma", kToAvx},
    {"avx2", kToAvx},
    {"avxvnni", kToAvx | set(kAvx2)},
    {"gfni", 0},
    {"avx512f", kToAvx | set(kF16c, kFma, kAvx2)},
    {"avx512cd", kTo512f},
    {"avx512bw", kTo512f},
    {"avx512dq", kTo512f},
    {"avx512vl", kTo512f},
    {"avx512ifma", kTo512f},
    {"avx512vbmi", kTo512f | set(k512bw)},
    {"avx512vbmi2", kTo512f | set(k512bw)},
    {"avx512vnni", kTo512f},
    {"avx512bitalg", kTo512f | set(k512bw)},
    {"avx512vpopcntdq", kTo512f},
    {"avx512bf16", kTo512f | set(k512bw)},
    {"avx512vp2intersect", kTo512f},
    {"avx512fp16", kTo512f | set(k512bw)},
}};

constexpr FeatureSet kV2 = kToSse42 | set(kPopcnt);
constexpr FeatureSet kV3 = kV2 | kToAvx | set(kMovbe, kLzcnt, kBmi, kBmi2, kF16c, kFma, kAvx2);
constexpr FeatureSet kV4 = kV3 | kTo512f | set(k512cd, k512bw, k512dq, k512vl);
constexpr FeatureSet kIceLake = kV4 | set(kGfni, k512ifma, k512vbmi, k512vbmi2, k512vnni, k512bitalg, k512popcnt);
constexpr FeatureSet kSapphire = kIceLake | set(kAvxVnni, k512bf16, k512fp16);

constexpr CpuInfo kCpus[] = {
    {"x86-64", "x86_64", 0, true, 4, 32, 256, 8192},
    {"x86-64-v2", "x86_64", kV2, true, 4, 32, 256, 8192},
    {"x86-64-v3", "x86_64", kV3, true, 8, 32, 512, 16384},
    {"x86-64-v4", "x86_64", kV4, true, 16, 48, 1024, 32768},
    {"nehalem", "x86_64", kV2, true, 4, 32, 256, 8192},
    {"sandybridge", "x86_64", kV2 | kToAvx, true, 4, 32, 256, 8192},
    {"haswell", "x86_64", kV3, true, 4, 32, 256, 8192},
    {"broadwell", "x86_64", kV3, true, 4, 32, 256, 8192},
    {"skylake", "x86_64", kV3, true, 8, 32, 256, 16384},
    {"alderlake", "x86_64", kV3 | set(kAvxVnni, kGfni), true, 8, 48, 1280, 24576},
    {"skylake-avx512", "x86_64", kV4, false, 16, 32, 1024, 22528},
    {"cascadelake", "x86_64", kV4 | set(k512vnni), false, 16, 32, 1024, 22528},
    {"icelake-client", "x86_64", kIceLake, true, 4, 48, 512, 8192},
    {"icelake-server", "x86_64", kIceLake, true, 32, 48, 1280, 49152},
    {"sapphirerapids", "x86_64", kSapphire, true, 32, 48, 2048, 61440},
    {"emeraldrapids", "x86_64", kSapphire, true, 32, 48, 2048, 163840},
    {"graniterapids", "x86_64", kSapphire, true, 64, 48, 2048, 262144},
    {"znver1", "x86_64", kV3 | set(kSse4a), true, 8, 32, 512, 16384},
    {"znver2", "x86_64", kV3 | set(kSse4a), true, 8, 32, 512, 32768},
    {"znver3", "x86_64", kV3 | set(kSse4a), true, 8, 32, 512, 32768},
    {"znver4", "x86_64", kIceLake | set(kSse4a, k512bf16), true, 8, 32, 1024, 32768},
    {"znver5", "x86_64", kIceLake | set(kSse4a, k512bf16, kAvxVnni, k512vp2), true, 8, 48, 1024, 32768},
    {"generic", "aarch64", 0, false, 4, 64, 512, 4096},
};

}  // namespace

std::span<const FeatureInfo> known_features() { return kFeatures; }
std::span<const CpuInfo> known_cpus() { return kCpus; }

const CpuInfo* find_cpu(std::string_view name) {
  for (const CpuInfo& cpu : kCpus)
    if (cpu.name == name) return &cpu;
  return nullptr;
}

const FeatureInfo* find_feature(std::string_view name) {
  for (const FeatureInfo& feature : kFeatures)
    if (feature.name == name) return &feature;
  return nullptr;
}

FeatureSet feature_bit(std::string_view name) {
  const FeatureInfo* feature = find_feature(name);
  return feature ? bit_of(feature) : 0;
}

}  // namespace strew::inline v0
