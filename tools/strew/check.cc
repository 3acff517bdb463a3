// strew check: imports and verifies a file. Nothing is planned or compiled, and for ONNX and .strew files no large
// library is opened. Tested by tests/error/cli_test.cc.
#include <nlohmann/json.hpp>

#include "strew/text.h"
#include "tools/strew/message.h"
#include "tools/strew/options.h"
#include "tools/strew/summary.h"

namespace strew::cli {

namespace {

using Json = nlohmann::ordered_json;

Json value_json(const Program& imported, int number) {
  const Value& value = imported.value(number);
  return {{"name", value_name(imported, number)},
          {"dtype", strew::name(value.type.dtype)},
          {"shape", dims_json(value.type, value.symbols)}};
}

/// The kernel with the inputs that `--kernel NAME --input NAME=FILE` takes.
Json kernel_json(const Program& imported, size_t number) {
  const ProgramKernel& kernel = imported.kernel(number);
  Json out = {{"name", kernel.name},   {"location", kernel.location}, {"op", print(kernel.op)},
              {"notes", kernel.notes}, {"inputs", Json::array()},     {"outputs", Json::array()}};
  for (const int value : kernel_inputs(imported, static_cast<int>(number))) out["inputs"].push_back(value_json(imported, value));
  for (const int value : kernel_outputs(imported, static_cast<int>(number)))
    if (value >= 0) out["outputs"].push_back(value_json(imported, value));
  return out;
}

Json json_of(const Options& options, const Program& imported, const std::vector<KernelGroup>& groups) {
  Json json = {{"file", options.file}, {"format", imported.format()}, {"kernels", Json::array()}, {"distinct", groups.size()}};
  for (size_t k = 0; k < imported.kernels().size(); ++k) json["kernels"].push_back(kernel_json(imported, k));
  json["other_operations"] = Json::object();
  for (const auto& [name, count] : other_operations(imported)) json["other_operations"][name] = count;
  json["refused"] = Json::array();
  for (const Opaque& opaque : imported.opaques())
    if (opaque.indexed)
      json["refused"].push_back({{"operation", opaque.operation}, {"location", opaque.location}, {"reason", opaque.reason}});
  return json;
}

}  // namespace

int check(const Options& options) {
  const Expected<Program> imported = import_file(options.file, options.import);
  if (!imported.ok()) return fail(imported.status());
  const std::vector<KernelGroup> groups = distinct_kernels(*imported);
  if (options.json)
    return fail(print_out(json_of(options, *imported, groups).dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
  std::string out = printable(options.file) + ": " + imported->format() + ", " + summary_text(*imported, groups.size()) + "\n";
  for (const KernelGroup& group : groups) {
    out += "  " + names_text(*imported, group) + ": " + group.op + "\n";
    const std::string tensors = tensors_text(*imported, group.kernels[0]);
    if (!tensors.empty()) out += "    " + tensors + "\n";
  }
  return fail(print_out(out + policies_text(*imported, options.import) + refused_text(*imported)));
}

}  // namespace strew::cli
