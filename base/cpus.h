// The CPUs and features that strew knows by name. Targets (schedules/target) and the description of this machine
// (base/machine) are made from them.
//
// Only features that change generated code are listed. LLVM's CPU models have more (sha, clwb, …), which no code that
// strew emits can use. Tested by tests/unit/schedules/target_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "strew/export.h"

namespace strew::inline v0 {

/// A set of features: bit i is known_features()[i].
using FeatureSet = uint64_t;

// The features of an architecture: F(the name of its number in cpus.cc, LLVM's name, the features that it requires).
#define STREW_X86_FEATURES(F)                           \
  F(kSse3, "sse3", 0)                                   \
  F(kSsse3, "ssse3", set(kSse3))                        \
  F(kSse41, "sse4.1", set(kSse3, kSsse3))               \
  F(kSse42, "sse4.2", set(kSse3, kSsse3, kSse41))       \
  F(kSse4a, "sse4a", set(kSse3))                        \
  F(kPopcnt, "popcnt", 0)                               \
  F(kMovbe, "movbe", 0)                                 \
  F(kLzcnt, "lzcnt", 0)                                 \
  F(kBmi, "bmi", 0)                                     \
  F(kBmi2, "bmi2", 0)                                   \
  F(kAvx, "avx", kToSse42)                              \
  F(kF16c, "f16c", kToAvx)                              \
  F(kFma, "fma", kToAvx)                                \
  F(kAvx2, "avx2", kToAvx)                              \
  F(kAvxVnni, "avxvnni", kToAvx | set(kAvx2))           \
  F(kGfni, "gfni", 0)                                   \
  F(k512f, "avx512f", kToAvx | set(kF16c, kFma, kAvx2)) \
  F(k512cd, "avx512cd", kTo512f)                        \
  F(k512bw, "avx512bw", kTo512f)                        \
  F(k512dq, "avx512dq", kTo512f)                        \
  F(k512vl, "avx512vl", kTo512f)                        \
  F(k512ifma, "avx512ifma", kTo512f)                    \
  F(k512vbmi, "avx512vbmi", kTo512f | set(k512bw))      \
  F(k512vbmi2, "avx512vbmi2", kTo512f | set(k512bw))    \
  F(k512vnni, "avx512vnni", kTo512f)                    \
  F(k512bitalg, "avx512bitalg", kTo512f | set(k512bw))  \
  F(k512popcnt, "avx512vpopcntdq", kTo512f)             \
  F(k512bf16, "avx512bf16", kTo512f | set(k512bw))      \
  F(k512vp2, "avx512vp2intersect", kTo512f)             \
  F(k512fp16, "avx512fp16", kTo512f | set(k512bw))
#define STREW_ARM_FEATURES(F)            \
  F(kLse, "lse", 0)                      \
  F(kRdm, "rdm", 0)                      \
  F(kFullFp16, "fullfp16", 0)            \
  F(kDotProduct, "dotprod", 0)           \
  F(kSve, "sve", set(kFullFp16))         \
  F(kSve2, "sve2", set(kFullFp16, kSve)) \
  F(kBf16, "bf16", 0)                    \
  F(kI8mm, "i8mm", 0)
struct FeatureInfo {
  std::string_view name;  ///< LLVM's name, without a sign
  std::string_view arch;  ///< the architecture that has it, "x86_64" or "aarch64"
  FeatureSet implies;     ///< the features that it requires (transitively closed)
};
std::span<const FeatureInfo> known_features();

struct CpuInfo {
  std::string_view name;  ///< LLVM's name
  std::string_view arch;
  FeatureSet features;  ///< those of known_features() that LLVM enables for this name
  bool wide;            ///< 64-byte vectors are faster than 32-byte ones, if the CPU has them
  // Cores and caches of a common machine with this CPU. They are used for targets other than the machine of this
  // process.
  int cores;
  int l1d_kib, l2_kib, l3_kib;  ///< per core; per core; shared by the cores
};
std::span<const CpuInfo> known_cpus();

/// Null if the name is unknown.
const CpuInfo* find_cpu(std::string_view name);
/// The x86-64 CPU that has the most of these features and no other; of several, the first of the table, in which architecture levels are first. A CPU without sse4a is taken for none of AMD's.
const CpuInfo* most_like(FeatureSet features);
/// Null if the architecture has no feature of that name.
const FeatureInfo* find_feature(std::string_view name, std::string_view arch);
inline FeatureSet bit_of(const FeatureInfo* feature) { return FeatureSet{1} << (feature - known_features().data()); }
STREW_API FeatureSet feature_bit(std::string_view name);  ///< 0 when unknown

}  // namespace strew::inline v0
