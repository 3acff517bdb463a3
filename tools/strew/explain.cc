// strew explain: prints, for each kernel of a file, the product of every stage up to the descriptor, the reasons for
// the choices, and what the kernel guarantees. Nothing is compiled. Of the libraries that are opened on demand, only that of the chosen
// backend is (and MLIR by the importer of .mlir files), because without it another backend runs the kernel.
//
// An Explanation per kernel (explanation.h) is filled first and then printed: ten lines of it (explain_brief.cc), all of it (--all), or JSON.
// Tested by tests/error/explain_test.cc and cli_test.cc.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>

#include "backends/modules.h"
#include "backends/pipeline.h"
#include "base/options.h"
#include "compiler/op/combiner.h"
#include "compiler/op/notation.h"
#include "runtime/disk_cache/disk_cache.h"
#include "runtime/kernel_state.h"
#include "schedules/costs/explained.h"
#include "strew/compiled_kernel.h"
#include "strew/options.h"
#include "strew/runtime.h"
#include "strew/text.h"
#include "tools/strew/costs.h"
#include "tools/strew/descriptor_json.h"
#include "tools/strew/explanation.h"
#include "tools/strew/message.h"
#include "tools/strew/npu.h"
#include "tools/strew/options.h"
#include "tools/strew/select.h"
#include "tools/strew/stages.h"
#include "tools/strew/summary.h"

