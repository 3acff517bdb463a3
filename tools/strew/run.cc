// strew run: imports a file, compiles its kernels, runs them once on the given tensors and writes the results; with
// --time and --verify also measures and compares.
//
// Without --kernel the whole file runs: everything that its outputs need; if that includes operations that strew does not run, the message
// lists the kernels. With --kernel, the kernel runs alone (cut_kernel). If the file has several kernels and the given inputs do not fit the
// file's, the user is asked to name a kernel. Outputs are written last. Tested by
// tests/error/cli_test.cc and tests/oracle/*.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>

#include "base/nearest.h"
#include "compiler/op/combiner.h"
#include "strew/run_program.h"
#include "strew/text.h"
#include "tools/strew/message.h"
#include "tools/strew/options.h"
#include "tools/strew/program_time.h"
#include "tools/strew/select.h"
#include "tools/strew/summary.h"
#include "tools/strew/tensor_file.h"
#include "tools/strew/timing.h"

namespace strew::cli {
namespace {

using Json = nlohmann::ordered_json;
using Inputs = std::vector<std::unique_ptr<Tensor>>;

/// What --time and --json report about one kernel.
struct KernelReport {
  std::string name, backend, schedule, symbol;
  int64_t compile_nanoseconds = 0;
  std::vector<std::pair<std::string, CallTime>> times;
};

/// Is the input a scalar of a PTO program that a tensor's extent determines, or that the program does not use? All such
/// inputs may be left out together, without a `-` for each.
bool can_be_left_out(const ProgramInput& input) { return input.optional && input.memory; }
/// What --input gives: for each input of the program a path, or nothing.
using Paths = std::vector<std::string>;

/// "NAME=FILE" of --input, where NAME is one of `names`.
struct Assignment {
  std::string name, path;
};
std::optional<Assignment> assignment_of(const std::string& text, const std::vector<std::string>& names) {
  for (size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1))
    if (std::find(names.begin(), names.end(), text.substr(0, at)) != names.end())
      return Assignment{text.substr(0, at), text.substr(at + 1)};
  return std::nullopt;
}

/// The name in "NAME=FILE" where no value has that name, and no file the whole text; empty: the text is a file name.
std::string unknown_name(const std::string& text) {
  const size_t at = text.find('=');
  std::error_code error;
  return at == std::string::npos || at == 0 || std::filesystem::exists(text, error) ? std::string() : text.substr(0, at);
}

/// All names that --input NAME=FILE may have: of inputs of the file and of values that its operations compute.
std::vector<std::string> names_of(const Program& imported) {
  std::vector<std::string> names;
  for (size_t v = 0; v < imported.values().size(); ++v) names.push_back(value_name(imported, static_cast<int>(v)));
  for (const ProgramInput& input : imported.inputs()) names.push_back(input.name);
  return names;
}

std::string list_of(const Program& program) {
  std::vector<std::string> types;
  for (const ProgramInput& input : program.inputs()) types.push_back(print(input.type));
  for (const Value& value : program.values())
    if (value.kind == ValueKind::input) types[static_cast<size_t>(value.index)] = type_text(value.type, value.symbols);
  std::string out;
  for (size_t i = 0; i < types.size(); ++i)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", program.input(i).name, types[i]);
  return out.empty() ? "none" : out;
}

/// A usage error if the text of --input that names no value of the file looks like NAME=FILE.
Status check_name(const std::string& text, const Program& imported, int kernel) {
  const std::string name = unknown_name(text);
  if (name.empty()) return {};
  std::vector<std::string> names;
  if (kernel >= 0)
    for (const int value : kernel_inputs(imported, kernel)) names.push_back(value_name(imported, value));
  else
    for (const ProgramInput& input : imported.inputs()) names.push_back(input.name);
  constexpr size_t kMost = 20;
  std::string list;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i) list += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMost) list += fmt::format(" and {} more", names.size() - kMost);
  const std::string near = did_you_mean(name, names);
  return invalid_argument(fmt::format("--input {}: no input '{}'{}", text, name, near.empty() ? ", expected " + list : near));
}

