// The simulator on programs written by hand: what the chips do with indices, duplicates, cores and tiles. Refusals are in
// tests/error/pto_simulate_error_test.cc; programs of ops in tests/differential.
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "backends/pto/arithmetic.h"
#include "tests/support/pto_run.h"
#include "tests/support/rng.h"

namespace strew::testing {
namespace {

using test::flags;
using test::kAddRows;
using test::load_both;
using test::PtoRun;
using test::scatter;
using test::tile_kernel;

const std::string kAddKernel =
    tile_kernel(load_both() + flags("PIPE_MTE2", "PIPE_V") + scatter(kAddRows) + flags("PIPE_V", "PIPE_MTE2"));

PtoRun table_run(int64_t rows, const std::vector<int32_t>& indices) {
  PtoRun out;
  std::vector<float> table(64 * 32), data(static_cast<size_t>(rows * 32));
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i % 7);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i % 251) + 1;
  out.set("table", table);
  out.set("data", data);
  out.set("idx", indices);
  out.numbers["n"] = rows;
  return out;
}

TEST(PtoSimulate, RowsAreAddedOnAnyNumberOfCores) {
  test::Rng rng(3);
  std::vector<int32_t> indices(48);
  for (int32_t& index : indices) index = static_cast<int32_t>(rng.pick<int64_t>({0, 1, 5, 63, 64, -1, INT32_MIN, 7, 7}));
  for (const int blocks : {1, 2, 3, 8}) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
      PtoRun run = table_run(48, indices);
      std::vector<float> expected = run.get<float>("table");
      const std::vector<float> data = run.get<float>("data");
      for (size_t r = 0; r < indices.size(); ++r)
        for (size_t c = 0; c < 32 && indices[r] >= 0 && indices[r] < 64; ++c)
          expected[static_cast<size_t>(indices[r]) * 32 + c] += data[r * 32 + c];
      run.options.blocks = blocks;
      run.options.seed = seed;
      const Status status = run.run(kAddKernel);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(run.get<float>("table"), expected) << blocks << " cores, seed " << seed;
    }
  }
}

TEST(PtoSimulate, ReportsWhatTheBusiestCoreDoes) {
  PtoRun run = table_run(24, std::vector<int32_t>(24, 1));
  run.options.blocks = 2;  // tiles 0 and 2 on core 0
  ASSERT_TRUE(run.run(kAddKernel).ok());
  EXPECT_EQ(run.report.loaded_bytes, 2 * (8 * 32 * 4 + 8 * 4));
  EXPECT_EQ(run.report.scattered_bytes, 2 * 8 * 32 * 4);
  EXPECT_EQ(run.report.stored_bytes, 0);
  EXPECT_EQ(run.report.instructions, 6);
  EXPECT_EQ(run.report.buffer_bytes, 16384 + 32);
}

TEST(PtoSimulate, IndicesOutOfBoundsByMode) {
  // of 64 slots: -1 is 2^32 - 1, which wrap takes to 63; 70 to 6
  const std::vector<int32_t> indices = {-1, 70, 64, INT32_MIN, INT32_MAX, 2, 3, 4};
  const std::map<std::string, std::vector<int>> slots = {
      {"skip", {-1, -1, -1, -1, -1, 2, 3, 4}}, {"clamp", {63, 63, 63, 63, 63, 2, 3, 4}}, {"wrap", {63, 6, 0, 0, 63, 2, 3, 4}}};
  for (const auto& [mode, wanted] : slots) {
    PtoRun run = table_run(8, indices);
    std::vector<float> expected = run.get<float>("table");
    for (size_t r = 0; r < 8; ++r)
      for (size_t c = 0; c < 32 && wanted[r] >= 0; ++c)
        expected[static_cast<size_t>(wanted[r]) * 32 + c] = run.get<float>("data")[r * 32 + c];
    const std::string modes = "coalesce = #pto<coalesce row>, scatterOob = #pto<scatter_oob " + mode +
                              ">, scatterConflict = #pto<scatter_conflict last>";
    ASSERT_TRUE(run.run(tile_kernel(load_both() + flags("PIPE_MTE2", "PIPE_V") + scatter(modes))).ok());
    EXPECT_EQ(run.get<float>("table"), expected) << mode;
  }
}

