// Kernel::State: what a Kernel handle points to. Made by make_kernel, then immutable but for the call counter.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "backends/link.h"
#include "backends/pipeline.h"
#include "runtime/call/bind.h"
#include "runtime/call/executor/executor.h"
#include "runtime/call/executor/limits.h"
#include "runtime/call/scratch.h"
#include "runtime/kernel.h"

namespace strew {

struct Kernel::State {
  explicit State(Compiled made) : compiled(std::move(made)) {}

  // What every call reads, side by side: a call's data pushes all of this out of the nearest cache.
  strew_entry range = nullptr;
  strew_entry check_at_once = nullptr;  ///< the check entry where the op has to check first
  bool is_direct = false;  ///< no strategy: once the indices are checked and the result is there, the range entry does it all
  bool computes_floats = false;
  bool checks_hints = false;                             ///< schedule knob `checked`, and there are hints
  bool widens_touched = false;                           ///< the parts are such that runtime/call/wide_touched may run them
  int32_t checked_alone = kDefaultLimits.checked_alone;  ///< ExecutionLimits::checked_alone
  uint64_t verify_every = 0;
  std::optional<Binder> binder;  ///< refers into `compiled`

  Compiled compiled;
  /// Wide accumulation: fold and narrow (runtime/call/wide); then this state has no code of its own.
  std::vector<std::shared_ptr<const State>> parts;
  mutable Scratch scratch;
  std::shared_ptr<LinkedObject> object;  ///< null when interpreted
  strew_entry check = nullptr, init = nullptr, keys = nullptr, list = nullptr, merge = nullptr, clip = nullptr;
  std::shared_ptr<Executor> executor;
  std::shared_ptr<const ExecutionLimits> limits;
  int64_t compile_nanoseconds = 0;
  mutable std::atomic<uint64_t> calls{0};
};

/// Links the artifact (if there is code) and prepares binding. Neither `executor` nor `limits` may be null.
Expected<std::shared_ptr<Kernel::State>> make_kernel(Compiled compiled, std::shared_ptr<Executor> executor,
                                                     std::shared_ptr<const ExecutionLimits> limits = default_limits());

}  // namespace strew
