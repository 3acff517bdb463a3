// The cost of a program is what the simulator counts when the program runs, on memory of zeros: every index is in bounds. And what the planner
// does with it: how many cores work, on how much.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "backends/pto/passes.h"
#include "backends/pto/program.h"
#include "backends/pto/simulate/simulate.h"
#include "compiler/pto/instructions.h"
#include "strew/text.h"
#include "tests/support/golden.h"
#include "tests/support/golden_programs.h"
#include "tests/support/ops.h"
#include "tests/support/paths.h"
#include "tests/support/plan.h"

namespace strew {
namespace {

using pto::Chip;
using test::op_of;
using test::verified;

Expected<pto::TileProgram> planned(const Op& op, Chip chip, const pto::ProgramOptions& options) {
  const VerifiedOp legal = verified(op);
  return pto::plan_program(tensor_slots(legal), *canonical_plan(legal), chip, options);
}

pto::TileProgram plan(const std::string& text, Chip chip, const pto::ProgramOptions& options = {}) {
  Expected<pto::TileProgram> program = planned(op_of(text), chip, options);
  EXPECT_TRUE(program.ok()) << program.status().message();
  return std::move(*program);
}

/// Runs the program on zeros; every extent that is open is 0 here, so programs of open ops are not asked.
Expected<pto::SimulationReport> run_on_zeros(const pto::TileProgram& program, int blocks) {
  std::vector<std::vector<std::byte>> memories;
  for (const pto::ProgramArgument& a : program.arguments) {
    int64_t elements = 1;
    for (const int64_t dim : a.dims) elements *= dim;
    memories.emplace_back(static_cast<size_t>((elements * bits(a.dtype) + 7) / 8));
  }
  std::vector<pto::SimulatedArgument> arguments;
  for (std::vector<std::byte>& memory : memories) arguments.push_back({memory, 0});
  pto::SimulationReport sum;
  for (int launch = 0; launch < program.launches; ++launch) {
    if (program.launches > 1) arguments.back().number = launch;
    STREW_ASSIGN(const pto::SimulationReport report, pto::simulate(program.module, "", arguments, {.blocks = blocks}));
    for (int64_t pto::SimulationReport::*field : {&pto::SimulationReport::loaded_bytes, &pto::SimulationReport::stored_bytes,
                                                  &pto::SimulationReport::scattered_bytes, &pto::SimulationReport::instructions})
      sum.*field += report.*field;
  }
  return sum;
}

/// Is the op small, and are all of its extents known?
bool is_small(const pto::TileProgram& program) {
  int64_t sum = 0;
  for (const pto::ProgramArgument& a : program.arguments) {
    int64_t elements = 1;
    for (const int64_t dim : a.dims) elements = dim == kDynamic ? int64_t{1} << 40 : elements * dim;
    sum += elements;
  }
  return sum < 300'000;
}

TEST(PtoCost, IsWhatTheSimulatorCounts) {
  const auto folder = test::source_folder() / "tests/golden/programs";
  int compared = 0;
  for (const std::string& name : test::stems(folder, ".op")) {
    const Expected<Op> op = parse_op(test::read_text(folder / (name + ".op")));
    ASSERT_TRUE(op.ok()) << name;
    for (const Chip chip : {Chip::a3, Chip::a5}) {
      for (const int blocks : {1, 4}) {
        pto::ProgramOptions options;
        options.output = pto::Output::pto_cpp;
        options.blocks = blocks;
        options.launches = name.starts_with("launched_") ? 2 : 0;
        const Expected<pto::TileProgram> program = planned(*op, chip, options);
        if (!program.ok() || !is_small(*program)) continue;
        // How many of the sorted positions are a core's depends on the indices.
        if (program->launches > 1 && program->tiles.split == pto::CoreSplit::destinations) continue;
        const Expected<pto::SimulationReport> ran = run_on_zeros(*program, blocks);
        if (!ran.ok()) continue;  // updates of one destination by several cores, where the op says that there are none
        const pto::CoreCost& longest = program->cost.longest;
        const std::string what = name + " for " + std::string(pto::name(chip)) + ", " + std::to_string(blocks) + " cores";
        EXPECT_EQ(longest.loaded_bytes, ran->loaded_bytes) << what;
        EXPECT_EQ(longest.stored_bytes, ran->stored_bytes) << what;
        EXPECT_EQ(longest.scattered_bytes, ran->scattered_bytes) << what;
        EXPECT_EQ(longest.instructions, ran->instructions) << what;
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 600);
  std::printf("%d programs compared\n", compared);
}

class PtoCores : public testing::TestWithParam<Chip> {};

std::string decode(const std::string& more) {
  return "strew1.scatter(operand=bf16[32,8,4096,128] indices=i32[32] updates=bf16[32,8,1,128] update_window_dims=[1,2,3] "
         "input_batching_dims=[0] scatter_indices_batching_dims=[0] scatter_dims_to_operand_dims=[2] index_vector_dim=1 "
         "init=in_place " +
         more + ")";
}

/// A decoding step of a KV cache: 32 positions of 8 heads.
TEST_P(PtoCores, DecodeUsesThemAcrossBatchAndHeads) {
  for (const char* policy : {"oob=undefined", "oob=skip_window", "oob=clamp", "oob=error"}) {
    const pto::TileProgram program = plan(decode(policy), GetParam());
    EXPECT_GE(program.cost.cores, GetParam() == Chip::a5 ? 64 : 32) << policy;
    EXPECT_LE(program.cost.longest.loaded_bytes, 2 * 32 * 8 * 128 * 2 / program.blocks) << policy;
  }
}

TEST_P(PtoCores, PagedRowsUseAllOfThem) {
  const pto::TileProgram program = plan(
      "strew1.scatter(operand=bf16[65536,1024] indices=i32[256,1] updates=bf16[256,1024] update_window_dims=[1] "
      "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place oob=skip_window "
      "unique_indices=true)",
      GetParam());
  EXPECT_GE(program.cost.cores, GetParam() == Chip::a5 ? 64 : 32);
  EXPECT_LE(program.cost.longest.loaded_bytes, 2 * 256 * 2048 / program.cost.cores);
}

/// The height that is chosen costs no more than the others, up to what an instruction takes to start.
TEST_P(PtoCores, TheChosenTileIsTheCheapest) {
  const auto time = [](const pto::TileProgram& p) {
    const pto::CoreCost& c = p.cost.longest;
    return static_cast<double>(c.loaded_bytes + c.stored_bytes + c.scattered_bytes) / 4096 + static_cast<double>(c.instructions) +
           static_cast<double>(c.scalars) / 8;
  };
  for (const char* policy : {"oob=undefined", "oob=error"}) {
    pto::ProgramOptions options{.buffers = 1};
    const double chosen = time(plan(decode(policy), GetParam(), options));
    for (const int64_t rows : {1, 2, 4, 8, 16, 32}) {
      options.tile_rows = rows;
      EXPECT_LE(chosen, time(plan(decode(policy), GetParam(), options)) + 1.5) << policy << ", " << rows << " rows";
    }
  }
}

/// A histogram of 2^22 values, and the gradient of an embedding of rows of 1024: what they read, in bytes.
constexpr int64_t kValues = int64_t{1} << 22, kHistogramBytes = kValues * 8, kRowsOfGradient = 16384;
std::string histogram(const std::string& dtype, const std::string& more) {
  return "strew1.scatter(operand=" + dtype + "[4096] indices=i32[4194304,1] updates=" + dtype +
         "[4194304] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=fill fill=0:" +
         dtype + " oob=skip_window " + more + ")";
}
std::string gradient(const std::string& updates, const std::string& more) {
  return "strew1.scatter(operand=f32[32768,1024] indices=i32[16384,1] updates=" + updates +
         "[16384,1024] update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 "
         "combiner=add init=fill fill=0:f32 oob=skip_window " +
         more + ")";
}
/// No core reads more than twice its share.
void expect_shared(const pto::TileProgram& program, int64_t bytes, const std::string& what) {
  EXPECT_EQ(program.cost.cores, program.blocks) << what;
  EXPECT_LE(program.cost.longest.loaded_bytes, 2 * bytes / program.blocks) << what;
}

/// Where the order is free, a launch makes the initial values, and in the next one each update is one core's.
TEST_P(PtoCores, UpdatesInAnyOrderAreSharedOut) {
  for (const char* dtype : {"f32", "bf16"}) {
    const pto::TileProgram program = plan(gradient(dtype, "order=relaxed"), GetParam());
    EXPECT_EQ(program.launches, 2);
    expect_shared(program, kRowsOfGradient * (4 + 1024 * bits(dtype == std::string("f32") ? DType::f32 : DType::bf16) / 8),
                  dtype);
  }
  if (GetParam() == Chip::a3) return;  // it has no atomic of elements that several cores may use
  expect_shared(plan(histogram("i32", ""), GetParam()), kHistogramBytes, "i32");
  expect_shared(plan(histogram("f32", "order=relaxed"), GetParam()), kHistogramBytes, "f32");
}

/// Where the order counts, a launch sorts positions by the core that owns their row. What each core reads are its own indices, the sorted
/// positions and rows, and its own updates, which are gathered by the positions: half of what is moved by index, the other half is written.
TEST_P(PtoCores, UpdatesInOrderAreSortedByTheirOwner) {
  for (const char* dtype : {"f32", "bf16"}) {
    const pto::TileProgram program = plan(gradient(dtype, ""), GetParam());
    EXPECT_EQ(program.launches, 2);
    EXPECT_EQ(program.tiles.split, pto::CoreSplit::destinations);
    const int64_t bytes = kRowsOfGradient * (4 + 1024 * bits(dtype == std::string("f32") ? DType::f32 : DType::bf16) / 8);
    expect_shared(program, bytes, dtype);
    EXPECT_LE(program.cost.longest.scattered_bytes, 2 * kRowsOfGradient * 4096 * 2 / program.blocks) << dtype;
  }
  for (const char* dtype : {"f32", "i32"}) {
    if (GetParam() == Chip::a5 && dtype == std::string("i32")) continue;  // whose order does not count
    const pto::TileProgram program = plan(histogram(dtype, ""), GetParam());
    expect_shared(program, kHistogramBytes, dtype);
    EXPECT_LE(program.cost.longest.scattered_bytes, 2 * kHistogramBytes / program.blocks) << dtype;
  }
}

std::string scatter_into_copy(int64_t rows) {
  return "strew1.scatter(operand=f32[" + std::to_string(rows) +
         ",64] indices=i32[4096,1] updates=f32[4096,64] update_window_dims=[1] inserted_window_dims=[0] "
         "scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=copy oob=skip_window)";
}

/// A window that is written into a copy: a launch makes the copy, with all cores.
TEST_P(PtoCores, ACopyBeforeAWindowIsSharedOut) {
  const pto::TileProgram program = plan(
      "strew1.scatter(operand=f32[32,1024,128] indices=i32[1] updates=f32[1,1024,128] update_window_dims=[0,1,2] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=0 init=copy oob=clamp)",
      GetParam());
  EXPECT_EQ(program.launches, 2);
  expect_shared(program, 33 * 1024 * 128 * 4, "window");
  // Conversions take the scalar unit long, so they are shared out, too.
  const pto::TileProgram converts = plan(
      "strew1.scatter(operand=f16[72000] indices=i32[1] updates=u64[600] result=u64[72000] update_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=0 init=copy oob=clamp)",
      GetParam());
  EXPECT_EQ(converts.launches, 2);
  EXPECT_LE(converts.cost.longest.scalars, 2 * 2 * 72600 / converts.blocks + 2 * 600);
}

/// What a launch costs is a guess (kLaunchCost). No case of the benchmark takes another number of launches if it costs a third of it, or
/// three times as much.
TEST_P(PtoCores, TheNumberOfLaunchesDoesNotHangOnWhatOneCosts) {
  const std::vector<std::string> ops = {
      histogram("i32", ""),     histogram("f32", "order=relaxed"), histogram("f32", ""), gradient("f32", "order=relaxed"),
      gradient("f32", ""),      gradient("bf16", "order=relaxed"), gradient("bf16", ""), scatter_into_copy(262144),
      scatter_into_copy(65536), scatter_into_copy(16384)};
  for (const std::string& text : ops) {
    const auto time = [&](int launches, int& planned_launches) {
      const pto::TileProgram program = plan(text, GetParam(), {.output = pto::Output::pto_cpp, .launches = launches});
      planned_launches = program.launches;
      return pto::time_of(program.cost.longest, program.tiles.buffers);
    };
    int one = 0, several = 0;
    const double at_once = time(1, one), launched = time(2, several);
    ASSERT_LT(one, several) << text;
    const double even = (at_once - launched) / (several - one);  // with this cost of a launch, both would take as long
    EXPECT_TRUE(even < pto::kLaunchCost / 3 || even > pto::kLaunchCost * 3) << text << ": " << even;
  }
}

/// With one launch only, each core owns destinations and reads everything.
TEST_P(PtoCores, OneLaunchIsWhatIsAskedFor) {
  const pto::TileProgram program = plan(gradient("f32", "order=relaxed"), GetParam(), {.launches = 1});
  EXPECT_EQ(program.launches, 1);
  EXPECT_EQ(program.tiles.split, pto::CoreSplit::destinations);
  EXPECT_TRUE(std::ranges::none_of(program.arguments, [](const auto& a) { return a.role == pto::ArgumentRole::launch; }));
}

TEST_P(PtoCores, BuffersThatCannotBeAreRefused) {
  pto::ProgramOptions options{.buffers = 2};
  const auto message = [&](const std::string& text) {
    const Expected<pto::TileProgram> program = planned(op_of(text), GetParam(), options);
    return program.ok() ? "" : program.status().message();
  };
  EXPECT_EQ(message("strew1.scatter(operand=f32[64,64] indices=i32[2] updates=f32[8,8] update_window_dims=[0,1] "
                    "scatter_dims_to_operand_dims=[0,1] index_vector_dim=0 init=in_place oob=clamp)"),
            "buffers: 2, expected 1: windows are copied one by one, in one buffer");
  options.tile_rows = 16;
  const std::string rows =
      "strew1.scatter(operand=f32[64,64] indices=i32[40,1] updates=f32[40,64] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place combiner=add order=relaxed oob=skip_window)";
  EXPECT_THAT(message(rows), testing::HasSubstr("tiles are allocated in the loop"));
  options.sync = pto::Sync::addresses;
  EXPECT_EQ(message(rows), "");
}

INSTANTIATE_TEST_SUITE_P(Chips, PtoCores, testing::Values(Chip::a3, Chip::a5),
                         [](const auto& info) { return std::string(pto::name(info.param)); });

}  // namespace
}  // namespace strew
