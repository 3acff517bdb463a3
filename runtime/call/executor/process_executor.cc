// Making executors: of a number of threads that is checked here, and the one that the process shares. Tested by tests/unit/executor_test.cc.
#include <string>

#include "base/machine.h"
#include "base/options.h"
#include "runtime/call/executor/thread_pool.h"
#include "strew/executor.h"

namespace strew::inline v0 {

Expected<std::shared_ptr<Executor>> make_executor(int threads, bool pins) {
  if (threads < 0 || threads > ThreadPool::kMaxThreads)
    return invalid_argument("threads: " + std::to_string(threads) + ", expected 0.." + std::to_string(ThreadPool::kMaxThreads));
  return std::shared_ptr<Executor>(std::make_shared<ThreadPool>(threads == 0 ? machine().cores : threads, pins));
}

const std::shared_ptr<Executor>& process_executor() {
  // Never destroyed: kernels and their callers may outlive any order of static destructors.
  static const auto& executor =
      *new std::shared_ptr<Executor>(std::make_shared<ThreadPool>(machine().cores, process_options().pins_workers));
  return executor;
}

}  // namespace strew::inline v0
