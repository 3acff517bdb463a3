// strew run: imports a file, compiles its kernels, runs them once on the given tensors and writes the results; with
// --time and --verify also measures and compares.
//
// Without --kernel the whole file runs: everything that its outputs need. If the file has several kernels and the given
// inputs do not fit the file's, the user is asked to name a kernel. Outputs are written last. Tested by
// tests/error/cli_test.cc and tests/oracle/*.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "strew/program.h"
#include "strew/text.h"
#include "tools/strew/message.h"
#include "tools/strew/options.h"
#include "tools/strew/select.h"
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

/// The inputs of the file that the kernel reads, in the file's order.
std::vector<int> inputs_of(const Imported& imported, const ImportedKernel& kernel) {
  std::vector<bool> used(imported.inputs.size(), false);
  std::vector<bool> seen(imported.values.size(), false);
  std::vector<int> open = kernel.arguments;
  open.push_back(kernel.slice_sizes);
  for (const EqualScalars& equal : kernel.equal_scalars) open.insert(open.end(), {equal.value, equal.other});
  while (!open.empty()) {
    const int v = open.back();
    open.pop_back();
    if (v < 0 || seen[static_cast<size_t>(v)]) continue;
    seen[static_cast<size_t>(v)] = true;
    const Value& value = imported.values[v];
    if (value.kind == ValueKind::input) used[value.index] = true;
    open.push_back(value.like);
    open.insert(open.end(), value.parts.begin(), value.parts.end());
    if (value.kind != ValueKind::compute) continue;
    const std::vector<int>& more = imported.computes[value.index].arguments;
    open.insert(open.end(), more.begin(), more.end());
  }
  std::vector<int> out;
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) out.push_back(static_cast<int>(i));
  }
  return out;
}

/// Is the input a scalar of a PTO program that a tensor's extent determines, or that the program does not use? All such
/// inputs may be left out together, without a `-` for each.
bool can_be_left_out(const ImportedInput& input) { return input.optional && input.memory; }
std::vector<int> without_optional(const Imported& imported, const std::vector<int>& inputs) {
  std::vector<int> out;
  for (const int i : inputs)
    if (!can_be_left_out(imported.inputs[static_cast<size_t>(i)])) out.push_back(i);
  return out;
}

/// Finds the file's input for each --input. Fails with a usage error if there is no assignment for their number.
Status match_inputs(const Options& options, const Imported& imported, int kernel, std::vector<int>& targets) {
  size_t given = options.inputs.size();
  std::vector<int> all(imported.inputs.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  const std::vector<int> own = kernel < 0 ? all : inputs_of(imported, imported.kernels[kernel]);
  const std::vector<int> needed = without_optional(imported, own);
  // A `-` at the end may stand for an optional input that the file itself does not have.
  while (given > std::max(all.size(), own.size()) && options.inputs[given - 1] == "-") --given;
  if (given == own.size()) {
    targets = own;
    return {};
  }
  if (given == all.size()) {
    targets = all;
    return {};
  }
  if (given == needed.size()) {
    targets = needed;
    return {};
  }
  std::string expected;
  for (int i : own) {
    expected += fmt::format("{}{} {}", expected.empty() ? "" : ", ", imported.inputs[i].name, type_text(imported.inputs[i].type));
  }
  return invalid_argument(fmt::format("--input: {} files are given, expected {}: {}", given, own.size(), expected));
}

Expected<Inputs> read_inputs(const Options& options, const Imported& imported, const std::vector<int>& targets) {
  Inputs inputs(imported.inputs.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    const ImportedInput& input = imported.inputs[targets[i]];
    if (options.inputs[i] == "-") {
      if (!input.optional)
        return invalid_argument(fmt::format("--input -: input {} is not optional, expected a file", input.name));
      continue;
    }
    STREW_ASSIGN(inputs[targets[i]], read_tensor(options.inputs[i], input, options.import.max_file_bytes));
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

/// The kernel to run alone; -1: run the whole file; -2: a usage error was reported.
int choose_kernel(const Options& options, const Imported& imported, int& exit_status) {
  const auto optional = std::count_if(imported.inputs.begin(), imported.inputs.end(), can_be_left_out);
  const bool whole =
      options.kernel_name.empty() && options.inputs.size() >= imported.inputs.size() - static_cast<size_t>(optional);
  if (options.kernel_name.empty() && (whole || imported.kernels.size() == 1)) return -1;
  const int kernel = select_kernel(options, imported, exit_status);
  return kernel < 0 ? -2 : kernel;
}

Status check_outputs(const Options& options, const Imported& imported, int kernel) {
  size_t results = imported.outputs.size();
  if (kernel >= 0) {
    results = 0;
    for (const TensorSlot& slot : tensor_slots(imported.kernels[kernel].op)) results += slot.role == Role::result;
  }
  if (!options.outputs.empty() && options.outputs.size() != results) {
    return invalid_argument(fmt::format("--output: {} files are given, expected {}", options.outputs.size(), results));
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
  int exit_status = kDone;
  const int kernel = choose_kernel(options, *imported, exit_status);
  if (kernel == -2) return exit_status;
  std::vector<int> targets;
  if (const Status s = match_inputs(options, *imported, kernel, targets); !s.ok()) return usage_error(s.message());
  if (const Status s = check_outputs(options, *imported, kernel); !s.ok()) return usage_error(s.message());
  Expected<Inputs> inputs = read_inputs(options, *imported, targets);
  if (!inputs.ok()) return fail(inputs.status());
  for (const std::string& library : options.libraries)
    if (const auto loaded = Runtime::process().load(library); !loaded.ok()) return fail(loaded.status());

  std::vector<KernelReport> reports;
  ProgramOptions program;
  program.kernel = options.kernel;
  if (kernel >= 0) program.only = imported->kernels[kernel].name;
  program.after_kernel = [&](const ImportedKernel& k, const Kernel& compiled, std::span<const TensorView> views) {
    return time_and_note(options, k, compiled, views, reports);
  };
  Inputs again = options.verify ? clone_all(*inputs) : Inputs();
  const ImportedKernel* first = imported->kernels.empty() ? nullptr : &imported->kernels[std::max(kernel, 0)];
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
