// strew_program_differential: random programs of 2 to 12 nodes, run with everything that strew does by default, compared with the interpreter and
// the reference.
//
//   strew_program_differential [--seed N] [--iterations M] [--seconds S] [--jobs J] [--backend NAME] [--replay SEED:ITERATION] [--seeds-file FILE]
//                              [--require-coverage] [--verbose]
//
// The seed is printed first. A failure prints the program, shrunk, the first difference and the command that replays it. --require-coverage fails
// if a kind of node never ran, no call had a bad index, no operation became part of a kernel, or no input was donated; a thousand programs have
// all of that. Exit status: 0 no difference, 1 a difference, 2 usage.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>
#include <string>

#include "tests/differential/jobs.h"
#include "tests/differential/programs/program_check.h"
#include "tests/support/load_check.h"

namespace strew::test {
namespace {

struct Options {
  uint64_t seed = 0;
  int64_t iterations = 0;
  double seconds = 0;
  std::string replay, seeds_file, backend;
  int jobs = 1;
  bool require_coverage = false, verbose = false;
};

[[noreturn]] void usage(const std::string& why) {
  fmt::print(stderr,
             "strew_program_differential: {}\nusage: strew_program_differential [--seed N] [--iterations M] [--seconds S] "
             "[--jobs J] [--backend NAME] "
             "[--replay SEED:ITERATION] [--seeds-file FILE] [--require-coverage] [--verbose]\n",
             why);
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options o;
  o.seed = (static_cast<uint64_t>(std::random_device{}()) << 20) ^ std::random_device{}();
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
      o.seconds = std::strtod(value().c_str(), nullptr);
    else if (flag == "--jobs")
      o.jobs = std::atoi(value().c_str());
    else if (flag == "--backend")
      o.backend = value();
    else if (flag == "--replay")
      o.replay = value();
    else if (flag == "--seeds-file")
      o.seeds_file = value();
    else if (flag == "--require-coverage")
      o.require_coverage = true;
    else if (flag == "--verbose")
      o.verbose = true;
    else
      usage("unknown flag " + flag);
  }
  if (o.iterations == 0 && o.seconds == 0 && o.seeds_file.empty()) o.iterations = 1000;
  return o;
}

class Driver {
 public:
  explicit Driver(const Options& options) : options_(options), checker_(options.backend) {
    set_foreign_fault_report([this](int signal, const void* address) {
      fmt::print("FAIL in a pool thread: {}\nreplay: {}\n", checker_.describe(signal, address), replay_);
      std::fflush(stdout);
    });
  }

  bool run(uint64_t seed, int64_t iteration) {
    replay_ = fmt::format("strew_program_differential --replay {}:{}", seed, iteration);
    if (!options_.backend.empty()) replay_ += " --backend " + options_.backend;
    const uint64_t own = Rng::stream(seed, static_cast<uint64_t>(iteration)).next();
    const int nodes = node_count(own);
    const RandomProgram drawn = random_program(own, nodes);
    if (options_.verbose) {
      fmt::print("{}\n{}", iteration, listing(drawn.program));
      std::fflush(stdout);
    }
    const auto failure = checker_.check(drawn, own);
    return !failure || report(own, nodes, drawn, *failure);
  }

  /// Iterations job, job + jobs, job + 2 * jobs, …
  bool run_share(int64_t job, int64_t jobs) {
    const auto start = std::chrono::steady_clock::now();
    const auto is_over = [&] {
      return options_.seconds > 0 &&
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() >= options_.seconds;
    };
    for (int64_t n = job; (options_.iterations == 0 || n < options_.iterations) && !is_over(); n += jobs)
      if (!run(options_.seed, n)) return false;
    return true;
  }

  bool run_text(const std::string& text) {
    const size_t colon = text.find(':');
    if (colon == std::string::npos) usage(text + ": expected SEED:ITERATION");
    return run(std::strtoull(text.c_str(), nullptr, 10), std::strtoll(text.c_str() + colon + 1, nullptr, 10));
  }

