// Machine: the computer that this process runs on, and how much of it the process may use. Tested by
// tests/unit/base/machine_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/cpus.h"
#include "strew/export.h"
#include "strew/machine_costs.h"
#include "strew/status.h"

namespace strew::inline v0 {

struct Machine {
  const CpuInfo* cpu = nullptr;  ///< the row that describes it best
  FeatureSet features = 0;       ///< those that both processor and operating system support
  int cores = 1;                 ///< usable by this process (affinity mask and CPU quota)
  int64_t l1d_bytes = 32 << 10, l2_bytes = 512 << 10, l3_bytes = 8 << 20;
  MachineCosts costs;  ///< derived from the above (base/machine_costs.h)
};

/// How the cores that this process may use lie together.
struct Topology {
  int sockets = 1, nodes = 1, last_level_caches = 1;  ///< how many of them; nodes are parts of main memory
};
/// Detected at every call, from three files per core.
Topology detect_topology();

/// Bytes of a cache line on x86-64 and nearly all AArch64 machines.
inline constexpr int64_t kLineBytes = 64;

/// The largest number of threads that a call or a setting may have, on any machine.
inline constexpr int kMostThreads = 1024;
/// Ok if `threads` is 0, which stands for a default, or up to kMostThreads.
inline Status check_threads(int threads) {
  if (threads >= 0 && threads <= kMostThreads) return {};
  return invalid_argument("threads: " + std::to_string(threads) + ", expected 0.." + std::to_string(kMostThreads));
}

/// Detected at the first call, from some fifty files.
STREW_API const Machine& machine();
/// machine().features and machine().cpu->arch, which take no file.
FeatureSet machine_features();
#if defined(__x86_64__)
inline constexpr std::string_view kMachineArch = "x86_64";
#else
inline constexpr std::string_view kMachineArch = "aarch64";
#endif
/// `wanted` is a list such as "avx2,fma". Returns its features that are not in `present` or that strew does not know,
/// in the same form; empty if `present` has them all.
std::string lacking_features(std::string_view wanted, FeatureSet present);
/// The same for those that this machine has.
inline std::string lacking_features(std::string_view wanted) { return lacking_features(wanted, machine_features()); }

}  // namespace strew::inline v0
