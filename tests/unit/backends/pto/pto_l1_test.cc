// Gathers through the cube core's L1: what their programs say, that they give the reference's bits on any number of cores, that a flag
// taken out is noticed, and what is refused and why. Their ops are golden (tests/golden/programs/l1_*), and so are four of their texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "backends/pto/program.h"
#include "compiler/pto/parse.h"
#include "compiler/pto/print.h"
#include "compiler/pto/verify.h"
#include "strew/text.h"
#include "tests/differential/npu/npu_check.h"
#include "tests/differential/op_blueprint.h"
#include "tests/support/plan.h"
#include "tests/support/pto_whole.h"

namespace strew {
namespace {

using pto::Opcode;
using testing::HasSubstr;

std::string rows(const std::string& index, const std::string& oob, const std::string& table = "f16[64,2,16]",
                 const std::string& result = "f16[2,48,16]") {
  return "strew1.gather(operand=" + table + " indices=" + index + "[48,1] result=" + result +
         " offset_dims=[0,2] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1,2,16] oob=" + oob +
         ")";
}
std::string elements(int64_t count) {
  const std::string n = std::to_string(count);
  return "strew1.gather(operand=f32[100] indices=i32[" + n + ",1] result=f32[" + n +
         "] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1] oob=undefined)";
}

Expected<pto::TileProgram> plan(const std::string& text, pto::Chip chip, pto::Output output = pto::Output::pto_cpp,
                                int64_t tall = 0) {
  STREW_ASSIGN(Op parsed, parse_op(text));
  STREW_ASSIGN(const VerifiedOp op, VerifiedOp::of(std::move(parsed)));
  STREW_ASSIGN(const Plan planned, canonical_plan(op));
  pto::ProgramOptions options;
  options.output = output;
  options.through_l1 = true;
  options.tile_rows = tall;
  return pto::plan_program(tensor_slots(op), planned, chip, options);
}

std::string refusal(const std::string& text, pto::Output output = pto::Output::pto_cpp) {
  const Expected<pto::TileProgram> program = plan(text, pto::Chip::a5, output);
  return program.ok() ? "it was planned" : program.status().message();
}

/// Names of what runs, flags as FROM>TO.
void words(const std::vector<pto::Statement>& statements, std::vector<std::string>& out) {
  for (const pto::Statement& s : statements) {
    if (s.opcode == Opcode::gather_l1 || s.opcode == Opcode::gather_l1_elem) out.emplace_back("gather");
    if (s.opcode == Opcode::move_l1) out.emplace_back("move");
    if (s.opcode == Opcode::tstore) out.emplace_back("store");
    if (s.opcode == Opcode::wait_flag)
      out.push_back(std::string(s.attribute("src_pipe")).substr(5) + ">" + std::string(s.attribute("dst_pipe")).substr(5));
    words(s.body, out);
  }
}
std::vector<std::string> words(const pto::TileProgram& program) {
  std::vector<std::string> out;
  words(program.module.functions[0].body, out);
  return out;
}

TEST(PtoL1, A3StoresItsTile) {
  const Expected<pto::TileProgram> program = plan(rows("u32", "clamp"), pto::Chip::a3, pto::Output::pto_cpp, 48);
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program->module.functions[0].kernel_kind, "cube");
  EXPECT_THAT(words(*program), testing::IsSupersetOf({"gather", "MTE2>MTE3", "store"}));
  EXPECT_THAT(words(*program), testing::Not(testing::Contains("move")));
  EXPECT_EQ(program->ub_bytes, 0);
}

TEST(PtoL1, A5HandsItsTileToTheVectorCore) {
  const Expected<pto::TileProgram> program = plan(rows("u32", "clamp"), pto::Chip::a5);
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_THAT(words(*program), testing::IsSupersetOf({"gather", "MTE2>MTE1", "move", "MTE1>MTE3", "store"}));
  const std::string cpp = pto::print_cpp({*program});
  EXPECT_THAT(cpp, HasSubstr("STREW_CUBE(MGATHER<pto::Coalesce::Row, pto::GatherOOB::Clamp>(rows, table_rows, index_part))"));
  EXPECT_THAT(cpp, HasSubstr("STREW_CUBE(set_intra_block(PIPE_MTE1, 0))"));
  EXPECT_THAT(cpp, HasSubstr("STREW_VECTOR(wait_intra_block(PIPE_MTE3, 0))"));
  EXPECT_THAT(cpp, HasSubstr("STREW_VECTOR(TSTORE(result_part, handed))"));
}

/// Both forms of the text are the tree again, tiles in L1 told from others by their types.
TEST(PtoL1, TextReadsBack) {
  for (const pto::Chip chip : {pto::Chip::a3, pto::Chip::a5}) {
    for (const std::string& op : {rows("u32", "wrap"), elements(256)}) {
      const Expected<pto::TileProgram> program = plan(op, chip);
      ASSERT_TRUE(program.ok()) << program.status().message();
      for (const std::string& text : test::every_text(program->module)) {
        const Expected<pto::Module> again = pto::parse(text);
        ASSERT_TRUE(again.ok()) << again.status().message() << "\n" << text;
        EXPECT_TRUE(*again == program->module) << text;
        EXPECT_TRUE(pto::verify(*again, {pto::Reader::headers, true}).ok());
      }
    }
  }
}

TEST(PtoL1, GivesTheReferencesBits) {
  for (const std::string& op : {rows("i32", "undefined"), rows("u32", "clamp"), rows("u32", "wrap"),
                                rows("i32", "fill_window fill=0.0:f16"), elements(512)}) {
    const Expected<Op> parsed = parse_op(op);
    ASSERT_TRUE(parsed.ok());
    test::NpuChecker checker(false);
    for (uint64_t seed = 1; seed <= 8; ++seed) {
      test::NpuWish wish;
      wish.chip = seed % 2 == 0 ? pto::Chip::a3 : pto::Chip::a5;
      wish.options.output = pto::Output::pto_cpp;
      wish.options.through_l1 = true;
      wish.options.tile_rows = 16;
      wish.options.blocks = static_cast<int>(seed);
      const auto failure = checker.check(test::blueprint_of(*parsed), seed, wish);
      EXPECT_FALSE(failure) << failure->what << "\n" << checker.program();
    }
    EXPECT_EQ(checker.tally().planned, 8) << op;
  }
}

/// The planter takes flags out, makes every core the first and changes modes; the simulator must see the flags.
TEST(PtoL1, AMissingFlagIsNoticed) {
  const Expected<Op> op = parse_op(rows("u32", "clamp"));
  ASSERT_TRUE(op.ok());
  test::NpuChecker checker(true);
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    test::NpuWish wish;
    wish.chip = seed % 2 == 0 ? pto::Chip::a3 : pto::Chip::a5;
    wish.options.output = pto::Output::pto_cpp;
    wish.options.through_l1 = true;
    wish.options.blocks = 1;
    wish.options.tile_rows = 16;
    ASSERT_FALSE(checker.check(test::blueprint_of(*op), seed, wish));
  }
  for (const char* what : {"a flag that is not set", "a flag nobody waits for"}) {
    const auto [hits, of] = checker.tally().caught.at(what);
    EXPECT_EQ(hits, of) << what;
    EXPECT_GE(of, 12) << what;
  }
}

