// STREW_PERF_MAP=1: a process that runs kernels leaves perf's map of them. The environment is read once, so it takes another process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/support/paths.h"

namespace strew::test {
namespace {

using testing::ContainsRegex;

/// What a differential run of one op leaves in its map file, "no map" if there is none; the file is removed.
std::string map_of_run(const std::string& variable) {
  const std::string command = variable +
                              " " + built_program("strew_differential") +
                              " --seed 1 --iterations 1 --backend llvm"
                              " > /dev/null & wait $!; cat /tmp/perf-$!.map 2> /dev/null || echo no map; rm -f /tmp/perf-$!.map";
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  char buffer[512];
  while (pipe != nullptr && std::fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
  if (pipe != nullptr) pclose(pipe);
  return text;
}

TEST(PerfMap, NamesEveryEntryOnlyWhereAskedFor) {
  EXPECT_THAT(map_of_run("STREW_PERF_MAP=1"), ContainsRegex("[0-9a-f]+ [1-9a-f][0-9a-f]* strew_[0-9a-z_]+_range\n"));
  EXPECT_EQ(map_of_run("STREW_PERF_MAP=0"), "no map\n");
}

}  // namespace
}  // namespace strew::test
