// Target: the machine a kernel is compiled for, as a value.
//
// detect() asks this process's machine (cpuid, affinity mask, cache sizes from /sys); parse() reads the text of `--target`. The
// text is part of every cache key: two machines with equal text may share objects.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpus.h"
#include "base/status.h"

namespace strew {

struct Target {
  std::string arch;                   ///< "x86_64", "aarch64"
  std::string cpu;                    ///< LLVM's name: "znver3", "x86-64-v3", …
  std::vector<std::string> features;  ///< LLVM's feature strings with sign, sorted: "+avx2", "-avx512f"
  int vector_bytes = 16;              ///< widest vector register worth using: 16, 32 or 64
  bool f16c = false;                  ///< hardware f16 <-> f32
  int cores = 1;                      ///< usable by this process (affinity mask and CPU quota)
  int64_t l1d_bytes = 32 << 10, l2_bytes = 512 << 10, l3_bytes = 8 << 20;
};

/// This machine (base/machine).
Target detect_target();
/// "native", "CPU", "CPU+feature-feature": starts from the named CPU; `native` is detect_target(). Errors name what is unknown.
Expected<Target> parse_target(std::string_view text);
/// Canonical text: arch-cpu and what differs from that cpu's default. Cores and caches are left out: they do not change the code.
std::string print(const Target& target);

/// What a target has: its cpu's features and the ones it adds or takes away. And back: the target `cpu` with exactly `features`; cores and
/// caches from `like`.
FeatureSet features_of(const Target& target);
Target target_with(const CpuInfo& cpu, FeatureSet features, const Target& like);

}  // namespace strew
