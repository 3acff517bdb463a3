// Fork hooks: what parts of the library do when the process forks. Each stage locks what it guards before the fork,
// in the order of ForkStage, and unlocks it in the reverse order in parent and child. So the child, which has no
// thread but the forking one, finds no lock held by a missing thread. The order matters, because a stage may wait for
// threads that need the locks of later stages. Tested by tests/unit/base/fork_test.cc.
#pragma once

#include <mutex>

#include "strew/export.h"

namespace strew::inline v0 {

enum class ForkStage {
  compile_threads,  ///< waits for the compilations in progress, and lets no new one begin
  caches,           ///< the runtimes' caches
  disk_caches,      ///< their folders
  linker,           ///< what a linker tells profilers and debuggers
  code_memory,      ///< the memory of generated code
  epochs,           ///< deferred destruction
  executors,        ///< thread pools
  count
};

struct ForkHooks {
  void (*before)() = nullptr;
  void (*in_parent)() = nullptr;
  void (*in_child)() = nullptr;  ///< must not allocate or free: other threads may have held the heap's locks
};

/// Hooks that hold mutexes across fork(), so that the child finds whole what they guard.
template <std::mutex*... kMutexes>
constexpr ForkHooks hooks_that_hold() {
  constexpr auto kUnlock = [] { (kMutexes->unlock(), ...); };
  return {[] { (kMutexes->lock(), ...); }, kUnlock, kUnlock};
}
/// Sets the hooks of a stage, once. If there is no memory for the pthread_atfork() handler, no hooks run at a fork.
STREW_API void set_fork_hooks(ForkStage stage, const ForkHooks& hooks);

}  // namespace strew::inline v0
