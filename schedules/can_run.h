// What this process's machine can run: a kernel may be compiled for any known target, but it runs only where the machine has the target's
// architecture and features. Whoever turns an object into running code asks machine_can_run() first.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "schedules/target.h"

namespace strew {

/// Ok: code made for `target` runs on this machine, processor and operating system (which must save the registers that AVX and AVX-512
/// use). Else `unsupported`: the message names the architecture or every missing feature. Covers the features that strew knows
/// (base/cpus), which are those that change the code strew generates.
Status machine_can_run(const Target& target);
/// The same question about another machine, for tests: does `machine` run code made for `target`?
Status can_run(const Target& machine, const Target& target);

/// The x86-64 levels that this machine runs, lowest first, as parse_target() takes them: "x86-64", "x86-64-v2", … Empty elsewhere.
std::vector<std::string_view> runnable_x86_64_levels();

}  // namespace strew
