// Target: the machine a kernel is compiled for, as a value.
//
// detect() asks this process's machine (cpuid, affinity mask, cache sizes from /sys); parse() reads the text of `--target`. A named CPU has
// the cores and caches of its row in base/cpus.cc, whatever machine compiles, so that a named target gives the same object everywhere. An
// NPU is a target too: programs for it are texts, which the backend of the same name makes.
//
// Code generators read only what the text holds: arch, CPU, features and what follows from those. Cores and caches are the heuristic's
// (schedules/heuristic), whose choice is in the schedule. So a symbol, which holds op, schedule and this text, names one code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpus.h"
#include "base/status.h"

namespace strew {

struct Machine;  // base/machine.h

struct Target {
  std::string arch;                   ///< "x86_64", "aarch64", "npu"
  std::string cpu;                    ///< LLVM's name: "znver3", "x86-64-v3", …; of an NPU "npu-a3" or "npu-a5"
  std::vector<std::string> features;  ///< LLVM's feature strings with sign, sorted: "+avx2", "-avx512f"
  int vector_bytes = 16;              ///< widest vector register worth using: 16, 32 or 64
  bool f16c = false;                  ///< hardware f16 <-> f32
  int cores = 1;                      ///< native: usable by this process (affinity mask and CPU quota)
  int64_t l1d_bytes = 32 << 10, l2_bytes = 512 << 10, l3_bytes = 8 << 20;
};

/// This machine (base/machine).
Target detect_target();
/// "native", "CPU", "CPU+feature-feature", "npu-a3", "npu-a5": starts from the named CPU; `native` is detect_target(). Errors name what is unknown.
Expected<Target> parse_target(std::string_view text);
/// The same on another machine: for tests.
Expected<Target> parse_target(std::string_view text, const Machine& machine);
/// Canonical text: arch-cpu and what differs from that cpu's default. Cores and caches are left out: they do not change the code.
std::string print(const Target& target);
inline bool is_npu(const Target& target) { return target.arch == "npu"; }

/// What a target has: its cpu's features and the ones it adds or takes away.
FeatureSet features_of(const Target& target);

}  // namespace strew
