// strew_npu_compiled: compiles the C++ of the golden programs and of random ones with the host's compiler, runs it on tests/pto_cpu, and
// compares the results with the reference, bit for bit. The machine checks flags and every access.
//
//   strew_npu_compiled [--seed N] [--drawn M] [--seconds S] [--jobs J] [--replay SEED:NUMBER] [--golden NAME]
//                      [--op TEXT] [--delete-flags] [--verbose]
//
// Every golden op is planned for both chips, and M random ops for a random chip (with --seconds: random ops only, for S seconds). --replay:
// one random op. --golden: one golden op. --op: one op. --delete-flags: every deletion of a flag's line must be noticed, and most deletions of
// all lines of a flag. --verbose: the files stay, and are named. The seed is printed first. Exit status: 0 no difference, 1 a
// difference, 2 usage, 77 there is no compiler.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "compiler/pto/instructions.h"
#include "strew/text.h"
#include "tests/differential/jobs.h"
#include "tests/differential/npu/npu_check.h"
#include "tests/differential/npu_compiled/flag_deletion.h"
#include "tests/differential/op_blueprint.h"
#include "tests/support/golden_programs.h"
#include "tests/support/paths.h"

namespace strew::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int64_t kPerBatch = 48;             ///< a batch takes the compiler some seconds
constexpr int64_t kMostMoved = 40'000;        ///< elements that an op may move
constexpr int64_t kMostElements = 6'000'000;  ///< elements of all tensors: the machine remembers who touched each byte
/// Of the deletions of whole flags and of barriers, in percent. The others order nothing in the call: a loop turns once, or the bytes are
/// different ones, which the planner cannot know.
constexpr int64_t kLeastFlags = 45, kLeastBarriers = 30;
constexpr std::string_view kNotRun = "not run: ";

struct Options {
  uint64_t seed = (static_cast<uint64_t>(std::random_device{}()) << 20) ^ std::random_device{}();
  int64_t drawn = 200;
  double seconds = 0;
  int jobs = 1;
  std::string replay, golden, op;
  bool deletes = false, verbose = false;
};

[[noreturn]] void usage(const std::string& why) {
  fmt::print(stderr,
             "strew_npu_compiled: {}\nusage: strew_npu_compiled [--seed N] [--drawn M] [--seconds S] [--jobs J] "
             "[--replay SEED:NUMBER] [--golden NAME] [--op TEXT] [--delete-flags] [--verbose]\n",
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
    else if (flag == "--drawn")
      o.drawn = std::strtoll(value().c_str(), nullptr, 0);
    else if (flag == "--seconds")
      o.seconds = std::strtod(value().c_str(), nullptr), o.drawn = int64_t{1} << 40;
    else if (flag == "--jobs")
      o.jobs = std::max(1, std::atoi(value().c_str()));
    else if (flag == "--replay")
      o.replay = value();
    else if (flag == "--golden")
      o.golden = value();
    else if (flag == "--op")
      o.op = value();
    else if (flag == "--delete-flags")
      o.deletes = true;
    else if (flag == "--verbose")
      o.verbose = true;
    else
      usage("unknown flag " + flag);
  }
  return o;
}

/// A program with the op that it is of.
struct Planned {
  std::string name, replay;
  bool golden = false;
  Op op;
  uint64_t seed = 0;  ///< of the data
  pto::TileProgram program;
  bool non_negative = false;  ///< it refuses negative indices
};

/// Are the tensors small enough to be run?
bool is_small(const pto::TileProgram& program) {
  int64_t sum = 0;
  for (const pto::ProgramArgument& a : program.arguments) {
    int64_t elements = 1;
    for (const int64_t dim : a.dims) elements *= dim == kDynamic ? 1 : dim;
    sum += elements;
  }
  return sum <= kMostElements;
}

fs::path golden_folder() { return source_folder() / "tests/golden/programs"; }

/// Counts by their names, which a job hands over as lines.
using Counts = std::map<std::string, int64_t>;

