// The verifier, rule by rule: what the chips' headers and ptoas refuse, and what ptoas lets through although it is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "compiler/pto/parse.h"
#include "compiler/pto/types.h"
#include "compiler/pto/verify.h"
#include "tests/support/pto_run.h"

namespace strew::testing {
namespace {

using pto::Chip;
using pto::Reader;
using test::flags;
using test::kAddRows;
using test::load_both;
using test::scatter;
using test::tile_kernel;
using ::testing::HasSubstr;

std::string message_of(const std::string& text, const pto::Rules& rules = {Reader::headers, true}) {
  const Expected<pto::Module> module = pto::parse(text);
  if (!module.ok()) return std::string(module.status().message());
  const Status status = pto::verify(*module, rules);
  return status.ok() ? "" : std::string(status.message());
}

std::string with(std::string text, const std::string& part, const std::string& other) {
  const size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return at == std::string::npos ? text : text.replace(at, part.size(), other);
}

/// A function whose body is `lines`, over tiles %a, %b, %o of 8x32 `element`, a mask %m and numbers %s (of `element`) and %n.
std::string computing(const std::string& lines, const std::string& element, const std::string& chip) {
  const std::string tile = "!pto.tile_buf<vec, 8x32x" + element + ">";
  std::string out = "module attributes {pto.target_arch = \"" + chip + "\"} {\n  func.func @f(%p: !pto.ptr<" + element +
                    ">, %n: i32) {\n    %c0 = arith.constant 0 : index\n    %s = pto.load_scalar %p[%c0] : !pto.ptr<" + element +
                    "> -> " + element + "\n";
  for (const char* name : {"a", "b", "o"}) out += "    %" + std::string(name) + " = pto.alloc_tile : " + tile + "\n";
  out += "    %m = pto.alloc_tile : !pto.tile_buf<vec, 8x32xi8>\n    %w = pto.alloc_tile : !pto.tile_buf<vec, 8x32xi32>\n";
  std::string body = lines;
  for (size_t at = body.find("TILE"); at != std::string::npos; at = body.find("TILE")) body.replace(at, 4, tile);
  for (size_t at = body.find("ELEM"); at != std::string::npos; at = body.find("ELEM")) body.replace(at, 4, element);
  return out + "    " + body + "\n    return\n  }\n}\n";
}

/// Element types that a statement takes.
std::string taken(const std::string& line, const std::string& chip, Reader reader) {
  std::string out;
  for (const char* element : {"i8", "ui8", "i16", "ui16", "i32", "ui32", "f16", "bf16", "f32"})
    if (message_of(computing(line, element, chip), {reader, true}).empty())
      out += (out.empty() ? "" : " ") + std::string(element);
  return out;
}

TEST(PtoRules, ElementTypesByChipAndReader) {
  struct Row {
    const char *line, *a3, *a5, *ptoas_a5;
  };
  const Row rows[] = {
      {"pto.tadd ins(%a, %b : TILE, TILE) outs(%o : TILE)", "i16 i32 f16 f32", "i8 ui8 i16 ui16 i32 ui32 f16 bf16 f32",
       "i8 ui8 i16 ui16 i32 ui32 f16 bf16 f32"},
      {"pto.tmul ins(%a, %b : TILE, TILE) outs(%o : TILE)", "i16 i32 f16 f32", "i16 ui16 i32 ui32 f16 f32",
       "i16 ui16 i32 ui32 f16 f32"},
      {"pto.tmax ins(%a, %b : TILE, TILE) outs(%o : TILE)", "i16 i32 f16 f32", "i8 ui8 i16 ui16 i32 ui32 f16 f32",
       "i8 ui8 i16 ui16 i32 ui32 f16 f32"},
      {"pto.tand ins(%a, %b : TILE, TILE) outs(%o : TILE)", "i8 ui8 i16 ui16 i32 ui32", "i8 ui8 i16 ui16 i32 ui32",
       "i8 ui8 i16 ui16 i32 ui32"},
      {"pto.tadds ins(%a, %s : TILE, ELEM) outs(%o : TILE)", "i16 i32 f16 f32", "i8 ui8 i16 ui16 i32 ui32 f16 bf16 f32",
       "i8 i16 i32 f16 bf16 f32"},
      {"pto.tands ins(%a, %s : TILE, ELEM) outs(%o : TILE)", "i8 ui8 i16 ui16", "i8 ui8 i16 ui16 i32 ui32", "i8 i16 i32"},
      {"pto.texpands ins(%s : ELEM) outs(%o : TILE)", "i16 i32 f16 bf16 f32", "i8 ui8 i16 ui16 i32 ui32 f16 bf16 f32",
       "i8 i16 i32 f16 bf16 f32"},
      {"pto.tcmps ins(%a, %s {cmpMode = #pto<cmp lt>} : TILE, ELEM) outs(%m : !pto.tile_buf<vec, 8x32xi8>)", "i16 i32 f16 f32",
       "i8 i16 i32 f16 f32", "i8 i16 i32 f16 f32"},
      {"pto.tsel ins(%m, %a, %b, %w : !pto.tile_buf<vec, 8x32xi8>, TILE, TILE, !pto.tile_buf<vec, 8x32xi32>) outs(%o : TILE)",
       "i16 ui16 i32 ui32 f16 bf16 f32", "i8 ui8 i16 ui16 i32 ui32 f16 bf16 f32", "i8 ui8 i16 ui16 i32 ui32 f16 bf16 f32"},
      {"pto.tnot ins(%a : TILE) outs(%o : TILE)", "i16 ui16", "i8 ui8 i16 ui16 i32 ui32", "i8 ui8 i16 ui16 i32 ui32"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(taken(row.line, "a3", Reader::headers), row.a3) << row.line;
    EXPECT_EQ(taken(row.line, "a5", Reader::headers), row.a5) << row.line;
    EXPECT_EQ(taken(row.line, "a5", Reader::ptoas), row.ptoas_a5) << row.line;
  }
}

TEST(PtoRules, AtomicsByChipAndReader) {
  const auto atomics = [](const std::string& chip, const std::string& atomic, Reader reader) {
    std::string out;
    for (const char* element : {"i8", "ui8", "i16", "ui16", "i32", "ui32", "f16", "bf16", "f32"}) {
      const std::string modes = "coalesce = #pto<coalesce row>, scatterAtomicOp = #pto<scatter_atomic_op " + atomic +
                                ">, scatterOob = #pto<scatter_oob skip>";
      const std::string text =
          tile_kernel(load_both(element) + flags("PIPE_MTE2", "PIPE_V") + scatter(modes, "s", element), chip, element);
      if (message_of(text, {reader, true}).empty()) out += (out.empty() ? "" : " ") + std::string(element);
    }
    return out;
  };
  EXPECT_EQ(atomics("a3", "add", Reader::headers), "i8 i16 i32 f16 bf16 f32");
  EXPECT_EQ(atomics("a3", "add", Reader::ptoas), "i32 f16 f32") << "ptoas lets ui32 through, the header does not";
  EXPECT_EQ(atomics("a5", "add", Reader::headers), "i32 ui32 f16 bf16 f32");
  EXPECT_EQ(atomics("a5", "add", Reader::ptoas), "i32 ui32 f16 f32");
  EXPECT_EQ(atomics("a3", "max", Reader::headers), "");
  EXPECT_EQ(atomics("a3", "max", Reader::ptoas), "") << "ptoas lets it through, the header does not";
  EXPECT_EQ(atomics("a5", "min", Reader::ptoas), "i32 ui32 f32");
}

const std::string kLast =
    "coalesce = #pto<coalesce row>, scatterOob = #pto<scatter_oob skip>, scatterConflict = #pto<scatter_conflict last>";
const std::string kKernel = tile_kernel(load_both() + flags("PIPE_MTE2", "PIPE_V") + scatter(kLast));

TEST(PtoRules, WhatPtoasLetsThrough) {
  EXPECT_EQ(message_of(kKernel), "");
  struct Row {
    const char *part, *other, *message;
  };
  const Row rows[] = {
      {"scatterOob =", "scatterOOB =",
       "attribute 'scatterOOB' is unknown, expected one of coalesce, scatterAtomicOp, scatterOob, "
       "scatterConflict; did you mean scatterOob?"},
      {"scatterOob = #pto<scatter_oob skip>", "gatherOob = #pto<gather_oob zero>", "attribute 'gatherOob' is unknown"},
      {", scatterOob = #pto<scatter_oob skip>", "", "scatterOob is missing, expected every mode to be spelled out"},
      {", scatterConflict = #pto<scatter_conflict last>", "",
       "scatterConflict is missing, expected last or default: left out, a5 takes last, which visits every slot of the table"},
      {"scatterOob = #pto<scatter_oob skip>",
       "scatterOob = #pto<scatter_oob skip>, scatterAtomicOp = #pto<scatter_atomic_op add>",
       "scatterConflict is last beside scatterAtomicOp add, expected one of both: an atomic has no last"},
      {"\"a5\"", "\"a3\"", "scatterConflict is last, expected none on a3"},
      {"strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>\n    %sv", "strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>\n    %sv",
       "rows of the table are 64 apart and the tile has 32 columns, expected as much: a5 takes the tile's width for the "
       "distance"},
      {"%a2 = arith.constant 16384", "%a2 = arith.constant 131072",
       "the tile ends at byte 131104, expected at most 131072 on a5"},
      {"%a2 = arith.constant 16384", "%a2 = arith.constant 16390", "addr is 16390, expected a multiple of 32"},
      {"<PIPE_MTE2>, <PIPE_V>", "<PIPE_MTE2>, <PIPE_M>",
       "dst_pipe is PIPE_M, expected a pipe of a vector kernel: PIPE_S, PIPE_V, PIPE_MTE2 or PIPE_MTE3"},
      {"<PIPE_MTE2>, <PIPE_V>", "<PIPE_V>, <PIPE_V>", "both pipes are PIPE_V, expected two, or a barrier"},
  };
  for (const Row& row : rows) EXPECT_THAT(message_of(with(kKernel, row.part, row.other)), HasSubstr(row.message)) << row.other;
}

TEST(PtoRules, TablesAreAsWideAsTiles) {
  std::string text = kKernel;
  text = with(text, "sizes = [%c64, %c32] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<64x32xf32>",
              "sizes = [%c64, %c8] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<64x8xf32>");
  text = with(text, "outs(%tp : !pto.partition_tensor_view<64x32xf32>)", "outs(%tp : !pto.partition_tensor_view<64x8xf32>)");
  EXPECT_THAT(message_of(text), HasSubstr("the table has 8 columns and the tile 32, expected as many"));
}

TEST(PtoRules, OnlyOursAreHeldToIt) {
  // What others wrote may use the whole buffer, and leave out what has a meaning.
  const pto::Rules theirs;
  EXPECT_EQ(message_of(with(kKernel, "%a2 = arith.constant 16384", "%a2 = arith.constant 131072"), theirs), "");
  EXPECT_EQ(message_of(with(kKernel, ", scatterConflict = #pto<scatter_conflict last>", ""), theirs), "");
}

TEST(PtoRules, TilesThatTogetherAreTooLarge) {
  std::string lines;
  for (int i = 0; i < 5; ++i) lines += "%t" + std::to_string(i) + " = pto.alloc_tile : !pto.tile_buf<vec, 64x128xf32>\n    ";
  EXPECT_THAT(message_of(computing(lines, "f32", "a5")), HasSubstr("the tiles take 135424 bytes, expected at most 131072 on a5"));
  EXPECT_EQ(message_of(computing(lines, "f32", "a3")), "");
}

TEST(PtoRules, Conversions) {
  const std::string line = "pto.tcvt ins(%a {rmode = #pto<round_mode RINT>} : TILE) outs(%w : !pto.tile_buf<vec, 8x32xi32>)";
  EXPECT_EQ(message_of(computing(line, "f32", "a3")), "");
  EXPECT_EQ(message_of(computing(line, "i64", "a5")), "");
  EXPECT_THAT(message_of(computing(line, "i16", "a3")), HasSubstr("pto.tcvt: it is from i16 to i32, expected f16, f32 on a3"));
  EXPECT_EQ(message_of(computing(line, "i16", "a5")), "");
  EXPECT_THAT(message_of(computing(line, "ui32", "a5")), HasSubstr("it is from ui32 to i32, expected another tile on a5"));
}

TEST(PtoRules, NumbersThatAreNone) {
  const std::string inf = "%x = arith.constant 0x7F800000 : f32";
  EXPECT_EQ(message_of(computing(inf, "f32", "a5"), {Reader::headers, true}), "");
  EXPECT_THAT(message_of(computing(inf, "f32", "a5"), {Reader::ptoas, true}),
              HasSubstr("the value is no finite number, expected one for ptoas, or arith.bitcast of its bits"));
}

TEST(PtoRules, ShapesAgree) {
  const std::string wide = "%g = pto.alloc_tile : !pto.tile_buf<vec, 8x64xf32>\n    ";
  EXPECT_THAT(
      message_of(computing(wide + "pto.tadd ins(%a, %g : TILE, !pto.tile_buf<vec, 8x64xf32>) outs(%o : TILE)", "f32", "a5")),
      HasSubstr("%g is !pto.tile_buf<vec, 8x64xf32>, expected the valid extents of !pto.tile_buf<vec, 8x32xf32>"));
  EXPECT_THAT(message_of(computing("pto.tci ins(%s : ELEM) outs(%o : TILE)", "i32", "a5")),
              HasSubstr("the tile has 8 rows, expected 1: only the first is written"));
  EXPECT_THAT(message_of(computing("pto.tsel ins(%m, %a, %b, %m : !pto.tile_buf<vec, 8x32xi8>, TILE, TILE, "
                                   "!pto.tile_buf<vec, 8x32xi8>) outs(%o : TILE)",
                                   "f32", "a3")),
              HasSubstr("the scratch tile has elements of i8, expected 32 bits on a3"));
}

TEST(PtoRules, EveryRowOfTheTableIsWhole) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(pto::Opcode::gather_tile); ++i) {
    const pto::Instruction& row = pto::info(static_cast<pto::Opcode>(i));
    const bool fresh = row.form == pto::Form::as_only || names.insert(row.name).second;
    EXPECT_TRUE(fresh) << row.name;
    for (size_t g = 0; g < row.groups(); ++g)
      EXPECT_THAT(std::string(row.text), HasSubstr(std::to_string(g))) << row.name << ": every operand stands in its text";
    if (row.form != pto::Form::computes) continue;
    EXPECT_NE(row.legality, nullptr) << row.name;
    EXPECT_NE(row.compute, pto::Computation::none) << row.name;
    EXPECT_EQ(row.a3, pto::Pipe::v) << row.name;
    EXPECT_EQ(row.operands[row.groups() - 1].access, pto::Access::write) << row.name << ": the result comes last";
    EXPECT_THAT(std::string(row.cpp), HasSubstr("{" + std::to_string(row.groups() - 1) + "}")) << row.name;
    EXPECT_NE(row.legality->a3 | row.legality->a5, 0u) << row.name;
  }
}

}  // namespace
}  // namespace strew::testing
