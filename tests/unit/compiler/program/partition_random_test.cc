// Parts of random programs: disjoint, complete, as large as they can be, and with the bits of the whole.
#include <gtest/gtest.h>

#include <memory>

#include "compiler/import/import_bytes.h"
#include "strew/run_program.h"
#include "tests/differential/programs/partition_check.h"
#include "tests/differential/programs/program_inputs.h"
#include "tests/differential/programs/random_program.h"
#include "tests/support/levels.h"

namespace strew::test {
namespace {

TEST(PartitionRandom, PartsOfProgramsGiveTheBitsOfTheWhole) {
  Runtime runtime;
  const RunsProgram run = [&](const Program& program, const std::vector<Tensor>& inputs) {
    std::vector<std::unique_ptr<Tensor>> given;
    for (const Tensor& input : inputs)
      given.push_back(std::make_unique<Tensor>(Tensor{
          input.dtype, input.dims, Buffer::share({input.data.data(), static_cast<size_t>(input.data.size())}, nullptr), {}}));
    ProgramOptions options;
    options.kernel.backend = BackendChoice::reference;
    options.interpreted_elements = ProgramOptions::kInterpreted;
    return run_program(runtime, program, std::move(given), options);
  };
  PartitionTally tally;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const RandomProgram drawn = random_program(seed, node_count(seed));
    Rng rng = Rng::stream(seed, 0);
    const std::vector<int64_t> variables = random_variables(drawn, true, rng);
    const std::vector<Tensor> inputs = random_inputs(drawn, variables, rng);
    const Expected<Program> finished = finish_import(drawn.program, "drawn", {});
    ASSERT_TRUE(finished.ok()) << finished.status().message();
    for (const Program* program : {&drawn.program, &*finished}) {
      const auto wrong = check_partitions(*program, inputs, run, rng, tally);
      ASSERT_FALSE(wrong) << *wrong << "\nseed " << seed << (program == &drawn.program ? ", drawn\n" : ", finished\n")
                          << listing(*program);
    }
  }
  EXPECT_GT(tally.parts, 1000);
  EXPECT_GT(tally.kept, 500);
  EXPECT_GT(tally.runs, 300);
}

}  // namespace
}  // namespace strew::test
