// See trace.h. Each chunk adds its thread to a set under a lock; that is slow, but only tests trace. Tested by
// tests/unit/runtime/call/executor/execution_limits_test.cc.
#include "runtime/call/executor/trace.h"

#include <mutex>
#include <set>
#include <thread>

namespace strew::inline v0 {
namespace {

struct Traced {
  Team::Work work;
  void* context;
  std::mutex mutex;
  std::set<std::thread::id> threads;
};

}  // namespace

void run_traced(Team& team, PhaseTrace& trace, PhaseKind kind, int chunks, int busy, Team::Work work, void* context) {
  Traced traced{work, context, {}, {}};
  team.run(
      chunks,
      [](void* t, int chunk) noexcept {
        auto& mine = *static_cast<Traced*>(t);
        {
          const std::lock_guard lock(mine.mutex);
          mine.threads.insert(std::this_thread::get_id());
        }
        mine.work(mine.context, chunk);
      },
      &traced);
  trace.add({kind, busy, static_cast<int>(traced.threads.size())});
}

}  // namespace strew::inline v0