/// Which of the program's inputs the files without a name are for, by their number: all inputs of the program, all of the file's (those that
/// the program does not need are left out), or all but the optional ones. A usage error if no number fits.
Expected<std::vector<int>> targets_of(size_t given, const Program& program, const std::vector<ProgramInput>& of_file,
                                      const std::set<int>& taken) {
  std::vector<int> own, needed, all;
  for (size_t i = 0; i < program.inputs().size(); ++i) {
    if (taken.contains(static_cast<int>(i))) continue;
    own.push_back(static_cast<int>(i));
    if (!can_be_left_out(program.input(i))) needed.push_back(static_cast<int>(i));
  }
  for (const ProgramInput& input : of_file) {
    const auto at = std::find_if(program.inputs().begin(), program.inputs().end(),
                                 [&](const ProgramInput& each) { return each.name == input.name; });
    all.push_back(at == program.inputs().end() ? -1 : static_cast<int>(at - program.inputs().begin()));
  }
  for (const std::vector<int>* list : {&own, &all, &needed})
    if (given == list->size()) return *list;
  return invalid_argument(fmt::format("--input: {} files are given, expected {}: {}", given, own.size(), list_of(program)));
}

/// Distributes the files of --input over the program's inputs.
Expected<Paths> match_inputs(const Options& options, const Program& program, const std::vector<ProgramInput>& of_file,
                             const std::vector<Assignment>& named, std::vector<std::string> in_order) {
  Paths paths(program.inputs().size());
  std::set<int> taken;
  for (const Assignment& each : named) {
    const auto at = std::find_if(program.inputs().begin(), program.inputs().end(),
                                 [&](const ProgramInput& input) { return input.name == each.name; });
    if (at == program.inputs().end())
      return invalid_argument(fmt::format("--input {}: {} does not need it, expected {}", each.name,
                                          options.kernel_name.empty() ? "the file" : "kernel " + options.kernel_name,
                                          list_of(program)));
    const auto number = static_cast<int>(at - program.inputs().begin());
    if (!taken.insert(number).second) return invalid_argument(fmt::format("--input {}: it is given twice", each.name));
    paths[static_cast<size_t>(number)] = each.path;
  }
  // A `-` at the end may stand for an optional input that the file itself does not have.
  while (in_order.size() > std::max(of_file.size(), program.inputs().size()) && in_order.back() == "-") in_order.pop_back();
  STREW_ASSIGN(const std::vector<int> targets, targets_of(in_order.size(), program, of_file, taken));
  for (size_t i = 0; i < targets.size(); ++i)
    if (targets[i] >= 0) paths[static_cast<size_t>(targets[i])] = in_order[i];
  return paths;
}

/// `of_file`: the inputs of the whole file, of which the program needs some.
Expected<Inputs> read_inputs(const Options& options, const Program& program, const Paths& paths,
                             const std::vector<ProgramInput>& of_file) {
  const bool takes_all = options.inputs.size() == of_file.size() && of_file.size() != program.inputs().size();
  Inputs inputs(program.inputs().size());
  for (size_t i = 0; i < paths.size(); ++i) {
    const ProgramInput& input = program.input(i);
    if (paths[i].empty()) continue;
    if (paths[i] == "-") {
      if (!input.optional)
        return invalid_argument(fmt::format("--input -: input {} is not optional, expected a file", input.name));
      continue;
    }
    Expected<std::unique_ptr<Tensor>> read = read_tensor(paths[i], input, options.import.max_file_bytes);
    if (!read.ok() && read.status().code() != Code::io && takes_all)
      return Status(
          read.status().code(),
          fmt::format("{}; {} files are given, so they are taken as those of the file's inputs, of which kernel {} "
                      "needs {}: {}",
                      read.status().message(), of_file.size(), options.kernel_name, program.inputs().size(), list_of(program)));
    if (!read.ok()) return read.status();
    inputs[i] = *std::move(read);
  }
  return inputs;
}

Inputs clone_all(const Inputs& inputs) {
  Inputs out;
  for (const auto& tensor : inputs) out.push_back(tensor == nullptr ? nullptr : clone(*tensor));
  return out;
}

/// Do all kernels only move elements? The bits of NaNs are then compared, too.
bool only_moves(const Program& imported) {
  for (const ProgramKernel& kernel : imported.kernels()) {
    const Scatter* scatter = std::get_if<Scatter>(&*kernel.op);
    const Gather* gather = std::get_if<Gather>(&*kernel.op);
    if (scatter != nullptr &&
        (scatter->combiner != CombinerKind::assign || scatter->operands[0].dtype != scatter->results[0].dtype ||
         scatter->updates[0].dtype != scatter->results[0].dtype)) {
      return false;
    }
    if (gather != nullptr && (!gather->expr.empty() || gather->operand.dtype != gather->result.dtype)) return false;
  }
  return true;
}

