// What the simulator refuses while a program runs: each row breaks a program that runs, and is told which statement is wrong and why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/pto_run.h"

namespace strew::testing {
namespace {

using test::flags;
using test::gather;
using test::kAddRows;
using test::load_both;
using test::PtoRun;
using test::scatter;
using test::tile_kernel;
using ::testing::HasSubstr;

const std::string kTile = "!pto.tile_buf<vec, 8x32xf32>";
const std::string kIn = flags("PIPE_MTE2", "PIPE_V");
const std::string kBack = flags("PIPE_V", "PIPE_MTE2");

PtoRun two_tiles() {
  PtoRun out;
  out.set("table", std::vector<float>(64 * 32, 1));
  out.set("data", std::vector<float>(16 * 32, 2));
  out.set("idx", std::vector<int32_t>{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3});
  out.numbers["n"] = 16;
  return out;
}

std::string message_of(const std::string& text) {
  PtoRun run = two_tiles();
  const Status status = run.run(text);
  return status.ok() ? "" : std::string(status.message());
}

std::string without(std::string text, const std::string& part) {
  const size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.erase(at, part.size());
}

std::string with(std::string text, const std::string& part, const std::string& other) {
  const size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), other);
}

/// Line of the first statement that begins with `start`.
std::string line_of(const std::string& text, const std::string& start) {
  return std::to_string(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(start)), '\n') + 1);
}

const std::string kKernel = tile_kernel(load_both() + kIn + scatter(kAddRows) + kBack);

TEST(PtoSimulateError, TheUnbrokenProgramRuns) { EXPECT_EQ(message_of(kKernel), ""); }

TEST(PtoSimulateError, ALoadNobodyWaitsFor) {
  const std::string text = tile_kernel(load_both() + scatter(kAddRows) + kBack);
  EXPECT_EQ(message_of(text), line_of(text, "pto.mscatter") +
                                  ":7: pto.mscatter: on PIPE_V it reads %s, which pto.tload in line " +
                                  line_of(text, "pto.tload") +
                                  " writes on PIPE_MTE2, expected set_flag and wait_flag from PIPE_MTE2 to PIPE_V between");
}

TEST(PtoSimulateError, ATileStillRead) {
  const std::string text = tile_kernel(load_both() + kIn + scatter(kAddRows));
  EXPECT_EQ(message_of(text), line_of(text, "pto.tload") +
                                  ":7: pto.tload: on PIPE_MTE2 it writes %s, which pto.mscatter in line " +
                                  line_of(text, "pto.mscatter") +
                                  " reads on PIPE_V, expected set_flag and wait_flag from PIPE_V to PIPE_MTE2 between");
}

TEST(PtoSimulateError, FlagsThatDoNotPair) {
  const std::string set = "      pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n",
                    wait = "      pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n";
  EXPECT_THAT(message_of(without(kKernel, set)),
              HasSubstr("pto.wait_flag: the core hangs here: nothing set flag PIPE_MTE2 to PIPE_V, EVENT_ID0 before"));
  const std::string once = without(
      without(kKernel, wait), "      pto.mscatter" + kKernel.substr(kKernel.find(" ins(%s, %i"),
                                                                    kKernel.find("skip>}\n") + 7 - kKernel.find(" ins(%s, %i")));
  EXPECT_THAT(message_of(once), HasSubstr("flag PIPE_MTE2 to PIPE_V, EVENT_ID0 is set already, by pto.set_flag in line"));
  EXPECT_THAT(message_of(with(kKernel, "    return\n", "    pto.set_flag[<PIPE_S>, <PIPE_V>, <EVENT_ID3>]\n    return\n")),
              HasSubstr("flag PIPE_S to PIPE_V, EVENT_ID3 is set and nobody waits for it"));
  EXPECT_THAT(message_of(with(kKernel, set, "      pto.set_flag[<PIPE_MTE2>, <PIPE_MTE2>, <EVENT_ID0>]\n")),
              HasSubstr("it is from PIPE_MTE2 to PIPE_MTE2, expected two of PIPE_S, PIPE_V, PIPE_MTE1, PIPE_MTE2 and PIPE_MTE3"));
  EXPECT_THAT(message_of(with(kKernel, set, "      pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID1>]\n")), HasSubstr("hangs"));
}

