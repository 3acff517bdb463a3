// See select.h. Tested by tests/error/cli_test.cc.
#include "tools/strew/select.h"

#include <algorithm>

#include "tools/strew/message.h"

namespace strew::cli {

std::string kernel_names(const Program& imported) {
  constexpr size_t kMost = 20;
  std::string out;
  for (size_t k = 0; k < std::min(imported.kernels().size(), kMost); ++k)
    out += (out.empty() ? "" : ", ") + imported.kernel(k).name;
  if (imported.kernels().size() > kMost) out += " and " + std::to_string(imported.kernels().size() - kMost) + " more";
  return out;
}

int select_kernel(const Options& options, const Program& imported, int& exit_status) {
  if (options.kernel_name.empty()) {
    if (imported.kernels().size() == 1) return 0;
    exit_status = usage_error(options.file + ": the file has " + std::to_string(imported.kernels().size()) +
                              " kernels, expected one or --kernel with one of: " + kernel_names(imported));
    return -1;
  }
  for (size_t k = 0; k < imported.kernels().size(); ++k) {
    if (imported.kernel(k).name == options.kernel_name) return static_cast<int>(k);
  }
  exit_status = usage_error("--kernel: '" + options.kernel_name + "' is not in " + options.file +
                            ", expected one of: " + kernel_names(imported));
  return -1;
}

}  // namespace strew::cli