namespace strew::cli {
namespace {

using Json = nlohmann::ordered_json;

Guarantees guarantees_of(const ProgramKernel& kernel, const Compiled& stages) {
  Guarantees g;
  g.threads = most_threads(stages);
  g.bits_fixed = "yes";
  g.writes = "none";
  const OobPolicy oob = oob_of(kernel.op);
  if (const Scatter* scatter = std::get_if<Scatter>(&*kernel.op)) {
    if (scatter->order == Order::relaxed && sums_floats(*scatter)) g.bits_fixed = "no (order relaxed)";
    g.scratch_bytes = scratch_bytes(*scatter, stages);
    if (scatter->init == InitKind::copy) g.writes = "none (after the copy of operand to result)";
    if (scatter->init == InitKind::fill) g.writes = "none (after the fill of the result)";
  }
  const bool checks_lookups =
      std::ranges::any_of(lookups_of(kernel.op), [](const Lookup& each) { return each.gather.oob == OobPolicy::error; });
  g.checks_first = oob == OobPolicy::error || checks_lookups ? "yes"
                   : kernel.find(ArgumentUse::non_negative) != nullptr
                       ? "yes (negative ones; policy " + std::string(name(oob)) + " takes the others)"
                   : oob == OobPolicy::undefined ? "no (policy undefined: the caller promises)"
                                                 : "no (policy " + std::string(name(oob)) + " makes each one safe)";
  return g;
}

/// The bytes of the operands that a call copies unless operand and result are one buffer; 0: nothing is copied;
/// kDynamic: they depend on open extents.
int64_t copied_bytes(const Op& op) {
  const Scatter* scatter = std::get_if<Scatter>(&op);
  if (scatter == nullptr || scatter->init != InitKind::copy) return 0;
  int64_t bytes = 0;
  for (const TensorType& operand : scatter->operands) {
    int64_t elements = 1;
    for (int64_t dim : operand.dims) {
      if (dim == kDynamic) return kDynamic;
      elements *= dim;
    }
    bytes += storage_bytes(operand.dtype, elements);
  }
  return bytes;
}

}  // namespace

std::string copies_text(const Explanation& e) {
  const Compiled& stages = e.stages;
  const int64_t bytes = copied_bytes(stages.op);
  if (bytes == 0) return {};
  if (stages.plan.symbols.empty() && overwrites_all(stages.plan, nullptr)) return "nothing: the updates overwrite every element";
  const std::string size = bytes == kDynamic ? "the whole operand" : fmt::format("the whole operand, {} B", bytes);
  return size + ", in every call whose result buffer is not the operand's";
}

namespace {

/// The symbols of the kernels of --library, which the process's runtime loads.
Expected<std::set<std::string>> load_libraries(const Options& options) {
  std::set<std::string> symbols;
  for (const std::string& library : options.libraries) {
    STREW_ASSIGN(const std::vector<CompiledKernel> kernels, Runtime::process().load(library));
    for (const CompiledKernel& kernel : kernels) symbols.insert(kernel.descriptor().name);
  }
  return symbols;
}

/// Asks the runtime, which has the libraries, for the kernel. If none of theirs answers, it compiles one.
Expected<std::string> library_answer(const ProgramKernel& kernel, const Options& options) {
  static const Expected<std::set<std::string>> symbols = load_libraries(options);
  STREW_TRY(symbols.status());
  STREW_ASSIGN(const Kernel found, Runtime::process().get(kernel.op, options.kernel));
  if (!symbols->contains(found.symbol()))
    return std::string("has no kernel for this op that this machine can run, so requests are compiled");
  return fmt::format("answers requests with {}, for {}, {}", found.symbol(), print(found.target()), print(found.schedule()));
}

/// What becomes of requests that differ in extents only (docs/service.md, "Shapes that keep changing").
std::string sharing_text(const Expected<std::vector<Sharing>>& sharing) {
  if (!sharing.ok()) return "  shapes      every request gets a kernel of its own: " + sharing.status().message() + "\n";
  std::string out;
  for (const Sharing& each : *sharing)
    out += fmt::format("  {:<11} {} requests that differ in {} get kernels of their own; the next ones share {}\n",
                       out.empty() ? "shapes" : "", each.exact, name(each.kind), each.op);
  return out.empty() ? "  shapes      taken from each call\n" : out;
}

Json sharing_json(const Expected<std::vector<Sharing>>& sharing) {
  if (!sharing.ok()) return {{"shared", false}, {"reason", sharing.status().message()}};
  Json out = {{"shared", true}, {"families", Json::array()}};
  for (const Sharing& each : *sharing)
    out["families"].push_back({{"differ_in", name(each.kind)}, {"exact", each.exact}, {"op", each.op}});
  return out;
}

/// Where the disk cache has the kernel, or would put it.
CachedAt cache_answer(const Compiled& stages) { return where_is_cached(options_of_process_runtimes(), stages); }

/// The names that messages to people have for the kernel's tensors: the file's, if they look like names.
std::vector<std::string> tensor_names(const Program& imported, int number) {
  std::vector<std::string> out;
  constexpr size_t kMostCharacters = 32;
  for (const KernelTensor& tensor : kernel_tensors(imported, number)) {
    std::string name;
    if (tensor.value >= 0) {
      const Value& value = imported.value(tensor.value);
      name = value.kind == ValueKind::input ? imported.input(value.index).name : value_name(imported, tensor.value);
      if (name == "value_" + std::to_string(tensor.value)) name.clear();  // it has none in the file
    }
    const bool is_plain = name.size() <= kMostCharacters && std::all_of(name.begin(), name.end(), [](unsigned char c) {
                            return std::isalnum(c) != 0 || c == '_' || c == '.';
                          });
    out.push_back(is_plain ? std::move(name) : "");
  }
  return out;
}

Expected<Explanation> explain_kernel(const Program& imported, size_t number, const Options& options) {
  const ProgramKernel& kernel = imported.kernel(number);
  STREW_ASSIGN(Compiled made, plan_kernel(kernel.op, options.kernel));
  Explanation out{&kernel, std::move(made)};
  out.tensors = tensors_text(imported, static_cast<int>(number));
  out.does = notation(*kernel.op, tensor_names(imported, static_cast<int>(number)));
  const Compiled& stages = out.stages;
  for (const Candidate& candidate : stages.backends)
    out.backends.push_back({std::string(candidate.backend->name()), candidate.status});
  for (Strategy s : kStrategies) {
    Schedule schedule = stages.schedule;
    schedule.strategy = s;
    Status status = check_schedule(schedule, stages.plan, stages.target);
    // The line says already which strategy it is.
    const std::string known = "schedule: strategy " + std::string(name(s)) + ": ";
    if (!status.ok() && status.message().starts_with(known))
      status = Status(status.code(), status.message().substr(known.size()));
    out.strategies.push_back({std::string(name(s)), std::move(status)});
  }
  if (stages.backend != nullptr) {
    out.chosen = stages.backend->name();
    out.opened = open_modules_of(out.chosen);
  } else {
    out.why = (stages.scheduled.ok() ? stages.chosen : stages.scheduled).message();
  }
  const bool is_learned = stages.learned.schedule.has_value();
  out.schedule_source = !options.schedule_given               ? is_learned ? "wisdom" : "heuristic"
                        : stages.schedule == stages.heuristic ? "--schedule, the same as the heuristic"
                                                              : "--schedule " + options.schedule + " over the heuristic";
  out.run_checks = options.trust_indices ? "--trust-indices: an index out of bounds would read or write stray memory"
                                         : "checks every index first, as policy error does; --trust-indices would not";
  out.guarantees = guarantees_of(kernel, stages);
  if (!is_npu(stages.target)) out.sharing = explain_sharing(*kernel.op, options.kernel, process_options().exact_shapes);
  out.cache = cache_answer(stages);
  if (!options.libraries.empty()) {
    STREW_ASSIGN(out.library, library_answer(kernel, options));
  }
  return out;
}

/// The line of the disk cache; empty if there is none.
std::string cache_text(const CachedAt& cache) {
  if (cache.path.empty()) return "";
  if (cache.is_there) return "  cache       in " + printable(cache.path) + "\n";
  return "  cache       not in " + printable(cache.path) + (cache.why.empty() ? "" : ": " + printable(cache.why)) + "\n";
}

std::string yes_or_reason(const Status& status) { return status.ok() ? "yes" : "no: " + status.message(); }

/// Wide accumulation: the parts of the kernel, each with its schedule.
std::string parts_text(const Compiled& stages) {
  static constexpr const char* kTitles[] = {"fold", "narrow", "start"};
  std::string out, sums = stages.sums;
  for (const Compiled& part : stages.parts) {
    if (part.part == STREW_SUMS)
      sums =
          "in registers and in one pass, where a call finds that destinations are sorted; else in memory, by fold and narrow\n" +
          std::string(14, ' ') + print(part.schedule);
    else
      out += fmt::format("  {:<11} {}\n              {}\n", kTitles[part.part], part.op_text, print(part.schedule));
  }
  return sums.empty() ? out : out + fmt::format("  {:<11} {}\n", "sums", sums);
}

std::string choices_text(const char* title, const std::vector<Choice>& choices) {
  std::string out;
  for (const Choice& c : choices)
    out += fmt::format("  {:<11} {:<10} {}\n", out.empty() ? title : "", c.name, yes_or_reason(c.status));
  return out;
}

std::string guarantees_text(const Guarantees& g) {
  const std::string scratch = g.scratch_bytes == kDynamic ? "as the shapes say" : std::to_string(g.scratch_bytes) + " B";
  return fmt::format("bits fixed: {}; writes outside updates: {}; scratch {}; threads {}; checks every index first: {}",
                     g.bits_fixed, g.writes, scratch, g.threads, g.checks_first);
}

std::string text_of(const Explanation& e) {
  const Compiled& stages = e.stages;
  std::string out = fmt::format("kernel {} ({})\n", printable(e.kernel->name), printable(e.kernel->location));
  out += fmt::format("  op          {}\n  hash        {}\n", stages.op_text, to_hex(hash_text(stages.identity_text)));
  out += fmt::format("  does        {}\n", printable(e.does));
  if (!e.tensors.empty()) out += fmt::format("  tensors     {}\n", e.tensors);
  for (const std::string& note : e.kernel->notes) out += fmt::format("  note        {}\n", printable(note));
  if (e.kernel->find(ArgumentUse::non_negative) != nullptr)
    out += "  check       a negative index is an error, found before anything is written\n";
  if (oob_of(e.kernel->op) == OobPolicy::undefined) out += fmt::format("  run         {}\n", e.run_checks);
  out += rewrites_text(stages) + parts_text(stages);
  out += "  plan\n" + indented(print(stages.plan));
  out += choices_text("backends", e.backends);
  out += fmt::format("  {:<11} {}\n", "runs on", backend_text(e));
  out += choices_text("strategies", e.strategies);
  out += fmt::format("  schedule    {} ({})\n", print(stages.schedule), e.schedule_source);
  if (stages.schedule.strategy == stages.heuristic.strategy)
    out += fmt::format("              {}: {}\n", name(stages.heuristic.strategy), stages.why);
  if (!stages.learned.from.empty()) out += "  wisdom      " + printable(stages.learned.from) + "\n";
  out += costs_text(explain_costs(stages.plan, stages.schedule, stages.target, stages.threads));
  if (const std::string copies = copies_text(e); !copies.empty()) out += "  copies      " + copies + "\n";
  if (!stages.scheduled.ok()) out += fmt::format("              illegal: {}\n", stages.scheduled.message());
  out += fmt::format("  target      {}\n", print(stages.target));
  if (e.sharing) out += sharing_text(*e.sharing);
  if (!e.library.empty()) out += "  library     " + e.library + "\n";
  out += cache_text(e.cache);
  out += fmt::format("  descriptor  {}\n", descriptor_text(stages));
  return out + "  guarantees  " + guarantees_text(e.guarantees) + "\n";
}

/// What became of an operation around the kernels: "folded into main", "interpreted".
std::string disposition_of(const Compute& compute, const Program& imported) {
  const auto into = [&](const char* how) { return fmt::format("{} into {}", how, imported.kernel(compute.kernel).name); };
  switch (compute.disposition) {
    case ComputeDisposition::folded:
      return into("folded");
    case ComputeDisposition::fused:
      return into("fused");
    case ComputeDisposition::unused:
      return "unused";
    case ComputeDisposition::interpreted:
      break;
  }
  return "interpreted";
}

/// The first result of each Compute, as text.
std::vector<std::string> results_of(const Program& imported) {
  std::vector<std::string> out;
  for (const Compute& c : imported.computes()) out.push_back(print(c.results[0]));
  for (const Value& value : imported.values())
    if (value.kind == ValueKind::compute && value.result == 0 && !value.symbols.empty())
      out[static_cast<size_t>(value.index)] = type_text(imported.compute(value.index).results[0], value.symbols);
  return out;
}

/// The operations around the kernels and what became of them, one line each.
std::string computes_text(const Program& imported) {
  std::string out;
  const std::vector<std::string> results = results_of(imported);
  for (size_t i = 0; i < imported.computes().size(); ++i) {
    const Compute& c = imported.compute(i);
    out += fmt::format("  {:<11} {} {}\n", printable(disposition_of(c, imported)), printable(c.location), printable(results[i]));
  }
  return out.empty() ? out : "\naround the kernels\n" + out;
}

Json computes_json(const Program& imported) {
  Json out = Json::array();
  const std::vector<std::string> results = results_of(imported);
  for (size_t i = 0; i < imported.computes().size(); ++i) {
    const Compute& c = imported.compute(i);
    out.push_back({{"location", c.location}, {"result", results[i]}, {"became", disposition_of(c, imported)}});
  }
  return out;
}

Json choices_json(const std::vector<Choice>& choices) {
  Json out = Json::array();
  for (const Choice& c : choices) {
    Json entry = {{"name", c.name}, {"ok", c.status.ok()}};
    if (!c.status.ok()) entry["reason"] = c.status.message();
    out.push_back(std::move(entry));
  }
  return out;
}

Json json_of(const Explanation& e) {
  const Compiled& stages = e.stages;
  Json out = {{"name", e.kernel->name},
              {"location", e.kernel->location},
              {"op", stages.op_text},
              {"does", e.does},
              {"identity", stages.identity_text},
              {"hash", to_hex(hash_text(stages.identity_text))},
              {"notes", e.kernel->notes},
              {"negative_indices_are_errors", e.kernel->find(ArgumentUse::non_negative) != nullptr},
              {"rewrites", rewrites_json(stages)},
              {"canonical", print(stages.canonical)},
              {"plan", print(stages.plan)},
              {"backends", choices_json(e.backends)},
              {"backend", e.chosen.empty() ? Json(nullptr) : Json(e.chosen)},
              {"strategies", choices_json(e.strategies)},
              {"schedule", {{"text", print(stages.schedule)}, {"source", e.schedule_source}, {"why", stages.why}}},
              {"costs", costs_json(explain_costs(stages.plan, stages.schedule, stages.target, stages.threads))},
              {"target", print(stages.target)},
              {"generator", generator_version()},
              {"descriptor", descriptor_json(stages)}};
  if (!e.tensors.empty()) out["tensors"] = e.tensors;
  if (oob_of(e.kernel->op) == OobPolicy::undefined) out["run"] = e.run_checks;
  if (e.chosen.empty()) out["backend_reason"] = e.why;
  if (!e.opened.ok()) out["backend_cannot_be_opened"] = e.opened.message();
  if (e.sharing) out["shapes"] = sharing_json(*e.sharing);
  if (!e.library.empty()) out["library"] = e.library;
  if (!e.cache.path.empty()) out["cache"] = {{"file", e.cache.path}, {"hit", e.cache.is_there}, {"why", e.cache.why}};
  if (!stages.learned.from.empty()) out["wisdom"] = stages.learned.from;
  out["guarantees"] = {
      {"bits_fixed", e.guarantees.bits_fixed},
      {"writes_outside_updates", e.guarantees.writes},
      {"scratch_bytes", e.guarantees.scratch_bytes == kDynamic ? nlohmann::json() : nlohmann::json(e.guarantees.scratch_bytes)},
      {"threads", e.guarantees.threads},
      {"checks_every_index_first", e.guarantees.checks_first},
      {"text", guarantees_text(e.guarantees)}};
  return out;
}

}  // namespace

namespace {

/// Fails if a kernel cannot be explained. It is called before anything is printed, so that a failure prints nothing.
/// With backend `auto` all kernels fail for the same reasons, so the first is enough; a backend that the caller names
/// may fail for any kernel.
Status check_all(const Program& imported, const Options& options, size_t first, size_t last) {
  for (size_t k = first; k < (options.kernel.backend == BackendChoice::automatic ? std::min(first + 1, last) : last); ++k) {
    STREW_ASSIGN(const Explanation e, explain_kernel(imported, k, options));
    if (e.chosen.empty() && options.kernel.backend != BackendChoice::automatic)
      return unsupported(imported.kernel(k).location + ": " + e.why);
  }
  return {};
}

/// What a file with several kernels holds: a line for each distinct kernel.
std::string overview_text(const Program& imported, const Options& options, const std::vector<KernelGroup>& groups) {
  std::string out = printable(options.file) + ": " + imported.format() + ", " + summary_text(imported, groups.size()) + "\n";
  for (const KernelGroup& group : groups)
    out += fmt::format("  {} x {}: {}\n", group.kernels.size(), names_text(imported, group), group.op);
  return out + policies_text(imported, options.import) + refused_text(imported) + not_run_text(imported);
}

/// What became of the operations around the kernels, in a line: "around the kernels: 12 operations, 10 folded or fused into them, 2 interpreted …".
std::string computes_line(const Program& imported) {
  size_t interpreted = 0, unused = 0;
  for (const Compute& compute : imported.computes()) {
    interpreted += compute.disposition == ComputeDisposition::interpreted ? 1 : 0;
    unused += compute.disposition == ComputeDisposition::unused ? 1 : 0;
  }
  const size_t all = imported.computes().size();
  if (all == 0) return {};
  return fmt::format(
      "\naround the kernels: {} operation{}, {} folded or fused into them, {} interpreted (large ones as kernels), {} unused\n",
      all, all == 1 ? "" : "s", all - interpreted - unused, interpreted, unused);
}

/// Prints a few lines for each distinct kernel.
Status print_brief(const Program& imported, const Options& options, const std::vector<KernelGroup>& groups, bool overview) {
  bool is_first = !overview;
  for (const KernelGroup& group : groups) {
    const auto number = static_cast<size_t>(group.kernels[0]);
    STREW_ASSIGN(const Explanation e, explain_kernel(imported, number, options));
    KernelGroup others = group;
    others.kernels.erase(others.kernels.begin());
    STREW_TRY(print_out((is_first ? "" : "\n") + brief_text(e, options.file, names_text(imported, others))));
    is_first = false;
  }
  if (options.kernel_name.empty()) STREW_TRY(print_out(computes_line(imported)));
  return print_out(
      "--all: every rewrite, the plan, each backend and strategy with yes or the reason why not, costs, the target\n");
}

/// Prints the kernels one by one, without collecting their texts: a file may have tens of thousands.
Status print_text(const Program& imported, const Options& options, size_t first, size_t last) {
  std::vector<KernelGroup> groups = distinct_kernels(imported);
  const bool whole = options.kernel_name.empty(), overview = whole && (last - first > 1 || !imported.opaques().empty());
  if (overview) STREW_TRY(print_out(overview_text(imported, options, groups)));
  if (!options.all) {
    if (!whole) groups = {{print(imported.kernel(first).op), {static_cast<int>(first)}}};
    return print_brief(imported, options, groups, overview);
  }
  for (size_t k = first; k < last; ++k) {
    STREW_ASSIGN(const Explanation e, explain_kernel(imported, k, options));
    STREW_TRY(print_out((k == first && !overview ? "" : "\n") + text_of(e)));
  }
  return whole ? print_out(computes_text(imported)) : Status();
}

std::string dump(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace); }

Status print_json(const Program& imported, const Options& options, size_t first, size_t last) {
  STREW_TRY(
      print_out("{\n  \"file\": " + dump(options.file) + ",\n  \"format\": " + dump(imported.format()) + ",\n  \"kernels\": ["));
  for (size_t k = first; k < last; ++k) {
    STREW_ASSIGN(const Explanation e, explain_kernel(imported, k, options));
    std::string entry = indented(dump(json_of(e)));
    entry.pop_back();
    STREW_TRY(print_out((k == first ? "\n" : ",\n") + entry));
  }
  STREW_TRY(print_out(last > first ? "\n  ]" : "]"));
  if (options.kernel_name.empty() && !imported.computes().empty())
    STREW_TRY(print_out(",\n  \"around\": " + dump(computes_json(imported))));
  if (options.kernel_name.empty() && !imported.opaques().empty()) {
    Json others = Json::object();
    for (const auto& [name, count] : other_operations(imported)) others[name] = count;
    STREW_TRY(print_out(",\n  \"other_operations\": " + dump(others)));
  }
  return print_out("\n}\n");
}

}  // namespace

