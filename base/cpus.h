// The CPUs and features strew knows by name: the data behind targets (schedules/target) and behind what this machine is (base/machine).
//
// Only features that change generated code are listed; LLVM's CPU models have more (sha, clwb, …) which nothing we emit can use.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "strew/export.h"

namespace strew::inline v0 {

/// A set of features: bit i is known_features()[i].
using FeatureSet = uint64_t;

struct FeatureInfo {
  std::string_view name;  ///< LLVM's, without a sign
  FeatureSet implies;     ///< features it cannot be without (transitively closed)
};
std::span<const FeatureInfo> known_features();

struct CpuInfo {
  std::string_view name;  ///< LLVM's
  std::string_view arch;
  FeatureSet features;  ///< what LLVM switches on for this name, among known_features()
  bool wide;            ///< 64-byte vectors pay where they exist
  // What a machine of that name is taken to have where this process's own does not count: a common one of its kind.
  int cores;
  int l1d_kib, l2_kib, l3_kib;  ///< per core; per core; shared by the cores
};
std::span<const CpuInfo> known_cpus();

/// Null when unknown.
const CpuInfo* find_cpu(std::string_view name);
const FeatureInfo* find_feature(std::string_view name);
inline FeatureSet bit_of(const FeatureInfo* feature) { return FeatureSet{1} << (feature - known_features().data()); }
STREW_API FeatureSet feature_bit(std::string_view name);  ///< 0 when unknown

}  // namespace strew::inline v0
