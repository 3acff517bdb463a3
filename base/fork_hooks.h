// Fork hooks: what the rooms do when the process forks, in one order. Each stage locks what it guards before the fork, in
// the order of ForkStage, and unlocks it in the reverse order in parent and child, so that the child finds no lock held by a
// thread that it does not have. The order matters: a stage may wait for threads that need the locks of later stages.
// Tested by tests/unit/fork_test.cc.
#pragma once

#include "strew/export.h"

namespace strew::inline v0 {

enum class ForkStage {
  compile_threads,  ///< waits until nothing compiles, and lets nothing begin
  caches,           ///< the runtimes' caches
  linker,           ///< the memory of generated code
  epochs,           ///< deferred destruction
  executors,        ///< thread pools
  count
};

struct ForkHooks {
  void (*before)() = nullptr;
  void (*in_parent)() = nullptr;
  void (*in_child)() = nullptr;  ///< must not allocate or free: other threads may have held the heap's locks
};

/// Sets the hooks of a stage, once. Without memory for the handler, a child of a fork has the hooks of nobody.
STREW_API void set_fork_hooks(ForkStage stage, const ForkHooks& hooks);

}  // namespace strew::inline v0
