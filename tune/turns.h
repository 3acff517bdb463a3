// How times are measured that can be trusted on a machine with other work: all ways of doing one piece of work take turns, so that each
// sees the same disturbances; a sample during which our threads waited for a core is taken again; and what counts is the ratio of two
// ways within one round, of which a median with its confidence interval is told.
//
// The tuner and the benchmarks (bench/measure.h) measure with it. All of it is in this header, because benchmarks link only what
// libstrew exports. Tested by tests/unit/tune/turns_test.cc.
#pragma once

#include <dirent.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/quantiles.h"

namespace strew::inline v0 {

/// One way of doing the work: `run(n)` does it n times. `before` and `after` surround each of its turns, untimed.
struct Way {
  std::string name;
  std::function<void(int64_t calls)> run;
  std::function<void()> before, after;
};

/// How a way's turn is taken.
struct Turn {
  double batch_nanoseconds = 20e3;  ///< calls are repeated until a sample takes this long
  double warm_nanoseconds = 0;      ///< untimed calls before each sample: caches and threads are then this way's own
  double most_nanoseconds = 1e18;   ///< no further rounds after the fifth once they took this long
  int retries = 0;                  ///< take a sample again when our threads had to wait for a core
};

inline double nanoseconds(const std::function<void(int64_t)>& run, int64_t calls) {
  const auto start = std::chrono::steady_clock::now();
  run(calls);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / static_cast<double>(calls);
}

/// Nanoseconds that this process's threads have waited for a core so far; 0 where the system does not say.
inline double waited_nanoseconds() {
  double total = 0;
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return 0;
  while (const dirent* task = readdir(tasks)) {
    const std::string path = std::string("/proc/self/task/") + task->d_name + "/schedstat";
    if (std::FILE* file = task->d_name[0] == '.' ? nullptr : std::fopen(path.c_str(), "r")) {
      unsigned long long ran = 0, waited = 0;
      if (std::fscanf(file, "%llu %llu", &ran, &waited) == 2) total += static_cast<double>(waited);
      std::fclose(file);
    }
  }
  closedir(tasks);
  return total;
}

/// Enough calls that reading the clock is lost in them; whole rounds of `sets` unless those take far longer.
inline int64_t calls_for(const Way& way, int64_t sets, double batch_nanoseconds) {
  constexpr int64_t kMost = int64_t{1} << 40;  // of work that takes no time
  int64_t calls = nanoseconds(way.run, 1) > 40 * batch_nanoseconds ? 1 : sets;
  while (calls < kMost && nanoseconds(way.run, calls) * static_cast<double>(calls) < batch_nanoseconds) calls *= 2;
  return calls;
}

/// Nanoseconds per call of one turn.
inline double sample(const Way& way, int64_t calls, const Turn& turn) {
  if (way.before) way.before();
  for (double warm = 0; warm < turn.warm_nanoseconds;) {
    const int64_t some = std::max<int64_t>(1, calls / 4);
    const double each = nanoseconds(way.run, some) * static_cast<double>(some);
    warm += std::max(each, 1.0);
  }
  double best = 0;
  for (int attempt = 0;; ++attempt) {
    const double waited = turn.retries > 0 ? waited_nanoseconds() : 0;
    const double each = nanoseconds(way.run, calls), all = each * static_cast<double>(calls);
    if (attempt == 0 || each < best) best = each;
    if (turn.retries == 0) break;
    const bool quiet = waited_nanoseconds() - waited < 0.01 * all + 5000;
    if (quiet) best = each;
    if (quiet || attempt >= turn.retries || (attempt > 1 && all > 20e6)) break;
  }
  if (way.after) way.after();
  return best;
}

}  // namespace strew::inline v0
