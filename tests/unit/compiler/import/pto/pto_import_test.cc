// What mscatter and mgather programs become: the op for every mode, which loops are recognised, what the caller must give.
// Programs that run are in pto_simulated_test.cc, broken ones in tests/error/pto_error_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/number.h"
#include "compiler/import/pto/import.h"
#include "compiler/import/pto/tiling.h"
#include "strew/import.h"
#include "strew/run_program.h"
#include "strew/text.h"
#include "strew/verify.h"
#include "tests/support/kernel_arguments.h"
#include "tests/support/paths.h"
#include "tests/support/pto_program.h"

namespace strew::testing {
namespace {

using test::PtoLoop;
using test::PtoProgram;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string read(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(test::source_folder() / path).rdbuf();
  return text.str();
}

Program import_text(const std::string& text) {
  Expected<Program> out = pto::import_program(text, "k.pto", {});
  EXPECT_TRUE(out.ok()) << out.status().message() << "\n" << text;
  if (!out.ok()) return {};
  for (const ProgramKernel& k : out->kernels()) EXPECT_TRUE(verify(k.op).ok()) << print(k.op);
  return std::move(*out);
}

std::string message_of(const std::string& text) {
  const Expected<Program> out = pto::import_program(text, "k.pto", {});
  return out.ok() ? "imported" : out.status().message();
}

std::string op_of(const PtoProgram& p) {
  const Program imported = import_text(p.text());
  return imported.kernels().empty() ? "" : print(imported.kernel(0).op);
}

/// 8 rows of 32 into 16.
PtoProgram program(bool scatters, bool by_row) {
  PtoProgram p;
  p.scatters = scatters;
  p.by_row = by_row;
  p.loop = PtoLoop::none;
  p.static_count = true;
  p.partial_tiles = false;
  return p;
}

const char* const kScatterRow =
    "strew1.scatter(operand=f32[16,32] indices=u32[8] updates=f32[8,32] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 ";
const char* const kScatterElem =
    "strew1.scatter(operand=f32[512] indices=u32[8,32] updates=f32[8,32] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=2 ";
const char* const kGatherRow =
    "strew1.gather(operand=f32[16,32] indices=u32[8] result=f32[8,32] offset_dims=[1] collapsed_slice_dims=[0] "
    "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,32]";
const char* const kGatherElem =
    "strew1.gather(operand=f32[512] indices=u32[8,32] result=f32[8,32] collapsed_slice_dims=[0] start_index_map=[0] "
    "index_vector_dim=2 slice_sizes=[1]";

TEST(PtoImport, ScatterModes) {
  const std::pair<const char*, const char*> policies[] = {
      {"undefined", "oob=undefined)"}, {"skip", "oob=skip_window)"}, {"clamp", "oob=clamp)"}, {"wrap", "oob=wrap)"}};
  const std::pair<const char*, const char*> atomics[] = {
      {"none", ""}, {"add", "combiner=add "}, {"max", "combiner=max "}, {"min", "combiner=min "}};
  for (const bool by_row : {true, false}) {
    for (const auto& [oob, policy] : policies) {
      for (const auto& [atomic, combiner] : atomics) {
        PtoProgram p = program(true, by_row);
        p.oob = oob;
        p.atomic = atomic;
        for (p.form = 0; p.form < 3; ++p.form)
          EXPECT_EQ(op_of(p), std::string(by_row ? kScatterRow : kScatterElem) + combiner + "init=in_place " + policy);
      }
    }
  }
}

TEST(PtoImport, GatherModes) {
  const std::pair<const char*, std::array<const char*, 2>> policies[] = {{"undefined", {" oob=undefined)", " oob=undefined)"}},
                                                                         {"clamp", {")", ")"}},
                                                                         {"wrap", {" oob=wrap)", " oob=wrap)"}},
                                                                         {"zero", {" oob=fill_window)", " oob=fill_element)"}}};
  for (const bool by_row : {true, false}) {
    for (const auto& [oob, policy] : policies) {
      PtoProgram p = program(false, by_row);
      p.oob = oob;
      for (p.form = 0; p.form < 3; ++p.form)
        EXPECT_EQ(op_of(p), std::string(by_row ? kGatherRow : kGatherElem) + policy[by_row ? 0 : 1]);
    }
  }
}

TEST(PtoImport, LoopsBecomeOneOp) {
  const std::string whole =
      "strew1.scatter(operand=f32[16,32] indices=u32[?] updates=f32[?,32] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place oob=undefined)";
  for (const PtoLoop loop : {PtoLoop::one_core, PtoLoop::in_turn, PtoLoop::counted, PtoLoop::pieces}) {
    for (const bool partial : {true, false}) {
      PtoProgram p = program(true, true);
      p.loop = loop;
      p.static_count = false;
      p.partial_tiles = partial;
      const Program imported = import_text(p.text());
      ASSERT_EQ(imported.kernels().size(), 1u);
      const ProgramKernel& kernel = imported.kernel(0);
      EXPECT_EQ(print(kernel.op), whole);
      EXPECT_EQ(kernel.name, "k");
      const KernelArguments equal = test::arguments_for(kernel, ArgumentUse::equal_scalars);
      ASSERT_EQ(equal.size(), partial ? 2u : 3u) << "rows of data, length of idx, whole tiles";
      EXPECT_EQ(equal[0].a, "dim 0 of data");
      EXPECT_EQ(equal[1].a, "dim 1 of idx");
      if (!partial) {
        EXPECT_EQ(equal[2].a, "%n modulo 8");
      }
      const bool shared = loop != PtoLoop::one_core;
      EXPECT_EQ(kernel.notes.size(), shared ? 3u : 2u);
      if (shared) {
        EXPECT_THAT(kernel.notes, Contains(HasSubstr("tiles of different cores")));
      }
    }
  }
}

TEST(PtoImport, TheFirstCoreAlone) {
  const auto guarded = [](const std::string& condition, const std::string& before) {
    return message_of(
        "module attributes {pto.target_arch = \"a5\"} {\n  func.func @k(%t: !pto.ptr<f32>, %i: !pto.ptr<i32>, %u: "
        "!pto.ptr<f32>) {\n    %c0 = arith.constant 0 : index\n    %c1 = arith.constant 1 : index\n    %c8 = "
        "arith.constant 8 : index\n    %c32 = arith.constant 32 : index\n    %b = pto.get_block_idx\n    %core = "
        "arith.index_cast %b : i64 to index\n    %tv = pto.make_tensor_view %t, shape = [%c8, %c32], strides = [%c32, "
        "%c1] : !pto.tensor_view<?x?xf32>\n    %uv = pto.make_tensor_view %u, shape = [%c8, %c32], strides = [%c32, "
        "%c1] : !pto.tensor_view<?x?xf32>\n    %iv = pto.make_tensor_view %i, shape = [%c1, %c8], strides = [%c8, "
        "%c1] : !pto.tensor_view<?x?xi32>\n    %tp = pto.partition_view %tv, offsets = [%c0, %c0], sizes = [%c8, "
        "%c32] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x32xf32>\n    %up = pto.partition_view %uv, "
        "offsets = [%c0, %c0], sizes = [%c8, %c32] : !pto.tensor_view<?x?xf32> -> "
        "!pto.partition_tensor_view<8x32xf32>\n    %ip = pto.partition_view %iv, offsets = [%c0, %c0], sizes = [%c1, "
        "%c8] : !pto.tensor_view<?x?xi32> -> !pto.partition_tensor_view<1x8xi32>\n    %st = pto.alloc_tile : "
        "!pto.tile_buf<vec, 8x32xf32>\n    %it = pto.alloc_tile : !pto.tile_buf<vec, 1x8xi32>\n" +
        before + "    %first = arith.cmpi " + condition +
        " : index\n    scf.if %first {\n      pto.tload ins(%up : !pto.partition_tensor_view<8x32xf32>) outs(%st : "
        "!pto.tile_buf<vec, 8x32xf32>)\n      pto.tload ins(%ip : !pto.partition_tensor_view<1x8xi32>) outs(%it : "
        "!pto.tile_buf<vec, 1x8xi32>)\n      pto.mscatter ins(%st, %it : !pto.tile_buf<vec, 8x32xf32>, "
        "!pto.tile_buf<vec, 1x8xi32>) outs(%tp : !pto.partition_tensor_view<8x32xf32>) {coalesce = #pto<coalesce "
        "row>, scatterOob = #pto<scatter_oob skip>}\n    }\n    return\n  }\n}\n");
  };
  const std::string load =
      "    pto.tload ins(%up : !pto.partition_tensor_view<8x32xf32>) outs(%st : !pto.tile_buf<vec, 8x32xf32>)\n";
  EXPECT_EQ(guarded("eq, %core, %c0", ""), "imported");
  EXPECT_EQ(guarded("eq, %c0, %core", ""), "imported");
  EXPECT_THAT(guarded("eq, %core, %c1", ""), HasSubstr("expected get_block_idx equal to 0"));
  EXPECT_THAT(guarded("slt, %core, %c0", ""), HasSubstr("an op has no conditions"));
  EXPECT_THAT(guarded("eq, %core, %c0", load), HasSubstr("%u is touched before by every core"));
  // Conditions are values that nothing follows, and pointers are none.
  const std::string condition = "    %p = arith.cmpi eq, %core, %c0 : index\n";
  EXPECT_THAT(guarded("eq, %core, %c0", condition + "    %q = arith.extui %p : i1 to i32\n"),
              HasSubstr("arith.extui: %p is a condition, and an op has nothing like it"));
  EXPECT_THAT(guarded("eq, %core, %c0", condition + "    %q = arith.index_castui %p : i1 to index\n"),
              HasSubstr("arith.index_castui: %p is a condition"));
  EXPECT_THAT(guarded("eq, %core, %c0", condition + "    %q = arith.cmpi eq, %p, %p : i1\n"),
              HasSubstr("arith.cmpi: %p is a condition"));
  EXPECT_THAT(guarded("eq, %core, %c0", "    %q = arith.cmpi eq, %t, %t : !pto.ptr<f32>\n"),
              HasSubstr("arith.cmpi: it compares !pto.ptr<f32>, expected index or integers"));
}

TEST(PtoImport, OneTilePerCore) {
  PtoProgram p = program(true, true);
  p.loop = PtoLoop::tile_each;
  p.count = 32;
  const Program imported = import_text(p.text());
  EXPECT_THAT(imported.kernels().at(0).notes, Contains("written for 4 cores"));
  EXPECT_EQ(print(std::get<Scatter>(*imported.kernel(0).op).updates[0]), "f32[32,32]");
}

TEST(PtoImport, ArgumentsAreInputsInOrder) {
  const Program imported = import_text(read("tests/data/pto/two_kernels.pto"));
  std::vector<std::string> inputs;
  for (const ProgramInput& input : imported.inputs())
    inputs.push_back(input.name + " " + print(input.type) + (input.optional ? " optional" : ""));
  EXPECT_THAT(inputs,
              ElementsAre("k_add.table f32[64,32]", "k_add.data f32[?,32]", "k_add.idx i32[1,?]", "k_add.count i32[] optional",
                          "k_gather.table f32[64,32]", "k_gather.idx i32[1,?]", "k_gather.count i32[] optional"));
  ASSERT_EQ(imported.outputs().size(), 2u);
  EXPECT_EQ(imported.outputs()[0].name, "k_add.table");
  EXPECT_EQ(imported.outputs()[1].name, "k_gather.data");
  EXPECT_EQ(imported.kernel(1).location, "k.pto:59:7: pto.mgather");
  EXPECT_EQ(imported.format(), "pto");
}

TEST(PtoImport, EveryElementType) {
  const std::pair<const char*, DType> types[] = {
      {"i8", DType::i8},     {"ui8", DType::u8},        {"i16", DType::i16},           {"ui16", DType::u16},
      {"i32", DType::i32},   {"ui32", DType::u32},      {"si32", DType::i32},          {"f16", DType::f16},
      {"bf16", DType::bf16}, {"f8E5M2", DType::f8e5m2}, {"f8E4M3FN", DType::f8e4m3fn}, {"!pto.hif8", DType::hif8}};
  for (const auto& [element, dtype] : types) {
    PtoProgram p = program(true, true);
    p.element = element;
    EXPECT_EQ(std::get<Scatter>(*import_text(p.text()).kernels().at(0).op).operands[0].dtype, dtype);
  }
}

/// A straight line over a table of [8, 32], rows of [8, 32] and lists of 8, with `lines` in the middle.
std::string straight_line(const std::string& lines, const std::string& chip = "a3") {
  return "module attributes {pto.target_arch = \"" + chip + R"("} {
  func.func @k(%table: !pto.ptr<f32>, %rows: !pto.ptr<f32>, %idx: !pto.ptr<i32>, %at: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c24 = arith.constant 24 : index
    %c32 = arith.constant 32 : index
    %c40 = arith.constant 40 : index
    %iv = pto.make_tensor_view %idx, shape = [%c1, %c24], strides = [%c24, %c1] : !pto.tensor_view<?x?xi32>
    %rv = pto.make_tensor_view %rows, shape = [%c8, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>
    %rp = pto.partition_view %rv, offsets = [%c0, %c0], sizes = [%c8, %c32] : !pto.tensor_view<?x?xf32>
    %it = pto.alloc_tile : !pto.tile_buf<vec, 1x8xi32>
    %dt = pto.alloc_tile : !pto.tile_buf<vec, 8x32xf32>
)" + lines +
         "    return\n  }\n}\n";
}
const std::string kTable =
    "    %tv = pto.make_tensor_view %table, shape = [%c8, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>\n"
    "    %tp = pto.partition_view %tv, offsets = [%c0, %c0], sizes = [%c8, %c32] : !pto.tensor_view<?x?xf32>\n";
std::string load_indices(const std::string& name, const std::string& at) {
  return "    %" + name + " = pto.partition_view %iv, offsets = [%c0, %" + at +
         "], sizes = [%c1, %c8] : !pto.tensor_view<?x?xi32>\n" + "    pto.tload ins(%" + name +
         " : !pto.partition_tensor_view<1x8xi32>) outs(%it : !pto.tile_buf<vec, 1x8xi32>)\n";
}
const std::string kGather =
    "    pto.mgather ins(%tp, %it : !pto.partition_tensor_view<8x32xf32>, !pto.tile_buf<vec, 1x8xi32>) outs(%dt : "
    "!pto.tile_buf<vec, 8x32xf32>) {coalesce = #pto<coalesce row>, gatherOob = #pto<gather_oob clamp>}\n";
const std::string kScatter =
    "    pto.mscatter ins(%dt, %it : !pto.tile_buf<vec, 8x32xf32>, !pto.tile_buf<vec, 1x8xi32>) outs(%tp : "
    "!pto.partition_tensor_view<8x32xf32>) {coalesce = #pto<coalesce row>, scatterOob = #pto<scatter_oob wrap>}\n";
const std::string kLoadRows =
    "    pto.tload ins(%rp : !pto.partition_tensor_view<8x32xf32>) outs(%dt : !pto.tile_buf<vec, 8x32xf32>)\n";
const std::string kStoreRows =
    "    pto.tstore ins(%dt : !pto.tile_buf<vec, 8x32xf32>) outs(%rp : !pto.partition_tensor_view<8x32xf32>)\n";

std::unique_ptr<Tensor> floats(std::vector<int64_t> dims, float first) {
  auto out = std::make_unique<Tensor>(std::move(make_tensor(DType::f32, std::move(dims)).value()));
  for (int64_t i = 0; i < out->elements(); ++i)
    reinterpret_cast<float*>(out->data.data())[i] = first + static_cast<float>(i / 32);
  return out;
}
std::unique_ptr<Tensor> integers(DType dtype, const std::vector<int64_t>& dims, const std::vector<int64_t>& values) {
  auto out = std::make_unique<Tensor>(std::move(make_tensor(dtype, dims).value()));
  for (size_t i = 0; i < values.size(); ++i)
    store_element(dtype, out->data.data(), static_cast<int64_t>(i), {dtype, {encode_i64(dtype, values[i]), 0}});
  return out;
}
/// The first element of each row.
std::vector<float> rows_of(const Tensor& t) {
  std::vector<float> out;
  for (int64_t i = 0; i < t.elements(); i += 32) out.push_back(reinterpret_cast<const float*>(t.data.data())[i]);
  return out;
}
Expected<std::vector<Tensor>> run(const Program& imported, std::vector<std::unique_ptr<Tensor>> inputs) {
  Runtime runtime;
  ProgramOptions options;
  options.kernel.backend = BackendChoice::reference;
  return run_program(runtime, imported, std::move(inputs), options);
}
std::vector<int64_t> count_down() {
  std::vector<int64_t> out;
  for (int64_t i = 24; i-- > 0;) out.push_back(i % 8);
  return out;
}

TEST(PtoImport, StatementsOfAStraightLineChain) {
  // Gathered rows are scattered elsewhere in the same table: two kernels, the second reads what the first gave.
  const Program imported =
      import_text(straight_line(kTable + load_indices("ip", "c0") + kGather + load_indices("jp", "c8") + kScatter));
  ASSERT_EQ(imported.kernels().size(), 2u);
  EXPECT_EQ(imported.kernel(1).name, "k_2");
  std::vector<std::unique_ptr<Tensor>> inputs;
  inputs.push_back(floats({8, 32}, 10));
  std::vector<int64_t> indices = count_down();
  for (size_t i = 8; i < 16; ++i) indices[i] = static_cast<int64_t>(i) - 8;
  indices[15] = 8;  // wraps to 0
  inputs.push_back(integers(DType::i32, {24}, indices));
  inputs.push_back(nullptr);
  const Expected<std::vector<Tensor>> out = run(imported, std::move(inputs));
  ASSERT_TRUE(out.ok()) << out.status().message();
  EXPECT_THAT(rows_of((*out)[0]), ElementsAre(10, 16, 15, 14, 13, 12, 11, 17)) << "row 0 is written twice, row 7 not at all";
}

TEST(PtoImport, PartsAtRunTime) {
  // The list begins where a scalar argument says; the tile goes to part of the table.
  const std::string text = straight_line(kTable + load_indices("ip", "at") + kGather + kStoreRows);
  const Program imported = import_text(text);
  ASSERT_EQ(imported.inputs().size(), 3u) << "table, idx, at; rows are only written";
  EXPECT_FALSE(imported.input(2).optional);
  for (const int64_t at : {0, 5, 16, 17, -1}) {
    std::vector<std::unique_ptr<Tensor>> inputs;
    inputs.push_back(floats({8, 32}, 0));
    inputs.push_back(integers(DType::i32, {1, 24}, count_down()));
    inputs.push_back(integers(DType::i64, {}, {at}));
    const Expected<std::vector<Tensor>> out = run(imported, std::move(inputs));
    if (at < 0 || at > 16) {
      EXPECT_THAT(out.status().message(), HasSubstr(at < 0 ? "the start in dim 1 is -1 more than 0" : "which the slice leaves"));
      continue;
    }
    ASSERT_TRUE(out.ok()) << out.status().message();
    std::vector<float> expected;
    for (int64_t i = 0; i < 8; ++i) expected.push_back(static_cast<float>(count_down()[static_cast<size_t>(at + i)]));
    EXPECT_EQ(rows_of((*out)[0]), expected);
  }
}

TEST(PtoImport, PartOfATable) {
  const std::string table =
      "    %tv = pto.make_tensor_view %table, shape = [%c24, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>\n"
      "    %tp = pto.partition_view %tv, offsets = [%c4, %c0], sizes = [%c8, %c32] : !pto.tensor_view<?x?xf32>\n";
  const Program imported = import_text(straight_line(table + kLoadRows + load_indices("ip", "c0") + kScatter));
  std::vector<std::unique_ptr<Tensor>> inputs;
  inputs.push_back(floats({24, 32}, 0));
  inputs.push_back(floats({8, 32}, 100));
  inputs.push_back(integers(DType::i32, {24}, count_down()));
  inputs.push_back(nullptr);
  const Expected<std::vector<Tensor>> out = run(imported, std::move(inputs));
  ASSERT_TRUE(out.ok()) << out.status().message();
  std::vector<float> expected;
  for (int i = 0; i < 24; ++i) expected.push_back(static_cast<float>(i >= 4 && i < 12 ? 100 + (11 - i) : i));
  EXPECT_EQ(rows_of((*out)[0]), expected) << "the capacity is the part's, and so is the first row";
}

TEST(PtoImport, PaddedTables) {
  const std::string table =
      "    %tv = pto.make_tensor_view %table, shape = [%c8, %c32], strides = [%c40, %c1] : !pto.tensor_view<?x?xf32>\n"
      "    %tp = pto.partition_view %tv, offsets = [%c0, %c0], sizes = [%c8, %c32] : !pto.tensor_view<?x?xf32>\n";
  const std::string rest = kLoadRows + load_indices("ip", "c0") + kScatter;
  const Scatter s = std::get<Scatter>(*import_text(straight_line(table + rest)).kernels().at(0).op);
  EXPECT_THAT(s.operands[0].strides, ElementsAre(40, 1));
  EXPECT_THAT(message_of(straight_line(table + rest, "a5")), HasSubstr("rows of the table are 40 apart and the tile's have 32"));
}

TEST(PtoImport, FoldedTables) {
  const std::string table =
      "    %tv = pto.make_tensor_view %table, shape = [%c4, %c8, %c32], strides = [%cb, %c32, %c1] : "
      "!pto.tensor_view<?x?x?xf32>\n"
      "    %tp = pto.partition_view %tv, offsets = [%c0, %c0, %c0], sizes = [%c4, %c8, %c32] : !pto.tensor_view<?x?x?xf32> -> "
      "!pto.partition_tensor_view<4x8x32xf32>\n";
  std::string rest = kLoadRows + load_indices("ip", "c0") + kScatter;
  rest.replace(rest.find("view<8x32xf32>", rest.find("mscatter")), 14, "view<4x8x32xf32>");
  const std::string text = "    %cb = arith.constant 256 : index\n" + table + rest;
  EXPECT_EQ(print(std::get<Scatter>(*import_text(straight_line(text)).kernels().at(0).op).operands[0]), "f32[32,32]");
  EXPECT_THAT(message_of(straight_line(text, "a5")), HasSubstr("the table's rows are in more than one dim, expected one on a5"));
}

TEST(PtoImport, OrderThatMattersIsKept) {
  // Element mode in tiles of half a row: the last writer is another one than in row-major order.
  PtoProgram p = program(true, false);
  p.loop = PtoLoop::one_core;
  const auto columns = [&] {
    std::string text = p.text();
    const size_t body = text.find('\n', text.find("scf.for %r")) + 1;
    text.insert(body, "%h = arith.constant 8 : index\n scf.for %c = %c0 to %c32 step %h {\n");
    text.insert(text.find("    return"), "    }\n");
    for (const std::string from : {"%r, %c0], sizes = [%c8, %c32", "8x32x", "cols=32, v_row=8, v_col=32"}) {
      const std::string to = from[0] == '%' ? "%r, %c], sizes = [%c8, %h" : from[0] == '8' ? "8x8x" : "cols=8, v_row=8, v_col=8";
      for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    }
    return text;
  };
  EXPECT_THAT(message_of(columns()), HasSubstr("visit updates in another order than rows one after the other"));
  p.atomic = "max";
  EXPECT_EQ(message_of(columns()), "imported") << "the order of max does not matter";
  p.atomic = "none";
  p.loop = PtoLoop::in_turn;
  EXPECT_EQ(message_of(columns()), "imported") << "cores have no order anyway";
}

TEST(PtoImport, CallersAreCheckedBeforeAnythingRuns) {
  PtoProgram p = program(true, true);
  p.loop = PtoLoop::in_turn;
  p.static_count = false;
  const Program imported = import_text(p.text());
  const auto message = [&](int64_t rows, int64_t indices, int64_t n) {
    std::vector<std::unique_ptr<Tensor>> inputs;
    inputs.push_back(floats({16, 32}, 0));
    inputs.push_back(floats({rows, 32}, 0));
    inputs.push_back(integers(DType::i32, {indices}, std::vector<int64_t>(static_cast<size_t>(indices), 0)));
    inputs.push_back(n < 0 ? nullptr : integers(DType::i32, {1}, {n}));
    return run(imported, std::move(inputs)).status().message();
  };
  EXPECT_EQ(message(16, 16, -1), "");
  EXPECT_EQ(message(16, 16, 16), "");
  EXPECT_THAT(message(16, 16, 8), HasSubstr("dim 0 of data is 16, expected 8 as %n says"));
  EXPECT_THAT(message(16, 8, -1), HasSubstr("dim 1 of idx is 8, expected 16 as %n says"));
  EXPECT_THAT(message(20, 20, -1), HasSubstr("%n modulo 8 is 4, expected 0: the program has no partial tile"));
}

TEST(PtoImport, CoversOfLoops) {
  pto::Scalars s;
  const Poly n = Poly::symbol(s.add(pto::SymbolKind::argument, "n"));
  const SymbolId r = s.add(pto::SymbolKind::loop, "r"), c = s.add(pto::SymbolKind::loop, "c");
  const Poly at = Poly::symbol(r), inner = Poly::symbol(c);
  const std::vector<pto::Loop> loops = {{r, 64, n, false, {}}, {c, 16, 64, false, {}}};
  const Expected<pto::Span> both = cover(s, {s.add(at, inner), 16}, loops);
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->extent, n);
  EXPECT_THAT(both->loops, ElementsAre(1, 0));
  ASSERT_EQ(both->multiples.size(), 1u);
  EXPECT_EQ(both->multiples[0].divisor, 64);
  EXPECT_FALSE(cover(s, {s.add(at, inner), 8}, loops).ok()) << "gaps";
  EXPECT_FALSE(cover(s, {s.multiply(at, at), 16}, loops).ok()) << "not linear";
  EXPECT_EQ(s.text(s.result(pto::Opcode::divsi, s.add(n, 15), 16)), "ceil(%n / 16)");
  EXPECT_EQ(s.text(s.result(pto::Opcode::divsi, s.multiply(n, 32), 16)), "2 * %n");
}

TEST(PtoImport, GoldenPlansAreOfTheseFiles) {
  // tests/golden/plans/pto_*.op are what two files of tests/data become.
  for (const auto& [plan, file] : std::vector<std::pair<std::string, std::string>>{{"pto_row_scatter_add", "row_scatter_add"},
                                                                                   {"pto_elem_scatter", "elem_scatter"}}) {
    const Program imported = import_text(read("tests/data/pto/" + file + ".pto"));
    EXPECT_EQ(print(imported.kernels().at(0).op) + "\n", read("tests/golden/plans/" + plan + ".op"));
  }
}

}  // namespace
}  // namespace strew::testing
