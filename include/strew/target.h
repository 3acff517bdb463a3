// Target: the machine for which a kernel is compiled, as a value.
//
// detect_target() describes the machine of this process (cpuid, affinity mask, cache sizes from /sys); parse_target()
// reads the text of `--target`. The environment variable STREW_TARGET says what `native` stands for instead (options.h).
// A named CPU has the cores, caches and costs of its row in base/cpus.cc and base/machine_costs.cc, whatever machine compiles, so a named target gives the
// same object everywhere. An NPU is a target too; the backend of the same name writes programs for it as text.
//
// Code generators read only what the target's text contains: arch, CPU, features, and what follows from these. Cores,
// caches and costs are for the heuristic (schedules/heuristic), whose choice is part of the schedule. A kernel's symbol is a
// hash of op, schedule, this text and the backend, so it identifies the code. All functions are thread-safe. Tested by
// tests/unit/schedules/target_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strew/export.h"
#include "strew/machine_costs.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Made by parse_target() and detect_target(). A program may change cores, cache sizes and costs; the other fields follow from each
/// other, and a kernel is refused for a target in which they do not.
struct Target {
  std::string arch;                   ///< "x86_64", "aarch64", "npu"
  std::string cpu;                    ///< LLVM's name: "znver3", "x86-64-v3", …; for an NPU "npu-a3" or "npu-a5"
  std::vector<std::string> features;  ///< LLVM's feature strings with sign, sorted: "+avx2", "-avx512f"
  int vector_bytes = 16;              ///< widest vector register that is worth using: 16, 32 or 64
  bool f16c = false;                  ///< hardware conversions between f16 and f32
  /// Floats are computed in the floating-point environment of the thread that calls, instead of the default one: where that flushes subnormals, so do the
  /// additions, products, minima and maxima of kernels (docs/semantics.md section 4). Not of NPUs.
  bool host_fp = false;
  int cores = 1;  ///< `native`: the cores that this process may use (affinity mask and CPU quota)
  int64_t l1d_bytes = 32 << 10, l2_bytes = 512 << 10, l3_bytes = 8 << 20;
  MachineCosts costs;  ///< those of the CPU's row; `native`: those of this machine, measured if somebody has (machine_costs.h)
  friend bool operator==(const Target&, const Target&) = default;
};

/// The machine of this process (base/machine).
STREW_API Target detect_target();
/// Parses "native", "CPU", "CPU+feature-feature", "npu-a3" or "npu-a5". A feature is added to or removed from those of
/// the CPU; "+host_fp" sets host_fp; `native` is Options::target of the process, by default detect_target(). Errors name the unknown part.
STREW_API Expected<Target> parse_target(std::string_view text);
/// The canonical text: arch-cpu, the features that differ from the CPU's own, and "+host_fp". Cores and caches are not part of it,
/// since they do not change the code.
STREW_API std::string print(const Target& target);
inline bool is_npu(const Target& target) { return target.arch == "npu"; }

}  // namespace strew::inline v0
