// See flags.h.
#include "bench/cases/flags.h"

#include <algorithm>
#include <string_view>

namespace strew::bench {

std::string take_flag(int& argc, char** argv, const std::string& flag, std::string missing) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument != "--" + flag && !argument.starts_with("--" + flag + "=")) continue;
    missing = argument.size() > flag.size() + 3 ? argument.substr(flag.size() + 3) : "yes";
    std::move(argv + i + 1, argv + argc, argv + i);
    --argc;
    break;
  }
  return missing;
}

}  // namespace strew::bench