class Runner {
 public:
  explicit Runner(const Options& options)
      : options_(options), folder_(fs::temp_directory_path() / fmt::format("strew_npu_compiled_{}", getpid())) {}
  ~Runner() {
    if (!options_.verbose) fs::remove_all(folder_);
  }
  Runner(const Runner&) = delete;

  /// Compiles and runs programs of any chips. Prints the first failure.
  bool run(std::vector<Planned> all) {
    for (const pto::Chip chip : {pto::Chip::a3, pto::Chip::a5}) {
      std::vector<Planned> planned;
      std::vector<pto::TileProgram> programs;
      for (Planned& p : all) {
        if (p.program.chip != chip) continue;
        programs.push_back(p.program);
        planned.push_back(std::move(p));
      }
      if (programs.empty()) continue;
      const fs::path folder = folder_ / fmt::format("{}_{}", counts_["batches"]++, pto::name(chip));
      if (options_.verbose) fmt::print("{}\n", folder.string());
      const Expected<ProgramBatch> batch = ProgramBatch::compile(std::move(programs), folder);
      if (!batch.ok()) {
        fmt::print("FAIL compile\n  {}\nreplay: {}\n", batch.status().message(), planned[0].replay);
        return false;
      }
      for (size_t i = 0; i < planned.size(); ++i)
        if (!run(*batch, i, planned[i])) return false;
    }
    return true;
  }

  const Counts& counts() const { return counts_; }

 private:
  bool run(const ProgramBatch& batch, size_t i, const Planned& planned) {
    const Expected<VerifiedOp> op = VerifiedOp::of(planned.op);
    const Blueprint blueprint = blueprint_of(planned.op);
    ++counts_["programs"];
    int data_sets = 0;
    // Policy undefined takes no indices out of bounds, which most patterns have.
    for (uint64_t seed = planned.seed; seed < planned.seed + 20 && data_sets < 2 && is_small(planned.program); ++seed) {
      Rng rng(seed);
      pool_.release_all();
      const DrawnData drawn = draw_npu_data(pool_, rng, blueprint, *op, {kMostMoved, planned.non_negative});
      if (drawn.too_large) break;
      if (drawn.data == nullptr) continue;
      if (options_.verbose) fmt::print("{} {}\n", planned.name, drawn.data->text);
      if (!run(batch, i, planned, *drawn.data, rng, data_sets == 0)) return false;
      ++data_sets;
      ++counts_["data sets"];
    }
    if (data_sets == 0 && planned.golden) ++counts_[std::string(kNotRun) + planned.name];
    if (data_sets == 0 && !planned.golden) ++counts_["drawn programs not run"];
    return true;
  }

  /// `first`: they are the program's first data, with which flags are deleted, too.
  bool run(const ProgramBatch& batch, size_t i, const Planned& planned, const NpuData& data, Rng& rng, bool first) {
    for (int way = 0; way < 3; ++way) {
      CallOptions call;
      call.order = static_cast<pto_cpu::BlockOrder>(way);
      call.blocks = way == 0 ? std::min(batch.programs()[i].blocks, 8) : static_cast<int>(rng.pick<int64_t>({1, 2, 3, 5}));
      call.threads_backwards = way == 1 || (way == 2 && rng.chance(50));
      call.seed = rng.next();
      ++counts_["calls"];
      if (const auto wrong = call_compiled(batch, i, data, call).wrong)
        return fail(planned, data, fmt::format("{}\n  {}", call.text(), *wrong));
    }
    if (!options_.deletes || !first) return true;
    CallOptions call;
    call.blocks = std::min(batch.programs()[i].blocks, 2);
    Deletions deletions;
    if (const auto wrong = delete_flags(batch, i, data, call, deletions)) return fail(planned, data, *wrong);
    const auto add = [&](const std::string& what, const DeletionCount& count) {
      counts_[what] += count.tried;
      counts_[what + " noticed"] += count.noticed;
    };
    add("deleted lines", deletions.lines);
    add("deleted flags", deletions.flags);
    add("deleted barriers", deletions.barriers);
    return true;
  }