Status verify_outputs(Runtime& runtime, const Program& imported, Inputs inputs, ProgramOptions program,
                      const std::vector<Tensor>& outputs) {
  program.kernel.backend = BackendChoice::reference;
  program.kernel.schedule = {};
  program.after_kernel = nullptr;
  program.interpreted_elements = ProgramOptions::kInterpreted;
  STREW_ASSIGN(const std::vector<Tensor> expected, run_program(runtime, imported, std::move(inputs), program));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string difference = first_difference(outputs[i], expected[i], only_moves(imported));
    if (!difference.empty()) {
      return internal_error(fmt::format("--verify: output {} is not the reference's: {}", i, difference));
    }
  }
  return {};
}

Status time_and_note(const Options& options, const ProgramKernel& imported, const Kernel& kernel,
                     std::span<const TensorView> views, std::vector<KernelReport>& reports) {
  KernelReport report{imported.name,   std::string(kernel.backend()), print(kernel.schedule()),
                      kernel.symbol(), kernel.compile_nanoseconds(),  {}};
  if (options.time) {
    STREW_ASSIGN(const CallTime call, time_kernel(kernel, views, false));
    report.times.emplace_back("call", call);
    if (can_bind_in_place(kernel.op())) {
      STREW_ASSIGN(const CallTime in_place, time_kernel(kernel, views, true));
      report.times.emplace_back("in_place", in_place);
    }
  }
  reports.push_back(std::move(report));
  return {};
}

/// Warns of options that change nothing in what runs.
void warn_of_no_effect(const Options& options, const Program& program) {
  const ImportOptions& asked = options.import;
  const auto sums = [](const ProgramKernel& kernel) {
    const Scatter* const scatter = std::get_if<Scatter>(&*kernel.op);
    return scatter != nullptr && sums_floats(*scatter);
  };
  if (asked.override_order && asked.order == Order::relaxed &&
      std::none_of(program.kernels().begin(), program.kernels().end(), sums))
    warn("--order relaxed: it changes nothing, because no kernel adds floats, and other results are the same in any order");
  std::string kept = policies_kept(program, asked);
  if (!kept.empty()) warn("--oob: " + kept);
}

std::string duration(double ns) {
  if (ns < 1e4) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e7) return fmt::format("{:.1f} us", ns / 1e3);
  return fmt::format("{:.1f} ms", ns / 1e6);
}

/// "whole file  3.43 ms (median of 9): kernels 20.1 us, Transpose 3.40 ms (interpreted), add 31.0 us (a kernel), …"
std::string whole_text(const ProgramTime& whole) {
  constexpr size_t kMostOperations = 5;
  std::string out = fmt::format("whole file  {} (median of {}): kernels {}", duration(whole.nanoseconds), whole.samples,
                                duration(whole.kernel_nanoseconds));
  double rest = whole.nanoseconds - whole.kernel_nanoseconds;
  const auto add = [&](const std::vector<std::pair<std::string, double>>& operations, const char* how) {
    double others = 0;
    for (size_t i = 0; i < operations.size(); ++i) {
      const auto& [name, nanoseconds] = operations[i];
      rest -= nanoseconds;
      if (i < kMostOperations)
        out += fmt::format(", {} {} ({})", printable(name), duration(nanoseconds), how);
      else
        others += nanoseconds;
    }
    if (others > 0) out += fmt::format(", {} others {} ({})", operations.size() - kMostOperations, duration(others), how);
  };
  add(whole.interpreted, "interpreted");
  add(whole.compiled, "a kernel");
  return out +
         fmt::format(", memory and checks {}; without reading and writing files and compiling\n", duration(std::max(0.0, rest)));
}

/// What was computed, where nothing was written.
std::string computed_text(const Program& program, const std::vector<Tensor>& outputs) {
  std::string out = "computed and not written (--output FILE):";
  for (size_t i = 0; i < outputs.size(); ++i)
    out += fmt::format("{} {} {}", i == 0 ? "" : ",", printable(program.outputs()[i].name),
                       print(TensorType{outputs[i].dtype, outputs[i].dims, {}}));
  return out + "\n";
}