TEST(PtoSimulateError, ABarrierOfEverythingIsEnough) {
  const std::string all = "      pto.barrier <PIPE_ALL>\n";
  EXPECT_EQ(message_of(tile_kernel(load_both() + all + scatter(kAddRows) + all)), "");
}

TEST(PtoSimulateError, VectorsOverlapOnA3) {
  const std::string add = "      pto.tadd ins(%s, %s : " + kTile + ", " + kTile + ") outs(%s : " + kTile + ")\n";
  const std::string end =
      flags("PIPE_V", "PIPE_MTE3") + scatter(kAddRows) + flags("PIPE_MTE3", "PIPE_MTE2") + "      pto.barrier <PIPE_MTE3>\n";
  const std::string idle = flags("PIPE_MTE2", "PIPE_MTE3", "EVENT_ID1");
  const std::string bare = tile_kernel(load_both() + kIn + idle + add + add + end, "a3");
  EXPECT_THAT(message_of(bare), HasSubstr("on PIPE_V it reads %s, which pto.tadd in line " + line_of(bare, "pto.tadd") +
                                          " writes on PIPE_V, expected a barrier of PIPE_V between"));
  EXPECT_EQ(message_of(tile_kernel(load_both() + kIn + idle + add + "      pto.barrier <PIPE_V>\n" + add + end, "a3")), "");
  const std::string twice = load_both() + flags("PIPE_MTE2", "PIPE_MTE3") + scatter(kAddRows);
  EXPECT_THAT(message_of(tile_kernel(twice + scatter(kAddRows) + flags("PIPE_MTE3", "PIPE_MTE2"), "a3")),
              HasSubstr("on PIPE_MTE3 it writes element 96 of %table, which pto.mscatter in line"));
  const std::string barrier = "      pto.barrier <PIPE_MTE3>\n";
  EXPECT_EQ(message_of(tile_kernel(twice + barrier + scatter(kAddRows) + flags("PIPE_MTE3", "PIPE_MTE2"), "a3")), "");
}

TEST(PtoSimulateError, MemoryReadBeforeItIsStored) {
  // the gathered rows are what the scatter before wrote: on a3 that is another pipe
  const std::string body = load_both() + flags("PIPE_MTE2", "PIPE_MTE3") + flags("PIPE_MTE2", "PIPE_S") + scatter(kAddRows) +
                           gather("coalesce = #pto<coalesce row>, gatherOob = #pto<gather_oob zero>");
  EXPECT_THAT(message_of(tile_kernel(body, "a3")), HasSubstr("it reads element 96 of %table, which pto.mscatter in line"));
}

TEST(PtoSimulateError, WhatNothingWrote) {
  EXPECT_THAT(message_of(tile_kernel(load_both() + kIn + scatter(kAddRows, "g") + kBack)),
              HasSubstr("it reads element [0, 0] of %g, which nothing has written, expected a tload or another write before"));
}

TEST(PtoSimulateError, TilesThatOverlap) {
  // %i moves into %g, which a gather fills between
  const std::string body =
      load_both() + kIn + gather("coalesce = #pto<coalesce row>, gatherOob = #pto<gather_oob zero>") + scatter(kAddRows) + kBack;
  EXPECT_EQ(message_of(tile_kernel(body)), "");
  const std::string text = with(tile_kernel(body), "%a2 = arith.constant 16384", "%a2 = arith.constant 8192");
  EXPECT_THAT(message_of(text),
              HasSubstr("it reads element [0, 0] of %i, where %g was put since, expected tiles that do not overlap"));
}

TEST(PtoSimulateError, BeyondTheBuffer) {
  EXPECT_THAT(message_of(with(kKernel, "%a2 = arith.constant 16384", "%a2 = arith.constant 131072")),
              HasSubstr("pto.alloc_tile: %i ends at byte 131104 of the buffer, expected at most 131072"));
  EXPECT_THAT(message_of(with(kKernel, "%a2 = arith.constant 16384", "%a2 = arith.constant 16390")),
              HasSubstr("addr of %i is 16390, expected a multiple of 32"));
}

