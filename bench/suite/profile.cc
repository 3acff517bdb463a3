// Preparing a case takes longer than a call, so the times of the loop are printed and bench/profile.py drops samples from before it. perf
// cannot read code made at run time after the process has gone, so its bytes are written here.
#include "bench/suite/profile.h"

#include <fmt/format.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <iostream>
#include <utility>

#include "bench/measure.h"
#include "bench/suite/work.h"

namespace strew::bench {
namespace {

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// The fastest of the hand-written ways with at most `threads`.
HandWay best_hand(const Work& work, int threads) {
  HandWay best;
  double least = 1e18;
  for (const int n : kThreads) {
    if (n > threads) continue;
    hand_pool().wake(n);
    for (HandWay& way : hand_ways(work.data, work.target(), n)) {
      const auto run = [&](int64_t calls) { way.run(0, calls); };
      nanoseconds(run, 1);
      std::vector<double> times;
      for (int i = 0; i < 5; ++i) times.push_back(nanoseconds(run, work.data.c.sets));
      const double took = median(std::move(times));
      if (took >= least) continue;
      least = took;
      best = std::move(way);
    }
    hand_pool().sleep();
  }
  return best;
}

/// A line "ADDRESS SIZE NAME" (hexadecimal) and the bytes in hexadecimal, per function. The process keeps all kernels it made.
void write_code(const std::string& path) {
  std::ifstream map(fmt::format("/tmp/perf-{}.map", getpid()));
  std::ofstream out(path);
  std::string name;
  for (uint64_t address = 0, size = 0; map >> std::hex >> address >> size >> name;) {
    out << fmt::format("{:x} {:x} {} ", address, size, name);
    for (uint64_t i = 0; i < size; ++i) out << fmt::format("{:02x}", reinterpret_cast<const uint8_t*>(address)[i]);
    out << '\n';
  }
}

}  // namespace

int profile(const ProfileRequest& request) {
  const auto& cases = suite_cases();
  const auto found = std::find_if(cases.begin(), cases.end(), [&](const Case& c) { return c.name == request.name; });
  const bool is_strew = request.way == "strew";
  if (found == cases.end() || (!is_strew && request.way != "hand") || request.threads < 1 || request.threads > 2) {
    std::cerr << "bench_suite: --profile=CASE --way=strew|hand --threads=1|2: no case '" << request.name
              << "', or another is wrong\n";
    return 2;
  }
  const Work& work = work_of(*found, request.schedule);
  if (!work.wrong.empty()) {
    std::cerr << "bench_suite: " << request.name << ": " << work.wrong << '\n';
    return 1;
  }
  std::string name = "strew";
  std::function<void(int64_t)> run;
  if (is_strew) {
    run = strew_calls(work, work.kernel(request.threads));
  } else {
    HandWay hand = best_hand(work, request.threads);
    name = fmt::format("{} (T={})", hand.name, hand.threads);
    if (hand.threads > 1) hand_pool().wake(hand.threads);
    run = [hand = std::move(hand.run), sets = found->sets, set = int64_t{0}](int64_t calls) mutable {
      hand(set, calls);
      set = (set + calls) % sets;
    };
  }
  run(found->sets);
  const double begin = now();
  double end = begin;
  int64_t calls = 0;
  for (; end < begin + request.seconds; end = now(), calls += found->sets) run(found->sets);
  hand_pool().sleep();
  if (!request.code.empty()) write_code(request.code);
  std::cout << fmt::format(R"({{"way": "{}", "ns": {:.1f}, "begin": {:.6f}, "end": {:.6f}, "schedule": "{}"}})", name,
                           (end - begin) * 1e9 / static_cast<double>(calls), begin, end,
                           is_strew ? print(work.kernel(request.threads).schedule()) : "")
            << '\n';
  return any_failed() ? 1 : 0;
}

}  // namespace strew::bench