std::string text_report(const Options& options, const std::vector<KernelReport>& reports,
                        const std::optional<ProgramTime>& whole) {
  std::string out;
  for (const KernelReport& r : reports) {
    if (options.time) {
      out += fmt::format("{}: {}, compiled in {}\n", printable(r.name), r.backend,
                         duration(static_cast<double>(r.compile_nanoseconds)));
    }
    for (const auto& [what, t] : r.times) {
      out += fmt::format("  {:<9} {} (median of {}), {:.2f} GB/s, {:.2f} of memcpy of the same {} bytes\n",
                         what == "in_place" ? "in place" : "call", duration(t.nanoseconds), t.samples, t.bytes_per_second() / 1e9,
                         t.memcpy_ratio(), t.bytes);
    }
  }
  if (whole) out += whole_text(*whole);
  if (options.verify) out += "verified: the reference gives the same bits\n";
  return out;
}

std::string json_report(const Options& options, const std::vector<KernelReport>& reports, const std::vector<Tensor>& outputs,
                        const std::optional<ProgramTime>& whole) {
  Json json;
  json["file"] = options.file;
  json["kernels"] = Json::array();
  for (const KernelReport& r : reports) {
    Json kernel = {{"name", r.name}, {"backend", r.backend}, {"schedule", r.schedule}, {"symbol", r.symbol}};
    if (options.time) kernel["compile_ns"] = r.compile_nanoseconds;
    for (const auto& [what, t] : r.times) {
      kernel[what] = {{"ns", t.nanoseconds},
                      {"samples", t.samples},
                      {"bytes", t.bytes},
                      {"bytes_per_second", t.bytes_per_second()},
                      {"memcpy_ns", t.memcpy_nanoseconds},
                      {"memcpy_ratio", t.memcpy_ratio()}};
    }
    json["kernels"].push_back(std::move(kernel));
  }
  json["outputs"] = Json::array();
  for (size_t i = 0; i < outputs.size(); ++i) {
    Json output = {{"dtype", name(outputs[i].dtype)}, {"shape", outputs[i].dims}};
    if (i < options.outputs.size()) output["file"] = options.outputs[i];
    json["outputs"].push_back(std::move(output));
  }
  if (whole) {
    json["whole"] = {{"ns", whole->nanoseconds}, {"samples", whole->samples}, {"kernels_ns", whole->kernel_nanoseconds}};
    json["whole"]["interpreted_ns"] = Json::object();
    for (const auto& [name, nanoseconds] : whole->interpreted) json["whole"]["interpreted_ns"][name] = nanoseconds;
    json["whole"]["compiled_ns"] = Json::object();
    for (const auto& [name, nanoseconds] : whole->compiled) json["whole"]["compiled_ns"][name] = nanoseconds;
  }
  if (options.verify) json["verified"] = true;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Does an output of the file need what strew does not run?
bool needs_opaque(const Program& imported) {
  std::vector<bool> seen(imported.values().size());
  std::vector<int> open;
  for (const ProgramOutput& output : imported.outputs()) open.push_back(output.value);
  while (!open.empty()) {
    const int v = open.back();
    open.pop_back();
    if (seen[static_cast<size_t>(v)]) continue;
    seen[static_cast<size_t>(v)] = true;
    const Value& value = imported.value(v);
    if (value.kind == ValueKind::opaque) return true;
    const auto reads = [&](int read) { open.push_back(read); };
    each_source(imported.parts(), value, reads);
    if (value.kind == ValueKind::result) each_use(imported.kernel(value.index), reads);
  }
  return false;
}

/// The kernel to run alone; -1: run the whole file; -2: a usage error was reported.
int choose_kernel(const Options& options, const Program& imported, size_t in_order, int& exit_status) {
  const auto optional = std::count_if(imported.inputs().begin(), imported.inputs().end(), can_be_left_out);
  const bool several = imported.kernels().size() > 1;
  if (options.kernel_name.empty() && needs_opaque(imported)) {
    const std::vector<KernelGroup> groups = distinct_kernels(imported);
    exit_status = fail(unsupported(
        options.file + ": its outputs need operations that strew does not run (" + summary_text(imported, groups.size()) +
        "), expected one kernel: --kernel NAME --input VALUE=FILE …, with NAME one of: " + kernel_names(imported) +
        "; check --json lists each kernel's inputs"));
    return -2;
  }
  if (options.kernel_name.empty()) {
    // With fewer files than inputs, the user means a kernel and has not said which.
    if (!several || in_order >= imported.inputs().size() - static_cast<size_t>(optional) || in_order != options.inputs.size())
      return -1;
  }
  const int kernel = select_kernel(options, imported, exit_status);
  return kernel < 0 ? -2 : kernel;
}

Status check_outputs(const Options& options, const Program& program) {
  if (!options.outputs.empty() && options.outputs.size() != program.outputs().size()) {
    return invalid_argument(
        fmt::format("--output: {} files are given, expected {}", options.outputs.size(), program.outputs().size()));
  }
  for (const std::string& path : options.outputs) {
    if (std::string_view(path).ends_with(".pb"))
      return invalid_argument("--output: '" + path + "', expected a name for an .npy file");
  }
  return {};
}

}  // namespace

