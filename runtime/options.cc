// The environment as a value. A number that does not parse counts as 0 (off): the library never prints, so it cannot complain.
#include "runtime/options.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace strew {
namespace {

uint64_t number(const char* variable) {
  const char* text = std::getenv(variable);
  if (!text) return 0;
  const std::string_view view = text;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  return error == std::errc() && end == view.data() + view.size() ? value : 0;
}

}  // namespace

const ProcessOptions& process_options() {
  static const ProcessOptions options{number("STREW_PIN") != 0, number("STREW_PERF_MAP") != 0, number("STREW_VERIFY")};
  return options;
}

}  // namespace strew
