// The flags of benchmark programs, besides those of Google Benchmark.
#pragma once

#include <string>

namespace strew::bench {

/// The value of --NAME=VALUE, "yes" for --NAME alone, taken out of the arguments; `missing` when it is not there.
std::string take_flag(int& argc, char** argv, const std::string& flag, std::string missing = "");

}  // namespace strew::bench