namespace {

/// --input, sorted into values by name and files in order.
struct Given {
  std::vector<Assignment> named;
  std::vector<std::string> in_order, names;
};
Given sort_inputs(const Options& options, const Program& imported) {
  Given out;
  const std::vector<std::string> known = names_of(imported);
  for (const std::string& text : options.inputs) {
    if (std::optional<Assignment> found = assignment_of(text, known)) {
      out.names.push_back(found->name);
      out.named.push_back(std::move(*found));
    } else {
      out.in_order.push_back(text);
    }
  }
  return out;
}

/// Runs the program and does what --time, --verify and --output ask for.
int run_and_report(const Options& options, const Program& imported, Inputs inputs) {
  std::vector<KernelReport> reports;
  ProgramOptions program;
  program.kernel = options.kernel;
  program.after_kernel = [&](const ProgramKernel& k, const Kernel& compiled, std::span<const TensorView> views) {
    return time_and_note(options, k, compiled, views, reports);
  };
  const bool times_whole = options.time && is_more_than_a_kernel(imported);
  const Inputs again = options.verify || times_whole ? clone_all(inputs) : Inputs();
  const ProgramKernel* first = imported.kernels().empty() ? nullptr : imported.kernels().data();
  const std::string op_text = first == nullptr ? "" : print(first->op);
  Expected<std::vector<Tensor>> outputs = run_program(Runtime::process(), imported, std::move(inputs), program);
  if (!outputs.ok()) return fail(outputs.status(), op_text);
  if (options.verify) {
    const Status s = verify_outputs(Runtime::process(), imported, clone_all(again), program, *outputs);
    if (!s.ok()) return fail(s, op_text);
  }
  std::optional<ProgramTime> whole;
  if (times_whole) {
    const Expected<ProgramTime> time = time_program(Runtime::process(), imported, program, [&] { return clone_all(again); });
    if (!time.ok()) return fail(time.status(), op_text);
    whole = *time;
  }
  if (const Status s = write_tensors(*outputs, options.outputs); !s.ok()) return fail(s);
  if (options.json) return fail(print_out(json_report(options, reports, *outputs, whole)));
  const bool is_silent = options.outputs.empty() && !options.time && !options.verify;
  return fail(print_out(text_report(options, reports, whole) + (is_silent ? computed_text(imported, *outputs) : "")));
}

}  // namespace

int run(const Options& options) {
  Expected<Program> imported = import_file(options.file, options.import);
  if (!imported.ok()) return fail(imported.status());
  Given given = sort_inputs(options, *imported);
  int exit_status = kDone;
  const int kernel = choose_kernel(options, *imported, given.in_order.size(), exit_status);
  if (kernel == -2) return exit_status;
  for (const std::string& text : given.in_order)
    if (const Status s = check_name(text, *imported, kernel); !s.ok()) return usage_error(s.message());
  const std::vector<ProgramInput> of_file = imported->inputs();
  if (kernel >= 0) imported = cut_kernel(std::move(*imported), kernel, given.names);
  const Expected<Paths> paths = match_inputs(options, *imported, of_file, given.named, std::move(given.in_order));
  if (!paths.ok()) return usage_error(paths.status().message());
  if (const Status s = check_outputs(options, *imported); !s.ok()) return usage_error(s.message());
  Expected<Inputs> inputs = read_inputs(options, *imported, *paths, of_file);
  if (!inputs.ok()) return fail(inputs.status());
  warn_of_no_effect(options, *imported);
  for (const std::string& library : options.libraries)
    if (const auto loaded = Runtime::process().load(library); !loaded.ok()) return fail(loaded.status());
  return run_and_report(options, *imported, std::move(*inputs));
}

}  // namespace strew::cli