TEST(PtoSimulate, DuplicatesOfACall) {
  const std::vector<int32_t> same(8, 5);
  const auto row_five = [&](const std::string& conflict, uint64_t seed) {
    PtoRun run = table_run(8, same);
    run.options.seed = seed;
    const std::string modes =
        "coalesce = #pto<coalesce row>, scatterOob = #pto<scatter_oob skip>, scatterConflict = "
        "#pto<scatter_conflict " +
        conflict + ">";
    EXPECT_TRUE(run.run(tile_kernel(load_both() + flags("PIPE_MTE2", "PIPE_V") + scatter(modes))).ok());
    const std::vector<float> table = run.get<float>("table");
    return std::vector<float>(table.begin() + 5 * 32, table.begin() + 6 * 32);
  };
  std::set<std::vector<float>> last, any;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    last.insert(row_five("last", seed));
    any.insert(row_five("default", seed));
  }
  EXPECT_EQ(last.size(), 1u) << "under last the largest source index wins whatever the order of threads";
  EXPECT_EQ((*last.begin())[0], static_cast<float>((7 * 32) % 251) + 1);
  EXPECT_GE(any.size(), 6u) << "under default any of them";
}

/// Elements of the first row's tile added into element 3 of an i32 table, by element.
std::string add_elements(const std::string& chip) {
  const std::string tile = "!pto.tile_buf<vec, 1x8xi32>", part = "!pto.partition_tensor_view<1x8xi32>";
  return "module attributes {pto.target_arch = \"" + chip +
         "\"} {\n  func.func @k(%table: !pto.ptr<i32>, %data: !pto.ptr<i32>, %idx: !pto.ptr<i32>) {\n"
         "    %c0 = arith.constant 0 : index\n    %c1 = arith.constant 1 : index\n    %c8 = arith.constant 8 : index\n"
         "    %tv = pto.make_tensor_view %table, shape = [%c1, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xi32>\n"
         "    %tp = pto.partition_view %tv, offsets = [%c0, %c0], sizes = [%c1, %c8] : !pto.tensor_view<?x?xi32> -> " +
         part +
         "\n    %sv = pto.make_tensor_view %data, shape = [%c1, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xi32>\n"
         "    %sp = pto.partition_view %sv, offsets = [%c0, %c0], sizes = [%c1, %c8] : !pto.tensor_view<?x?xi32> -> " +
         part +
         "\n    %iv = pto.make_tensor_view %idx, shape = [%c1, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xi32>\n"
         "    %ip = pto.partition_view %iv, offsets = [%c0, %c0], sizes = [%c1, %c8] : !pto.tensor_view<?x?xi32> -> " +
         part + "\n    %s = pto.alloc_tile : " + tile + "\n    %i = pto.alloc_tile : " + tile +
         "\n    pto.tload ins(%sp : " + part + ") outs(%s : " + tile + ")\n    pto.tload ins(%ip : " + part +
         ") outs(%i : " + tile + ")\n    pto.mscatter ins(%s, %i : " + tile + ", " + tile + ") outs(%tp : " + part +
         ") {coalesce = #pto<coalesce elem>, scatterAtomicOp = #pto<scatter_atomic_op add>, scatterOob = "
         "#pto<scatter_oob skip>}\n    return\n  }\n}\n";
}

