// strew_differential: compares every backend, under several schedules, with the reference, bit for bit, on random
// ops, index patterns and data.
//
//   strew_differential [--seed N] [--iterations M] [--seconds S] [--backend NAME] [--require-coverage] [--verbose]
//                      [--replay SEED:ITERATION] [--op TEXT] [--seeds-file FILE] [--jobs J]
//                      [--targets CPU,CPU...] [--write-manifest FILE] [--no-executable-memory] [--lookups] [--rows]
//
// The seed is printed first. A failure prints the op, the call, the first difference, the shrunk op, and the command
// that replays it. --require-coverage first makes directed ops for every cell, look-up, split and phase of the coverage
// tables, and fails if a legal one did not run. --op checks the op of that text, --iterations times. --jobs runs that
// many processes. --lookups makes only scatters with look-ups, --rows those of which rows have values of their own. --no-executable-memory makes the system refuse executable pages first. Exit status: 0 no difference,
// 1 a difference, 2 usage, 3 a fault in a thread of the pool, 77 the system cannot refuse executable pages.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "library/json_lines.h"
#include "strew/text.h"
#include "strew/verify.h"
#include "tests/differential/check.h"
#include "tests/differential/directed_op.h"
#include "tests/differential/jobs.h"
#include "tests/differential/no_executable_memory.h"
#include "tests/differential/op_blueprint.h"
#include "tests/differential/random_op.h"
#include "tests/differential/shrink.h"
#include "tests/support/load_check.h"

/// The kernels of a program for another machine, which has no compiler; otherwise absent.
extern "C" [[gnu::weak]] const strew_library* differential_kernels_query(uint32_t version);

namespace strew::test {
namespace {

/// How many ops are made for a cell of the coverage tables before it counts as unreachable. Most tries succeed.
constexpr uint64_t kTries = 400;
/// Calls of check() per past failure: enough for every target and most strategies.
constexpr int64_t kReplays = 12;
/// One op in kHugeEvery is larger than the last-level cache of most machines; it gets kHugePatterns calls.
constexpr uint64_t kHugeEvery = 1000, kFirstHuge = 299;
constexpr int64_t kHugeBytes = 40'000'000;
constexpr int kHugePatterns = 2;

struct Options {
  uint64_t seed = 0;
  int64_t iterations = 1000;
  bool iterations_given = false;
  double seconds = 0;
  std::string replay, op, seeds_file, manifest;
  int jobs = 1;
  bool require_coverage = false, verbose = false, no_executable_memory = false, lookups = false, rows = false;
  EngineOptions engines;
};

[[noreturn]] void usage(const std::string& why) {
  fmt::print(
      stderr,
      "strew_differential: {}\nusage: strew_differential [--seed N] [--iterations M] [--seconds S] [--backend NAME] "
      "[--schedules K] [--jobs J] [--require-coverage] [--verbose] [--replay SEED:ITERATION] [--op TEXT] [--seeds-file FILE] "
      "[--targets CPU,CPU...] [--write-manifest FILE] [--no-executable-memory] [--lookups] [--rows]\n",
      why);
  std::exit(2);
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

Options parse(int argc, char** argv) {
  Options o;
  if (differential_kernels_query != nullptr) o.engines.library = differential_kernels_query(STREW_LIBRARY_VERSION);
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
      o.iterations = std::strtoll(value().c_str(), nullptr, 0), o.iterations_given = true;
    else if (flag == "--seconds")
      o.seconds = std::strtod(value().c_str(), nullptr);
    else if (flag == "--backend")
      o.engines.backend = value();
    else if (flag == "--schedules")
      o.engines.schedules = std::atoi(value().c_str());
    else if (flag == "--replay")
      o.replay = value();
    else if (flag == "--op")
      o.op = value();
    else if (flag == "--seeds-file")
      o.seeds_file = value();
    else if (flag == "--jobs")
      o.jobs = std::atoi(value().c_str());
    else if (flag == "--targets")
      o.engines.targets = split(value(), ',');
    else if (flag == "--write-manifest")
      o.manifest = value();
    else if (flag == "--require-coverage")
      o.require_coverage = true;
    else if (flag == "--no-executable-memory")
      o.no_executable_memory = true;
    else if (flag == "--lookups")
      o.lookups = true;
    else if (flag == "--rows")
      o.rows = true;
    else if (flag == "--verbose")
      o.verbose = true;
    else
      usage("unknown flag " + flag);
  }
  return o;
}

/// Runs iterations. The op of an iteration depends on (seed, iteration) only. Iterations named "cN" aim at coverage
/// cell N, "lN" at look-up N, "sN" at split N, "pN" at phase N.
class Driver {
 public:
  explicit Driver(const Options& options) : options_(options), checker_(options.engines) {
    set_foreign_fault_report([this](int signal, const void* address) {
      fmt::print("FAIL in a pool thread: {}\nreplay: {}\n", checker_.describe(signal, address), replay_);
      std::fflush(stdout);
    });
  }

