// The environment as a value. A variable that is no whole number counts as 0 (off) and leaves a warning: the library never prints. An empty
// variable counts as absent. Tested by tests/error/cli_test.cc.
#include "base/options.h"

#include <charconv>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

namespace strew::inline v0 {
namespace {

struct Environment {
  ProcessOptions options;
  std::mutex mutex;  // guards warnings
  std::vector<std::string> warnings;

  Environment() {
    options.pins_workers = number("STREW_PIN") != 0;
    options.writes_perf_map = number("STREW_PERF_MAP") != 0;
    options.jitdump = number("STREW_JITDUMP") != 0;
    options.gdb = number("STREW_GDB") != 0;
    options.verify_every = number("STREW_VERIFY");
    if (const char* const folder = std::getenv("STREW_DUMP"); folder != nullptr) options.dump_dir = folder;
  }

 private:
  uint64_t number(const char* variable) {
    constexpr size_t kShown = 60;  // characters of a bad value
    const char* text = std::getenv(variable);
    const std::string_view view = text == nullptr ? "" : text;
    if (view.empty()) return 0;
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
    if (error == std::errc() && end == view.data() + view.size()) return value;
    warnings.push_back("environment variable " + std::string(variable) + ": it is '" + std::string(view.substr(0, kShown)) +
                       (view.size() > kShown ? "...'" : "'") + ", expected a whole number from 0 on; it counts as 0");
    return 0;
  }
};

Environment& environment() {
  static Environment* const read = new Environment;  // never destroyed: kernels may run until the process ends
  return *read;
}

}  // namespace

const ProcessOptions& process_options() { return environment().options; }

std::vector<std::string> take_option_warnings() {
  const std::lock_guard lock(environment().mutex);
  return std::exchange(environment().warnings, {});
}

}  // namespace strew::inline v0