TEST(PtoSimulate, ElementAddsOfCoresAreLostOnA3Only) {
  std::map<std::string, std::set<int32_t>> sums;
  for (const char* chip : {"a3", "a5"}) {
    for (uint64_t seed = 0; seed < 40; ++seed) {
      PtoRun run;
      run.set("table", std::vector<int32_t>(8, 0));
      run.set("data", std::vector<int32_t>{1, 2, 3, 4, 5, 6, 7, 8});
      run.set("idx", std::vector<int32_t>(8, 3));
      run.options.blocks = 4;
      run.options.seed = seed;
      run.options.check_sync = false;
      const Status status = run.run(add_elements(chip));
      ASSERT_TRUE(status.ok()) << status.message();
      sums[chip].insert(run.get<int32_t>("table")[3]);
    }
  }
  EXPECT_EQ(sums["a5"], std::set<int32_t>{144});
  EXPECT_TRUE(sums["a3"].contains(144)) << "one core after another";
  EXPECT_GE(sums["a3"].size(), 3u) << "a scalar read, add and write of one core lets another in between";
}

TEST(PtoSimulate, ChipsStrideTablesDifferently) {
  // A table of 64 rows of 40 elements with 32 in use: a3 takes the stride, a5 the tile's width.
  for (const char* chip : {"a3", "a5"}) {
    std::string text = tile_kernel(load_both() + flags("PIPE_MTE2", chip == std::string("a3") ? "PIPE_MTE3" : "PIPE_V") +
                                       scatter("coalesce = #pto<coalesce row>, scatterOob = #pto<scatter_oob skip>"),
                                   chip);
    const std::string packed = "shape = [%c64, %c32], strides = [%c32, %c1]";
    text.replace(text.find(packed), packed.size(), "shape = [%c64, %c32], strides = [%c40, %c1]");
    text.insert(text.find("    %a0"), "    %c40 = arith.constant 40 : index\n");
    PtoRun run = table_run(8, {0, 1, 2, 3, 4, 5, 6, 7});
    run.set("table", std::vector<float>(64 * 40));
    const Status status = run.run(text);
    ASSERT_TRUE(status.ok()) << status.message();
    const size_t pitch = chip == std::string("a3") ? 40 : 32;
    EXPECT_EQ(run.get<float>("table")[pitch + 1], run.get<float>("data")[33]) << chip;
  }
}

TEST(PtoSimulate, TilesAreComputedOn) {
  const std::string tile = "!pto.tile_buf<vec, 8x32xf32>";
  // g = table[i] * s + 3 where s >= 100, else table[i]; stored over data
  const std::string body =
      load_both() + flags("PIPE_MTE2", "PIPE_V") +
      test::gather("coalesce = #pto<coalesce row>, gatherOob = #pto<gather_oob zero>") +
      "      %h = arith.constant 100.0 : f32\n      %x = arith.constant 3.0 : f32\n      %a3 = arith.constant 32768 : i64\n"
      "      %a4 = arith.constant 40960 : i64\n      %m = pto.alloc_tile addr = %a3 : !pto.tile_buf<vec, 8x32xi8>\n"
      "      %w = pto.alloc_tile addr = %a4 : " +
      tile + "\n      pto.tcmps ins(%s, %h {cmpMode = #pto<cmp ge>} : " + tile +
      ", f32) outs(%m : !pto.tile_buf<vec, 8x32xi8>)\n      pto.tmul ins(%g, %s : " + tile + ", " + tile + ") outs(%s : " + tile +
      ")\n      pto.tadds ins(%s, %x : " + tile + ", f32) outs(%s : " + tile +
      ")\n      pto.tsel ins(%m, %s, %g, %w : "
      "!pto.tile_buf<vec, 8x32xi8>, " +
      tile + ", " + tile + ", " + tile + ") outs(%s : " + tile + ")\n" + flags("PIPE_V", "PIPE_MTE3") +
      "      pto.tstore ins(%s : " + tile + ") outs(%sp : !pto.partition_tensor_view<8x32xf32>)\n" +
      flags("PIPE_MTE3", "PIPE_MTE2");
  PtoRun run = table_run(16, {3, 1, 4, 1, 5, 9, 2, 6, 99, 3, 5, 8, 9, 7, 9, -3});
  const std::vector<float> table = run.get<float>("table"), data = run.get<float>("data");
  const std::vector<int32_t> indices = run.get<int32_t>("idx");
  const Status status = run.run(tile_kernel(body));
  ASSERT_TRUE(status.ok()) << status.message();
  for (size_t i = 0; i < data.size(); ++i) {
    const int32_t row = indices[i / 32];
    const float old = row >= 0 && row < 64 ? table[static_cast<size_t>(row) * 32 + i % 32] : 0;
    ASSERT_EQ(run.get<float>("data")[i], data[i] >= 100 ? old * data[i] + 3 : old) << i;
  }
}