TEST(PtoSimulateError, BeyondMemory) {
  PtoRun run = two_tiles();
  run.memories["data"].resize(15 * 32 * 4);
  EXPECT_THAT(std::string(run.run(kKernel).message()),
              HasSubstr("pto.tload: it touches element 480 of %data, expected one of its 480"));
  PtoRun odd = two_tiles();
  odd.numbers["n"] = 12;
  EXPECT_THAT(std::string(odd.run(kKernel).message()),
              HasSubstr("pto.partition_view: dim 0 of %sp is 8 at 8, expected a part of the 12 of %sv"));
  PtoRun out = two_tiles();
  out.set("idx", std::vector<int32_t>(16, 64));
  EXPECT_THAT(std::string(out.run(with(kKernel, "scatter_oob skip", "scatter_oob undefined")).message()),
              HasSubstr("index 64 is out of bounds, expected one below 64, or a mode that says what happens"));
}

TEST(PtoSimulateError, Scalars) {
  EXPECT_THAT(message_of(with(kKernel, "%step = arith.muli %cores, %c8", "%step = arith.muli %cores, %c0")),
              HasSubstr("scf.for: the step %step is 0, expected 1 or more"));
  EXPECT_THAT(message_of(with(kKernel, "%step = arith.muli %cores, %c8", "%step = arith.divsi %cores, %c0")),
              HasSubstr("arith.divsi: the divisor %c0 is 0, expected another"));
  EXPECT_THAT(message_of(with(kKernel, "%step = arith.muli %cores, %c8", "%step = arith.shli %cores, %c64")),
              HasSubstr("arith.shli: the shift %c64 is 64, expected 0 to 63"));
}

TEST(PtoSimulateError, WhatTheCallerGives) {
  PtoRun run = two_tiles();
  run.options.blocks = 0;
  EXPECT_THAT(std::string(run.run(kKernel).message()), HasSubstr("blocks is 0, expected 1 to 256"));
  run = two_tiles();
  run.options.max_steps = 20;
  EXPECT_THAT(std::string(run.run(kKernel).message()), HasSubstr("the program is not over after 20 steps"));
  run = two_tiles();
  run.memories["table"].resize(7);
  EXPECT_THAT(std::string(run.run(kKernel).message()), HasSubstr("argument %table has 7 bytes, expected a multiple of 4"));
  run = two_tiles();
  EXPECT_THAT(std::string(run.run(kKernel, "other").message()), HasSubstr("the function is 'other', expected one of k"));
  const Expected<pto::Module> module = pto::parse(kKernel);
  EXPECT_THAT(std::string(pto::simulate(*module, "k", {}).status().message()),
              HasSubstr("there are 0 arguments, expected 4 of @k"));
}

TEST(PtoSimulateError, NamesTheCore) {
  PtoRun run = two_tiles();
  run.options.blocks = 2;
  run.options.seed = 1;
  run.set("idx", std::vector<int32_t>(16, 64));
  EXPECT_THAT(std::string(run.run(with(kKernel, "scatter_oob skip", "scatter_oob undefined")).message()),
              HasSubstr("pto.mscatter on core 1: index 64"));
}

TEST(PtoSimulateError, EveryFlagOfAProgramIsNeeded) {
  // Dropping any one line of synchronisation from a program that runs must be noticed.
  const std::string body = load_both() + kIn + gather("coalesce = #pto<coalesce row>, gatherOob = #pto<gather_oob zero>") +
                           "      pto.tadd ins(%g, %s : " + kTile + ", " + kTile + ") outs(%g : " + kTile + ")\n" +
                           flags("PIPE_V", "PIPE_MTE3") + "      pto.tstore ins(%g : " + kTile +
                           ") outs(%sp : !pto.partition_tensor_view<8x32xf32>)\n" + flags("PIPE_MTE3", "PIPE_V") + kBack;
  const std::string text = tile_kernel(body);
  ASSERT_EQ(message_of(text), "");
  int dropped = 0;
  for (size_t at = text.find("      pto.set_flag"); at < text.size(); at = text.find('\n', at) + 1) {
    if (text.compare(at, 10, "      pto.") != 0 || text.find("_flag", at) > text.find('\n', at)) continue;
    const std::string broken = text.substr(0, at) + text.substr(text.find('\n', at) + 1);
    EXPECT_NE(message_of(broken), "") << broken;
    ++dropped;
  }
  EXPECT_EQ(dropped, 8);
}

}  // namespace
}  // namespace strew::testing
