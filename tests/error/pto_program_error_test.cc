// What the NPU planner and its printers refuse, and that they say why and what would work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/pto/program.h"
#include "compiler/pto/print.h"
#include "strew/text.h"
#include "strew/verify.h"
#include "tests/support/plan.h"

namespace strew {
namespace {

using testing::HasSubstr;
using testing::Not;

Expected<pto::TileProgram> plan(const std::string& text, const pto::ProgramOptions& options = {},
                                pto::Chip chip = pto::Chip::a5) {
  STREW_ASSIGN(Op parsed, parse_op("strew1." + text));
  STREW_ASSIGN(const VerifiedOp op, VerifiedOp::of(std::move(parsed)));
  STREW_ASSIGN(const Plan planned, canonical_plan(op));
  return pto::plan_program(tensor_slots(op), planned, chip, options);
}

std::string refusal(const std::string& text, const pto::ProgramOptions& options = {}, pto::Chip chip = pto::Chip::a5) {
  const Expected<pto::TileProgram> program = plan(text, options, chip);
  if (program.ok()) return "it was planned";
  EXPECT_EQ(program.status().code(), Code::unsupported) << program.status().message();
  return program.status().message();
}

std::string rows(const std::string& dtype, const std::string& more, const std::string& index = "i32") {
  return "scatter(operand=" + dtype + "[64,32] indices=" + index + "[8,1] updates=" + dtype +
         "[8,32] update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 " + more +
         ")";
}

TEST(PtoProgramErrors, ALookUpThatDropsForSeveralResults) {
  const std::string op =
      "scatter(operand=[i64[2,1],u16[2,1]] indices=i32[2,1,1] updates=[i64[2,1],u16[2,1]] "
      "lookups=[updates(0)=gather(operand=i64[3] "
      "indices=i64[2,1,1] result=i64[2,1] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=2 slice_sizes=[1] "
      "oob=skip_window)] inserted_window_dims=[1] input_batching_dims=[0] scatter_indices_batching_dims=[0] "
      "scatter_dims_to_operand_dims=[1] index_vector_dim=2 oob=error)";
  pto::ProgramOptions options;
  EXPECT_EQ(refusal(op, options), "it was planned");
  options.output = pto::Output::pto_as;
  EXPECT_THAT(refusal(op, options), HasSubstr("a look-up that drops a position drops it for several results"));
}

TEST(PtoProgramErrors, Options) {
  const std::string op = rows("f32", "init=in_place oob=skip_window");
  pto::ProgramOptions options;
  options.kernel = "2fast";
  EXPECT_EQ(plan(op, options).status().code(), Code::invalid_argument);
  EXPECT_THAT(plan(op, options).status().message(), HasSubstr("kernel: the name is '2fast', expected letters"));
  options = {};
  options.blocks = -1;
  EXPECT_THAT(plan(op, options).status().message(), HasSubstr("blocks: -1, expected 0 to 65535"));
  options = {};
  options.tile_rows = 4000;
  EXPECT_THAT(plan(op, options).status().message(), HasSubstr("tile_rows: 4000, expected 0 to 2048"));
  EXPECT_THAT(plan(op, {}, pto::Chip::any).status().message(), HasSubstr("chip: any, expected a3 or a5"));
}

TEST(PtoProgramErrors, ACombinerOfAnotherPair) {
  const auto pairs = [](const std::string& graph) {
    return "scatter(operand=[f32[64,32],f32[64,32]] indices=i32[8,1] updates=[f32[8,32],f32[8,32]] update_window_dims=[1] "
           "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=expr expr={" +
           graph + "})";
  };
  // Tiles hold the values of one pair; the scalar unit combines elements of all.
  const std::string swapped = pairs("%0=update(1):f32; %1=update(0):f32; return %0, %1");
  const std::string summed =
      pairs("%0=current(0):f32; %1=update(0):f32; %2=add(%0,%1):f32; %3=update(1):f32; %4=add(%2,%3):f32; return %2, %4");
  EXPECT_TRUE(plan(swapped).ok());
  EXPECT_TRUE(plan(summed).ok());
  pto::ProgramOptions line;
  line.output = pto::Output::pto_as;
  EXPECT_EQ(refusal(swapped, line), "the combiner computes result 0 from update(1), expected values of its own pair only");
  EXPECT_EQ(refusal(summed, line), "the combiner computes result 1 from current(0), expected values of its own pair only");
}

TEST(PtoProgramErrors, Elements) {
  const std::string packed =
      "scatter(operand=i4[50] indices=i32[10] updates=i4[10] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
      "index_vector_dim=1 init=in_place oob=skip_element)";
  EXPECT_TRUE(plan(packed).ok());
  EXPECT_THAT(refusal("gather(operand=f64[64] indices=i32[8,1] result=f64[8] collapsed_slice_dims=[0] start_index_map=[0] "
                      "index_vector_dim=1 slice_sizes=[1] expr={%0=current(0):f64; %1=sqrt(%0):f64; return %1})"),
              HasSubstr("nor can the scalar unit combine: sqrt of f64 is not computed in integers"));
  EXPECT_TRUE(plan(rows("f64", "combiner=add init=in_place oob=skip_window")).ok());
  pto::ProgramOptions options;
  options.output = pto::Output::pto_as;
  EXPECT_THAT(refusal(packed, options), HasSubstr("i4, expected elements of 8 bits or more"));
  EXPECT_THAT(refusal(rows("i64", "combiner=add init=in_place oob=skip_window"), options),
              HasSubstr("or another output than pto-as, element by element"));
  // What tiles and ptoas have not, the scalar unit does.
  for (const char* scalars :
       {"combiner=max init=fill fill=1:u32 oob=skip_window unique_indices=true", "combiner=max oob=skip_window"})
    EXPECT_TRUE(plan(rows("u32", scalars), {}, pto::Chip::a3).ok()) << scalars;
  EXPECT_TRUE(plan(rows("u64", "combiner=mul oob=clamp")).ok());
}

TEST(PtoProgramErrors, WhatPtoasDoesNotLetThrough) {
  const std::string op = rows("bf16", "combiner=add init=in_place oob=skip_window order=relaxed");
  // Rows are gathered, added on tiles and scattered.
  const Expected<pto::TileProgram> computed = plan(op);
  ASSERT_TRUE(computed.ok()) << computed.status().message();
  EXPECT_THAT(pto::print(computed->module), Not(HasSubstr("scatter_atomic_op add")));
  pto::ProgramOptions options;
  options.output = pto::Output::pto_cpp;
  const Expected<pto::TileProgram> program = plan(op, options);
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_THAT(pto::print_cpp({*program}), HasSubstr("pto::ScatterAtomicOp::Add"));
}

TEST(PtoProgramErrors, IndexColumns) {
  pto::ProgramOptions options;
  options.index_column = true;
  EXPECT_TRUE(plan(rows("f32", "init=in_place oob=skip_window"), options).ok());
  EXPECT_THAT(refusal(rows("f32", "init=in_place oob=skip_window"), options, pto::Chip::a3), HasSubstr("a3's header takes"));
  EXPECT_THAT(refusal(rows("f32", "init=in_place oob=clamp"), options),
              HasSubstr("policy clamp of signed indices; u32 ones would"));
  EXPECT_THAT(refusal(rows("f32", "oob=skip_window"), options), HasSubstr("each core keeps its own rows; unique_indices"));
  EXPECT_THAT(refusal(rows("f32", "init=in_place oob=skip_window", "i64"), options), HasSubstr("not i32 or u32 side by side"));
  EXPECT_THAT(refusal(rows("f32", "init=in_place oob=skip_window", "i8"), options), HasSubstr("there is no index tile"));
}

TEST(PtoProgramErrors, WideAccumulation) {
  const std::string op = rows("f16", "combiner=add init=in_place oob=skip_window accumulate=wide");
  EXPECT_TRUE(plan(op).ok());
  pto::ProgramOptions line;
  line.output = pto::Output::pto_as;
  EXPECT_THAT(refusal(op, line), HasSubstr("rounds the results after all updates, which takes loops; pto-ir has it"));
}

TEST(PtoProgramErrors, NegativeIndicesBesideThePolicy) {
  pto::ProgramOptions options;
  options.non_negative = true;
  EXPECT_TRUE(plan(rows("f32", "init=in_place oob=wrap"), options).ok());
  EXPECT_EQ(plan(rows("f32", "init=in_place oob=skip_window normalize_negative=true"), options).status().message(),
            "non_negative: the op normalises negative indices, expected one to which they are out of bounds");
  options.output = pto::Output::pto_as;
  EXPECT_TRUE(plan(rows("f32", "init=in_place oob=wrap"), options).ok());
}

TEST(PtoProgramErrors, StraightLines) {
  pto::ProgramOptions options;
  options.output = pto::Output::pto_as;
  for (const char* works : {"init=in_place oob=skip_window", "oob=skip_window", "init=in_place oob=clamp",
                            "init=in_place combiner=mul oob=skip_window unique_indices=true", "init=fill fill=0.5:f32 oob=wrap",
                            "init=in_place oob=error", "oob=error normalize_negative=true"})
    EXPECT_TRUE(plan(rows("f32", works), options).ok()) << works;
  for (const char* indices : {"i64", "u64", "i16", "u8", "i4"})
    EXPECT_TRUE(plan(rows("f32", "init=in_place oob=skip_window", indices), options).ok()) << indices;
  EXPECT_TRUE(
      plan("scatter(operand=f32[64,32] indices=i32[0,1] updates=f32[0,32] update_window_dims=[1] inserted_window_dims=[0] "
           "scatter_dims_to_operand_dims=[0] index_vector_dim=1 oob=skip_window)",
           options)
          .ok());
  EXPECT_THAT(refusal(rows("f32", "init=fill fill=inf:f32 oob=skip_window"), options), HasSubstr("a number is infinite or none"));
  const std::string longer =
      "scatter(operand=f32[64,32] indices=i32[4000,1] updates=f32[4000,32] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=mul init=in_place oob=skip_window)";
  EXPECT_THAT(refusal(longer, options), HasSubstr("more than 3000 lines without loops; pto-ir would work"));
  // Of a part of a table, the second slab of a batched gather, single elements are moved.
  EXPECT_TRUE(plan("gather(operand=u8[4,9,32] indices=u32[4,8] result=u8[4,8,32] offset_dims=[2] collapsed_slice_dims=[1] "
                   "operand_batching_dims=[0] start_indices_batching_dims=[0] start_index_map=[1] index_vector_dim=2 "
                   "slice_sizes=[1,1,32] oob=wrap)",
                   options)
                  .ok());
  EXPECT_THAT(refusal("gather(operand=f32[50000] indices=i64[8] result=f32[8] collapsed_slice_dims=[0] start_index_map=[0] "
                      "index_vector_dim=1 slice_sizes=[1] oob=wrap)",
                      options),
              HasSubstr("policy wrap of 64-bit indices by more than 46340, the square of which is no i32; pto-ir would work"));
  EXPECT_THAT(
      refusal("scatter(operand=f32[?,32] indices=i32[8,1] updates=f32[8,32] update_window_dims=[1] inserted_window_dims=[0] "
              "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=mul init=in_place oob=skip_window)",
              options),
      HasSubstr("the frozen grammar has no loops, and tiles of one shape; pto-ir would work"));
}

TEST(PtoProgramErrors, LookUps) {
  const auto looks_up = [](const std::string& table, const std::string& indices, const std::string& more,
                           const std::string& extras = "") {
    return "scatter(operand=f32[64,32] indices=i32[8] updates=f32[8,32] " + extras +
           " lookups=[updates(0)=gather(operand=" + table + " indices=" + indices +
           " result=f32[8,32] offset_dims=[1] collapsed_slice_dims=[0] index_vector_dim=1 slice_sizes=[1,32] " + more +
           ")] update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 "
           "combiner=add init=in_place oob=skip_window)";
  };
  const std::string rows = "start_index_map=[0] oob=";
  for (const char* policy : {"undefined", "clamp", "wrap", "error", "skip_window", "skip_element", "fill_window fill=0.5:f32"})
    for (const pto::Chip chip : {pto::Chip::a3, pto::Chip::a5})
      EXPECT_TRUE(plan(looks_up("f32[50,32]", "i64[8]", rows + policy), {}, chip).ok()) << policy;
  for (const char* cuts : {"skip_element", "wrap", "fill_element fill=0:f32"})
    EXPECT_THAT(
        refusal(looks_up("f32[50,40]", "i32[8,2]", std::string("start_index_map=[0,1] oob=") + cuts)),
        HasSubstr("the look-up of updates 0 cuts windows (policy " + std::string(cuts).substr(0, std::string(cuts).find(' ')) +
                  "), expected a policy that keeps or drops whole windows"));
  // PTO-AS has no statement that reads an index as a number, and no branch; tiles do without.
  pto::ProgramOptions as;
  as.output = pto::Output::pto_as;
  EXPECT_TRUE(plan(looks_up("f32[50,32]", "i32[8]", rows + "skip_window"), as, pto::Chip::a3).ok());
  for (const char* policy : {"wrap", "error", "fill_window fill=0:f32"})
    EXPECT_TRUE(plan(looks_up("f32[50,32]", "i32[8]", rows + policy), as).ok()) << policy;
  pto::ProgramOptions column;
  column.index_column = true;
  EXPECT_THAT(refusal(looks_up("f32[50,32]", "i32[8]", rows + "undefined"), column),
              HasSubstr("index code finds the rows that look-ups read"));
}

TEST(PtoProgramErrors, LookUpsThatFillNumbers) {
  const auto weighted = [](const std::string& policy) {
    return "scatter(operand=f32[64,32] indices=i32[8] updates=f32[8,32] extras=[per_position:f32[8]] lookups=[extra(0)=gather("
           "operand=f32[50] indices=i32[8] result=f32[8] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 "
           "slice_sizes=[1] oob=" +
           policy +
           ")] update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
           "index_vector_dim=1 combiner=expr expr={%0=current(0):f32; %1=update(0):f32; %2=extra(0):f32; %3=multiply(%1,%2):f32; "
           "%4=add(%0,%3):f32; return %4} init=in_place oob=skip_window)";
  };
  EXPECT_TRUE(plan(weighted("skip_window")).ok());
  // Element by element, numbers are tiles, too.
  EXPECT_TRUE(plan(weighted("fill_window fill=1:f32")).ok());
  pto::ProgramOptions line;
  line.output = pto::Output::pto_as;
  EXPECT_THAT(refusal(weighted("fill_window fill=1:f32"), line),
              HasSubstr("a fill value other than 0 is computed with: the chip's mode is zero; pto-ir would work"));
}

/// The modes of PTO-AS judge by the extent of a whole memref; here the indexed dim is a part of it, so tile instructions judge.
TEST(PtoProgramErrors, StraightLinesOfAPartOfATable) {
  pto::ProgramOptions options;
  options.output = pto::Output::pto_as;
  EXPECT_TRUE(plan("gather(operand=f32[3,64] indices=u32[256,1] result=f32[256] collapsed_slice_dims=[0,1] start_index_map=[1] "
                   "index_vector_dim=1 slice_sizes=[1,1] oob=wrap)",
                   options)
                  .ok());
}

TEST(PtoProgramErrors, OneProgramPerStraightLine) {
  pto::ProgramOptions options;
  options.output = pto::Output::pto_as;
  const Expected<pto::TileProgram> program = plan(rows("f32", "init=in_place oob=skip_window"), options);
  ASSERT_TRUE(program.ok());
  EXPECT_THAT(pto::program_text({*program, *program}, "pto-as").status().message(),
              HasSubstr("there are 2 kernels, expected one"));
}

}  // namespace
}  // namespace strew