TEST(PtoSimulate, ElementsLoopsAndBranches) {
  // idx[k] < 0 ? += 64, as scalars, by core 0 alone
  const std::string text = R"(module attributes {pto.target_arch = "a3"} {
  func.func @k(%idx: !pto.ptr<i64>, %n: i32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i64
    %wide = arith.constant 64 : i64
    %rows = arith.index_cast %n : i32 to index
    %b = pto.get_block_idx
    %mine = arith.cmpi eq, %b, %zero : i64
    scf.if %mine {
      scf.for %k = %c0 to %rows step %c1 {
        %v = pto.load_scalar %idx[%k] : !pto.ptr<i64> -> i64
        %low = arith.cmpi slt, %v, %zero : i64
        scf.if %low {
          %w = arith.addi %v, %wide : i64
          pto.store_scalar %w, %idx[%k] : !pto.ptr<i64>, i64
        } else {
          %two = arith.muli %v, %v : i64
          pto.store_scalar %two, %idx[%k] : !pto.ptr<i64>, i64
        }
      }
    }
    return
  }
})";
  PtoRun run;
  run.set("idx", std::vector<int64_t>{-1, 5, -64, 9});
  run.numbers["n"] = 4;
  run.options.blocks = 3;
  const Status status = run.run(text);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(run.get<int64_t>("idx"), (std::vector<int64_t>{63, 25, 0, 81}));
}

TEST(PtoSimulate, LoopsEndWhereTheirBoundsAreTheExtremes) {
  struct {
    const char *from, *to, *step;
    int64_t iterations;
  } const loops[] = {{"-9223372036854775808", "-9223372036854775803", "9223372036854775807", 1},
                     {"-9223372036854775808", "9223372036854775807", "9223372036854775807", 3},
                     {"9223372036854775804", "9223372036854775807", "2", 2},
                     {"9223372036854775807", "-9223372036854775808", "1", 0}};
  for (const auto& loop : loops) {
    const std::string text = std::string(R"(module attributes {pto.target_arch = "a3"} {
  func.func @k(%count: !pto.ptr<i64>) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    %from = arith.constant )") +
                             loop.from + R"( : index
    %to = arith.constant )" + loop.to +
                             R"( : index
    %step = arith.constant )" +
                             loop.step + R"( : index
    scf.for %k = %from to %to step %step {
      %v = pto.load_scalar %count[%c0] : !pto.ptr<i64> -> i64
      %w = arith.addi %v, %one : i64
      pto.store_scalar %w, %count[%c0] : !pto.ptr<i64>, i64
    }
    return
  }
})";
    PtoRun run;
    run.set("count", std::vector<int64_t>{0});
    const Status status = run.run(text);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(run.get<int64_t>("count")[0], loop.iterations) << loop.from << " to " << loop.to;
  }
}

TEST(PtoSimulate, PtoAsRunsToo) {
  const std::string text = R"(.arg %table : !pto.memref<64x32xf32>
.arg %gsrc : !pto.memref<16x32xf32>
.arg %gidx : !pto.memref<1x16xi32>
.const %c0 = 0 : index
%idx = tload %gidx[%c0, 0] : (!pto.memref<1x16xi32>, index, index) -> !pto.tile<1x16xi32>
%src = tload %gsrc[0, %c0] : (!pto.memref<16x32xf32>, index, index) -> !pto.tile<16x32xf32>
mscatter.row.skip.atomic_add %table, %src, %idx
%back = mgather.row.clamp %table, %idx : (!pto.memref<64x32xf32>, !pto.tile<1x16xi32>) -> !pto.tile<16x32xf32>
tstore %back, %gsrc[0, 0]
)";
  PtoRun run;
  run.set("table", std::vector<float>(64 * 32, 1));
  run.set("gsrc", std::vector<float>(16 * 32, 2));
  std::vector<int32_t> indices(16);
  std::iota(indices.begin(), indices.end(), 50);  // 64 and 65 are out
  run.set("gidx", indices);
  const Status status = run.run(text);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(run.get<float>("table")[50 * 32], 3);
  EXPECT_EQ(run.get<float>("table")[49 * 32], 1);
  EXPECT_EQ(run.get<float>("gsrc"), std::vector<float>(16 * 32, 3)) << "clamp reads row 63, which was added to";
}