namespace {

/// explain --emit: the stage of the kernels [first, last).
int print_stage(const Program& imported, const Options& options, size_t first, size_t last) {
  if (!is_stage(options.emit))
    return usage_error(fmt::format("--emit: stage is '{}', expected {}", options.emit, fmt::join(stage_names(), ", ")));
  std::string out;
  for (size_t k = first; k < last; ++k) {
    const ProgramKernel& kernel = imported.kernel(static_cast<int>(k));
    const auto text = [&]() -> Expected<std::string> {
      STREW_ASSIGN(const Compiled planned, plan_kernel(kernel.op, options.kernel));
      return stage_text(planned, options.emit);
    }();
    if (!text.ok()) return fail(text.status().with_prefix(kernel.location), print(kernel.op));
    out += *text;
  }
  return fail(print_out(out));
}

}  // namespace

int explain(const Options& options) {
  const Expected<Program> imported = import_file(options.file, options.import);
  if (!imported.ok()) return fail(imported.status());
  size_t first = 0, last = imported->kernels().size();
  if (!options.kernel_name.empty()) {
    int exit_status = kDone;
    const int number = select_kernel(options, *imported, exit_status);
    if (number < 0) return exit_status;
    first = static_cast<size_t>(number);
    last = first + 1;
  }
  if (!options.emit.empty()) return print_stage(*imported, options, first, last);
  if (options.kernel.target && is_npu(*options.kernel.target)) {
    std::vector<int> numbers(last - first);
    std::iota(numbers.begin(), numbers.end(), static_cast<int>(first));
    return explain_programs(options, *imported, numbers);
  }
  if (const Status status = check_all(*imported, options, first, last); !status.ok())
    return fail(status, first < last ? print(imported->kernel(first).op) : "");
  return fail(options.json ? print_json(*imported, options, first, last) : print_text(*imported, options, first, last));
}

}  // namespace strew::cli