  bool run(uint64_t seed, const std::string& iteration);
  /// Checks the op of this text, with data from `seed`.
  bool run_op(const std::string& text, uint64_t seed, int64_t times);
  /// Runs the coverage cells and iterations job, job + jobs, job + 2 * jobs, …
  bool run_share(int64_t job, int64_t jobs);
  bool replay_file();
  Checker& checker() { return checker_; }

 private:
  bool run_cell(uint64_t seed, size_t cell);
  bool run_lookup_cell(uint64_t seed, size_t lookup);
  bool run_split_cell(uint64_t seed, size_t split);
  bool run_phase_cell(uint64_t seed, size_t phase);
  template <class AnyCell>
  bool covered(const AnyCell& cell);
  /// Prints the op first with --verbose, so that it is known even where the check ends the process.
  std::optional<Failure> check(const Blueprint& blueprint, uint64_t data_seed, int patterns = kPatterns,
                               std::optional<Strategy> wish = {});
  bool report(const Blueprint& blueprint, uint64_t data_seed, const Failure& failure, std::optional<Strategy> wish = {});

  const Options& options_;
  Checker checker_;
  std::string replay_;
};

/// The command that replays the check that runs; empty between checks. For report_exit().
std::string in_check;  // NOLINT(cert-err58-cpp): an empty string throws nothing

/// Runs at exit(): a library that ends the process in the midst of a check would otherwise say nothing about the op.
void report_exit() {
  if (in_check.empty()) return;
  fmt::print("FAIL the process was ended from inside a check\nreplay: {}\n", in_check);
  std::fflush(stdout);
}

std::optional<Failure> Driver::check(const Blueprint& blueprint, uint64_t data_seed, int patterns, std::optional<Strategy> wish) {
  if (options_.verbose) {
    fmt::print("{}\n", print(make_op(blueprint)));
    std::fflush(stdout);
  }
  in_check = replay_;
  auto failure = checker_.check(blueprint, data_seed, patterns, wish);
  in_check.clear();
  return failure;
}

/// Has the cell run on every backend that must run it?
template <class AnyCell>
bool Driver::covered(const AnyCell& cell) {
  const std::vector<std::string>& backends = checker_.room().backend_names();
  return std::all_of(backends.begin(), backends.end(),
                     [&](const std::string& name) { return !owes_cells(name) || checker_.coverage().has(name, cell); });
}

/// Checks one op for the cell, and more until the cell has run: some of the ops are not in the cell, or have no
/// defined call.
bool Driver::run_cell(uint64_t seed, size_t number) {
  for (uint64_t tries = 0; tries == 0 || (tries < kTries && !covered(legal_cells()[number])); ++tries) {
    const uint64_t stream = seed ^ (tries << 40);
    const Blueprint blueprint = op_for_cell(checker_.room(), stream, number);
    const uint64_t data_seed = stream ^ (number * 2 + 1);
    if (const auto failure = check(blueprint, data_seed)) return report(blueprint, data_seed, *failure);
  }
  return true;
}

/// Checks ops with the look-up until each backend has run one.
bool Driver::run_lookup_cell(uint64_t seed, size_t number) {
  for (uint64_t tries = 0; tries < kTries && !covered(legal_lookups()[number]); ++tries) {
    const uint64_t stream = seed ^ (tries << 40);
    const Blueprint blueprint = op_for_lookup(stream, number);
    const uint64_t data_seed = stream ^ (number * 2 + 0x100c5);
    if (const auto failure = check(blueprint, data_seed)) return report(blueprint, data_seed, *failure);
  }
  return true;
}

/// Checks ops for the split until it has run on every number of threads.
bool Driver::run_split_cell(uint64_t seed, size_t number) {
  const SplitCell& cell = legal_splits()[number];
  for (uint64_t tries = 0; tries < kTries && !checker_.coverage().has(cell); ++tries) {
    const uint64_t stream = seed ^ (tries << 40);
    const Blueprint blueprint = op_for_split(checker_.room(), stream, number);
    const uint64_t data_seed = stream ^ (number * 2 + 0x5911f);
    const auto failure = check(blueprint, data_seed, kPatterns, cell.strategy);
    if (failure) return report(blueprint, data_seed, *failure, cell.strategy);
  }
  return true;
}

/// Checks ops for the phase until it has run on every number of threads.
bool Driver::run_phase_cell(uint64_t seed, size_t number) {
  const PhaseKind phase = legal_phases()[number];
  for (uint64_t tries = 0; tries < kTries && !checker_.coverage().has(phase); ++tries) {
    Rng rng = Rng::stream(seed ^ (tries << 40), number * 2 + 0x9a5e5);
    const PhaseOp op = op_for_phase(checker_.room(), rng, phase);
    const uint64_t data_seed = rng.next();
    if (const auto failure = check(op.blueprint, data_seed, kPatterns, op.strategy))
      return report(op.blueprint, data_seed, *failure, op.strategy);
  }
  return true;
}

bool Driver::run(uint64_t seed, const std::string& iteration) {
  replay_ = fmt::format("strew_differential --replay {}:{}", seed, iteration);
  if (!options_.engines.backend.empty()) replay_ += " --backend " + options_.engines.backend;
  if (options_.engines.schedules != EngineOptions{}.schedules)
    replay_ += fmt::format(" --schedules {}", options_.engines.schedules);
  if (options_.lookups) replay_ += " --lookups";
  if (options_.rows) replay_ += " --rows";
  if (options_.verbose) fmt::print("{} ", iteration);
  if (!iteration.empty() && iteration[0] == 'l')
    return run_lookup_cell(seed, std::strtoull(iteration.c_str() + 1, nullptr, 10) % legal_lookups().size());
  if (!iteration.empty() && iteration[0] == 's')
    return run_split_cell(seed, std::strtoull(iteration.c_str() + 1, nullptr, 10) % legal_splits().size());
  if (!iteration.empty() && iteration[0] == 'p')
    return run_phase_cell(seed, std::strtoull(iteration.c_str() + 1, nullptr, 10) % legal_phases().size());
  if (!iteration.empty() && iteration[0] == 'c')
    return run_cell(seed, std::strtoull(iteration.c_str() + 1, nullptr, 10) % legal_cells().size());
  const uint64_t number = std::strtoull(iteration.c_str(), nullptr, 10);
  Rng rng = Rng::stream(seed, number * 2);
  // Every third op is made for a strategy, all of which are drawn equally often. One op in kHugeEvery is larger than
  // the caches.
  std::optional<Strategy> wish;
  const bool huge = number % kHugeEvery == kFirstHuge;
  if (!huge && !options_.lookups && !options_.rows && number % 3 == 0) wish = kStrategies[rng.below(std::size(kStrategies))];
  OpWishes wishes;
  wishes.lookups = wishes.lookup_parts = options_.lookups;
  wishes.rows = options_.rows;
  if (options_.lookups || options_.rows) wishes.scatter = true;
  if (options_.rows) wishes.combiner = CombinerKind::expr;
  if (options_.rows && number % 2 == 0) wishes.shape = Shape::row;
  if (huge) {
    wishes.dtype = rng.pick(std::vector<DType>{DType::f32, DType::i32, DType::f64, DType::u64, DType::complex64});
    wishes.elements = kHugeBytes * 8 / bits(*wishes.dtype);
  }
  const Blueprint blueprint = wish ? op_for_strategy(checker_.room(), rng, *wish) : random_blueprint(rng, wishes);
  const uint64_t data_seed = rng.next();
  const auto failure = check(blueprint, data_seed, huge ? kHugePatterns : kPatterns, wish);
  return !failure || report(blueprint, data_seed, *failure, wish);
}

bool Driver::report(const Blueprint& blueprint, uint64_t data_seed, const Failure& failure, std::optional<Strategy> wish) {
  fmt::print("FAIL {}\n  op: {}\n  call: {}\n  {}\nreplay: {}\n", failure.engine, print(make_op(blueprint)), failure.call,
             failure.what, replay_);
  std::fflush(stdout);
  if (failure.stopped) _exit(1);  // locks may still be held where the signal came
  Failure last = failure;
  const Blueprint small = shrink(blueprint, [&](const Blueprint& candidate) {
    const auto again = checker_.check(candidate, data_seed, kPatterns, wish);
    if (!again || again->stopped || again->engine.substr(0, 4) != failure.engine.substr(0, 4)) return false;
    last = *again;
    return true;
  });
  fmt::print("shrunk: {}\n  call: {}\n  {}: {}\n", print(make_op(small)), last.call, last.engine, last.what);
  std::fflush(stdout);
  return false;
}

bool Driver::run_share(int64_t job, int64_t jobs) {
  using Clock = std::chrono::steady_clock;
  const auto cells = static_cast<int64_t>(options_.require_coverage ? legal_cells().size() : 0);
  for (int64_t cell = job; cell < cells; cell += jobs)
    if (!run(options_.seed, fmt::format("c{}", cell))) return false;
  const auto lookups = static_cast<int64_t>(options_.require_coverage ? legal_lookups().size() : 0);
  for (int64_t lookup = job; lookup < lookups; lookup += jobs)
    if (!run(options_.seed, fmt::format("l{}", lookup))) return false;
  const auto splits = static_cast<int64_t>(options_.require_coverage ? legal_splits().size() : 0);
  for (int64_t split = job; split < splits; split += jobs)
    if (!run(options_.seed, fmt::format("s{}", split))) return false;
  const auto phases = static_cast<int64_t>(options_.require_coverage ? legal_phases().size() : 0);
  for (int64_t phase = job; phase < phases; phase += jobs)
    if (!run(options_.seed, fmt::format("p{}", phase))) return false;
  const auto start = Clock::now();  // --seconds limits the random ops only, not the coverage cells
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const bool counted = options_.seconds == 0 || options_.iterations_given;
  for (int64_t n = job; !counted || n < options_.iterations; n += jobs) {
    if (options_.seconds > 0 && elapsed() >= options_.seconds) break;
    if (!run(options_.seed, std::to_string(n))) return false;
  }
  return true;
}

bool Driver::run_op(const std::string& text, uint64_t seed, int64_t times) {
  const Expected<Op> op = parse_op(text);
  if (!op.ok()) usage("--op: " + op.status().message());
  if (const Status status = verify(*op); !status.ok()) usage("--op: " + status.message());
  const Blueprint blueprint = blueprint_of(*op);
  for (int64_t n = 0; n < times; ++n) {
    replay_ = fmt::format("strew_differential --seed {} --iterations 1 --op '{}'", seed + static_cast<uint64_t>(n), text);
    const uint64_t data_seed = Rng(seed + static_cast<uint64_t>(n)).next();
    if (const auto failure = checker_.check(blueprint, data_seed)) return report(blueprint, data_seed, *failure);
  }
  return true;
}

/// Replays lines "SEED:ITERATION" (valid only as long as the generator is unchanged) or "SEED OP-TEXT"; # starts a
/// comment.
bool Driver::replay_file() {
  std::ifstream file(options_.seeds_file);
  if (!file) usage("cannot read " + options_.seeds_file);
  std::string line;
  int64_t count = 0;
  while (std::getline(file, line)) {
    line = line.substr(0, line.find('#'));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty()) continue;
    const uint64_t seed = std::strtoull(line.c_str(), nullptr, 10);
    const size_t op = line.find("strew"), colon = line.find(':');
    if (op == std::string::npos && colon == std::string::npos)
      usage(options_.seeds_file + ": expected SEED:ITERATION or SEED OP, got " + line);
    if (!(op != std::string::npos ? run_op(line.substr(op), seed, kReplays) : run(seed, line.substr(colon + 1)))) return false;
    ++count;
  }
  fmt::print("{} past failures replayed\n", count);
  return true;
}

int summary(const Options& o, bool good, const Coverage& coverage, const Tally& tally) {
  fmt::print("{}\n{}\n", coverage.table(), tally.text());
  const std::vector<std::string> empty =
      o.require_coverage && good ? coverage.empty_cells(backend_names(o.engines)) : std::vector<std::string>{};
  for (size_t i = 0; i < empty.size() && i < 40; ++i) fmt::print("empty cell: {}\n", empty[i]);
  if (!empty.empty()) fmt::print("{} legal cells never ran\n", empty.size());
  good = good && empty.empty();
  fmt::print("{}, seed {}\n", good ? "clean" : "failed", o.seed);
  return good ? 0 : 1;
}

int run_alone(const Options& o) {
  Driver driver(o);
  if (!o.replay.empty()) {
    const size_t colon = o.replay.find(':');
    if (colon == std::string::npos) usage("--replay " + o.replay + ": expected SEED:ITERATION");
    const bool good = driver.run(std::strtoull(o.replay.c_str(), nullptr, 10), o.replay.substr(colon + 1));
    fmt::print("{}\n", good ? "clean" : "failed");
    return good ? 0 : 1;
  }
  fmt::print("seed {}\n", o.seed);
  if (!o.op.empty()) {
    const bool good = driver.run_op(o.op, o.seed, o.iterations_given ? o.iterations : 50);
    fmt::print("{}\n", good ? "clean" : "failed");
    return good ? 0 : 1;
  }
  bool good = o.seeds_file.empty() || driver.replay_file();
  if (!o.seeds_file.empty() && !o.iterations_given && o.seconds == 0) return good ? 0 : 1;
  if (good) good = driver.run_share(0, 1);
  return summary(o, good, driver.checker().coverage(), driver.checker().tally());
}

int run_jobs(const Options& o) {
  fmt::print("seed {}\n", o.seed);
  std::vector<std::string> reports;
  const auto body = [&](int job, std::string& report) {
    Driver driver(o);
    const bool good = (job != 0 || o.seeds_file.empty() || driver.replay_file()) && driver.run_share(job, o.jobs);
    const Tally& t = driver.checker().tally();
    report = fmt::format("{} {} {} {} {} {} {} {} {}\n", t.ops, t.data_sets, t.calls, t.duplicates, t.bad_index, t.errors,
                         t.without_effect, t.large, t.folds) +
             driver.checker().coverage().write();
    return good;
  };
  const bool good = run_in_jobs(o.jobs, body, reports);
  Coverage coverage;
  Tally sum;
  for (const std::string& report : reports) {
    Tally t;
    std::istringstream fields(report);
    fields >> t.ops >> t.data_sets >> t.calls >> t.duplicates >> t.bad_index >> t.errors >> t.without_effect >> t.large >>
        t.folds;
    sum.add(t);
    coverage.merge(report);
  }
  return summary(o, good, coverage, sum);
}

/// Writes the kernels of the iterations to a manifest.
int write_manifest(Options o) {
  if (o.engines.targets.empty()) usage("--write-manifest: --targets is missing, expected the CPUs of the library");
  std::string text = "{\n\"library\": \"differential_kernels\",\n\"kernels\": [";
  int64_t count = 0;
  o.engines.record = [&](const Op& op, const KernelOptions& options) {
    text += fmt::format("{}\n{{\"name\": \"k{}\", \"backend\": \"{}\", \"schedule\": \"{}\", \"op\": {}}}", count == 0 ? "" : ",",
                        count, name(options.backend), print(options.schedule), json_text(print(op)));
    ++count;
  };
  Driver driver(o);
  const bool good = driver.run_share(0, 1);
  std::ofstream file(o.manifest);
  file << text << "\n]}\n";
  fmt::print("{} kernels in {}\n", count, o.manifest);
  return good && file.good() ? 0 : 1;
}

}  // namespace
}  // namespace strew::test

int main(int argc, char** argv) {
  strew::test::check_loads();
  const strew::test::Options options = strew::test::parse(argc, argv);
  std::atexit(strew::test::report_exit);
  if (options.no_executable_memory) {
    if (const std::string why = strew::test::forbid_executable_memory(); !why.empty()) {
      constexpr int kSkipped = 77;
      fmt::print("skipped: {}\n", why);
      return kSkipped;
    }
  }
  if (!options.manifest.empty()) return strew::test::write_manifest(options);
  const bool alone = options.jobs <= 1 || !options.replay.empty() || !options.op.empty();
  return alone ? strew::test::run_alone(options) : strew::test::run_jobs(options);
}
