// See fork_hooks.h. The process has one pthread_atfork() handler, which calls the hooks of all stages. The hooks are
// stored as atomics, because a module may set its own while another thread forks.
#include "base/fork_hooks.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace strew::inline v0 {
namespace {

constexpr auto kStages = static_cast<size_t>(ForkStage::count);

struct Stage {
  std::atomic<bool> is_set{false};
  ForkHooks hooks;
  bool ran = false;  ///< `before` has run for the fork in progress, so in_parent and in_child must run, too
};
std::array<Stage, kStages> stages;

void before() {
  for (Stage& stage : stages) {
    stage.ran = stage.is_set.load(std::memory_order_acquire);
    if (stage.ran) stage.hooks.before();
  }
}

void after(void (*ForkHooks::*hook)()) {
  for (size_t i = kStages; i-- > 0;)
    if (stages[i].ran) (stages[i].hooks.*hook)();
}

}  // namespace

void set_fork_hooks(ForkStage stage, const ForkHooks& hooks) {
  static const int watching = pthread_atfork(
      before, [] { after(&ForkHooks::in_parent); }, [] { after(&ForkHooks::in_child); });
  static_cast<void>(watching);
  Stage& own = stages[static_cast<size_t>(stage)];
  own.hooks = hooks;
  own.is_set.store(true, std::memory_order_release);
}

}  // namespace strew::inline v0
