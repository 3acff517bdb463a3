// Making executors: of a number of threads that is checked here, and the one that the process shares. Both take from the options of the
// process how long their workers spin. Tested by tests/unit/runtime/call/executor/executor_test.cc and
// tests/unit/base/options_effect_test.cc.
#include <string>

#include "base/machine.h"
#include "base/options.h"
#include "runtime/call/executor/thread_pool.h"
#include "strew/executor.h"

namespace strew::inline v0 {
namespace {

/// `threads`: 0 for as many as this process may use cores.
std::shared_ptr<Executor> executor_of(int threads, bool pins) {
  ThreadPoolOptions options{threads == 0 ? machine().cores : threads, pins};
  options.spin_microseconds = process_options().spin_microseconds;
  return std::make_shared<ThreadPool>(options);
}

}  // namespace

Expected<std::shared_ptr<Executor>> make_executor(int threads, bool pins) {
  if (threads < 0 || threads > ThreadPool::kMaxThreads)
    return invalid_argument("threads: " + std::to_string(threads) + ", expected 0.." + std::to_string(ThreadPool::kMaxThreads));
  return executor_of(threads, pins);
}

const std::shared_ptr<Executor>& process_executor() {
  // Never destroyed: kernels and their callers may outlive any order of static destructors.
  static const auto& executor =
      *new std::shared_ptr<Executor>(executor_of(process_options().threads, process_options().pin_threads));
  return executor;
}

}  // namespace strew::inline v0
