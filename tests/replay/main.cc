// strew_replay: makes what the compiler makes of many ops and prints a hash of each: texts, plans, schedules, descriptors, code, programs of the portable
// backend and of NPUs. Two builds that print the same make the same (tests/replay/replay.py compares them; `./dev replay`).
//
//   strew_replay [--quick] [--shard I/N] [--drawn N] [--show CASE KIND]
//
// The cases are the ops of tests/golden, the kernels of the files there and in tests/models, and drawn ops. A line is the case, the kind and the hash,
// apart by tabs. What cannot be made is replayed as its message. --show prints the text instead of its hash; bytes are printed in hexadecimal.
#include <elf.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "backends/loader/elf_file.h"
#include "backends/modules.h"
#include "backends/pipeline.h"
#include "backends/pto/program.h"
#include "compiler/import/importer.h"
#include "strew/import.h"
#include "strew/text.h"
#include "strew/verify.h"
#include "tests/differential/blueprint.h"
#include "tests/differential/random_op.h"
#include "tests/replay/portable_text.h"
#include "tests/support/golden.h"
#include "tests/support/paths.h"
#include "tests/support/plan.h"
#include "tests/support/programs.h"
#include "tests/support/rng.h"
#include "tools/strew/descriptor_json.h"

namespace strew {
namespace {

namespace fs = std::filesystem;

struct Settings {
  bool quick = false;
  int shard = 0, shards = 1;
  int drawn = 2000;
  std::string show_case, show_kind;
};

constexpr uint64_t kSeed = 1;  // of the drawn ops
constexpr int kThreads = 4;    // of every kernel, whatever the machine has

class Replay {
 public:
  explicit Replay(const Settings& settings) : settings_(settings) {}

  /// The next case: is it this process's, and asked for?
  bool begin(const std::string& name) {
    case_ = name;
    if (!settings_.show_case.empty()) return name == settings_.show_case;
    return number_++ % settings_.shards == settings_.shard;
  }

  void add(const std::string& kind, const std::string& text) const {
    if (settings_.show_case.empty()) {
      const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
      std::printf("%s\t%s\t%016llx%016llx\n", case_.c_str(), kind.c_str(), static_cast<unsigned long long>(hash.high64),
                  static_cast<unsigned long long>(hash.low64));
    } else if (kind == settings_.show_kind) {
      std::fwrite(text.data(), 1, text.size(), stdout);
    }
  }
  template <class Result, class Print>
  void add(const std::string& kind, const Expected<Result>& made, const Print& print) const {
    add(kind, made.ok() ? print(*made) : "refused: " + made.status().message() + "\n");
  }
  bool is_quick() const { return settings_.quick; }

