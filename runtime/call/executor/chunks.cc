// See chunks.h. How many threads a phase is worth is decided here, from its size, so a kernel with symbols runs on one thread with small
// dims and on all threads with large ones. Tested by tests/unit/runtime/call/executor/executor_test.cc and
// tests/unit/backends/kernel_test.cc.
#include "runtime/call/executor/chunks.h"

#include <algorithm>
#include <limits>
#include <mutex>

namespace strew::inline v0 {
namespace {

constexpr int kNone = std::numeric_limits<int>::max();

struct Running {
  const Phase& phase;
  Split split;
  // For the phase check: the fault of the smallest chunk that has one, which is the first fault, since chunks are in position order.
  std::mutex mutex;
  int faulty = kNone;
  strew_fault fault{};

  int32_t run_chunk(int chunk, strew_fault* found) const {
    const int64_t begin = split.border(chunk), end = split.border(chunk + 1);
    if (begin >= end) return STREW_OK;
    if (phase.axis == Axis::work) return phase.entry(&phase.args, begin, end, found);
    strew_args part = phase.args;
    (phase.axis == Axis::window ? part.w0 : part.k0) = begin;
    (phase.axis == Axis::window ? part.w1 : part.k1) = end;
    return phase.entry(&part, 0, phase.positions, found);
  }
};

void work(void* context, int chunk) noexcept {
  Running& running = *static_cast<Running*>(context);
  strew_fault found{};
  if (running.run_chunk(chunk, &found) == STREW_OK) return;
  const std::lock_guard lock(running.mutex);
  if (chunk >= running.faulty) return;
  running.faulty = chunk;
  running.fault = found;
}

}  // namespace

bool run_chunks(Team& team, const ExecutionLimits& limits, const Phase& phase, strew_fault* fault) {
  Running running{phase, phase.split, {}};
  // Chunks of the other axes each repeat the work on the indices, so there is one per thread.
  running.split.chunks = phase.axis == Axis::work ? team.threads() * limits.chunks_per_thread : team.threads();
  run_phase(team, limits, phase.kind, running.split.chunks, running.split.busy(), work, &running);
  if (running.faulty == kNone) return true;
  *fault = running.fault;
  return false;
}

bool run_split(const Callable& callable, const Call& call, const Phase& phase, Nanoseconds alone, strew_fault* fault) {
  if (phase.split.total == 0) return true;
  const ExecutionLimits& limits = *callable.limits;
  Team team(*call.executor, threads_for(alone, call.threads, limits), alone);
  if (team.has_help()) return run_chunks(team, limits, phase, fault);
  note_phase(limits, phase.kind, 1);
  return phase.entry(&phase.args, 0, phase.axis == Axis::work ? phase.split.total : phase.positions, fault) == STREW_OK;
}

int threads_for(Nanoseconds work, int most, const ExecutionLimits& limits) {
  most = std::min(most, limits.most_threads);
  if (limits.shares_all) return most;
  return static_cast<int>(std::clamp<int64_t>(work / limits.costs.thread_time(), 1, most));
}

}  // namespace strew::inline v0
