// Decides whether the machine of this process can run code for a target. A kernel may be compiled for any known target,
// but it runs only on a machine with the target's architecture and features. The runtime asks before it links what it has
// compiled; for objects that were compiled before, check_descriptor() (runtime/call/descriptor.h) asks the same of their features.
#pragma once

#include <string_view>
#include <vector>

#include "strew/status.h"
#include "strew/target.h"

namespace strew::inline v0 {

/// Ok if code made for `target` runs on this machine: on its processor and under its operating system, which must save
/// the registers that AVX and AVX-512 use. Otherwise `unsupported`, with a message that names the architecture or every
/// missing feature. A target that no text describes is an error too (check() in target.h). Only the features that strew knows (base/cpus) are compared; no others change the generated code.
Status machine_can_run(const Target& target);
/// The same for any machine, for tests: does `machine` run code made for `target`?
Status can_run(const Target& machine, const Target& target);

/// The x86-64 levels that this machine runs, lowest first, in the form that parse_target() reads: "x86-64",
/// "x86-64-v2", … Empty on other architectures.
std::vector<std::string_view> runnable_x86_64_levels();

}  // namespace strew::inline v0
