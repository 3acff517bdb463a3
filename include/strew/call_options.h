// CallOptions: how one call of a kernel runs. KernelCall: one call of a batch (run_many).
#pragma once

#include <span>

#include "strew/bad_index.h"
#include "strew/executor.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

struct CallOptions {
  /// The most threads that the call may use, the calling thread included, 1..1024; 0: as many as the kernel's handle allows.
  int threads = 0;
  /// Runs the call's work; null: the executor of the kernel's runtime. It must live until the call returns.
  Executor* executor = nullptr;
  /// Is filled if the call fails with Code::out_of_bounds.
  BadIndex* bad_index = nullptr;
};

}  // namespace strew::inline v0
