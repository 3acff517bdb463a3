// STREW_PERF_MAP=1: a process that runs kernels leaves perf's map of them. The environment is read once, so it takes another process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/paths.h"

namespace strew::test {
namespace {

using testing::ContainsRegex;

/// What a differential run of one op leaves in its map file, "no map" if there is none; the file is removed.
std::string map_of_run(const std::string& variable) {
  const std::string command = variable + " " + built_program("strew_differential") +
                              " --seed 1 --iterations 1 --backend llvm"
                              " > /dev/null & wait $!; cat /tmp/perf-$!.map 2> /dev/null || echo no map; rm -f /tmp/perf-$!.map";
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  char buffer[512];
  while (pipe != nullptr && std::fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
  if (pipe != nullptr) pclose(pipe);
  return text;
}

/// The same run, by a shell that first does `plant` to its own map file ($map) and then becomes the program: its number is known before.
std::string planted_run(const std::string& plant) {
  const std::string command = "STREW_PERF_MAP=1 sh -c 'map=/tmp/perf-$$.map; echo $map; rm -f $map; " + plant + "; exec \"" +
                              built_program("strew_differential") + "\" --seed 1 --iterations 1 --backend llvm >/dev/null'";
  std::FILE* pipe = popen(command.c_str(), "r");
  char name[128] = {};
  if (pipe != nullptr) {
    EXPECT_NE(std::fgets(name, sizeof name, pipe), nullptr);
    EXPECT_EQ(pclose(pipe), 0);
  }
  std::string out(name);
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(PerfMap, WritesThroughNothingThatWasPlanted) {
  std::string folder = ::testing::TempDir() + "strew_perf_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string victim = folder + "/victim";
  const auto reset = [&] { std::ofstream(victim) << "precious"; };
  for (const std::string& plant : {"ln -s " + victim + " $map", "ln " + victim + " $map", std::string("mkfifo $map")}) {
    reset();
    const std::string map = planted_run(plant);
    EXPECT_EQ(text_of(victim), "precious") << plant;
    std::filesystem::remove(map);
  }
  const std::string own = planted_run("echo old >$map");
  EXPECT_THAT(text_of(own), testing::AllOf(ContainsRegex("strew_[0-9a-z_]+_range\n"), testing::Not(testing::HasSubstr("old"))));
  std::filesystem::remove(own);
  std::filesystem::remove_all(folder);
}

TEST(PerfMap, NamesEveryEntryOnlyWhereAskedFor) {
  EXPECT_THAT(map_of_run("STREW_PERF_MAP=1"), ContainsRegex("[0-9a-f]+ [1-9a-f][0-9a-f]* strew_[0-9a-z_]+_range\n"));
  EXPECT_EQ(map_of_run("STREW_PERF_MAP=0"), "no map\n");
}

}  // namespace
}  // namespace strew::test
