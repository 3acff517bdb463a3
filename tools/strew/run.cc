// strew run: imports a file, compiles its kernels, runs them once on the given tensors and writes the results; with
// --time and --verify also measures and compares.
//
// Without --kernel the whole file runs: everything that its outputs need; if that includes operations that strew does not run, the message
// lists the kernels. With --kernel, the kernel runs alone (cut_kernel). If the file has several kernels and the given inputs do not fit the
// file's, the user is asked to name a kernel. Outputs are written last. Tested by
// tests/error/cli_test.cc and tests/oracle/*.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "strew/program.h"
#include "strew/text.h"
#include "tools/strew/message.h"
#include "tools/strew/options.h"
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
bool can_be_left_out(const ImportedInput& input) { return input.optional && input.memory; }
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

/// All names that --input NAME=FILE may have: of inputs of the file and of values that its operations compute.
std::vector<std::string> names_of(const Imported& imported) {
  std::vector<std::string> names;
  for (size_t v = 0; v < imported.values.size(); ++v) names.push_back(value_name(imported, static_cast<int>(v)));
  for (const ImportedInput& input : imported.inputs) names.push_back(input.name);
  return names;
}

std::string list_of(const Imported& program) {
  std::vector<std::string> types;
  for (const ImportedInput& input : program.inputs) types.push_back(print(input.type));
  for (const Value& value : program.values)
    if (value.kind == ValueKind::input) types[static_cast<size_t>(value.index)] = type_text(value.type, value.symbols);
  std::string out;
  for (size_t i = 0; i < types.size(); ++i)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", program.inputs[i].name, types[i]);
  return out.empty() ? "none" : out;
}

/// Which of the program's inputs the files without a name are for, by their number: all inputs of the program, all of the file's (those that
/// the program does not need are left out), or all but the optional ones. A usage error if no number fits.
Expected<std::vector<int>> targets_of(size_t given, const Imported& program, const std::vector<ImportedInput>& of_file,
                                      const std::set<int>& taken) {
  std::vector<int> own, needed, all;
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    if (taken.contains(static_cast<int>(i))) continue;
    own.push_back(static_cast<int>(i));
    if (!can_be_left_out(program.inputs[i])) needed.push_back(static_cast<int>(i));
  }
  for (const ImportedInput& input : of_file) {
    const auto at = std::find_if(program.inputs.begin(), program.inputs.end(),
                                 [&](const ImportedInput& each) { return each.name == input.name; });
    all.push_back(at == program.inputs.end() ? -1 : static_cast<int>(at - program.inputs.begin()));
  }
  for (const std::vector<int>* list : {&own, &all, &needed})
    if (given == list->size()) return *list;
  return invalid_argument(fmt::format("--input: {} files are given, expected {}: {}", given, own.size(), list_of(program)));
}

/// Distributes the files of --input over the program's inputs.
Expected<Paths> match_inputs(const Options& options, const Imported& program, const std::vector<ImportedInput>& of_file,
                             const std::vector<Assignment>& named, std::vector<std::string> in_order) {
  Paths paths(program.inputs.size());
  std::set<int> taken;
  for (const Assignment& each : named) {
    const auto at = std::find_if(program.inputs.begin(), program.inputs.end(),
                                 [&](const ImportedInput& input) { return input.name == each.name; });
    if (at == program.inputs.end())
      return invalid_argument(fmt::format("--input {}: {} does not need it, expected {}", each.name,
                                          options.kernel_name.empty() ? "the file" : "kernel " + options.kernel_name,
                                          list_of(program)));
    const auto number = static_cast<int>(at - program.inputs.begin());
    if (!taken.insert(number).second) return invalid_argument(fmt::format("--input {}: it is given twice", each.name));
    paths[static_cast<size_t>(number)] = each.path;
  }
  // A `-` at the end may stand for an optional input that the file itself does not have.
  while (in_order.size() > std::max(of_file.size(), program.inputs.size()) && in_order.back() == "-") in_order.pop_back();
  STREW_ASSIGN(const std::vector<int> targets, targets_of(in_order.size(), program, of_file, taken));
  for (size_t i = 0; i < targets.size(); ++i)
    if (targets[i] >= 0) paths[static_cast<size_t>(targets[i])] = in_order[i];
  return paths;
}

Expected<Inputs> read_inputs(const Options& options, const Imported& program, const Paths& paths) {
  Inputs inputs(program.inputs.size());
  for (size_t i = 0; i < paths.size(); ++i) {
    const ImportedInput& input = program.inputs[i];
    if (paths[i].empty()) continue;
    if (paths[i] == "-") {
      if (!input.optional)
        return invalid_argument(fmt::format("--input -: input {} is not optional, expected a file", input.name));
      continue;
    }
    STREW_ASSIGN(inputs[i], read_tensor(paths[i], input, options.import.max_file_bytes));
  }
  return inputs;
}

Inputs clone_all(const Inputs& inputs) {
  Inputs out;
  for (const auto& tensor : inputs) out.push_back(tensor == nullptr ? nullptr : clone(*tensor));
  return out;
}

/// Do all kernels only move elements? The bits of NaNs are then compared, too.
bool only_moves(const Imported& imported) {
  for (const ImportedKernel& kernel : imported.kernels) {
    const Scatter* scatter = std::get_if<Scatter>(&*kernel.op);
    const Gather* gather = std::get_if<Gather>(&*kernel.op);
    if (scatter != nullptr && (!scatter->combiner.empty() || scatter->operands[0].dtype != scatter->results[0].dtype ||
                               scatter->updates[0].dtype != scatter->results[0].dtype)) {
      return false;
    }
    if (gather != nullptr && (!gather->expr.empty() || gather->operand.dtype != gather->result.dtype)) return false;
  }
  return true;
}

