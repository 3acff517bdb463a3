// See options.h. The grammar of the command line. This is the only file that includes CLI11, which takes 3.7 s to
// compile.
//
// Usage errors exit with 2 and one line: unknown commands and options, values outside their range, a schedule or target
// that does not parse. Whether a backend, schedule or target suits an op is found later, and exits with 1. Tested by
// tests/error/cli_test.cc.
#include "tools/strew/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>
#include <sstream>

#include "backends/backend.h"
#include "base/cpus.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/option_rows.h"
#include "compiler/import/option_text.h"
#include "runtime/disk_cache/build_id.h"
#include "runtime/disk_cache/disk_cache.h"
#include "schedules/knobs.h"
#include "strew/wisdom.h"
#include "tools/strew/manual.h"
#include "tools/strew/message.h"
#include "tools/strew/usage.h"

namespace strew::cli {
namespace {

constexpr const char* kAbout = "strew: a kernel compiler for scatter and gather";
constexpr int64_t kMaxScheduleBytes = 1 << 16;
/// The default target of `compile`: its objects are for other machines, and are the same whichever machine makes them.
constexpr const char* kCompileTarget = "x86-64-v3";

/// Option values as typed, before check_values() turns them into Options.
struct Raw {
  std::string oob, order, accumulate, schedule, target, cache, backend = "auto", threads;
  std::string numerics = "xla", sync = "flags", index_layout = "row", gather_to = "ub";
  int blocks = 0, tile_rows = 0, buffers = 0, launches = 0;
};

/// One line for each knob, each of them after a line break.
std::string knob_lines() {
  std::string out;
  for (const Knob& knob : knobs())
    out += "\n" + std::string(knob.name) + " (" + values_of(knob) + "): " + std::string(knob.meaning);
  return out;
}

/// One line for each variable of the environment, each of them after a line break.
std::string variable_lines() {
  std::string out;
  for (const OptionRow& row : kOptionRows) {
    const std::string initial = text_of(row, strew::Options{});
    out += "\n  " + std::string(row.variable) + " (" + values_of(row) + "; default: " + (initial.empty() ? "not set" : initial) +
           "): " + std::string(row.meaning);
  }
  return out;
}

const char* example(const std::string& command) {
  if (command == "run") return "Example:\n  strew run decode.onnx --input past.npy update.npy indices.npy --output present.npy";
  if (command == "check") return "Example:\n  strew check decode.onnx";
  if (command == "explain") return "Example:\n  strew explain decode.onnx --threads 1 --json";
  if (command == "extract") return "Example:\n  strew extract decode.onnx -o kernels --data";
  if (command == "splice") return "Example:\n  strew splice model.mlir --fused -o spliced.mlir";
  if (command == "compile") return "Example:\n  strew compile decode.onnx --emit asm -o decode.s --target x86-64-v3";
  if (command == "target") return "Example:\n  strew target --json";
  if (command == "library") return "Example:\n  strew library kernels.json -o kernels";
  if (command == "wisdom") return "Example:\n  strew wisdom export -o kernels.wisdom --machine here";
  if (command == "cache") return "Example:\n  strew cache prune --limit 64000000";
  if (command == "tune") return "Example:\n  strew tune decode.onnx --budget 30s --report tuned.html";
  if (command == "completion") return "Example:\n  strew completion bash > ~/.local/share/bash-completion/completions/strew";
  if (command == "manual") return "Example:\n  strew manual | man -l -";
  return "Examples:\n  strew explain decode.onnx\n  strew run decode.onnx --input past.npy update.npy indices.npy --output "
         "present.npy\n"
         "  strew compile decode.onnx --emit asm -o decode.s\n`strew COMMAND --help` shows a command's options.";
}

constexpr const char* kFileHelp =
    "the file to read: .onnx, .tflite, .mlir (StableHLO or MLIR tensor), .pto (an NPU program) or .strew (canonical text)";

// Checks of values, with messages of our own (usage.h).
CLI::Validator in_range(int64_t least, int64_t most) {
  return {[=](std::string& text) { return check_range(text, least, most); }, ""};
}
CLI::Validator one_of(std::vector<std::string> choices) {
  return {[choices = std::move(choices)](std::string& text) { return check_choice(text, choices); }, ""};
}

void add_size_option(CLI::App& app, Options& options) {
  app.add_option("--max-file-bytes", options.import.max_file_bytes,
                 "the largest file to read (default: a limit per format, docs/security.md)")
      ->check(in_range(1, std::numeric_limits<int64_t>::max()));
}
void add_json_option(CLI::App& app, Options& options) {
  app.add_flag("--json", options.json, "machine-readable output; messages still go to stderr");
}

/// The options that decide how a model file is read.
void add_reading_options(CLI::App& app, Options& options, Raw& raw) {
  app.add_option(
      "--oob", raw.oob,
      "out-of-bounds policy, instead of the file's: undefined, skip_element, skip_window, clamp, wrap, error, fill_element[:V], "
      "fill_window[:V]; or one per kind, as in scatter=skip_window,gather=clamp");
  app.add_option("--order", raw.order, "order of updates to one destination, instead of the file's: in_order or relaxed");
  app.add_option("--accumulate", raw.accumulate,
                 "native: round after every update; wide: accumulate in a wider type and round once, at the end");
  add_size_option(app, options);
  add_json_option(app, options);
}

void add_import_options(CLI::App& app, Options& options, Raw& raw) {
  app.add_option("FILE", options.file, kFileHelp)->required();
  add_reading_options(app, options, raw);
}

void add_wisdom_option(CLI::App& app, Options& options, const std::string& text) {
  app.add_option("--wisdom", options.wisdom.file, text + "; off: none (default: the process's file, STREW_WISDOM)");
}

void add_cache_option(CLI::App& app, Raw& raw) {
  app.add_option(
      "--cache", raw.cache,
      "the folder that keeps compiled kernels for the next process; off: none (default: STREW_CACHE, or strew/kernels in "
      "the user's cache folder)");
}

void add_tune_options(CLI::App& app, Options& options, Raw& raw) {
  TuneOptions& tune = options.tune;
  app.add_option("FILE", tune.files, std::string(kFileHelp) + ", or a recording of a program's calls (STREW_RECORD)")->required();
  add_reading_options(app, options, raw);
  app.add_option("--kernel", options.kernel_name, "tune the kernel of that name only; `strew explain FILE` lists the names");
  app.add_option("--threads", raw.threads, "threads of a call, 1..1024 (default: all cores)");
  app.add_option("--budget", tune.budget,
                 "the most time to spend on all kernels, as in 30s, 500ms or 5m (default: 4 s per kernel)");
  app.add_option(
         "--mode", tune.mode,
         "estimate (measure nothing: the cost model decides), measure (until nothing faster turns up), or exhaustive (all "
         "candidates) (default: measure)")
      ->check(one_of({"estimate", "measure", "exhaustive"}));
  app.add_option("--dims", tune.dims,
                 "extents that the kernel leaves open, as in s0=1024,s1=8 (default: common ones, which are named)");
  app.add_option(
      "--indices", tune.indices,
      "how indices are spread: uniform, zipf(s), sorted, runs(n), hot(p), permutation, or an .npy file with an index tensor; "
      "those of look-ups follow, separated by commas, as in sorted,zipf(1) (default: what suits the op, which is named)");
  app.add_option("--temperature", tune.temperature,
                 "hot: the data is in the caches when a call begins; cold: calls go round more than the last-level cache "
                 "(default: cold if "
                 "the tables are larger than that)")
      ->check(one_of({"hot", "cold"}));
  app.add_option("--seed", tune.seed, "of the data and of what the search takes at random (default: 1)");
  add_wisdom_option(app, options, "the file that keeps what is measured; what it has is not measured again");
  add_cache_option(app, raw);
  app.add_option("--report", tune.report, "write a page of HTML with all candidates and their times");
  app.add_option("--timings", tune.timings, "write every measured time, for `strew wisdom replay`");
  app.add_flag("--isolate", tune.isolate,
               "run the first kernel of each backend and strategy in a child process, so that a crash ends that one only");
}

void add_wisdom_actions(CLI::App& app, Options& options) {
  app.require_subcommand(1);
  const auto add = [&](const char* name, const char* about) {
    CLI::App* const action = app.add_subcommand(name, about);
    action->callback([&options, name] { options.wisdom.action = name; });
    return action;
  };
  const auto add_file = [&](CLI::App& action, const char* text) { action.add_option("FILE", options.wisdom.files, text); };
  const auto add_output = [&](CLI::App& action) { action.add_option("-o", options.output, "the file to write")->required(); };
  const auto add_json = [&](CLI::App& action) {
    action.add_flag("--json", options.json, "machine-readable output; messages still go to stderr");
  };
  const char* const machine = "only records of this machine (here), or of machines whose name contains the text";
  CLI::App* action = add("list", "print what was measured: a line per workload with its winner");
  add_file(*action, "the file of wisdom (default: the process's)");
  add_json(*action);
  action = add("merge", "write the records of several files to one; of the same candidate and workload, the latest is kept");
  add_file(*action, "the files to read");
  add_output(*action);
  action = add("prune", "rewrite a file without records that a later one replaces, or that the options name");
  add_file(*action, "the file of wisdom (default: the process's)");
  action->add_option("--older-than", options.wisdom.older_than, "leave out records of before this date, as in 2026-11-01");
  action->add_option("--machine", options.wisdom.machine, machine);
  action = add("diff", "print the workloads whose winners differ in two files");
  add_file(*action, "the two files");
  add_json(*action);
  action = add("export", "write only what decides, the defaults and the winners, to ship it with a program or a library");
  add_file(*action, "the file of wisdom (default: the process's)");
  add_output(*action);
  action->add_option("--machine", options.wisdom.machine, machine);
  action = add("replay", "decide anew on the times that `strew tune --timings` wrote");
  action->add_option("FILE", options.wisdom.files, "the file of timings")->required();
  add_json(*action);
}

void add_cache_actions(CLI::App& app, Options& options, Raw& raw) {
  app.require_subcommand(1);
  const auto add = [&](const char* name, const char* about) {
    CLI::App* const action = app.add_subcommand(name, about);
    action->callback([&options, name] { options.cache.action = name; });
    add_cache_option(*action, raw);
    action->add_flag("--json", options.json, "machine-readable output; messages still go to stderr");
    return action;
  };
  add("stats", "print the folder, how many kernels it has, of which builds of strew, and their bytes");
  add("list", "print what was compiled: op, schedule, target, size, and when it was written and used");
  add("verify", "read every file and compare its checksum; exit status 1 if one is bad");
  add("prune", "remove the kernels that were not used for the longest time, until the rest takes no more than the limit")
      ->add_option("--limit", options.cache.limit, "bytes to keep (default: STREW_CACHE_LIMIT)")
      ->check(in_range(0, std::numeric_limits<int64_t>::max()));
  add("clear", "remove all kernels");
}

void add_kernel_options(CLI::App& app, Options& options, Raw& raw, std::string_view default_target = "native") {
  app.add_option("--kernel", options.kernel_name, "work on the kernel of that name only; `strew explain FILE` lists the names");
  app.add_option(
      "--backend", raw.backend,
      "auto (the first that can build the kernel), llvm, halide, portable, reference, or npu-a3 or npu-a5 (simulated)");
  app.add_option("--threads", raw.threads, "the most threads that a call may use, 1..1024 (default: all cores)");
  app.add_option(
      "--schedule", raw.schedule,
      "knobs to set instead of the heuristic's choice, as in unroll=8,prefetch=0; or @FILE (@-: standard input):" + knob_lines());
  app.add_option("--target", raw.target,
                 "the machine to compile for: native, CPU[+feature|-feature...] (default: " + std::string(default_target) +
                     "), npu-a3 or npu-a5");
  app.add_flag("--trust-indices", options.trust_indices,
               "run: do not check indices under policy undefined (an index out of bounds then reads or writes stray memory)");
  add_cache_option(app, raw);
  add_wisdom_option(app, options, "take schedules that were measured from this file");
}

void add_splice_options(CLI::App& app, Options& options, Raw& raw) {
  app.add_option("FILE", options.file, "the file to read: .mlir (StableHLO)")->required();
  app.add_option("-o", options.output, "the file to write, - for stdout (default: stdout)");
  app.add_flag_callback(
      "--fused", [&options] { options.splice.level = SpliceLevel::fused; },
      "replace elementwise work, look-ups and segments around scatters and gathers with them, too");
  app.add_option("--numerics", raw.numerics,
                 "xla: only what has the bits of XLA; strew: also what strew computes with other bits (default: xla)")
      ->check(one_of({"xla", "strew"}));
  app.add_flag("--any-size", options.splice.any_size, "replace what is so small that XLA is faster, too (for tests)");
  add_size_option(app, options);
  add_json_option(app, options);
}

/// Behind --whole.
void add_part_options(CLI::App& app, Options& options) {
  for (const auto& [name, values, what] :
       {std::tuple("--from", &options.from, "the values that the function reads, by their names in the file"),
        std::tuple("--to", &options.to, "the values that the function computes")})
    app.add_option(name, *values, std::string("with --whole: only a part of the file: ") + what + "; with commas between them")
        ->delimiter(',')
        ->needs("--whole");
}

void add_library_option(CLI::App& app, Options& options) {
  app.add_option(
      "--library", options.libraries,
      "an archive of `strew library`, or an object of `strew compile`, whose kernels are taken before any is compiled");
}

void add_program_options(CLI::App& app, Raw& raw) {
  app.add_option("--blocks", raw.blocks, "NPU: cores to plan for (default: all of the chip)")->check(in_range(1, 65535));
  app.add_option("--tile-rows", raw.tile_rows, "NPU: rows of a tile (default: the cheapest that fits)")->check(in_range(1, 2048));
  app.add_option("--buffers", raw.buffers,
                 "NPU: tiles in the buffer at a time; with 2, the loads of one overlap with the work on the other (default: what "
                 "costs less)")
      ->check(in_range(1, 2));
  app.add_option(
         "--launches", raw.launches,
         "NPU: how many times a call may launch the program: 1, or 2 for several wherever that is possible (default: what costs "
         "less)")
      ->check(in_range(1, 2));
  app.add_option(
         "--index-layout", raw.index_layout,
         "NPU: index tiles as rows, or as columns (a5 only, where the program computes nothing with indices; default: row)")
      ->check(one_of({"row", "column"}));
  app.add_option(
         "--gather-to", raw.gather_to,
         "NPU: gather into the vector buffer (ub), or, with pto-cpp, in fractals into the cube core's L1 (l1) (default: ub)")
      ->check(one_of({"ub", "l1"}));
  app.add_option(
      "--sync", raw.sync,
      "NPU: flags (the program has flags, ptoas places tiles), addresses (the program has both, for ptoas --pto-level=level3) or "
      "tool (the program has neither, for ptoas --enable-insert-sync) (default: flags)");
}

/// The options of ImportOptions that have a text; messages begin with the option's name.
Status parse_import(const Raw& raw, ImportOptions& out) {
  const auto as_option = [](const Status& status) {
    return status.ok() ? status : Status(status.code(), "--" + status.message());
  };
  if (!raw.oob.empty()) STREW_TRY(as_option(set_oob(raw.oob, out)));
  if (!raw.order.empty()) STREW_TRY(as_option(set_order(raw.order, out)));
  if (!raw.accumulate.empty()) STREW_TRY(as_option(set_accumulate(raw.accumulate, out)));
  return {};
}

Status parse_backend(const std::string& text, KernelOptions& out) {
  const Expected<BackendChoice> backend = strew::parse_backend(text);
  if (backend.ok()) {
    out.backend = *backend;
    return {};
  }
  return invalid_argument("--backend: it is '" + text + "', expected one of " + backend_names());
}

/// Parses --threads by the same rule and with the same range as `threads` in a schedule's text.
Status parse_threads(const std::string& text, KernelOptions& out) {
  const bool is_number = text.find_first_not_of("0123456789-") == std::string::npos;
  const Expected<ScheduleText> parsed = parse_schedule_text("threads=" + text);
  if (!is_number || !parsed.ok()) return invalid_argument("--threads: it is '" + text + "', expected 1..1024");
  out.threads = parsed->threads;
  return {};
}

Status parse_schedule_option(const std::string& text, int64_t max_bytes, Options& out) {
  out.schedule = text;
  if (!text.empty() && text.front() == '@') {
    const std::string file = text.substr(1);
    STREW_ASSIGN(out.schedule, file == "-" ? read_standard_input(max_bytes) : read_file(file, max_bytes));
    const size_t last = out.schedule.find_last_not_of(" \t\r\n");
    out.schedule.resize(last == std::string::npos ? 0 : last + 1);
  }
  const Expected<ScheduleText> parsed = parse_schedule_text(out.schedule);
  if (!parsed.ok()) return invalid_argument("--schedule: " + parsed.status().message());
  out.kernel.schedule = parsed->knobs;
  if (parsed->threads != 0) out.kernel.threads = parsed->threads;
  return {};
}

Status parse_program_options(const Raw& raw, pto::ProgramOptions& out) {
  out.blocks = raw.blocks;
  out.tile_rows = raw.tile_rows;
  out.buffers = raw.buffers;
  out.launches = raw.launches;
  out.index_column = raw.index_layout == "column";
  out.through_l1 = raw.gather_to == "l1";
  for (const pto::Sync sync : {pto::Sync::flags, pto::Sync::addresses, pto::Sync::tool}) {
    if (raw.sync != pto::name(sync)) continue;
    out.sync = sync;
    return {};
  }
  return invalid_argument("--sync: it is '" + raw.sync + "', expected flags, addresses or tool");
}

/// Reads "30s", "500ms" or "5m".
Expected<double> parse_duration(const std::string& text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  for (const auto& [name, seconds] : kUnits)
    if (error == std::errc() && unit == name && number > 0 && number * seconds <= 1e6) return number * seconds;
  return invalid_argument("--budget: it is '" + text + "', expected a time from 1ms to 1e6s, as in 30s, 500ms or 5m");
}

/// Where compiled kernels are kept: what --cache says, or else STREW_CACHE, or else the user's cache folder.
void take_cache(const Raw& raw, const Options& options) {
  strew::Options chosen = process_options();
  if (!raw.cache.empty()) chosen.cache_dir = raw.cache;
  const bool uses_it = options.command == "run" || options.command == "explain" || options.command == "compile" ||
                       options.command == "tune" || options.command == "cache";
  if (chosen.cache_dir.empty() && uses_it) chosen.cache_dir = users_cache_folder();
  use_in_process_runtimes(chosen);
}

Status check_values(const Raw& raw, Options& options) {
  if (!options.tune.budget.empty()) {
    STREW_ASSIGN(options.tune.budget_seconds, parse_duration(options.tune.budget));
  }
  STREW_TRY(parse_program_options(raw, options.program));
  STREW_TRY(parse_import(raw, options.import));
  STREW_TRY(parse_backend(raw.backend, options.kernel));
  if (!raw.threads.empty()) STREW_TRY(parse_threads(raw.threads, options.kernel));
  options.splice.own_numerics = raw.numerics == "strew";
  options.schedule_given = !raw.schedule.empty();
  if (options.schedule_given) {
    const int64_t given = options.import.max_file_bytes;
    STREW_TRY(parse_schedule_option(raw.schedule, given > 0 ? given : kMaxScheduleBytes, options));
  }
  options.target_given = !raw.target.empty();
  options.target = options.target_given ? raw.target : options.command == "compile" ? kCompileTarget : "native";
  const Expected<Target> parsed = parse_target(options.target);
  if (!parsed.ok()) return invalid_argument("--target: " + parsed.status().message());
  // A library's kernel answers only requests that name no target.
  if (options.target_given || options.command == "compile" || options.libraries.empty()) options.kernel.target = *parsed;
  take_cache(raw, options);
  return {};
}

/// The commands that read a model.
void add_model_commands(CLI::App& app, Options& options, Raw& raw) {
  CLI::App* command =
      app.add_subcommand("run", "import FILE, compile its kernels, run them once on the input tensors, write the results");
  add_import_options(*command, options, raw);
  add_kernel_options(*command, options, raw);
  add_library_option(*command, options);
  command->add_option("--input", options.inputs,
                      ".npy files (for ONNX also .pb), one per input, in order, or NAME=FILE; - for an optional input that is "
                      "left out. With --kernel, "
                      "NAME may be any value of the file that the kernel needs");
  command->add_option("--output", options.outputs, ".npy files to write, one per output, in order");
  command->add_flag("--verbose", options.verbose,
                    "write to stderr what is built, missed, copied and interpreted, as STREW_VERBOSE=compile does");
  command->add_flag(
      "--time", options.time,
      "measure compile time, time per call, bytes per second, and the time of a memcpy of the same bytes over that of the call");
  command->add_flag("--verify", options.verify, "run the reference too and compare bit for bit");

  command = app.add_subcommand("check", "import FILE and verify its ops, nothing more");
  add_import_options(*command, options, raw);

  command = app.add_subcommand(
      "explain",
      "print about ten lines a kernel: what it does, what runs it, how long that should take, what is copied, what would help");
  add_import_options(*command, options, raw);
  add_kernel_options(*command, options, raw);
  add_library_option(*command, options);
  command->add_flag("--all", options.all,
                    "everything, of every kernel: rewrites, plan, each backend and strategy with yes or the reason why not, the "
                    "schedule and where it "
                    "came from, what candidates would cost, the target");
  command->add_option("--emit", options.emit, "one stage of each kernel, and nothing else: op, plan, lowered, or lowered:PASS");

  command = app.add_subcommand(
      "extract", "write each distinct kernel of FILE as a .strew file, and kernels.json, which says where it comes from");
  add_import_options(*command, options, raw);
  command->add_option("-o", options.output, "the folder to write")->required();
  command->add_flag("--data", options.data, "also random legal inputs, and the reference's results, as .npy files");

  command = app.add_subcommand("splice", "write a StableHLO module with calls of strew in the place of its scatters and gathers");
  add_splice_options(*command, options, raw);

  command = app.add_subcommand("compile", "write one kernel as text or as an object, or the whole file as one function");
  add_import_options(*command, options, raw);
  add_kernel_options(*command, options, raw, kCompileTarget);
  add_program_options(*command, raw);
  command->add_option(
      "--emit", options.emit,
      "op, plan, lowered, ll, asm, obj, halide; for NPU targets pto-as, pto-ir, pto-ir-generic, pto-cpp, pto-host");
  command->add_option("-o", options.output, "the file to write, - for stdout; with --whole: the folder")->required();
  command->add_flag(
      "--whole", options.whole,
      "instead of one kernel, the whole file as one function: a kernel library of the target and the CPUs that have less");
  add_part_options(*command, options);
  command
      ->add_option(
          "--extents", options.extents,
          "with --whole: NAME=EXTENT, the extents that the file leaves open, by their names there, or by INPUT.DIM; with commas "
          "between them")
      ->delimiter(',')
      ->needs("--whole");
  command
      ->add_option(
          "--in-place", options.in_place,
          "with --whole: INPUT=OUTPUT, inputs that the function updates: the output lies in the input's memory; with commas "
          "between them")
      ->delimiter(',')
      ->needs("--whole");
  command->add_option("--jobs", options.jobs, "with --whole: the most kernels to compile at a time (default: all cores)")
      ->check(in_range(1, 1024));
}

void add_commands(CLI::App& app, Options& options, Raw& raw) {
  add_model_commands(app, options, raw);
  CLI::App* command =
      app.add_subcommand("library", "compile the kernels of a manifest for several CPUs: an archive, a C header, a report");
  command->add_option("MANIFEST", options.file, "the JSON file that lists the kernels (docs/libraries.md)");
  command->add_option(
      "-o", options.output,
      "the folder to write; one of an earlier run is replaced, and its kernels are used again. With --from-model: "
      "the manifest to write");
  command->add_option("--from-model", options.from_model,
                      "write a manifest with the kernels of this model file instead: to the file of -o, where it names the model "
                      "relative to itself, or to stdout, with the model's absolute path");
  command->add_flag("--whole", options.whole, "with --from-model: the whole file as one function, instead of its kernels")
      ->needs("--from-model");
  add_part_options(*command, options);
  command->add_option("--arch", options.arch,
                      "make the library for x86_64 or aarch64, and leave out the manifest's targets of the other (default: the "
                      "architecture of all targets, or this machine's if they have several)");
  command
      ->add_option("--target", options.targets,
                   "CPUs to compile for, CPU[+feature|-feature...], instead of the manifest's; with commas between them")
      ->delimiter(',');
  command->add_option("--depfile", options.depfile,
                      "write the model files that the manifest names to this file, as a rule of Make, for CMake and Ninja");
  command->add_flag("--freestanding", options.freestanding,
                    "refuse kernels whose code calls more than memcpy, memmove, memset and memcmp");
  command->add_option("--jobs", options.jobs, "the most kernels to compile at a time (default: all cores)")
      ->check(in_range(1, 1024));
  command->add_flag("--json", options.json, "machine-readable output; messages still go to stderr");

  command = app.add_subcommand("tune", "find the fastest schedules of a file's kernels by measuring, and keep them as wisdom");
  add_tune_options(*command, options, raw);

  command = app.add_subcommand("wisdom", "list, merge, prune, compare, export or replay what was measured");
  add_wisdom_actions(*command, options);

  command = app.add_subcommand("cache", "show, check, prune or empty the folder of compiled kernels");
  add_cache_actions(*command, options, raw);

  command = app.add_subcommand("target", "print the target machine: features, caches, cores, costs, and what --target overrides");
  CLI::Option* const described =
      command->add_option("--target", raw.target, "describe this machine instead: CPU[+feature|-feature...]");
  CLI::Option* const measure =
      command
          ->add_flag("--measure", options.measure,
                     "measure what memory, threads and kernels of this machine cost, in about five seconds on an otherwise idle "
                     "machine, and keep it for the schedules of `native` kernels (STREW_COSTS)")
          ->excludes(described);
  command->add_flag("--force", options.force, "keep what was measured although other programs had the cores")->needs(measure);
  command->add_flag("--json", options.json, "machine-readable output");

  command = app.add_subcommand("completion", "print a script that completes commands and options in a shell");
  command->add_option("SHELL", options.file, "bash or zsh")->required()->check(one_of({"bash", "zsh"}));
  app.add_subcommand("manual", "print the manual page");
}

/// The values that a shell can offer for an option.
std::vector<std::string> choices_of(const std::string& option) {
  std::vector<std::string> out;
  const auto names = [](std::initializer_list<const char*> list) { return std::vector<std::string>(list.begin(), list.end()); };
  if (option == "--emit")
    return names(
        {"op", "plan", "lowered", "ll", "asm", "obj", "halide", "pto-as", "pto-ir", "pto-ir-generic", "pto-cpp", "pto-host"});
  if (option == "--oob")
    return names({"undefined", "skip_element", "skip_window", "clamp", "wrap", "error", "fill_element", "fill_window",
                  "scatter=", "gather="});
  if (option == "--numerics") return names({"xla", "strew"});
  if (option == "--order") return names({"in_order", "relaxed"});
  if (option == "--accumulate") return names({"native", "wide"});
  if (option == "--arch") return names({"x86_64", "aarch64"});
  if (option == "--index-layout") return names({"row", "column"});
  if (option == "--gather-to") return names({"ub", "l1"});
  if (option == "--sync") return names({"flags", "addresses", "tool"});
  if (option == "--cache") return names({"off"});
  if (option == "--mode") return names({"estimate", "measure", "exhaustive"});
  if (option == "--temperature") return names({"hot", "cold"});
  if (option == "--indices") return names({"uniform", "zipf(1)", "sorted", "runs(8)", "hot(0.5)", "permutation"});
  if (option == "--backend") {
    std::istringstream list(backend_names());
    for (std::string name; std::getline(list >> std::ws, name, ',');) out.push_back(name);
  }
  if (option == "--target") {
    out.emplace_back("native");
    for (const CpuInfo& cpu : known_cpus()) out.emplace_back(cpu.name);
    out.insert(out.end(), {"npu-a3", "npu-a5"});
  }
  if (option == "--schedule")
    for (const Knob& knob : knobs()) out.push_back(std::string(knob.name) + "=");
  return out;
}

std::vector<ManualCommand> describe_commands(CLI::App& app) {
  std::vector<ManualCommand> out;
  for (const CLI::App* command : app.get_subcommands({})) {
    ManualCommand described{command->get_name(), command->get_description(), command->get_footer(), {}};
    for (const CLI::Option* option : command->get_options()) {
      ManualOption one;
      for (const std::string& name : option->get_snames()) one.names.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
      const bool is_flag = option->get_items_expected_max() == 0;
      if (!is_flag) one.value = one.names.empty() ? option->get_name() : "VALUE";
      one.text = option->get_description();
      for (const std::string& name : one.names)
        if (one.choices.empty()) one.choices = choices_of(name);
      if (option->get_name() == "SHELL") one.choices = {"bash", "zsh"};
      described.options.push_back(std::move(one));
    }
    out.push_back(std::move(described));
  }
  return out;
}

/// The commands whose answer is the command line itself; -1 for others.
int describe(CLI::App& app, const Options& options) {
  const std::vector<ManualCommand> commands = describe_commands(app);
  if (options.command == "manual") return fail(print_out(manual_page(commands, kAbout, variable_lines())));
  if (options.command == "completion")
    return fail(print_out(options.file == "zsh" ? zsh_completion(commands) : bash_completion(commands)));
  return -1;
}

}  // namespace

namespace {

/// Reads the wisdom that kernels take their schedules from. Those for a target that the user names take none but that of a file that the
/// user names, so that they do not depend on what this machine has learned.
Status take_wisdom(Options& options) {
  const bool makes_kernels = options.command == "run" || options.command == "explain" || options.command == "compile";
  if (!makes_kernels) return {};
  if (options.wisdom.file == "off" || (options.wisdom.file.empty() && (options.target_given || options.command == "compile"))) {
    options.kernel.wisdom = Wisdom::none();
  } else if (options.wisdom.file.empty()) {
    options.kernel.wisdom = Wisdom::process();
  } else {
    STREW_ASSIGN(options.kernel.wisdom, Wisdom::load(options.wisdom.file));
  }
  return {};
}

/// What is wrong with the first argument, if it should be a command and is none.
std::string unknown_command(const CLI::App& app, const std::string& given) {
  std::vector<std::string> names;
  std::string known;
  for (const CLI::App* command : app.get_subcommands({})) {
    names.push_back(command->get_name());
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  if (given.starts_with("-") || std::find(names.begin(), names.end(), given) != names.end()) return {};
  const std::string near = did_you_mean(given, names);
  return "command '" + given + "' is unknown, expected one of: " + known + (near.empty() ? "" : "; " + near.substr(2));
}

RefusedLine refused(const CLI::App& app, std::string reason) {
  RefusedLine out;
  out.reason = std::move(reason);
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    out.command += (out.command.empty() ? "" : " ") + at->get_name();
  }
  for (const CLI::Option* option : at->get_options()) {
    for (const std::string& name : option->get_snames()) out.options.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) out.options.push_back("--" + name);
  }
  for (const CLI::App* action : at->get_subcommands({})) out.actions.push_back(action->get_name());
  out.left = app.remaining(true);
  return out;
}

}  // namespace

