// strew_npu_differential: writes random ops as PTO programs, parses the programs, simulates them, and compares the
// results with the reference, bit for bit.
//
//   strew_npu_differential [--seed N] [--iterations M] [--seconds S] [--jobs J] [--replay SEED:ITERATION] [--op TEXT]
//                          [--plant] [--ptoas] [--verbose]
//
// The seed is printed first. A failure prints the op, the call, the difference, the program, and the command that
// replays it. --plant also plants bugs in the programs, and fails if a kind of bug is noticed too rarely. --ptoas:
// the PTO assembler (PTOAS, or found in PATH) must accept every program. --verbose prints ops, why they are refused, and the
// shrunk program of a failure. Exit status: 0 no difference, 1 a difference, 2 usage.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "strew/text.h"
#include "strew/verify.h"
#include "tests/differential/jobs.h"
#include "tests/differential/npu/npu_check.h"
#include "tests/differential/npu/plant.h"
#include "tests/differential/op_blueprint.h"
#include "tests/differential/shrink.h"
#include "tests/support/ptoas.h"

namespace strew::test {
namespace {

struct Options {
  uint64_t seed = (static_cast<uint64_t>(std::random_device{}()) << 20) ^ std::random_device{}();
  int64_t iterations = 2000;
  double seconds = 0;
  int jobs = 1;
  std::string replay, op, ptoas;
  bool plants = false, verbose = false;
};

[[noreturn]] void usage(const std::string& why) {
  fmt::print(stderr,
             "strew_npu_differential: {}\nusage: strew_npu_differential [--seed N] [--iterations M] [--seconds S] [--jobs J] "
             "[--replay SEED:ITERATION] [--op TEXT] [--plant] [--ptoas] [--verbose]\n",
             why);
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= argc) usage(flag + " needs a value");
      return argv[++i];
    };
    if (flag == "--seed")
      o.seed = std::strtoull(value().c_str(), nullptr, 0);
    else if (flag == "--iterations")
      o.iterations = std::strtoll(value().c_str(), nullptr, 0);
    else if (flag == "--seconds")
      o.seconds = std::strtod(value().c_str(), nullptr), o.iterations = INT64_MAX;
    else if (flag == "--jobs")
      o.jobs = std::atoi(value().c_str());
    else if (flag == "--replay")
      o.replay = value();
    else if (flag == "--op")
      o.op = value();
    else if (flag == "--plant")
      o.plants = true;
    else if (flag == "--ptoas")
      o.ptoas = find_ptoas().value_or("");
    else if (flag == "--verbose")
      o.verbose = true;
    else
      usage("unknown flag " + flag);
  }
  return o;
}

bool report(const Options& o, NpuChecker& checker, const Blueprint& blueprint, uint64_t data_seed, const Failure& failure,
            const std::string& replay) {
  fmt::print("FAIL {}\n  op: {}\n  call: {}\n  {}\nreplay: {}{}\n", failure.engine, print(make_op(blueprint)), failure.call,
             failure.what, replay, o.plants ? " --plant" : "");
  std::fflush(stdout);
  Failure last = failure;
  const Blueprint small = shrink(blueprint, [&](const Blueprint& candidate) {
    const auto again = checker.check(candidate, data_seed);
    if (again) last = *again;
    return again.has_value();
  });
  fmt::print("shrunk: {}\n  call: {}\n  {}\n", print(make_op(small)), last.call, last.what);
  checker.check(small, data_seed);
  if (o.verbose) fmt::print("program:\n{}", checker.program());
  std::fflush(stdout);
  return false;
}

bool run(const Options& o, NpuChecker& checker, uint64_t seed, int64_t n) {
  Rng rng = Rng::stream(seed, static_cast<uint64_t>(n));
  const Blueprint blueprint = random_npu_blueprint(rng);
  const uint64_t data_seed = rng.next();
  if (o.verbose) fmt::print("{} {}\n", n, print(make_op(blueprint)));
  const auto failure = checker.check(blueprint, data_seed);
  if (o.verbose && !checker.refusal().empty()) fmt::print("  refused: {}\n", checker.refusal());
  return !failure ||
         report(o, checker, blueprint, data_seed, *failure, fmt::format("strew_npu_differential --replay {}:{}", seed, n));
}

bool run_op(const Options& o, NpuChecker& checker) {
  const Expected<Op> op = parse_op(o.op);
  if (!op.ok()) usage("--op: " + op.status().message());
  if (const Status status = verify(*op); !status.ok()) usage("--op: " + status.message());
  const Blueprint blueprint = blueprint_of(*op);
  for (int64_t n = 0; n < std::min<int64_t>(o.iterations, 50); ++n) {
    const uint64_t seed = o.seed + static_cast<uint64_t>(n), data_seed = Rng(seed).next();
    const std::string replay = fmt::format("strew_npu_differential --seed {} --iterations 1 --op '{}'", seed, o.op);
    if (const auto failure = checker.check(blueprint, data_seed))
      return report(o, checker, blueprint, data_seed, *failure, replay);
  }
  return true;
}

bool run_share(const Options& o, NpuChecker& checker, int64_t job, int64_t jobs) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  for (int64_t n = job; n < o.iterations; n += jobs) {
    if (o.seconds > 0 && std::chrono::duration<double>(Clock::now() - start).count() >= o.seconds) break;
    if (!run(o, checker, o.seed, n)) return false;
  }
  return true;
}

/// Was every kind of planted bug noticed often enough? Some plants do not change the result for the data of the call.
bool caught_enough(const NpuTally& tally) {
  bool good = true;
  for (const auto& [what, count] : tally.caught) {
    const auto [hits, of] = count;
    if (of < 40 || hits * 100 >= of * least_caught(what)) continue;
    fmt::print("planted: {}: {} of {} noticed, expected {} %\n", what, hits, of, least_caught(what));
    good = false;
  }
  return good;
}

}  // namespace
}  // namespace strew::test

int main(int argc, char** argv) {
  using namespace strew::test;
  const Options o = parse(argc, argv);
  fmt::print("seed {}\n", o.seed);
  NpuTally sum;
  bool good = true;
  if (o.jobs <= 1 || !o.replay.empty() || !o.op.empty()) {
    NpuChecker checker(o.plants, o.ptoas);
    const size_t colon = o.replay.find(':');
    if (!o.replay.empty() && colon == std::string::npos) usage("--replay " + o.replay + ": expected SEED:ITERATION");
    good = !o.op.empty()       ? run_op(o, checker)
           : !o.replay.empty() ? run(o, checker, std::strtoull(o.replay.c_str(), nullptr, 10),
                                     std::strtoll(o.replay.c_str() + colon + 1, nullptr, 10))
                               : run_share(o, checker, 0, 1);
    sum = checker.tally();
  } else {
    std::vector<std::string> reports;
    good = run_in_jobs(
        o.jobs,
        [&](int job, std::string& text) {
          NpuChecker checker(o.plants, o.ptoas);
          const bool clean = run_share(o, checker, job, o.jobs);
          text = checker.tally().write();
          return clean;
        },
        reports);
    for (const std::string& text : reports) sum.add(NpuTally::read(text));
  }
  fmt::print("{}\n", sum.text());
  good = caught_enough(sum) && good;
  fmt::print("{}, seed {}\n", good ? "clean" : "failed", o.seed);
  return good ? 0 : 1;
}