TEST(PtoL1, Refusals) {
  EXPECT_THAT(refusal(rows("u32", "clamp"), pto::Output::pto_ir), HasSubstr("ptoas takes a view in fractals for one in rows"));
  EXPECT_THAT(refusal(rows("u32", "clamp"), pto::Output::pto_as),
              HasSubstr("tiles of the vector buffer only; pto-cpp would work"));
  EXPECT_THAT(refusal(rows("i32", "clamp")), HasSubstr("policy clamp of i32 indices needs index code"));
  EXPECT_THAT(refusal(rows("i64", "undefined")), HasSubstr("indices are i64, expected i32 or u32"));
  EXPECT_THAT(refusal(elements(100)), HasSubstr("100 elements, expected a multiple of 128"));
  // The index counts rows, columns, and whole columns: none of them is the linear place of an element.
  for (const char* op :
       {"strew1.gather(operand=f32[100,3] indices=i32[512,1] result=f32[512] collapsed_slice_dims=[0,1] start_index_map=[0] "
        "index_vector_dim=1 slice_sizes=[1,1] oob=undefined)",
        "strew1.gather(operand=f32[3,100] indices=u32[512,1] result=f32[512] collapsed_slice_dims=[0,1] start_index_map=[1] "
        "index_vector_dim=1 slice_sizes=[1,1] oob=clamp)",
        "strew1.gather(operand=f32[3,100] indices=i32[512,1] result=f32[3,512] offset_dims=[0] collapsed_slice_dims=[1] "
        "start_index_map=[1] index_vector_dim=1 slice_sizes=[3,1] oob=undefined)"})
    EXPECT_THAT(refusal(op), HasSubstr("elements of a table of more than one dim, expected operand [N] and one index per")) << op;
  EXPECT_THAT(refusal("strew1.gather(operand=f32[64,32] indices=i32[16,1] result=f32[16,32] offset_dims=[1] "
                      "collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1,32] oob=undefined)"),
              HasSubstr("expected rows [C, 8] of 32 bytes each and a result [C, rows, 8]"));
  EXPECT_THAT(refusal("strew1.scatter(operand=f32[64,8] indices=i32[16,1] updates=f32[16,8] update_window_dims=[1] "
                      "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 oob=skip_window)"),
              HasSubstr("the op is no gather that only moves"));
}

std::string verified(std::string text, const std::string& from, const std::string& to,
                     pto::Reader reader = pto::Reader::headers) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in\n" << text;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  const Expected<pto::Module> module = pto::parse(text);
  return module.ok() ? pto::verify(*module, {reader, true}).message() : module.status().message();
}

TEST(PtoL1, Rules) {
  const std::string a3 = pto::print(plan(rows("u32", "clamp"), pto::Chip::a3)->module);
  const std::string a5 = pto::print(plan(rows("u32", "clamp"), pto::Chip::a5)->module);
  EXPECT_THAT(verified(a3, "\"a3\"", "\"a5\""), HasSubstr("pto.tstore: the tile is in mat, expected vec or acc on a5"));
  EXPECT_THAT(verified(a5, "\"a5\"", "\"a3\""), HasSubstr("pto.tmov: it is from mat to vec, expected a tstore"));
  EXPECT_THAT(verified(a3, "\"a3\"", "\"a3\"", pto::Reader::ptoas), HasSubstr("ptoas takes memory in fractals for rows"));
  EXPECT_THAT(verified(a5, "\"a5\"", "\"a5\"", pto::Reader::ptoas), HasSubstr("which ptoas does not take; as C++ the chip does"));
  EXPECT_THAT(verified(a3, "coalesce = #pto<coalesce row>", "coalesce = #pto<coalesce elem>"),
              HasSubstr("coalesce is elem, expected scratch memory beside elem"));
  EXPECT_THAT(verified(a5, "kernel_kind<cube>", "kernel_kind<vector>"), HasSubstr("expected a pipe of a vector kernel"));
}

}  // namespace
}  // namespace strew
