// Backends npu-a3 and npu-a5: an op runs as the simulated program, found by name only, with the results of the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/modules.h"
#include "backends/pipeline.h"
#include "backends/pto/program.h"
#include "base/module.h"
#include "strew/runtime.h"
#include "strew/text.h"
#include "tests/support/options.h"

namespace strew::testing {
namespace {

using ::testing::HasSubstr;

Expected<Kernel> kernel_of(const std::string& text, const std::string& backend) {
  static Runtime runtime;
  KernelOptions options;
  options.backend = test::backend(backend);
  return runtime.get(*parse_op(text), options);
}

const char* const kRows =
    "strew1.scatter(operand=f32[64,32] indices=i32[12,1] updates=f32[12,32] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place oob=";

struct Data {
  std::vector<float> table = std::vector<float>(64 * 32, 1), updates = std::vector<float>(12 * 32, 2);
  std::vector<int32_t> indices = {3, 1, 4, 1, 5, 9, 2, 6, 99, -1, 5, 8};
  std::vector<int64_t> table_dims = {64, 32}, index_dims = {12, 1}, update_dims = {12, 32};

  Status run(const Kernel& kernel, BadIndex* bad_index = nullptr) {
    const TensorView table_view{table.data(), DType::f32, 2, table_dims.data(), nullptr};
    const TensorView views[] = {table_view,
                                {indices.data(), DType::i32, 2, index_dims.data(), nullptr},
                                {updates.data(), DType::f32, 2, update_dims.data(), nullptr}};
    return kernel.run(views, bad_index);
  }
};

TEST(NpuBackend, RunsWhatTheReferenceRuns) {
  for (const char* backend : {"npu-a3", "npu-a5"}) {
    const Expected<Kernel> simulated = kernel_of(std::string(kRows) + "skip_window)", backend);
    const Expected<Kernel> reference = kernel_of(std::string(kRows) + "skip_window)", "reference");
    ASSERT_TRUE(simulated.ok()) << simulated.status().message();
    EXPECT_EQ(simulated->backend(), backend);
    Data a, b;
    const Status status = a.run(*simulated);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(b.run(*reference).ok());
    EXPECT_EQ(a.table, b.table);
    EXPECT_NE(a.table, Data().table);
  }
}

TEST(NpuBackend, AnErrorNamesTheIndexAndWritesNothing) {
  const Expected<Kernel> kernel = kernel_of(std::string(kRows) + "error)", "npu-a5");
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  Data data;
  BadIndex bad_index;
  const Status status = data.run(*kernel, &bad_index);
  EXPECT_EQ(status.code(), Code::out_of_bounds);
  EXPECT_EQ(bad_index.position, 8);
  EXPECT_EQ(bad_index.value, 99);
  EXPECT_EQ(data.table, Data().table);
}

TEST(NpuBackend, AutoNeverTakesIt) {
  for (const Backend* backend : backends()) EXPECT_EQ(std::string(backend->name()).find("npu"), std::string::npos);
  for (const Backend* backend : simulated_backends()) EXPECT_EQ(find_backend(backend->name()), backend);
}

Expected<Compiled> planned(const std::string& text, const KernelOptions& options, const pto::ProgramOptions* program = nullptr) {
  STREW_ASSIGN(const VerifiedOp op, VerifiedOp::of(*parse_op(text)));
  return plan_kernel(op, options, program);
}

KernelOptions for_npu() {
  KernelOptions options;
  options.target = test::target("npu-a5");
  return options;
}

TEST(NpuBackend, ATargetWalksThePipeline) {
  pto::ProgramOptions wanted;
  wanted.kernel = "add_rows";
  wanted.tile_rows = 1;
  Expected<Compiled> kernel = planned(std::string(kRows) + "skip_window)", for_npu(), &wanted);
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  EXPECT_EQ(print(kernel->target), "npu-a5");
  EXPECT_THAT(print(kernel->plan), HasSubstr("row"));
  EXPECT_TRUE(kernel->scheduled.ok());
  ASSERT_EQ(kernel->backends.size(), 1U);
  ASSERT_NE(kernel->backend, nullptr);
  EXPECT_EQ(kernel->backend->name(), "npu-a5");
  EXPECT_EQ(kernel->artifact.program, nullptr);
  ASSERT_TRUE(build(*kernel).ok());
  ASSERT_NE(kernel->artifact.program, nullptr);
  EXPECT_EQ(kernel->artifact.program->kernel, "add_rows");
  EXPECT_EQ(kernel->artifact.program->tiles.rows, 1);
}

TEST(NpuBackend, ATargetRefusesWhatItHasNot) {
  KernelOptions options = for_npu();
  test::set_schedule(options, "unroll=8");
  const Expected<Compiled> scheduled = planned(std::string(kRows) + "skip_window)", options);
  ASSERT_TRUE(scheduled.ok());
  EXPECT_THAT(scheduled->scheduled.message(), HasSubstr("schedule 'unroll=8': target npu-a5 has no such knobs"));
  options = for_npu();
  options.backend = BackendChoice::llvm;
  const Expected<Compiled> forced = planned(std::string(kRows) + "skip_window)", options);
  ASSERT_TRUE(forced.ok());
  EXPECT_EQ(forced->chosen.message(), "backend llvm: target is npu-a5, expected backend auto or npu-a5");
  pto::ProgramOptions wanted;
  wanted.tile_rows = 4000;
  const Expected<Compiled> tall = planned(std::string(kRows) + "skip_window)", for_npu(), &wanted);
  ASSERT_TRUE(tall.ok());
  EXPECT_EQ(tall->chosen.message(), "tile_rows: 4000, expected 0 to 2048");
  Runtime runtime;
  EXPECT_THAT(std::string(runtime.get(*parse_op(std::string(kRows) + "skip_window)"), for_npu()).status().message()),
              HasSubstr("target 'npu-a5': its architecture is npu"));
}

// The planner sees the plan's graph: an expression that is an operator is planned as that operator.
TEST(NpuBackend, AnExpressionThatIsAnOperatorIsPlannedAsOne) {
  std::string expression = std::string(kRows) + "skip_window)";
  expression.replace(expression.find("combiner=add"), 12,
                     "combiner=expr expr={%0=current(0):f32; %1=update(0):f32; %2=add(%0,%1):f32; return %2}");
  const Expected<Op> op = parse_op(expression);
  ASSERT_TRUE(op.ok()) << op.status().message();
  Expected<Compiled> named = planned(std::string(kRows) + "skip_window)", for_npu()), graph = planned(expression, for_npu());
  ASSERT_TRUE(named.ok() && graph.ok());
  ASSERT_TRUE(build(*named).ok() && build(*graph).ok());
  const Expected<const PtoModule*> module = open_pto_module();
  ASSERT_TRUE(module.ok());
  const auto text = [&](const Compiled& kernel) {
    return (*module)->program_text({*kernel.artifact.program}, "pto-cpp").value();
  };
  EXPECT_EQ(text(*named), text(*graph));
  EXPECT_THAT(text(*named), HasSubstr("Atomic"));
}

TEST(NpuBackend, ASimulationWantsTheTensorsOfItsProgram) {
  Expected<Compiled> kernel = planned(std::string(kRows) + "skip_window)", for_npu());
  ASSERT_TRUE(kernel.ok());
  ASSERT_TRUE(build(*kernel).ok());
  const Expected<bool> ran = kernel->artifact.interpreter->run({});
  EXPECT_EQ(ran.status().code(), Code::invalid_argument);
  EXPECT_THAT(std::string(ran.status().message()), HasSubstr("argument table: 0 tensors are given"));
}

TEST(NpuBackend, ModulesOfAnotherVersionAreRefused) {
  EXPECT_TRUE(check_module_version("libstrew_pto.so", "an NPU program", kModuleVersion).ok());
  const Status old = check_module_version("libstrew_pto.so", "an NPU program", kModuleVersion + 1);
  EXPECT_EQ(old.code(), Code::unsupported);
  EXPECT_THAT(std::string(old.message()), HasSubstr("libstrew_pto.so of module version " + std::to_string(kModuleVersion) +
                                                    ", and it has version " + std::to_string(kModuleVersion + 1)));
}

TEST(NpuBackend, RefusalsSayWhy) {
  const Expected<Kernel> kernel = kernel_of(
      "strew1.scatter(operand=f32[8,32] indices=i32[4,1] updates=f32[4,32] update_window_dims=[1] "
      "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=expr "
      "expr={%0=current(0):f32; %1=update(0):f32; %2=power(%0,%1):f32; return %2} init=in_place oob=skip_window)",
      "npu-a5");
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.status().code(), Code::unsupported) << kernel.status().message();
  EXPECT_THAT(parse_backend("npu").status().message(), HasSubstr("reference, npu-a3, npu-a5"));
}

}  // namespace
}  // namespace strew::testing