  static bool fail(const Planned& planned, const NpuData& data, const std::string& what) {
    fmt::print("FAIL {} on {}\n  op: {}\n  call: {}\n  {}\nreplay: {}\n", planned.name, pto::name(planned.program.chip),
               print(planned.op), data.text, what, planned.replay);
    std::fflush(stdout);
    return false;
  }

  const Options& options_;
  const fs::path folder_;
  GuardedPool pool_;
  Counts counts_;
};

/// The program of an op, as the command line writes it. `replay`: how it is named there.
std::optional<Planned> plan_given(const Options& o, const std::string& name, const std::string& text, pto::Chip chip,
                                  const pto::ProgramOptions& options, const std::string& replay) {
  Expected<Op> op = parse_op(text);
  if (!op.ok()) usage(name + ": " + op.status().message());
  const Expected<VerifiedOp> verified = VerifiedOp::of(*op);
  if (!verified.ok()) usage(name + ": " + verified.status().message());
  const Expected<Plan> plan = canonical_plan(*verified);
  if (!plan.ok()) return std::nullopt;
  Expected<pto::TileProgram> program = pto::plan_program(tensor_slots(*verified), *plan, chip, options);
  if (!program.ok()) return std::nullopt;
  return Planned{name,
                 fmt::format("strew_npu_compiled --seed {} {}", o.seed, replay),
                 true,
                 std::move(*op),
                 o.seed,
                 std::move(*program),
                 options.non_negative};
}

std::optional<Planned> plan_golden(const Options& o, const std::string& name, pto::Chip chip) {
  pto::ProgramOptions options = golden_options(name, chip, pto::Output::pto_cpp);
  options.kernel = "golden_" + name;
  return plan_given(o, name, read_text(golden_folder() / (name + ".op")), chip, options, "--golden " + name);
}

std::optional<Planned> plan_op(const Options& o, pto::Chip chip) {
  pto::ProgramOptions options;
  options.output = pto::Output::pto_cpp;
  return plan_given(o, "--op", o.op, chip, options, "--op '" + o.op + "'");
}

std::optional<Planned> plan_drawn(uint64_t seed, int64_t number) {
  Rng rng = Rng::stream(seed, static_cast<uint64_t>(number));
  const Op op = make_op(random_npu_blueprint(rng));
  NpuWish wish = random_wish(rng);
  wish.options.output = pto::Output::pto_cpp;
  wish.options.kernel = fmt::format("drawn_{}", number);
  const uint64_t data_seed = rng.next();
  wish.options.launches = random_launches(data_seed);
  wish.options.non_negative = may_judge_signs(op) && rng.chance(oob_of(op) == OobPolicy::wrap ? 40 : 10);
  const Expected<VerifiedOp> verified = VerifiedOp::of(op);
  const Expected<Plan> plan = canonical_plan(*verified);
  if (!plan.ok()) return std::nullopt;
  Expected<pto::TileProgram> program = pto::plan_program(tensor_slots(*verified), *plan, wish.chip, wish.options);
  if (!program.ok()) {
    // Few ops can be planned with such a tile height, a column of indices or through L1: else by the planner's own choice.
    wish.options.tile_rows = 0;
    wish.options.index_column = wish.options.through_l1 = false;
    program = pto::plan_program(tensor_slots(*verified), *plan, wish.chip, wish.options);
  }
  if (!program.ok()) return std::nullopt;
  return Planned{"drawn " + std::to_string(number),
                 fmt::format("strew_npu_compiled --replay {}:{}", seed, number),
                 false,
                 op,
                 data_seed,
                 std::move(*program),
                 wish.options.non_negative};
}

