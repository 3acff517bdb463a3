// Callable: a kernel that can be called, from its descriptor alone. libstrew_rt is this and what it stands on.
//
//   extern const strew_kernel embedding_grad;                       // from an object that `strew compile --emit obj` wrote
//   auto kernel = strew::Callable::make(embedding_grad, executor);  // once
//   strew::Status s = kernel->run(views);                           // binds, checks, runs; from any thread
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "base/tensor_view.h"
#include "runtime/call/bind.h"
#include "runtime/call/executor/executor.h"
#include "runtime/call/executor/limits.h"
#include "runtime/call/scratch.h"
#include "strew/abi.h"

namespace strew {

class alignas(64) Callable {
 public:
  /// `kernel` must outlive the callable; so must `executor` and `limits`, of which it keeps a share. `threads`: the most that a call may use,
  /// 1..1024; 0: all of the executor's. Fails where the descriptor belongs to another version of strew.
  static Expected<std::unique_ptr<Callable>> make(const strew_kernel& kernel, std::shared_ptr<Executor> executor, int threads = 0,
                                                  std::shared_ptr<const ExecutionLimits> limits = default_limits());

  /// Runs on the tensors of kernel.tensors, in that order. Checks rank, dtype, dims, null pointers and overlap first (semantics.md section
  /// 6); on any error nothing is written. out_of_bounds: `fault`, if given, holds the details. Thread-safe.
  Status run(std::span<const TensorView> tensors, strew_fault* fault = nullptr) const;

  // Set by make(), then left alone. First what every call reads, side by side, because a call's data pushes this out of the nearest cache.
  Binder binder;
  strew_entry range = nullptr;
  strew_entry check_at_once = nullptr;  ///< the check entry where the kernel has to check first
  bool computes_floats = false;
  bool is_sequential = false;  ///< no strategy: once the indices are checked and the result is there, the range entry does it all
  bool may_be_alone = false;   ///< the same for calls that are not worth a second thread: the strategy does not decide the bits
  int32_t checked_alone = kDefaultLimits.checked_alone;  ///< ExecutionLimits::checked_alone
  int64_t result_bytes = 1;                              ///< of an element of result 0
  std::shared_ptr<const ExecutionLimits> limits;

  const strew_kernel& kernel;
  int threads = 1;
  int64_t last_level_cache_bytes = 0;  ///< of the machine that runs
  std::shared_ptr<Executor> executor;
  /// Wide accumulation: STREW_FOLD, STREW_NARROW and, where there is one, STREW_START.
  std::vector<std::unique_ptr<const Callable>> parts;
  mutable Scratch scratch;

 private:
  Callable(const strew_kernel& descriptor, Binder made) : binder(std::move(made)), kernel(descriptor) {}
  bool is_direct(const Call& call) const;
  Status run_at_once(std::span<const TensorView> tensors, const Call& call, strew_fault* fault) const;
};

}  // namespace strew