  /// Replays lines "SEED:ITERATION", which are valid only as long as the generator is unchanged; # starts a comment.
  bool replay_file() {
    std::ifstream file(options_.seeds_file);
    if (!file) usage("cannot read " + options_.seeds_file);
    for (std::string line; std::getline(file, line);) {
      line = line.substr(0, line.find('#'));
      line.erase(line.find_last_not_of(" \t\r") + 1);
      if (!line.empty() && !run_text(line)) return false;
    }
    return true;
  }

  ProgramTally& tally() { return checker_.tally(); }

 private:
  bool report(uint64_t seed, int nodes, const RandomProgram& drawn, const ProgramFailure& failure) {
    fmt::print("FAIL {}\n  program:\n{}  imported:\n{}  {}\nreplay: {}\n", failure.way, listing(drawn.program), failure.finished,
               failure.what, replay_);
    std::fflush(stdout);
    if (failure.stopped) return false;
    shrink(seed, nodes);
    return false;
  }

  /// Leaves out nodes as long as what remains fails.
  void shrink(uint64_t seed, int nodes) {
    std::set<int> without;
    bool smaller = false;
    std::optional<ProgramFailure> last;
    for (int n = nodes - 1; n >= 0; --n) {
      without.insert(n);
      const auto failure = checker_.check(random_program(seed, nodes, without), seed);
      if (failure) {
        last = failure;
        smaller = true;
        if (failure->stopped) break;
      } else {
        without.erase(n);
      }
    }
    if (!smaller) return;
    const RandomProgram small = random_program(seed, nodes, without);
    fmt::print("  shrunk, {}:\n{}  imported:\n{}  {}\n", last->way, listing(small.program), last->finished, last->what);
    std::fflush(stdout);
  }

  const Options& options_;
  ProgramChecker checker_;
  std::string replay_;
};

int summary(const Options& o, bool good, const ProgramTally& tally) {
  fmt::print("{}\n", tally.text());
  if (o.verbose)
    for (const auto& [why, number] : tally.refused) fmt::print("  not built {:6} times: {}\n", number, why);
  if (o.verbose)
    for (const auto& [note, number] : tally.notes) fmt::print("  import, {:6} times: {}\n", number, note);
  if (good && o.require_coverage) {
    for (const std::string& kind : node_kinds())
      if (tally.kinds.count(kind) == 0) fmt::print("no program has a node {}\n", kind), good = false;
    if (tally.bad_indices == 0 || tally.failures * 2 > tally.calls)
      fmt::print("{} of {} calls fail, expected some and less than half\n", tally.failures, tally.calls), good = false;
    if (tally.refusals * 20 > tally.runs)
      fmt::print("portable refuses {} of {} runs, expected few\n", tally.refusals, tally.runs), good = false;
    if (tally.folded == 0 || tally.donated == 0) fmt::print("nothing was folded, or no input donated\n"), good = false;
  }
  fmt::print("{}, seed {}\n", good ? "clean" : "failed", o.seed);
  return good ? 0 : 1;
}

int run_alone(const Options& o) {
  Driver driver(o);
  if (!o.replay.empty()) {
    const bool good = driver.run_text(o.replay);
    fmt::print("{}\n", good ? "clean" : "failed");
    return good ? 0 : 1;
  }
  fmt::print("seed {}\n", o.seed);
  bool good = o.seeds_file.empty() || driver.replay_file();
  if (good && (o.iterations > 0 || o.seconds > 0)) good = driver.run_share(0, 1);
  return summary(o, good, driver.tally());
}

int run_jobs(const Options& o) {
  fmt::print("seed {}\n", o.seed);
  std::vector<std::string> reports;
  const bool good = run_in_jobs(
      o.jobs,
      [&](int job, std::string& report) {
        Driver driver(o);
        const bool clean = (job != 0 || o.seeds_file.empty() || driver.replay_file()) && driver.run_share(job, o.jobs);
        report = driver.tally().write();
        return clean;
      },
      reports);
  ProgramTally sum;
  for (const std::string& report : reports) sum.merge(report);
  return summary(o, good, sum);
}

}  // namespace
}  // namespace strew::test

int main(int argc, char** argv) {
  strew::test::check_loads();
  const strew::test::Options options = strew::test::parse(argc, argv);
  return options.jobs <= 1 || !options.replay.empty() ? strew::test::run_alone(options) : strew::test::run_jobs(options);
}
