// Machine: the computer that this process runs on, as far as it may use it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/cpus.h"
#include "strew/export.h"

namespace strew::inline v0 {

struct Machine {
  const CpuInfo* cpu = nullptr;  ///< the best name for it
  FeatureSet features = 0;       ///< what processor and operating system really have
  int cores = 1;                 ///< usable by this process (affinity mask and CPU quota)
  int64_t l1d_bytes = 32 << 10, l2_bytes = 512 << 10, l3_bytes = 8 << 20;
};

/// Of a cache line: x86-64, and nearly all AArch64.
inline constexpr int64_t kLineBytes = 64;

/// The most threads that anything here uses, whatever the machine has.
inline constexpr int kMostThreads = 1024;

/// Asked once per process.
STREW_API const Machine& machine();
/// Of "avx2,fma": those that this machine lacks, or that strew has not heard of, in the same form. Empty: it has them all.
std::string lacking_features(std::string_view wanted);

}  // namespace strew::inline v0
