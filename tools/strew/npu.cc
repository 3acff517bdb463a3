// See npu.h. The program comes from the same pipeline as every other kernel. Its text and its JSON description OUT.json
// are both written to temporary files before either is renamed. Tested by tests/error/cli_test.cc.
#include "tools/strew/npu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "backends/modules.h"
#include "backends/pipeline.h"
#include "base/pending_file.h"
#include "strew/text.h"
#include "tools/strew/message.h"
#include "tools/strew/stages.h"

namespace strew::cli {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view kKinds[] = {"pto-as", "pto-ir", "pto-ir-generic", "pto-cpp", "pto-host"};

pto::Output output_of(std::string_view kind) {
  if (kind == "pto-as") return pto::Output::pto_as;
  return kind == "pto-cpp" ? pto::Output::pto_cpp : pto::Output::pto_ir;
}

/// A kernel's name as a C identifier.
std::string function_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_', digit = c >= '0' && c <= '9';
    if (digit && out.empty()) out += "kernel_";
    out += letter || digit ? c : '_';
  }
  // Names that C++ or the launch code reserves.
  for (const char* taken : {"main", "kernel", "int", "float", "double", "void", "template", "default"})
    if (out == taken) out += "_kernel";
  return out.empty() ? "kernel_0" : out;
}

Json json_of(const pto::CoreCost& core) {
  return {{"loaded_bytes", core.loaded_bytes}, {"stored_bytes", core.stored_bytes}, {"indexed_bytes", core.scattered_bytes},
          {"instructions", core.instructions}, {"scalars", core.scalars},           {"tiles", core.tiles}};
}

Json json_of(const pto::TileProgram& program, const std::string& target) {
  Json args = Json::array();
  for (const pto::ProgramArgument& a : program.arguments) {
    Json shape = Json::array();
    for (const int64_t dim : a.dims) shape.push_back(dim == kDynamic ? Json("?") : Json(dim));
    Json arg = {{"name", a.name}, {"role", pto::name(a.role)}, {"dtype", name(a.dtype)}, {"shape", std::move(shape)}};
    if (!a.strides.empty()) {
      arg["strides"] = Json::array();
      for (const int64_t stride : a.strides) arg["strides"].push_back(stride == kDynamic ? Json("?") : Json(stride));
    }
    if (a.role == pto::ArgumentRole::scalar && a.tensor >= 0)
      arg[a.is_stride ? "stride" : "extent"] = {{"of", program.arguments[static_cast<size_t>(a.tensor)].name}, {"dim", a.dim}};
    args.push_back(std::move(arg));
  }
  return {{"kernel", program.kernel},
          {"target", target},
          {"blocks", program.blocks},
          {"launches", program.launches},
          {"ub_bytes", program.ub_bytes},
          {"args", std::move(args)},
          {"requires", program.requirements},
          {"tiles",
           {{"mode", program.tiles.mode},
            {"split", pto::name(program.tiles.split)},
            {"rows", program.tiles.rows},
            {"cols", program.tiles.cols},
            {"layout", program.tiles.layout},
            {"buffers", program.tiles.buffers}}},
          {"cost",
           {{"cores", program.cost.cores}, {"mean", json_of(program.cost.mean)}, {"longest", json_of(program.cost.longest)}}}};
}

std::string side_car(const std::vector<pto::TileProgram>& programs, const std::string& target) {
  if (programs.size() == 1) return json_of(programs[0], target).dump(2) + "\n";
  Json all = {{"kernels", Json::array()}};
  for (const pto::TileProgram& program : programs) all["kernels"].push_back(json_of(program, target));
  return all.dump(2) + "\n";
}

Status write_both(const std::string& path, const std::string& text, const std::string& json) {
  STREW_ASSIGN(PendingFile program, PendingFile::create(path, text));
  STREW_ASSIGN(PendingFile beside, PendingFile::create(path + ".json", json));
  STREW_TRY(beside.commit());
  const Status done = program.commit();
  if (!done.ok()) std::remove((path + ".json").c_str());
  return done;
}

/// Does the source demand an error for negative indices of the op beside its policy? Fails if it does so for another value: a program
/// checks the op's own indices.
Expected<bool> wants_non_negative(const ProgramKernel& kernel) {
  const KernelArgument* const wanted = kernel.find(ArgumentUse::non_negative);
  if (wanted == nullptr) return false;
  const std::vector<TensorSlot> slots = input_slots(kernel.op);
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].role == Role::indices && slots[i].index == 0 && kernel.tensor(i) == wanted->value) return true;
  return unsupported("negative elements of a value that is not the op's indices are errors, which a program has no check for");
}

}  // namespace