/// The share of a job: batches of golden programs, then of drawn ones.
bool run_share(const Options& o, Runner& runner, int job) {
  const std::vector<std::string> names = o.seconds > 0 ? std::vector<std::string>{} : stems(golden_folder(), ".op");
  const auto start = Clock::now();
  const auto golden = static_cast<int64_t>(names.size());
  for (int64_t first = job * kPerBatch; first < golden + o.drawn; first += o.jobs * kPerBatch) {
    if (o.seconds > 0 && std::chrono::duration<double>(Clock::now() - start).count() >= o.seconds) break;
    std::vector<Planned> planned;
    for (int64_t n = first; n < std::min(first + kPerBatch, golden + o.drawn); ++n) {
      if (n >= golden) {
        if (auto drawn = plan_drawn(o.seed, n - golden)) planned.push_back(std::move(*drawn));
        continue;
      }
      for (const pto::Chip chip : {pto::Chip::a3, pto::Chip::a5})
        if (auto program = plan_golden(o, names[static_cast<size_t>(n)], chip)) planned.push_back(std::move(*program));
    }
    if (!runner.run(std::move(planned))) return false;
  }
  return true;
}

bool run_one(const Options& o, Runner& runner) {
  std::vector<Planned> planned;
  if (o.replay.empty()) {
    for (const pto::Chip chip : {pto::Chip::a3, pto::Chip::a5})
      if (auto program = o.op.empty() ? plan_golden(o, o.golden, chip) : plan_op(o, chip)) planned.push_back(std::move(*program));
  } else {
    const size_t colon = o.replay.find(':');
    if (colon == std::string::npos) usage("--replay " + o.replay + ": expected SEED:NUMBER");
    if (auto drawn =
            plan_drawn(std::strtoull(o.replay.c_str(), nullptr, 10), std::strtoll(o.replay.c_str() + colon + 1, nullptr, 10)))
      planned.push_back(std::move(*drawn));
  }
  return runner.run(std::move(planned));
}

std::string write(const Counts& counts) {
  std::string out;
  for (const auto& [what, count] : counts) out += fmt::format("{} {}\n", count, what);
  return out;
}
void add(Counts& sum, const std::string& text) {
  std::istringstream lines(text);
  int64_t count = 0;
  std::string what;
  while (lines >> count && std::getline(lines >> std::ws, what)) sum[what] += count;
}

/// Were enough deletions noticed, and did all golden programs run that can?
bool is_good(const Counts& sum) {
  bool good = true;
  const auto count = [&](const std::string& what) { return sum.contains(what) ? sum.at(what) : 0; };
  for (const auto& [what, least] : {std::pair{"deleted flags", kLeastFlags}, {"deleted barriers", kLeastBarriers}}) {
    const int64_t tried = count(what), noticed = count(std::string(what) + " noticed");
    if (tried < 400 || noticed * 100 >= tried * least) continue;
    fmt::print("{}: {} of {} noticed, expected {} %\n", what, noticed, tried, least);
    good = false;
  }
  for (const auto& [what, times] : sum) {
    if (!what.starts_with(kNotRun) || !is_golden_run(what.substr(kNotRun.size()))) continue;
    fmt::print("{} golden programs of {} found no data to run on\n", times, what.substr(kNotRun.size()));
    good = false;
  }
  return good;
}

}  // namespace
}  // namespace strew::test

int main(int argc, char** argv) {
  using namespace strew::test;
  const Options o = parse(argc, argv);
  if (!has_compiler()) {
    fmt::print("skipped: there is no C++ compiler (CXX, or c++ on PATH)\n");
    return 77;
  }
  fmt::print("seed {}\n", o.seed);
  Counts sum;
  bool good = true;
  const bool one = !o.golden.empty() || !o.op.empty() || !o.replay.empty();
  if (one || o.jobs == 1) {
    Runner runner(o);
    good = one ? run_one(o, runner) : run_share(o, runner, 0);
    sum = runner.counts();
  } else {
    std::vector<std::string> reports;
    good = run_in_jobs(
        o.jobs,
        [&](int job, std::string& text) {
          Runner runner(o);
          const bool clean = run_share(o, runner, job);
          text = write(runner.counts());
          return clean;
        },
        reports);
    for (const std::string& text : reports) add(sum, text);
  }
  good = is_good(sum) && good;
  fmt::print("{}{}, seed {}\n", write(sum), good ? "clean" : "failed", o.seed);
  return good ? 0 : 1;
}
