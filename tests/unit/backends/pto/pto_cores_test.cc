// Double buffering: one tile's loads run while another is written, which flags allow and the simulator sees. Cores: where order counts each
// destination is one core's, where it does not each update is; every interleaving tried gives the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "backends/pto/program.h"
#include "backends/pto/simulate/simulate.h"
#include "compiler/pto/instructions.h"
#include "compiler/pto/parse.h"
#include "strew/text.h"
#include "tests/support/ops.h"
#include "tests/support/plan.h"

namespace strew {
namespace {

using pto::ArgumentRole;
using pto::Chip;
using pto::Opcode;
using test::op_of;
using test::verified;

constexpr int64_t kRows = 96, kCols = 32, kUpdates = 256;

std::string row_op(const std::string& more) {
  return "strew1.scatter(operand=i32[96,32] indices=i32[256,1] updates=i32[256,32] update_window_dims=[1] "
         "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 oob=skip_window " +
         more + ")";
}

pto::TileProgram plan(const std::string& text, Chip chip, int64_t tall, bool buffered, int blocks = 1) {
  const VerifiedOp op = verified(op_of(text));
  const Expected<Plan> planned = canonical_plan(op);
  pto::ProgramOptions options;
  options.sync = pto::Sync::addresses;
  options.tile_rows = tall;
  options.buffers = buffered ? 2 : 1;
  options.launches = 1;
  options.blocks = blocks;
  Expected<pto::TileProgram> program = pto::plan_program(tensor_slots(op), *planned, chip, options);
  EXPECT_TRUE(program.ok()) << program.status().message();
  return std::move(*program);
}

/// Memory per role; all i32.
struct Data {
  std::vector<int32_t> result = std::vector<int32_t>(kRows * kCols, -7), operand = std::vector<int32_t>(kRows * kCols);
  std::vector<int32_t> indices = std::vector<int32_t>(kUpdates), updates = std::vector<int32_t>(kUpdates * kCols, 1);
};

Expected<pto::SimulationReport> run(const pto::TileProgram& program, const pto::Module& module, Data& data, int blocks = 1,
                                    uint64_t seed = 0) {
  std::vector<pto::SimulatedArgument> arguments;
  for (const pto::ProgramArgument& a : program.arguments) {
    std::vector<int32_t>& memory = a.role == ArgumentRole::result    ? data.result
                                   : a.role == ArgumentRole::operand ? data.operand
                                   : a.role == ArgumentRole::indices ? data.indices
                                                                     : data.updates;
    arguments.push_back({std::as_writable_bytes(std::span(memory)), 0});
  }
  pto::SimulateOptions options;
  options.blocks = blocks;
  options.seed = seed;
  return pto::simulate(module, "", arguments, options);
}

void each(std::vector<pto::Statement>& body, const std::function<void(pto::Statement&)>& what) {
  for (pto::Statement& s : body) {
    what(s);
    each(s.body, what);
    each(s.otherwise, what);
  }
}

/// The program as core `core` of `cores` runs it.
pto::Module alone(const pto::TileProgram& program, int core, int cores) {
  pto::Module out = program.module;
  each(out.functions[0].body, [&](pto::Statement& s) {
    if (s.opcode != Opcode::get_block_idx && s.opcode != Opcode::get_block_num) return;
    s.value = s.opcode == Opcode::get_block_idx ? core : cores;
    s.opcode = Opcode::constant;
  });
  return out;
}

class PtoBuffers : public testing::TestWithParam<Chip> {};

/// The same tiles, once each in the same buffer, once in two: loads of the next no longer wait for the writing of this one.
TEST_P(PtoBuffers, LoadsRunWhileTheLastTileIsWritten) {
  const std::string op = row_op("init=in_place combiner=add unique_indices=false");
  const pto::TileProgram one = plan(op, GetParam(), 16, false), two = plan(op, GetParam(), 16, true);
  ASSERT_EQ(one.tiles.buffers, 1);
  ASSERT_EQ(two.tiles.buffers, 2);
  ASSERT_EQ(one.tiles.rows, two.tiles.rows);
  Data a, b;
  for (int64_t i = 0; i < kUpdates; ++i) a.indices[static_cast<size_t>(i)] = b.indices[static_cast<size_t>(i)] = (i * 7) % kRows;
  const Expected<pto::SimulationReport> in_turn = run(one, one.module, a), beside = run(two, two.module, b);
  ASSERT_TRUE(in_turn.ok()) << in_turn.status().message();
  ASSERT_TRUE(beside.ok()) << beside.status().message();
  EXPECT_EQ(a.result, b.result);
  // One buffer: all pipes work in turn. Two: two thirds of it at most, as loading and writing are the same bytes.
  EXPECT_EQ(in_turn->work, beside->work);
  EXPECT_EQ(in_turn->time, in_turn->work);
  EXPECT_LT(beside->time * 3, beside->work * 2);
}

/// Between the writing of a turn's first tile and the loads of its second there is no flag that makes them wait.
TEST_P(PtoBuffers, NoFlagKeepsTheSecondTileBack) {
  const pto::TileProgram two = plan(row_op("init=in_place combiner=add"), GetParam(), 16, true);
  std::vector<std::string> seen;
  pto::Module module = two.module;
  each(module.functions[0].body, [&](pto::Statement& s) {
    if (s.opcode == Opcode::mscatter || s.opcode == Opcode::tload) seen.emplace_back(pto::name(s.opcode));
    const bool waits = s.opcode == Opcode::wait_flag && s.attribute("dst_pipe") == "PIPE_MTE2";
    if (waits) seen.emplace_back("wait " + std::string(s.attribute("src_pipe")));
  });
  const std::string writes = GetParam() == Chip::a3 ? "wait PIPE_MTE3" : "wait PIPE_V";
  const auto first = std::find(seen.begin(), seen.end(), "pto.mscatter");
  const auto second = std::find(first, seen.end(), "pto.tload");
  ASSERT_NE(second, seen.end());
  EXPECT_LE(std::count(first, second, writes), 1) << "its own buffer of the turn before, nothing else";
  const auto outer = std::find(seen.begin(), seen.end(), "pto.tload");
  EXPECT_LE(std::count(seen.begin(), outer, writes), 1);
}

/// The second buffer is paid for, and the cost report says so; in the first one's place, the simulator sees it.
TEST_P(PtoBuffers, TheSecondBufferIsThere) {
  const std::string op = row_op("init=in_place combiner=add");
  const pto::TileProgram one = plan(op, GetParam(), 16, false), two = plan(op, GetParam(), 16, true);
  EXPECT_EQ(two.cost.ub_peak, 2 * one.cost.ub_peak);
  EXPECT_EQ(two.cost.mean.scattered_bytes, one.cost.mean.scattered_bytes);
  pto::Module both = two.module;
  each(both.functions[0].body, [&](pto::Statement& s) {
    if (s.opcode == Opcode::constant && s.result.starts_with("ub")) s.value %= one.cost.ub_peak;
  });
  Data data;
  EXPECT_TRUE(run(two, two.module, data).ok());
  EXPECT_FALSE(run(two, both, data).ok()) << "two tiles in one place";
}

/// Order counts: every element of the result is written by the one core that owns it, and by no other.
TEST_P(PtoBuffers, ADestinationIsOneCores) {
  for (const int cores : {2, 3, 7}) {
    const pto::TileProgram program = plan(row_op("init=copy"), GetParam(), 16, false, cores);
    ASSERT_EQ(program.tiles.split, pto::CoreSplit::destinations);
    std::vector<int> owners(kRows * kCols, 0);
    for (int core = 0; core < cores; ++core) {
      Data data;
      for (int64_t i = 0; i < kUpdates; ++i) data.indices[static_cast<size_t>(i)] = static_cast<int32_t>(i * 5 % kRows);
      ASSERT_TRUE(run(program, alone(program, core, cores), data).ok());
      for (size_t e = 0; e < owners.size(); ++e) owners[e] += data.result[e] == -7 ? 0 : 1;
    }
    EXPECT_EQ(owners, std::vector<int>(owners.size(), 1)) << cores << " cores";
  }
}

/// Any order will do: every update is added by one core and by no other, whatever rows it goes to.
TEST_P(PtoBuffers, AnUpdateIsOneCores) {
  for (const int cores : {2, 3, 7}) {
    const pto::TileProgram program = plan(row_op("init=in_place combiner=add"), GetParam(), 16, true, cores);
    ASSERT_EQ(program.tiles.split, pto::CoreSplit::updates);
    std::vector<int32_t> sum(kRows * kCols, 0), expected(kRows * kCols, 0);
    int busy = 0;
    for (int core = 0; core < cores; ++core) {
      Data data;
      std::fill(data.result.begin(), data.result.end(), 0);
      for (int64_t i = 0; i < kUpdates; ++i) {
        const int64_t row = i * 5 % 7;  // all meet
        data.indices[static_cast<size_t>(i)] = static_cast<int32_t>(row);
        // A bit per update of a row would overflow: numbers whose sums tell missing and doubled ones.
        for (int64_t c = 0; c < kCols; ++c) data.updates[static_cast<size_t>(i * kCols + c)] = static_cast<int32_t>(i * 1009 + 1);
        for (int64_t c = 0; c < kCols && core == 0; ++c)
          expected[static_cast<size_t>(row * kCols + c)] += static_cast<int32_t>(i * 1009 + 1);
      }
      ASSERT_TRUE(run(program, alone(program, core, cores), data).ok());
      for (size_t e = 0; e < sum.size(); ++e) sum[e] += data.result[e];
      busy += std::any_of(data.result.begin(), data.result.end(), [](int32_t v) { return v != 0; }) ? 1 : 0;
    }
    EXPECT_EQ(sum, expected) << cores << " cores";
    EXPECT_EQ(busy, cores) << "every core has its share";
  }
}

TEST_P(PtoBuffers, EveryInterleavingGivesTheSameBits) {
  for (const char* more : {"init=copy", "init=in_place combiner=add", "init=copy combiner=mul"}) {
    std::vector<int32_t> wanted;
    for (const int cores : {1, 2, 5, 8}) {
      const pto::TileProgram program = plan(row_op(more), GetParam(), 0, true, cores);
      for (uint64_t seed = 0; seed < 6; ++seed) {
        Data data;
        for (size_t e = 0; e < data.operand.size(); ++e) data.operand[e] = data.result[e] = static_cast<int32_t>(e % 5) + 1;
        for (int64_t i = 0; i < kUpdates; ++i) data.indices[static_cast<size_t>(i)] = static_cast<int32_t>(i * i % 11);
        for (size_t e = 0; e < data.updates.size(); ++e) data.updates[e] = static_cast<int32_t>(e * 37 % 1001);
        const Expected<pto::SimulationReport> ran = run(program, program.module, data, cores, seed);
        ASSERT_TRUE(ran.ok()) << ran.status().message();
        if (wanted.empty()) wanted = data.result;
        EXPECT_EQ(data.result, wanted) << more << ", " << cores << " cores, order " << seed;
      }
    }
  }
}

/// PTO-AS where the number of updates is the caller's: a tile's step, run for row0 = 0, R, 2R, ..
TEST_P(PtoBuffers, AStepOfPtoAsIsRepeated) {
  const Expected<Op> op = parse_op(
      "strew1.scatter(operand=i32[96,32] indices=i32[?,1] updates=i32[?,32] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 oob=skip_window init=in_place combiner=add)");
  ASSERT_TRUE(op.ok());
  const VerifiedOp legal = verified(*op);
  pto::ProgramOptions options;
  options.output = pto::Output::pto_as;
  const Expected<pto::TileProgram> program = pto::plan_program(tensor_slots(legal), *canonical_plan(legal), GetParam(), options);
  ASSERT_TRUE(program.ok()) << program.status().message();
  const Expected<std::string> text = pto::program_text({*program}, "pto-as");
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find(".arg %indices : !pto.memref<1x?xi32>"), std::string::npos) << *text;
  EXPECT_NE(text->find(".arg %row0 : index"), std::string::npos);
  Expected<pto::Module> module = pto::parse(*text);
  ASSERT_TRUE(module.ok()) << module.status().message();
  module->chip = GetParam();
  const int64_t tall = program->tiles.rows;
  ASSERT_EQ(kUpdates % tall, 0);
  Data data;
  std::fill(data.result.begin(), data.result.end(), 0);
  std::vector<int32_t> expected(kRows * kCols, 0);
  for (int64_t i = 0; i < kUpdates; ++i) {
    data.indices[static_cast<size_t>(i)] = static_cast<int32_t>(i * 7 % 100) - 2;  // some out of bounds
    const int64_t row = data.indices[static_cast<size_t>(i)];
    for (int64_t c = 0; c < kCols && row >= 0 && row < kRows; ++c) ++expected[static_cast<size_t>(row * kCols + c)];
  }
  for (int64_t row0 = 0; row0 < kUpdates; row0 += tall) {
    std::vector<pto::SimulatedArgument> arguments;
    for (const pto::ProgramArgument& a : program->arguments) {
      std::vector<int32_t>& memory = a.role == ArgumentRole::result    ? data.result
                                     : a.role == ArgumentRole::indices ? data.indices
                                                                       : data.updates;
      if (a.role == ArgumentRole::scalar) {
        arguments.push_back({{}, row0});
      } else {
        arguments.push_back({std::as_writable_bytes(std::span(memory)), 0});
      }
    }
    const Expected<pto::SimulationReport> ran = pto::simulate(*module, "", arguments, {});
    ASSERT_TRUE(ran.ok()) << ran.status().message();
  }
  EXPECT_EQ(data.result, expected);
}

INSTANTIATE_TEST_SUITE_P(Chips, PtoBuffers, testing::Values(Chip::a3, Chip::a5),
                         [](const auto& info) { return std::string(pto::name(info.param)); });

}  // namespace
}  // namespace strew
