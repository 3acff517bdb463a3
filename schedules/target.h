// Targets within the compiler: a target's features as a set, targets of another machine than this one, and what `native` stands for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/cpus.h"
#include "base/machine.h"
#include "strew/status.h"
#include "strew/target.h"

namespace strew::inline v0 {

/// parse_target() with `machine` in the place of this machine, whatever STREW_TARGET says.
Expected<Target> parse_target(std::string_view text, const Machine& machine);
/// machine() with the costs that were measured on it, if somebody has. Read at the first call.
const Machine& measured_machine();
/// What `native` stands for in this process: Options::target, or this machine's own where it cannot run that, which is one
/// warning.
const Target& process_target();
/// The text of process_target() as Options::target has it, or "native".
const std::string& process_native();
/// `text` with `native`, if it begins so, replaced by another target's text: with_native("native-avx", "znver3") is "znver3-avx".
std::string with_native(std::string_view text, std::string_view native);
/// Ok if `text` is a target that this machine can run.
Status check_runnable(std::string_view text);

/// Ok if the target is one that parse_target() may have made, but for its cores and cache sizes, which must not be negative. Code
/// depends on no more than the target's text, so vector_bytes and f16c have to be those of the text.
Status check(const Target& target);

/// The target's features: those of its CPU with the added ones and without the removed ones.
STREW_API FeatureSet features_of(const Target& target);
/// Does the target read and write some lanes of a vector as fast as all? AVX-512 does. Then the rest of a row is one vector.
inline bool has_masks(const Target& target) {
  if (target.arch != "x86_64" || target.vector_bytes < 32) return false;
  if (target.vector_bytes == 64) return true;  // target_with() says so only where the features are
  const FeatureSet wanted = feature_bit("avx512vl") | feature_bit("avx512bw");
  return (features_of(target) & wanted) == wanted;
}

// Can the machine of this process run code for a target? A kernel may be compiled for any known target, but it runs only on a machine with the
// target's architecture and features. The runtime asks before it links what it has compiled; for objects that were compiled before,
// check_descriptor() (runtime/call/descriptor.h) asks the same of their features. Tested by tests/unit/base/machine_test.cc,
// tests/unit/backends/kernel_test.cc and tests/error/cli_test.cc.

/// Ok if code made for `target` runs on this machine: on its processor and under its operating system, which must save
/// the registers that AVX and AVX-512 use. Otherwise `unsupported`, with a message that names the architecture or every
/// missing feature. A target that no text describes is an error too (check()).
/// Only the features that strew knows (base/cpus) are compared; no others change the generated code.
Status machine_can_run(const Target& target);
/// The same for any machine, for tests: does `machine` run code made for `target`?
Status can_run(const Target& machine, const Target& target);

}  // namespace strew::inline v0