 private:
  const Settings settings_;
  std::string case_;
  int number_ = 0;
};

/// Symbols hold the version of the generator.
std::string without_symbols(std::string text, const Compiled& kernel) {
  std::vector<std::string> symbols = {kernel.symbol};
  for (const Compiled& part : kernel.parts) symbols.push_back(part.symbol);
  for (const std::string& symbol : symbols)
    for (size_t at = symbol.empty() ? std::string::npos : text.find(symbol); at != std::string::npos; at = text.find(symbol, at))
      text.replace(at, symbol.size(), std::string(symbol.size(), 'S'));
  return text;
}

std::string hexadecimal(const std::string& bytes) {
  std::string out;
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::array<char, 4> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x%c", static_cast<unsigned char>(bytes[i]), i % 32 == 31 ? '\n' : ' ');
    out += digits.data();
  }
  return out;
}

/// The instructions and constants of an object. Its data are the descriptor, which is compared as JSON.
std::string code_of(const std::string& object) {
  const Expected<ElfFile> file = ElfFile::read(object);
  if (!file.ok()) return file.status().message() + "\n";
  std::string out;
  for (const ElfSection& section : file->sections)
    if ((section.flags & SHF_EXECINSTR) != 0 || section.name.starts_with(".rodata"))
      out += std::string(section.name) + ":\n" + hexadecimal(std::string(section.bytes)) + "\n";
  return out;
}

/// The stages of one kernel for one backend and target.
void replay_kernel(const Replay& replay, const VerifiedOp& op, BackendChoice backend, const char* target_text) {
  const std::string prefix = std::string(name(backend)) + " " + target_text + " ";
  KernelOptions options;
  options.backend = backend;
  options.threads = kThreads;
  const Expected<Target> target = parse_target(target_text);
  if (!target.ok()) return replay.add(prefix + "target", target.status().message());
  options.target = *target;
  Expected<Compiled> kernel = plan_kernel(op, options);
  if (!kernel.ok()) return replay.add(prefix + "kernel", "refused: " + kernel.status().message() + "\n");
  replay.add(prefix + "schedule",
             kernel->scheduled.ok() ? print(kernel->schedule) + "\n" + kernel->why + "\n" : kernel->scheduled.message());
  if (!kernel->scheduled.ok()) return;
  if (!kernel->chosen.ok()) return replay.add(prefix + "backend", kernel->chosen.message());
  replay.add(prefix + "descriptor", without_symbols(cli::descriptor_json(*kernel).dump(2) + "\n", *kernel));
  if (const Status built = build(*kernel); !built.ok()) return replay.add(prefix + "code", "refused: " + built.message() + "\n");
  if (backend == BackendChoice::portable) {
    const portable::Loops& table = *portable::all_loops()[0];  // the same on every machine
    std::string text;
    const BuildRequest request = kernel->request();
    for (const BuildRequest& unit : units_of(request))
      text += test::portable_text(*portable::make_program(unit.plan, unit.schedule, table), table);
    replay.add(prefix + "program", text);
  }
  if (!kernel->artifact.object.empty()) replay.add(prefix + "code", code_of(kernel->artifact.object));
}

void replay_programs(const Replay& replay, const VerifiedOp& op, const Plan& plan) {
  for (const auto& [chip, chip_name] : {std::pair{pto::Chip::a3, "npu-a3 "}, std::pair{pto::Chip::a5, "npu-a5 "}})
    for (const auto& [output, kind] : {std::pair{pto::Output::pto_as, "pto-as"}, std::pair{pto::Output::pto_ir, "pto-ir"},
                                       std::pair{pto::Output::pto_cpp, "pto-cpp"}}) {
      pto::ProgramOptions options;
      options.output = output;
      const Expected<pto::TileProgram> program = pto::plan_program(tensor_slots(*op), plan, chip, options);
      if (!program.ok()) {
        replay.add(std::string(chip_name) + kind, "refused: " + program.status().message() + "\n");
        continue;
      }
      replay.add(std::string(chip_name) + kind, pto::program_text({*program}, kind),
                 [](const std::string& text) { return text; });
    }
}

/// `with_halide`: its code takes much longer than LLVM's.
void replay_op(const Replay& replay, const VerifiedOp& op, bool with_halide) {
  replay.add("op", print(*op) + "\n");
  const Expected<Compiled> planned = plan_kernel(op, {});
  replay.add("identity", planned, [](const Compiled& kernel) { return kernel.identity_text + "\n"; });
  replay.add("plan", planned, [](const Compiled& kernel) { return print(kernel.plan); });
  replay_kernel(replay, op, BackendChoice::llvm, "x86-64-v3");
  if (!replay.is_quick()) replay_kernel(replay, op, BackendChoice::llvm, "x86-64-v4");
  replay_kernel(replay, op, BackendChoice::portable, "x86-64-v3");
  if (with_halide) replay_kernel(replay, op, BackendChoice::halide, "x86-64-v3");
  if (planned.ok()) replay_programs(replay, op, planned->plan);
}

void replay_golden_ops(Replay& replay) {
  for (const char* const folder : {"plans", "descriptors", "programs"}) {
    const fs::path path = test::source_folder() / "tests/golden" / folder;
    for (const std::string& stem : test::stems(path, ".op")) {
      if (!replay.begin(std::string(folder) + "/" + stem)) continue;
      Expected<Op> op = parse_op(test::read_text(path / (stem + ".op")));
      Expected<VerifiedOp> verified = op.ok() ? VerifiedOp::of(std::move(*op)) : Expected<VerifiedOp>(op.status());
      if (verified.ok())
        replay_op(replay, *verified, !replay.is_quick());
      else
        replay.add("op", "refused: " + verified.status().message() + "\n");
    }
  }
}

/// Files are read by their paths in the source folder, which is the current one, so that messages hold no folder of the machine.
void replay_files(Replay& replay) {
  std::vector<std::string> files;
  for (const char* const folder : {"tests/golden", "tests/models"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      const std::string ending = entry.path().extension().string();
      for (const Importer& importer : importers())
        if (ending == importer.ending) files.push_back(entry.path().string());
    }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    if (!replay.begin(file)) continue;
    const Expected<Program> imported = import_file(file, {});
    replay.add("import", imported, test::summary);
    if (!imported.ok() || replay.is_quick()) continue;
    for (const ProgramKernel& kernel : imported->kernels()) {
      const std::string prefix = "kernel " + kernel.name + " ";
      replay.add(prefix + "op", print(*kernel.op) + "\n");
      replay.add(prefix + "plan", canonical_plan(kernel.op), [](const Plan& plan) { return print(plan); });
    }
  }
}

void replay_drawn_ops(Replay& replay, int count) {
  for (int i = 0; i < count; ++i) {
    if (!replay.begin("drawn/" + std::to_string(i))) continue;
    test::Rng rng = test::Rng::stream(kSeed, static_cast<uint64_t>(i));
    const Expected<VerifiedOp> op = VerifiedOp::of(test::make_op(test::random_blueprint(rng, {})));
    constexpr int kHalide = 10;  // one op in so many
    if (op.ok())
      replay_op(replay, *op, i % kHalide == 0 && !replay.is_quick());
    else
      replay.add("op", "refused: " + op.status().message() + "\n");
  }
}

bool read(int count, char** arguments, Settings& settings) {
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--quick") {
      settings.quick = true;
      settings.drawn = 200;
    } else if (argument == "--shard" && i + 1 < count) {
      if (std::sscanf(arguments[++i], "%d/%d", &settings.shard, &settings.shards) != 2 || settings.shards < 1 ||
          settings.shard < 0 || settings.shard >= settings.shards)
        return false;
    } else if (argument == "--drawn" && i + 1 < count) {
      settings.drawn = std::atoi(arguments[++i]);
    } else if (argument == "--show" && i + 2 < count) {
      settings.show_case = arguments[++i];
      settings.show_kind = arguments[++i];
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace strew

int main(int count, char** arguments) {
  strew::Settings settings;
  if (!strew::read(count, arguments, settings)) {
    std::fprintf(stderr, "usage: strew_replay [--quick] [--shard I/N] [--drawn N] [--show CASE KIND]\n");
    return 2;
  }
  std::filesystem::current_path(strew::test::source_folder());
  strew::Replay replay(settings);
  strew::replay_golden_ops(replay);
  strew::replay_files(replay);
  strew::replay_drawn_ops(replay, settings.drawn);
  return 0;
}
