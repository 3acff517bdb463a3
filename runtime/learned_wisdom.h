// What searches that ran while a kernel served leave in a file of wisdom: those of TunedKernel (tune/tuned_kernel.cc), and those of kernels that
// learn (runtime/call/learner.h), which write nothing unless a file is named (Options::learned_wisdom_file). Tested by
// tests/unit/runtime/tuned_kernel_test.cc and learned_wisdom_test.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/pipeline.h"
#include "base/quantiles.h"
#include "runtime/call/learner.h"
#include "runtime/kernel_state.h"
#include "schedules/wisdom/record.h"
#include "strew/schedule.h"

namespace strew::inline v0 {

/// Now, as records have it: ISO 8601 in UTC.
std::string date_now();

/// A record with what this process and the op decide: family, op, features of the shape, machine, versions and date. `planned`: the op as it
/// was given; `sized`: with the extents that were measured.
WisdomRecord record_here(const Compiled& planned, const Compiled& sized);

/// A kernel: its backend's name, and its schedule.
struct ServiceKernel {
  std::string_view backend;
  Schedule schedule;
  friend bool operator==(const ServiceKernel&, const ServiceKernel&) = default;
};

/// What a search in service found.
struct ServiceOutcome {
  ServiceKernel first, other;  ///< what calls began with, and the one that was compared with it, which may be the same
  MedianRange ratio{1, 1, 1};  ///< of the other to the first
  int rounds = 0;              ///< trials
  int threads = 1;             ///< of a call
  bool is_busy = false;        ///< something else ran on the host meanwhile
};

/// The records of the first kernel and, unless it is the same, of the other.
std::vector<WisdomRecord> records_in_service(const Compiled& planned, const ServiceOutcome& outcome);

/// What appends to the file of wisdom what calls of the kernel learn. A file that cannot be written is a warning. Empty for kernels with open
/// extents, because one shape cannot decide for all, and for those that serve this shape among others.
KeepLesson lesson_keeper(const Kernel::State& state, std::string wisdom_file);

}  // namespace strew::inline v0