TEST(PtoSimulate, ComputesBitForBit) {
  using pto::Computation;
  EXPECT_EQ(pto::compute(Computation::add, DType::i8, 0x7f, 1), 0x80u);
  EXPECT_EQ(pto::compute(Computation::mul, DType::i32, 0xffffffff, 5), 0xfffffffbu);
  EXPECT_EQ(pto::compute(Computation::max, DType::i32, 0xffffffff, 5), 5u);
  EXPECT_EQ(pto::compute(Computation::max, DType::u32, 0xffffffff, 5), 0xffffffffu);
  EXPECT_EQ(pto::compute(Computation::min, DType::i8, 0x80, 0x7f), 0x80u);
  EXPECT_EQ(pto::compute(Computation::shift_right, DType::i32, 0x80000000, 31), 0xffffffffu);
  EXPECT_EQ(pto::compute(Computation::shift_right, DType::u32, 0x80000000, 31), 1u);
  EXPECT_EQ(pto::compute(Computation::div, DType::i32, 0x80000000, 0xffffffff), 0x80000000u);
  const auto minus = [](uint64_t value) { return uint64_t{0} - value; };
  EXPECT_EQ(pto::compute(Computation::ceil_div, DType::i64, 7, 2), 4u);
  EXPECT_EQ(pto::compute(Computation::ceil_div, DType::i64, minus(7), 2), minus(3));
  EXPECT_EQ(pto::compute(Computation::ceil_div, DType::i64, minus(7), minus(2)), 4u);
  EXPECT_EQ(pto::compute(Computation::ceil_div, DType::u64, minus(1), 2), uint64_t{1} << 63);
  EXPECT_EQ(pto::compute(Computation::remainder, DType::i64, minus(7), 2), minus(1));
  EXPECT_EQ(pto::compute(Computation::add, DType::bf16, 0x3f80, 0x3b80), 0x3f80u) << "1 + 2^-8 ties to even";
  EXPECT_EQ(pto::compute(Computation::max, DType::f32, 0x80000000, 0), 0u) << "+0 is the larger zero";
  EXPECT_EQ(pto::compute(Computation::min, DType::f32, 0, 0x80000000), 0x80000000u);
  EXPECT_EQ(pto::convert(DType::i64, DType::i32, static_cast<uint64_t>(int64_t{-5}), "RINT", false), 0xfffffffbu);
  EXPECT_EQ(pto::convert(DType::i64, DType::i32, uint64_t{1} << 40, "RINT", true), 0x7fffffffu);
  EXPECT_EQ(pto::convert(DType::i64, DType::i32, uint64_t{1} << 40, "RINT", false), 0u);
  EXPECT_EQ(pto::convert(DType::f32, DType::i32, 0x40200000, "RINT", false), 2u) << "2.5 to even";
  EXPECT_EQ(pto::convert(DType::f32, DType::i32, 0x40200000, "ROUND", false), 3u);
  EXPECT_EQ(pto::convert(DType::f32, DType::f16, 0x3f800000, "RINT", false), 0x3c00u);
  EXPECT_TRUE(pto::compare("ne", DType::f32, 0x7fc00000, 0x7fc00000));
  EXPECT_FALSE(pto::compare("ge", DType::f32, 0x7fc00000, 0));
}

}  // namespace
}  // namespace strew::testing
