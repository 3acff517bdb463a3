// See run_queue.h. The second number of a schedstat file is the time in the run queue. Cost: some microseconds per thread.
#include "base/run_queue.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace strew::inline v0 {

std::optional<Nanoseconds> waited_for_cores() {
  std::error_code error;
  int64_t all = 0;
  bool any = false;
  for (std::filesystem::directory_iterator task("/proc/self/task", error), end; !error && task != end; task.increment(error)) {
    std::ifstream file(task->path() / "schedstat");
    int64_t ran = 0, waited = 0;
    if (!(file >> ran >> waited)) continue;  // the thread has ended meanwhile
    all += waited;
    any = true;
  }
  if (!any) return std::nullopt;
  return Nanoseconds(all);
}

double HostWatch::waiting() const {
  const std::optional<Nanoseconds> now = waited_for_cores();
  if (!before_ || !now || *now < *before_) return 0;  // fewer: threads have ended, and their time with them
  return EstimatedTime(*now - *before_) / EstimatedTime(std::chrono::steady_clock::now() - start_);
}

}  // namespace strew::inline v0