bool is_program_kind(std::string_view kind) { return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds); }
Expected<std::shared_ptr<const pto::TileProgram>> program_of(const ProgramKernel& kernel, const Options& options,
                                                             pto::Output output) {
  pto::ProgramOptions wanted = options.program;
  wanted.output = output;
  STREW_ASSIGN(wanted.non_negative, wants_non_negative(kernel));
  wanted.kernel = function_name(kernel.name);
  STREW_ASSIGN(Compiled compiled, plan_kernel(kernel.op, options.kernel, &wanted));
  STREW_TRY(build(compiled));
  return std::move(compiled.artifact.program);
}

int compile_programs(const Options& options, const Program& imported, const std::vector<int>& kernels) {
  std::vector<pto::TileProgram> programs;
  for (const int number : kernels) {
    const ProgramKernel& kernel = imported.kernel(number);
    const Expected<std::shared_ptr<const pto::TileProgram>> made = program_of(kernel, options, output_of(options.emit));
    if (!made.ok()) return fail(made.status().with_prefix(kernel.location + ": " + options.target), print(kernel.op));
    const pto::TileProgram& program = **made;
    for (const pto::TileProgram& other : programs)
      if (other.kernel == program.kernel)
        return fail(unsupported(kernel.location + ": two kernels of the file would be called " + program.kernel +
                                ", expected one of them with --kernel"));
    programs.push_back(program);
  }
  const Expected<const PtoModule*> module = open_pto_module();
  if (!module.ok()) return fail(module.status());
  const Expected<std::string> text = (*module)->program_text(programs, options.emit);
  if (!text.ok()) return fail(text.status());
  if (options.output == "-") return fail(print_out(*text));
  if (const Status status = write_both(options.output, *text, side_car(programs, options.target)); !status.ok())
    return fail(status);
  if (!options.json) return kDone;
  return fail(print_out("{\"file\": \"" + printable(options.output) + "\", \"bytes\": " + std::to_string(text->size()) + "}\n"));
}

int explain_programs(const Options& options, const Program& imported, const std::vector<int>& kernels) {
  Json json = {{"file", options.file}, {"format", imported.format()}, {"target", options.target}, {"kernels", Json::array()}};
  std::string text;
  for (const int number : kernels) {
    const ProgramKernel& kernel = imported.kernel(number);
    const Expected<Compiled> stages = plan_kernel(kernel.op, options.kernel);
    if (!stages.ok()) return fail(stages.status(), print(kernel.op));
    Json entry = {{"name", kernel.name},         {"location", kernel.location},
                  {"op", print(kernel.op)},      {"rewrites", rewrites_json(*stages)},
                  {"plan", print(stages->plan)}, {"programs", Json::object()}};
    text += (text.empty() ? "" : "\n") + fmt::format("kernel {} ({})\n  op          {}\n", printable(kernel.name),
                                                     printable(kernel.location), print(kernel.op));
    text += rewrites_text(*stages) + "  plan\n" + indented(print(stages->plan));
    for (const pto::Output output : {pto::Output::pto_ir, pto::Output::pto_cpp, pto::Output::pto_as}) {
      const Expected<std::shared_ptr<const pto::TileProgram>> made = program_of(kernel, options, output);
      const std::string title(pto::name(output));
      if (!made.ok()) {
        entry["programs"][title] = {{"ok", false}, {"reason", made.status().message()}};
        text += fmt::format("  {:<11} no: {}\n", title, made.status().message());
        continue;
      }
      const pto::TileProgram& program = **made;
      Json report = json_of(program, options.target);
      report["ok"] = true;
      entry["programs"][title] = std::move(report);
      const pto::TilePlan& t = program.tiles;
      text += fmt::format("  {:<11} mode {}, tiles {}x{}, {} buffer{}, cores share {}, {} B of {} cores' buffers each\n", title,
                          t.mode, t.rows, t.cols, t.buffers, t.buffers == 1 ? "" : "s", pto::name(t.split), program.ub_bytes,
                          program.blocks);
      text += fmt::format("              {} core{} move{} data in {} launch{}\n", program.cost.cores,
                          program.cost.cores == 1 ? "" : "s", program.cost.cores == 1 ? "s" : "", program.launches,
                          program.launches == 1 ? "" : "es");
      for (const auto& [which, core] : {std::pair("each of them, on average", &program.cost.mean),
                                        std::pair("the one that takes longest", &program.cost.longest)})
        text += fmt::format("              {}: {} B loaded, {} B stored, {} B by index, {} instructions, {} scalars, {} tiles\n",
                            which, core->loaded_bytes, core->stored_bytes, core->scattered_bytes, core->instructions,
                            core->scalars, core->tiles);
      for (const std::string& requirement : program.requirements) text += "              needs: " + requirement + "\n";
    }
    json["kernels"].push_back(std::move(entry));
  }
  return fail(print_out(options.json ? json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n" : text));
}

}  // namespace strew::cli