Status verify_outputs(Runtime& runtime, const Imported& imported, Inputs inputs, ProgramOptions program,
                      const std::vector<Tensor>& outputs) {
  program.kernel.backend = BackendChoice::reference;
  program.kernel.schedule = {};
  program.after_kernel = nullptr;
  STREW_ASSIGN(const std::vector<Tensor> expected, run_program(runtime, imported, std::move(inputs), program));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string difference = first_difference(outputs[i], expected[i], only_moves(imported));
    if (!difference.empty()) {
      return internal_error(fmt::format("--verify: output {} is not the reference's: {}", i, difference));
    }
  }
  return {};
}

Status time_and_note(const Options& options, const ImportedKernel& imported, const Kernel& kernel,
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

std::string duration(double ns) {
  if (ns < 1e4) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e7) return fmt::format("{:.1f} us", ns / 1e3);
  return fmt::format("{:.1f} ms", ns / 1e6);
}

std::string text_report(const Options& options, const std::vector<KernelReport>& reports) {
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
  if (options.verify) out += "verified: the reference gives the same bits\n";
  return out;
}

std::string json_report(const Options& options, const std::vector<KernelReport>& reports, const std::vector<Tensor>& outputs) {
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
  if (options.verify) json["verified"] = true;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Does an output of the file need what strew does not run?
bool needs_opaque(const Imported& imported) {
  std::vector<bool> seen(imported.values.size());
  std::vector<int> open;
  for (const ImportedOutput& output : imported.outputs) open.push_back(output.value);
  while (!open.empty()) {
    const int v = open.back();
    open.pop_back();
    if (seen[static_cast<size_t>(v)]) continue;
    seen[static_cast<size_t>(v)] = true;
    const Value& value = imported.values[static_cast<size_t>(v)];
    if (value.kind == ValueKind::opaque) return true;
    const auto reads = [&](int read) { open.push_back(read); };
    each_source(imported, value, reads);
    if (value.kind == ValueKind::result) each_use(imported.kernels[static_cast<size_t>(value.index)], reads);
  }
  return false;
}

/// The kernel to run alone; -1: run the whole file; -2: a usage error was reported.
int choose_kernel(const Options& options, const Imported& imported, size_t in_order, int& exit_status) {
  const auto optional = std::count_if(imported.inputs.begin(), imported.inputs.end(), can_be_left_out);
  const bool several = imported.kernels.size() > 1;
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
    if (!several || in_order >= imported.inputs.size() - static_cast<size_t>(optional) || in_order != options.inputs.size())
      return -1;
  }
  const int kernel = select_kernel(options, imported, exit_status);
  return kernel < 0 ? -2 : kernel;
}

Status check_outputs(const Options& options, const Imported& program) {
  if (!options.outputs.empty() && options.outputs.size() != program.outputs.size()) {
    return invalid_argument(
        fmt::format("--output: {} files are given, expected {}", options.outputs.size(), program.outputs.size()));
  }
  for (const std::string& path : options.outputs) {
    if (std::string_view(path).ends_with(".pb"))
      return invalid_argument("--output: '" + path + "', expected a name for an .npy file");
  }
  return {};
}

}  // namespace

int run(const Options& options) {
  Expected<Imported> imported = import_file(options.file, options.import);
  if (!imported.ok()) return fail(imported.status());
  std::vector<Assignment> named;
  std::vector<std::string> in_order, names;
  const std::vector<std::string> known = names_of(*imported);
  for (const std::string& text : options.inputs) {
    if (std::optional<Assignment> found = assignment_of(text, known)) {
      names.push_back(found->name);
      named.push_back(std::move(*found));
    } else {
      in_order.push_back(text);
    }
  }
  int exit_status = kDone;
  const int kernel = choose_kernel(options, *imported, in_order.size(), exit_status);
  if (kernel == -2) return exit_status;
  const std::vector<ImportedInput> of_file = imported->inputs;
  if (kernel >= 0) imported = cut_kernel(std::move(*imported), kernel, names);
  const Expected<Paths> paths = match_inputs(options, *imported, of_file, named, std::move(in_order));
  if (!paths.ok()) return usage_error(paths.status().message());
  if (const Status s = check_outputs(options, *imported); !s.ok()) return usage_error(s.message());
  Expected<Inputs> inputs = read_inputs(options, *imported, *paths);
  if (!inputs.ok()) return fail(inputs.status());
  for (const std::string& library : options.libraries)
    if (const auto loaded = Runtime::process().load(library); !loaded.ok()) return fail(loaded.status());

  std::vector<KernelReport> reports;
  ProgramOptions program;
  program.kernel = options.kernel;
  program.after_kernel = [&](const ImportedKernel& k, const Kernel& compiled, std::span<const TensorView> views) {
    return time_and_note(options, k, compiled, views, reports);
  };
  Inputs again = options.verify ? clone_all(*inputs) : Inputs();
  const ImportedKernel* first = imported->kernels.empty() ? nullptr : imported->kernels.data();
  const std::string op_text = first == nullptr ? "" : print(first->op);
  Expected<std::vector<Tensor>> outputs = run_program(Runtime::process(), *imported, std::move(*inputs), program);
  if (!outputs.ok()) return fail(outputs.status(), op_text);
  if (options.verify) {
    const Status s = verify_outputs(Runtime::process(), *imported, std::move(again), program, *outputs);
    if (!s.ok()) return fail(s, op_text);
  }
  if (const Status s = write_tensors(*outputs, options.outputs); !s.ok()) return fail(s);
  return fail(print_out(options.json ? json_report(options, reports, *outputs) : text_report(options, reports)));
}

}  // namespace strew::cli
