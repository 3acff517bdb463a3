// See team.h. Tested by tests/unit/runtime/call/executor/executor_test.cc and tests/unit/runtime/call/executor/host_executor_test.cc.
#include "runtime/call/executor/team.h"

#include <algorithm>

#include "runtime/call/executor/host_executor.h"
#include "runtime/call/executor/thread_pool.h"

namespace strew::inline v0 {

Team::Team(Executor& executor, int threads, Nanoseconds work) : pool_(executor.thread_pool()), executor_(executor) {
  const int wanted = std::min({threads, executor.threads(), WorkerSet::kMost}) - 1;
  if (pool_ != nullptr) forks_ = pool_->forks_;
  if (wanted <= 0) return;
  // One thread takes t; w helpers and the caller take t / (w + 1) and what the host needs to call them.
  if (pool_ == nullptr && work - work / (wanted + 1) < Nanoseconds(executor.dispatch_ns())) return;
  helpers_ = pool_ != nullptr ? pool_->acquire(wanted, work, ids_.data()) : wanted;
}

Team::~Team() {
  if (pool_ != nullptr) pool_->give_back(ids_.data(), helpers_, forks_);
}

void Team::run(int chunks, Work work, void* context) {
  if (pool_ != nullptr) return pool_->run_on(ids_.data(), helpers_, forks_, Chunks(chunks), work, context);
  run_on_host(executor_, helpers_ > 0 ? chunks : 0, work, context);
  if (helpers_ > 0) return;
  for (int i = 0; i < chunks; ++i) work(context, i);
}

}  // namespace strew::inline v0
