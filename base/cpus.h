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
/// Null if the architecture has no feature of that name.
const FeatureInfo* find_feature(std::string_view name, std::string_view arch);
inline FeatureSet bit_of(const FeatureInfo* feature) { return FeatureSet{1} << (feature - known_features().data()); }
STREW_API FeatureSet feature_bit(std::string_view name);  ///< 0 when unknown

}  // namespace strew::inline v0