int parse_command_line(int argc, char** argv, Options& options) {
  Raw raw;
  CLI::App app(kAbout, "strew");
  app.require_subcommand(1);
  app.footer(example("") + ("\n\nVariables of the environment:" + variable_lines()));
  add_commands(app, options, raw);
  app.set_version_flag("--version", std::string(generator_version()) + ", build " + std::string(build_id()),
                       "print the versions of strew and of LLVM, and the id of the build");
  for (CLI::App* command : app.get_subcommands({})) command->footer(example(command->get_name()));

  if (argc < 2) {
    std::fputs(app.help().c_str(), stderr);
    return kBadUsage;
  }
  if (const std::string unknown = unknown_command(app, argv[1]); !unknown.empty()) return usage_error(unknown);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    return fail(print_out(std::string(version.what()) + "\n"));
  } catch (const CLI::CallForHelp& help) {
    std::ostringstream text;
    app.exit(help, text, text);
    return fail(print_out(text.str()));
  } catch (const CLI::ParseError& error) {
    return usage_error(usage_text(refused(app, error.what())));
  }
  options.command = app.get_subcommands().front()->get_name();
  if (const int status = describe(app, options); status >= 0) return status;
  options.import.check_undefined = options.command == "run" && !options.trust_indices;
  keep_whole({options.file, options.output, options.depfile, options.from_model});
  keep_whole({options.wisdom.file});
  keep_whole({raw.cache});
  keep_whole(options.wisdom.files);
  keep_whole(options.tune.files);
  keep_whole({options.tune.report, options.tune.timings});
  keep_whole(options.inputs);
  keep_whole(options.outputs);
  const Status status = check_values(raw, options);
  if (status.code() == Code::unsupported) return fail(status);  // a reserved name is no usage error (docs/cli.md)
  if (!status.ok()) return usage_error(status.message());
  const Status wisdom = take_wisdom(options);
  return wisdom.ok() ? -1 : fail(wisdom);
}

}  // namespace strew::cli
