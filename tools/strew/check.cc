// strew check: imports and verifies a file. Nothing is planned or compiled, and for ONNX and .strew files no large
// library is opened. Tested by tests/error/cli_test.cc.
#include <nlohmann/json.hpp>

#include "strew/text.h"
#include "tools/strew/message.h"
#include "tools/strew/options.h"

namespace strew::cli {

int check(const Options& options) {
  const Expected<Imported> imported = import_file(options.file, options.import);
  if (!imported.ok()) return fail(imported.status());
  if (options.json) {
    nlohmann::ordered_json json = {
        {"file", options.file}, {"format", imported->format}, {"kernels", nlohmann::ordered_json::array()}};
    for (const ImportedKernel& kernel : imported->kernels)
      json["kernels"].push_back({{"name", kernel.name}, {"op", print(kernel.op)}});
    return fail(print_out(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"));
  }
  const size_t count = imported->kernels.size();
  std::string out = printable(options.file) + ": " + imported->format + ", " + std::to_string(count) +
                    (count == 1 ? " kernel\n" : " kernels\n");
  for (const ImportedKernel& kernel : imported->kernels) out += "  " + printable(kernel.name) + ": " + print(kernel.op) + "\n";
  return fail(print_out(out));
}

}  // namespace strew::cli
