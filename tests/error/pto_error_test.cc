// Broken `.pto` files: one line that names the place, the statement, what is wrong and what was expected. Each row changes a program that
// imports; the last tests cut and change whole files, and hold hostile ones to a second and 256 MiB.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "compiler/import/pto/import.h"
#include "compiler/pto/parse.h"
#include "strew/import.h"
#include "tests/support/limited.h"
#include "tests/support/paths.h"
#include "tests/support/pto_whole.h"
#include "tests/support/rng.h"

namespace strew::testing {
namespace {

using ::testing::HasSubstr;

const std::string kProgram = R"(module attributes {pto.target_arch = "a5"} {
  func.func @k(%table: !pto.ptr<f32>, %src: !pto.ptr<f32>, %idx: !pto.ptr<i32>, %n: i32) attributes {pto.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %rows = arith.index_cast %n : i32 to index
    %tv = pto.make_tensor_view %table, shape = [%c64, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>
    %sv = pto.make_tensor_view %src, shape = [%rows, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>
    %iv = pto.make_tensor_view %idx, shape = [%c1, %rows], strides = [%rows, %c1] : !pto.tensor_view<?x?xi32>
    %tp = pto.partition_view %tv, offsets = [%c0, %c0], sizes = [%c64, %c32] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<64x32xf32>
    scf.for %r = %c0 to %rows step %c8 {
      %st = pto.alloc_tile : !pto.tile_buf<vec, 8x32xf32>
      %it = pto.alloc_tile : !pto.tile_buf<vec, 1x8xi32>
      %sp = pto.partition_view %sv, offsets = [%r, %c0], sizes = [%c8, %c32] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x32xf32>
      %ip = pto.partition_view %iv, offsets = [%c0, %r], sizes = [%c1, %c8] : !pto.tensor_view<?x?xi32> -> !pto.partition_tensor_view<1x8xi32>
      pto.tload ins(%sp : !pto.partition_tensor_view<8x32xf32>) outs(%st : !pto.tile_buf<vec, 8x32xf32>)
      pto.tload ins(%ip : !pto.partition_tensor_view<1x8xi32>) outs(%it : !pto.tile_buf<vec, 1x8xi32>)
      pto.mscatter ins(%st, %it : !pto.tile_buf<vec, 8x32xf32>, !pto.tile_buf<vec, 1x8xi32>) outs(%tp : !pto.partition_tensor_view<64x32xf32>) {coalesce = #pto<coalesce row>, scatterOob = #pto<scatter_oob skip>}
    }
    return
  }
}
)";

const std::string kStraightLine = R"(.arg %table : !pto.memref<64x32xf32>
.arg %src : !pto.memref<8x32xf32>
.arg %idx : !pto.memref<1x8xi32>
.const %c0 = 0 : index
%i = tload %idx[%c0, 0] : (!pto.memref<1x8xi32>, index, index) -> !pto.tile<1x8xi32>
%s = tload %src[0, %c0] : (!pto.memref<8x32xf32>, index, index) -> !pto.tile<8x32xf32>
mscatter.row.skip %table, %s, %i : (!pto.memref<64x32xf32>, !pto.tile<8x32xf32>, !pto.tile<1x8xi32>)
)";

std::string message_of(const std::string& text) {
  const Expected<Program> out = pto::import_program(text, "k.pto", {});
  if (out.ok()) return "imported";
  EXPECT_TRUE(out.status().code() == Code::invalid_argument || out.status().code() == Code::unsupported)
      << out.status().message();
  return out.status().message();
}

struct Row {
  std::vector<std::pair<std::string, std::string>> changes;
  std::string message;  ///< after "k.pto:"
};

/// Each change is made where it first fits, or wherever it does.
void check(const std::string& program, const std::vector<Row>& rows, bool everywhere = false) {
  ASSERT_EQ(message_of(program), "imported");
  for (const Row& row : rows) {
    std::string text = program;
    for (const auto& [from, to] : row.changes) {
      size_t at = text.find(from);
      ASSERT_NE(at, std::string::npos) << from;
      do {
        text.replace(at, from.size(), to);
        at = text.find(from, at + to.size());
      } while (everywhere && at != std::string::npos);
    }
    EXPECT_EQ(message_of(text), "k.pto:" + row.message);
  }
}

TEST(PtoError, Syntax) {
  check(kProgram,
        {
            {{{"module attributes", "module attribute"}}, "1:8: module: found \"attribute\", expected '{'"},
            {{{"\"a5\"", "\"a7\""}}, "1:38: module: found \"\"a7\"\", expected \"a3\" or \"a5\""},
            {{{"pto.target_arch = \"a5\"", "pto.target_arch = \"a5\", pto.target_arch = \"a5\""}},
             "1:44: module: attribute 'pto.target_arch' is there twice"},
            {{{"target_arch = \"a5\"", "target_arch = \"a6\""}}, "1:38: module: found \"\"a6\"\", expected \"a3\" or \"a5\""},
            {{{"pto.target_arch", "pto.target_arc"}},
             "1:20: module: attribute 'pto.target_arc' is unknown, expected one of pto.target_arch, pto.backend, "
             "pto.kernel_kind; did "
             "you mean pto.target_arch?"},
            {{{"{pto.entry}", "{pto.entri}"}},
             "2:102: func.func @k: attribute 'pto.entri' is unknown, expected one of pto.entry, pto.kernel_kind; did you mean "
             "pto.entry?"},
            {{{"func.func @k(", "func.func k("}}, "2:13: func.func: found \"k\", expected the function's name, @name"},
            {{{"%n: i32)", "%n: f32)"}}, "2:85: func.func @k: argument %n is f32, expected !pto.ptr<..>, index or an integer"},
            {{{"%n: i32)", "%table: i32)"}}, "2:81: func.func @k: %table is defined in line 2 already, expected a new name"},
            {{{"%n: i32) attributes", "%n: i32) -> i32 attributes"}}, "2:90: func.func @k: found \"->\", expected '{'"},
            {{{"arith.constant 0 :", "arith.constant 0.5 :"}},
             "3:26: arith.constant: the value is 0.5 : index, expected an integer"},
            {{{"arith.constant 8 : index", "arith.constant 99999999999999999999 : index"}},
             "5:26: arith.constant: found \"99999999999999999999\", expected an integer that fits 64 bits"},
            {{{"arith.constant 64 : index", "arith.constant 300 : i8"}},
             "7:12: arith.constant: the value is 300, expected one that fits i8"},
            {{{"arith.index_cast %n : i32", "arith.index_cast %n : i64"}},
             "8:35: arith.index_cast: the type of %n is i64 here, expected i32 as it is defined"},
            {{{"arith.index_cast %n : i32 to index", "arith.index_cast %n : i32 to i64"}},
             "8:13: arith.index_cast: it is from i32 to i64, expected one of both to be index, the other an integer"},
            {{{"%rows = arith.index_cast", "%c0 = arith.index_cast"}},
             "8:11: arith.index_cast: %c0 is defined in line 3 already, expected a new name"},
            {{{"%rows = arith.index_cast", "%rows = arith.indexcast"}},
             "8:13: statement arith.indexcast is unknown, expected return or a statement of docs/sources.md; did you mean "
             "arith.index_cast?"},
            {{{"    return\n", "    pto.tfoo ins(%tv) outs(%sv)\n    return\n"}},
             "22:5: statement pto.tfoo is unknown, expected return or a statement of docs/sources.md; did you mean pto.tor?"},
            {{{"    return\n", "    %x = scf.if %c0 {\n    return\n"}},
             "22:10: scf.if: it has no result, expected it without %x = before it"},
            {{{"    return\n  }\n}", "    return\n  }\n"}}, "25:1: found the end of the text, expected '}'"},
            {{{"    return\n  }\n}\n", "    return\n  }\n}\nmore"}}, "25:1: found \"more\", expected the end of the text"},
            {{{"{coalesce", "{coalesce = #pto<coalesce row>, coalesce"}},
             "20:176: pto.mscatter: attribute 'coalesce' is there twice"},
            {{{"scatterOob = #pto<scatter_oob skip>", "scatterOOB = #pto<scatter_oob skip>"}},
             "20:176: pto.mscatter: attribute 'scatterOOB' is unknown, expected one of coalesce, scatterAtomicOp, scatterOob, "
             "scatterConflict; did you mean scatterOob?"},
            {{{"scatterOob = #pto<scatter_oob skip>", "gatherOob = #pto<gather_oob zero>"}},
             "20:176: pto.mscatter: attribute 'gatherOob' is unknown, expected one of coalesce, scatterAtomicOp, scatterOob, "
             "scatterConflict; did you mean scatterOob?"},
            {{{"scatterOob = #pto<scatter_oob skip>", "scatterOob = #pto<scatter_oob zero>"}},
             "20:206: pto.mscatter: found \"zero\", expected scatterOob to be one of undefined, skip, clamp, wrap"},
            {{{"scatterOob = #pto<scatter_oob skip>", "scatterOob = #pto.scatter_oob<skip>"}},
             "20:190: pto.mscatter: found \"pto.scatter_oob\", expected scatterOob to be #pto<scatter_oob ..>"},
            {{{"scatterOob = #pto<scatter_oob skip>", "scatterOob = \"skip\""}},
             "20:189: pto.mscatter: found \"\"skip\"\", expected scatterOob to be #pto<scatter_oob ..>"},
            {{{"ins(%st, %it : ", "ins(%st, %it, %it : "}}, "20:32: pto.mscatter: found \",\", expected ':'"},
            {{{"ins(%st, %it : ", "ins(%st, %unknown : "}},
             "20:29: pto.mscatter: %unknown is not defined before, expected a value in scope"},
            {{{"%st = pto.alloc_tile", "pto.alloc_tile"}},
             "14:7: pto.alloc_tile: its result has no name, expected %name = before it"},
            {{{"pto.mscatter ins", "%x = pto.mscatter ins"}},
             "20:12: pto.mscatter: it has no result, expected it without %x = before it"},
            {{{"ins(%st, %it : !pto.tile_buf<vec, 8x32xf32>", "ins(%st, %it : !pto.tile_buf<vec, 8x16xf32>"}},
             "20:35: pto.mscatter: the type of %st is !pto.tile_buf<vec, 8x16xf32> here, expected !pto.tile_buf<vec, 8x32xf32> "
             "as it is defined"},
        });
}

TEST(PtoError, Types) {
  check(kProgram,
        {
            {{{"!pto.ptr<f32>, %src", "!pto.pointer<f32>, %src"}},
             "2:24: func.func @k: the type is '!pto.pointer', expected index, an integer, or one of pto.ptr, pto.tensor_view, "
             "pto.partition_tensor_view, pto.tile_buf, pto.memref, pto.tile after '!'"},
            {{{"%table: !pto.ptr<f32>", "%table: !pto.ptr<f33>"}},
             "2:33: func.func @k: the element type is 'f33', expected one of i8 to i64, si8 to si64, ui8 to ui64, f16, bf16, "
             "f32, f64, f8E4M3FN, f8E5M2, !pto.hif8"},
            {{{"%table: !pto.ptr<f32>", "%table: !pto.ptr<f16>"}},
             "9:11: pto.make_tensor_view: its result is !pto.tensor_view<?x?xf32>, expected a tensor_view of 2 dims of f16"},
            {{{"!pto.tensor_view<?x?xf32>\n    %sv", "!pto.tensor_view<?x?x?xf32>\n    %sv"}},
             "9:11: pto.make_tensor_view: its result is !pto.tensor_view<?x?x?xf32>, expected a tensor_view of 2 dims of f32"},
            {{{"!pto.tensor_view<?x?xf32>\n    %sv", "!pto.tensor_view<32x?xf32>\n    %sv"}},
             "9:11: pto.make_tensor_view: dim 0 of !pto.tensor_view<32x?xf32> is 32, expected 64 as %c64 says"},
            {{{"strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>\n    %sv",
               "strides = [%c1] : !pto.tensor_view<?x?xf32>\n    %sv"}},
             "9:11: pto.make_tensor_view: it has 2 extents and 1 strides, expected as many of both, 1 to 5"},
            {{{"offsets = [%c0, %c0], sizes", "offsets = [%c0], sizes"}},
             "12:11: pto.partition_view: it has 1 offsets and 2 sizes, expected 2 of both, the view's rank"},
            {{{"-> !pto.partition_tensor_view<64x32xf32>", "-> !pto.partition_tensor_view<65x32xf32>"}},
             "12:11: pto.partition_view: dim 0 of !pto.partition_tensor_view<65x32xf32> is 65, expected 64 as %c64 says"},
            {{{"-> !pto.partition_tensor_view<64x32xf32>", "-> !pto.partition_tensor_view<18446744073709551616x32xf32>"}},
             "12:136: pto.partition_view: found \"18446744073709551616\", expected an extent that fits 63 bits"},
            {{{"%st = pto.alloc_tile : !pto.tile_buf<vec, 8x32xf32>", "%st = pto.alloc_tile : !pto.tile_buf<vec, 8x?xf32>"}},
             "14:56: pto.alloc_tile: the tile's cols is ?, expected a number, 1 or more"},
            {{{"%st = pto.alloc_tile : !pto.tile_buf<vec, 8x32xf32>",
               "%st = pto.alloc_tile : !pto.tile_buf<vec, 8x32xf32, valid=9x32>"}},
             "14:69: pto.alloc_tile: the tile's v_row is 9, expected 0 to 8, its rows"},
            {{{"%st = pto.alloc_tile : !pto.tile_buf<vec, 8x32xf32>",
               "%st = pto.alloc_tile : !pto.tile_buf<vec, 8x32xf32, valid=?x32>"}},
             "14:13: pto.alloc_tile: valid_row is missing and the type says ?, expected an operand for the ?"},
            {{{"%st = pto.alloc_tile : !pto.tile_buf<vec, 8x32xf32>",
               "%st = pto.alloc_tile valid_row = %r : !pto.tile_buf<vec, 8x32xf32>"}},
             "14:13: pto.alloc_tile: valid_row is given and the type says 8, expected no operand, or ? in the type"},
            {{{"%st = pto.alloc_tile : !pto.tile_buf<vec, 8x32xf32>", "%st = pto.alloc_tile : !pto.tile_buf<ub, 8x32xf32>"}},
             "14:44: pto.alloc_tile: the tile is in 'ub', expected one of vec, mat, left, right, acc, bias, scaling"},
            {{{"%st = pto.alloc_tile : !pto.tile_buf<vec, 8x32xf32>",
               "%st = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=8>"}},
             "14:70: pto.alloc_tile: found \">\", expected loc, dtype, rows and cols before"},
            {{{"%st = pto.alloc_tile : !pto.tile_buf<vec, 8x32xf32>",
               "%st = pto.alloc_tile addr = %c0 : !pto.tile_buf<vec, 8x32xf32>"}},
             "14:13: pto.alloc_tile: %c0 is index, expected i64"},
            {{{"pto.tload ins(%ip : !pto.partition_tensor_view<1x8xi32>) outs(%it : !pto.tile_buf<vec, 1x8xi32>)",
               "pto.tload ins(%ip : !pto.partition_tensor_view<1x8xi32>) outs(%st : !pto.tile_buf<vec, 8x32xf32>)"}},
             "19:7: pto.tload: %st has elements of f32, expected i32 as %ip has"},
            {{{"pto.tload ins(%ip : !pto.partition_tensor_view<1x8xi32>) outs(%it : !pto.tile_buf<vec, 1x8xi32>)",
               "pto.tload ins(%it : !pto.tile_buf<vec, 1x8xi32>) outs(%ip : !pto.partition_tensor_view<1x8xi32>)"}},
             "19:7: pto.tload: %it is !pto.tile_buf<vec, 1x8xi32>, expected a partition_tensor_view"},
        });
}

TEST(PtoError, RulesOfTheChips) {
  check(
      kProgram,
      {
          {{{"{coalesce = #pto<coalesce row>, scatterOob", "{scatterOob"}},
           "20:7: pto.mscatter: coalesce is missing, expected row or elem: chips and simulators differ in what they take without "
           "it"},
          {{{"scatterOob = #pto<scatter_oob skip>",
             "scatterConflict = #pto<scatter_conflict last>, scatterAtomicOp = #pto<scatter_atomic_op add>"}},
           "20:7: pto.mscatter: scatterConflict is last beside scatterAtomicOp add, expected one of both: an atomic has no last"},
          {{{"\"a5\"} {", "\"a3\"} {"}, {"scatterOob = #pto<scatter_oob skip>", "scatterConflict = #pto<scatter_conflict last>"}},
           "20:7: pto.mscatter: scatterConflict is last, expected none on a3"},
          {{{"\"a5\"} {", "\"a3\"} {"}, {"scatterOob = #pto<scatter_oob skip>", "scatterAtomicOp = #pto<scatter_atomic_op max>"}},
           "20:7: pto.mscatter: scatterAtomicOp is max on elements of f32, expected a3 to have no max"},
          {{{"f32", "f64"}},
           "18:7: pto.tload: elements are f64, expected one of i8, ui8, i16, ui16, i32, ui32, i64, ui64, f16, bf16, f32, "
           "f8E4M3FN, "
           "f8E5M2, !pto.hif8 on a5"},
          {{{"f32", "ui16"}, {"scatterOob = #pto<scatter_oob skip>", "scatterAtomicOp = #pto<scatter_atomic_op add>"}},
           "20:7: pto.mscatter: scatterAtomicOp is add on elements of ui16, expected one of i32, ui32, f16, bf16, f32 on a5"},
          {{{"f32", "f8E5M2"}, {"\"a5\"", "\"a3\""}},
           "18:7: pto.tload: elements are f8E5M2, expected one of i8, ui8, i16, ui16, i32, ui32, i64, ui64, f16, bf16, f32 on "
           "a3"},
          {{{"i32>", "i64>"}}, "20:7: pto.mscatter: indices are i64, expected i32 or ui32"},
          {{{"8x32xf32", "8x9xf32"}, {"arith.constant 32", "arith.constant 9"}, {"64x32", "64x9"}},
           "14:13: pto.alloc_tile: the tile is !pto.tile_buf<vec, 8x9xf32> whose rows are 36 bytes, expected a multiple of 32"},
          {{{"tile_buf<vec, 8x32", "tile_buf<mat, 8x32"}}, "20:7: pto.mscatter: the data tile is in mat, expected vec"},
          {{{"tile_buf<vec, 1x8xi32>", "tile_buf<loc=vec, dtype=i32, rows=8, cols=1, v_row=8, v_col=1, blayout=row_major>"}},
           "15:13: pto.alloc_tile: the tile is !pto.tile_buf<vec, 8x1xi32> whose rows are 4 bytes, expected a multiple of 32"},
          {{{"tile_buf<vec, 8x32", "tile_buf<vec, 65536x32"}},
           "14:13: pto.alloc_tile: the tile is !pto.tile_buf<vec, 65536x32xf32>, expected at most 253952 bytes on a5"},
          {{{"tile_buf<vec, 8x32", "tile_buf<vec, 4611686018427387904x32"}},
           "14:13: pto.alloc_tile: the tile is !pto.tile_buf<vec, 4611686018427387904x32xf32>, expected at most 253952 bytes on "
           "a5"},
      },
      true);
}

TEST(PtoError, WhatCannotBeLifted) {
  check(kProgram,
        {
            {{{"      pto.mscatter", "      //"}}, "2:13: @k: it has no mscatter or mgather, expected at least one"},
            {{{"scf.for %r = %c0 to", "scf.for %r = %c1 to"}},
             "13:5: scf.for: it runs from 1 to %n by 8, expected 0 to N by T, or get_block_idx * T to N by get_block_num * T, or "
             "a piece per core"},
            {{{"step %c8", "step %c0"}}, "13:5: scf.for: its step is 0, expected 1 or more"},
            {{{"step %c8", "step %c32"}},
             "20:7: pto.mscatter: %st, dim 0: the loop in line 13 moves it by 32 and its size is 8, expected tiles that lie side "
             "by side"},
            {{{"step %c8", "step %rows"}},
             "13:5: scf.for: it runs from 0 to %n by %n, expected 0 to N by T, or get_block_idx * T to N by get_block_num * T, "
             "or a piece per core"},
            {{{"[%r, %c0], sizes = [%c8", "[%c0, %c0], sizes = [%c8"}},
             "20:7: pto.mscatter: the index tile and the data move apart, expected the same rows of both in every round"},
            {{{"[%c0, %r], sizes = [%c1", "[%c0, %c0], sizes = [%c1"}},
             "20:7: pto.mscatter: the index tile and the data move apart, expected the same rows of both in every round"},
            {{{"[%r, %c0], sizes = [%c8", "[%r, %c8], sizes = [%c8"}},
             "20:7: pto.mscatter: columns 8 to 40 of %src are used, expected at most 32"},
            {{{"shape = [%c64, %c32], strides = [%c32, %c1]", "shape = [%c64, %c32], strides = [%c64, %c1]"}},
             "20:7: pto.mscatter: rows of the table are 64 apart and the tile's have 32 elements, expected the same on a5, which "
             "takes one for the other"},
            {{{"shape = [%c64, %c32], strides = [%c32, %c1]", "shape = [%c64, %c32], strides = [%c32, %c8]"}},
             "9:11: pto.make_tensor_view: stride 1 is 8, expected 1: rows one after the other"},
            {{{"strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>\n    %iv",
               "strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>\n    %iv"}},
             "18:7: pto.tload: rows of %src are 64 apart, expected 32: padding is read in tables only"},
            {{{"coalesce row", "coalesce elem"}},
             "20:7: pto.mscatter: the valid part of the index tile is [1, 8], expected [8, 32], one index per element"},
            {{{"      pto.tload ins(%ip : !pto.partition_tensor_view<1x8xi32>) outs(%it : !pto.tile_buf<vec, 1x8xi32>)\n", ""}},
             "19:7: pto.mscatter: nothing was put into %it before, expected a tload of indices"},
            {{{"      pto.tload ins(%sp : !pto.partition_tensor_view<8x32xf32>) outs(%st : !pto.tile_buf<vec, 8x32xf32>)\n", ""}},
             "19:7: pto.mscatter: nothing was put into %st before, expected a tload or mgather"},
            {{{"%sv = pto.make_tensor_view %src", "%sv = pto.make_tensor_view %table"}},
             "10:11: pto.make_tensor_view: it sees %table as [%n, 32], expected [64, 32] as the view before"},
            {{{"    scf.for", "    %b = pto.get_block_num\n    scf.for"}},
             "21:7: pto.mscatter: every core does it, expected tiles that are shared out by get_block_idx"},
            {{{"%rows = arith.index_cast %n : i32 to index",
               "%rows = arith.index_cast %n : i32 to index\n    %bad = arith.remsi %rows, %c0 : index"}},
             "9:12: arith.remsi: %c0 is 0, expected a divisor"},
            {{{"offsets = [%c0, %c0], sizes = [%c64, %c32]", "offsets = [%c8, %c0], sizes = [%c64, %c32]"}},
             "20:7: pto.mscatter: rows 8 to 72 of %table are used, expected at most 64"},
            {{{"      pto.mscatter",
               "      pto.tstore ins(%st : !pto.tile_buf<vec, 8x32xf32>) outs(%sp : !pto.partition_tensor_view<8x32xf32>)\n      "
               "pto.mscatter"}},
             "20:7: pto.tstore: %src is written here and read in line 18, expected one of both: nothing orders tiles of "
             "different rounds"},
            {{{"      pto.mscatter",
               "      pto.tstore ins(%st : !pto.tile_buf<vec, 8x32xf32>) outs(%sp : !pto.partition_tensor_view<8x32xf32>) "
               "{atomicType = #pto<atomic_type atomic_add>}\n      pto.mscatter"}},
             "20:7: pto.tstore: atomicType is atomic_add, expected none: only mscatter combines"},
        });
}

TEST(PtoError, PtoAs) {
  check(
      kStraightLine,
      {
          {{{".arg %table", ".args %table"}}, "1:2: found \"args\", expected arg or const after '.'"},
          {{{".arg %table", "arg %table"}},
           "1:1: found \"arg\", expected an instruction: tload, tstore, mscatter.MODE, mgather.MODE or one of tiles (or module, "
           "which starts PTO IR)"},
          {{{".arg %table : !pto.memref<64x32xf32>", ".arg %table : !pto.ptr<f32>"}},
           "1:15: .arg: argument %table is !pto.ptr<f32>, expected !pto.memref<..>, !pto.tile<..>, index or an integer"},
          {{{".const %c0 = 0", ".const %c0 = 0x10"}}, "4:15: .const: found \"x10\", expected ':'"},
          {{{".const %c0", ".const %0"}},
           "4:8: .const: found \"%0\", expected a name of letters, digits, _ and ., no digit first"},
          {{{"mscatter.row.skip", "mscatter.row.skipp"}},
           "7:1: mscatter.row.skipp: suffix '.skipp' is unknown, expected some of .row .elem .skip .clamp .wrap .atomic_add "
           ".atomic_max .atomic_min .add"},
          {{{"mscatter.row.skip", "mscatter.row.atomic_add.skip"}},
           "7:1: mscatter.row.atomic_add.skip: suffix '.skip' stands too late, expected the order of .row .elem .skip .clamp "
           ".wrap .atomic_add .atomic_max .atomic_min .add"},
          {{{"mscatter.row.skip", "mscatter.skip"}}, "7:1: mscatter.skip: it has no mode, expected .row or .elem first"},
          {{{"mscatter.row.skip", "mscatter"}}, "7:1: mscatter: it has no mode, expected .row or .elem first"},
          {{{"mscatter.row.skip", "tadd"}}, "7:1: tadd: its result has no name, expected %name = before it"},
          {{{"mscatter.row.skip", "%x = tadd"}}, "7:11: tadd: %table is !pto.memref<64x32xf32>, expected a tile"},
          {{{"mscatter.row.skip %table, %s, %i", "%x = tadds %s, %c0"}}, "7:16: tadds: %c0 is index, expected a number"},
          {{{"mscatter.row.skip %table, %s, %i", "%x = tmul %s, %s {rmode = 3}"}},
           "7:19: tmul: attribute 'rmode' is unknown, expected none"},
          {{{"mscatter.row.skip", "tfly"}},
           "7:1: found \"tfly\", expected an instruction: tload, tstore, mscatter.MODE, mgather.MODE or one of tiles (or module, "
           "which starts PTO IR)"},
          {{{"%table, %s, %i", "%s, %i, %table"}},
           "7:19: mscatter.row.skip: %s is !pto.tile<8x32xf32>, expected a memref: the table comes first, then the source "
           "tile, then the index tile"},
          {{{"%table, %s, %i", "%table, %s"}}, "7:30: mscatter.row.skip: found \":\", expected ','"},
          {{{"-> !pto.tile<8x32xf32>", "-> !pto.tile<8x32xf16>"}},
           "6:1: tload: its result is !pto.tile<8x32xf16>, expected a tile of f32, the elements of %src"},
          {{{"-> !pto.tile<8x32xf32>", ""}}, "7:1: tload: found \"mscatter.row.skip\", expected '->'"},
          {{{"%idx[%c0, 0]", "%idx[%c0]"}}, "5:20: tload: found \"]\", expected ','"},
          {{{"%idx[%c0, 0]", "%idx[%c0, -1]"}}, "5:22: tload: an index is -1, expected 0 or more"},
          {{{"%src[0, %c0]", "%src[1, %c0]"}}, "7:1: pto.mscatter: rows 1 to 9 of %src are used, expected at most 8"},
          {{{"-> !pto.tile<1x8xi32>", "-> !pto.tile<1x8xi32> %s"}}, "5:86: tload: found \"%s\", expected the end of the line"},
          {{{"mscatter.row.skip %table, %s, %i : (!pto.memref<64x32xf32>",
             "mscatter.row.skip %table, %s, %i {mode = skip} : (!pto.memref<64x32xf32>"}},
           "7:34: mscatter.row.skip: found \"{\", expected no attributes: PTO-AS has suffixes"},
      });
}

TEST(PtoError, WhollyGenericForm) {
  const Expected<pto::Module> module = pto::parse(kProgram);
  ASSERT_TRUE(module.ok());
  check(
      test::whole_text(*module),
      {
          {{{"\"builtin.module\"", "\"builtin.modul\""}},
           "1:1: found \"\"builtin.modul\"\", expected func.func or the end of the text"},
          {{{"pto.target_arch", "pto.target_arc"}},
           "27:5: builtin.module: attribute 'pto.target_arc' is unknown, expected one of pto.target_arch, pto.backend, "
           "pto.kernel_kind; did you mean pto.target_arch?"},
          {{{"sym_name = \"k\"", "sym_nam = \"k\""}},
           "2:93: func.func: attribute 'sym_nam' is unknown, expected one of sym_name, sym_visibility, function_type, pto.entry, "
           "pto.kernel_kind; did you mean sym_name?"},
          {{{", sym_name = \"k\"", ""}}, "2:3: func.func: it has no sym_name, expected sym_name and function_type"},
          {{{"function_type = (!pto.ptr<f32>, ", "function_type = ("}},
           "2:35: func.func @k: function_type differs from the types of the block's arguments, expected the same ones"},
          {{{"{pto.entry}", "{pto.entri}"}},
           "26:7: func.func @k: attribute 'pto.entri' is unknown, expected one of sym_name, sym_visibility, function_type, "
           "pto.entry, pto.kernel_kind; did you mean pto.entry?"},
          {{{"^bb0(%table", "^bb0 %table"}}, "3:8: func.func @k: found \"%table\", expected '('"},
          {{{"value = 0 : index", "valu = 0 : index"}},
           "4:32: arith.constant: attribute 'valu' is unknown, expected value; did you mean value?"},
          {{{"<{value = 0 : index}>", ""}}, "4:11: arith.constant: it has no value, expected one"},
          {{{"value = 0 : index", "value = 0 : i64"}},
           "4:58: arith.constant: the type of its value is index here, expected i64 as it is defined"},
          {{{"\"arith.index_cast\"(%n)", "\"arith.index_cast\"(%n, %n)"}},
           "9:13: arith.index_cast: it has 2 operands, expected 1"},
          {{{"\"arith.index_cast\"(%n)", "\"arith.index_cas\"(%n)"}},
           "9:13: statement \"\"arith.index_cas\"\" is unknown, expected return or a statement of docs/sources.md; did you "
           "mean arith.index_cast?"},
          {{{"\"arith.index_cast\"(%n)", "\"arith.index_cast\"(%n) <{nonNeg}>"}},
           "9:38: arith.index_cast: attribute 'nonNeg' is unknown, expected none"},
          {{{"array<i32: 1, 2, 2>", "array<i32: 1, 1, 3>"}},
           "10:11: pto.make_tensor_view: it has 1 extents and 3 strides, expected as many of both, 1 to 5"},
          {{{"scatterOob", "scatterOb"}},
           "22:70: pto.mscatter: attribute 'scatterOb' is unknown, expected one of coalesce, scatterAtomicOp, scatterOob, "
           "scatterConflict; did you mean scatterOob?"},
          {{{"(%c0, %rows, %c8)", "(%c0, %rows)"}}, "14:5: scf.for: it has 2 operands, expected 3"},
          {{{"^bb0(%r: index)", "^bb0(%r: i32)"}}, "14:5: scf.for: %c0 is index, expected i32"},
          {{{"^bb0(%r: index)", "^bb0(%r: index, %s: index)"}},
           "15:19: scf.for: found \",\", expected ')': a loop that carries values is not read"},
          {{{"      \"scf.yield\"() : () -> ()\n", ""}}, "23:5: scf.for: found \"}\", expected \"scf.yield\""},
          {{{"\"func.return\"() : () -> ()", "\"func.return\"(%c0) : (index) -> ()"}},
           "25:19: func.func @k: found \"%c0\", expected ')'"},
          {{{"    \"func.return\"() : () -> ()\n", ""}}, "25:3: func.func @k: found \"}\", expected \"func.return\""},
      });
}

TEST(PtoError, Files) {
  EXPECT_EQ(message_of(""), "k.pto:1:1: the text is empty, expected a module or PTO-AS lines");
  EXPECT_EQ(message_of("// nothing\n"), "k.pto:2:1: the text is empty, expected a module or PTO-AS lines");
  EXPECT_EQ(message_of("module {\n}\n"), "k.pto:3:1: the module has no functions, expected func.func");
  EXPECT_EQ(message_of(std::string("\0\1", 2)),
            "k.pto:1:1: found \"\\x00\", expected an instruction: tload, tstore, mscatter.MODE, mgather.MODE or one of tiles (or "
            "module, which starts PTO IR)");
  EXPECT_THAT(message_of(kProgram + kProgram), HasSubstr("found \"module\", expected the end of the text"));
  EXPECT_EQ(message_of(std::string(size_t{2} << 20, ' ')), "k.pto:the text has 2097152 bytes, expected at most 1048576");
}

/// Anything but a crash or an internal error, in bounded time.
void try_text(const std::string& text) {
  const auto start = std::chrono::steady_clock::now();
  const Expected<Program> out = pto::import_program(text, "k.pto", {});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << text.substr(0, 2000);
  if (out.ok()) return;
  EXPECT_NE(out.status().code(), Code::internal) << out.status().message() << "\n" << text;
  EXPECT_TRUE(out.status().message().starts_with("k.pto:")) << out.status().message() << "\n" << text;
}

std::vector<std::string> samples() {
  std::vector<std::string> out{kProgram, kStraightLine};
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() / "tests/data/pto")) {
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    out.push_back(text.str());
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(PtoError, CutAnywhere) {
  for (const std::string& text : {kProgram, kStraightLine})
    for (size_t length = 0; length < text.size(); ++length) try_text(text.substr(0, length));
}

TEST(PtoError, RandomDamage) {
  const std::vector<std::string> all = samples();
  const std::vector<std::string> pieces = {"%c0", "%r",    "%n",     "?",    "-1",    "9223372036854775807",
                                           "{",   "}",     "<",      ">",    "(",     ")",
                                           "[",   "]",     "x",      ",",    ":",     "=",
                                           "i32", "f32",   "!",      "#",    "\"",    "scf.for",
                                           "8",   "arith", "pto.",   "\n",   "1x1x",  "%",
                                           "->",  "0",     "return", "row_", "valid", "\x80"};
  for (uint64_t i = 0; i < 6000; ++i) {
    test::Rng rng = test::Rng::stream(11, i);
    std::string text = rng.pick(all);
    for (int64_t n = rng.between(1, 4); n > 0; --n) {
      const auto at = static_cast<size_t>(rng.below(static_cast<int64_t>(text.size())));
      const auto length = static_cast<size_t>(rng.below(12));
      switch (rng.below(5)) {
        case 0:
          text.erase(at, length);
          break;
        case 1:
          text.insert(at, rng.pick(pieces));
          break;
        case 2:
          text[at] = static_cast<char>(rng.below(256));
          break;
        case 3: {  // a line somewhere else
          const size_t begin = text.rfind('\n', at) + 1, end = std::min(text.find('\n', at), text.size() - 1);
          const std::string line = text.substr(begin, end - begin + 1);
          text.insert(text.find('\n', static_cast<size_t>(rng.below(static_cast<int64_t>(text.size())))) + 1, line);
          break;
        }
        default: {  // one name for another
          const size_t from = text.find('%', at),
                       other = text.find('%', static_cast<size_t>(rng.below(static_cast<int64_t>(text.size()))));
          if (from == std::string::npos || other == std::string::npos) break;
          const std::string name = text.substr(other, text.find_first_of(" ,:])", other) - other);
          text.replace(from, text.find_first_of(" ,:])", from) - from, name);
        }
      }
      if (text.empty()) text = " ";
    }
    try_text(text);
    if (HasFailure()) FAIL() << "program " << i;
  }
}

/// `count` times what `line` gives for a number, inside of a function.
std::string many(int count, const std::function<std::string(const std::string&)>& line) {
  std::string out = "module { func.func @k(%p: !pto.ptr<f32>, %n: i32) {\n%m0 = arith.addi %n, %n : i32\n";
  for (int i = 1; i <= count; ++i) out += line(std::to_string(i)) + "\n";
  return out + "return } }\n";
}

TEST(PtoError, HostileTextsInBoundedTimeAndMemory) {
  const auto before = [](const std::string& i) { return std::to_string(std::stoi(i) - 1); };
  const std::string texts[] = {
      many(33000, [&](const std::string& i) { return "%m" + i + "=arith.addi %m" + before(i) + ",%n:i32"; }),
      many(33000, [&](const std::string& i) { return "%m" + i + "=arith.muli %m" + before(i) + ",%m" + before(i) + ":i32"; }),
      many(33000, [&](const std::string& i) { return "%m" + i + "=arith.minsi %m" + before(i) + ",%n:i32"; }),
      many(25000,
           [&](const std::string& i) { return "%m" + i + "=arith.ceildivsi %m" + before(i) + ",%m" + before(i) + ":i32"; }),
      many(50000, [](const std::string&) { return "pto.section.vector {"; }),
      many(
          1,
          [](const std::string&) { return "%x = pto.alloc_tile : !pto.tile_buf<vec, " + std::string(1000000, '9') + "x8xf32>"; }),
      std::string(1000000, '{'),
      std::string(1000000, '%'),
      "module attributes {pto.target_arch = \"" + std::string(1000000, 'a') + "\"} {}",
      many(200, [](const std::string& i) { return "return } func.func @f" + i + "() {"; }),
      many(50000, [](const std::string&) { return "return } func.func @f() {"; }),
  };
  for (const std::string& text : texts) {
    const test::Refusal cli = test::refusal(text, ".pto");
    EXPECT_EQ(cli.wrong, "") << text.substr(0, 200);
    EXPECT_THAT(cli.message, HasSubstr("FILE:")) << text.substr(0, 200);
  }
}

}  // namespace
}  // namespace strew::testing
