// The Halide backend: it builds what it says it builds, with the reference's bits under every strategy, and says why where it does not.
// Random ops of every kind are tests/differential's part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <thread>

#include "backends/halide/can_build/can_build.h"
#include "runtime/kernel_state.h"
#include "strew/runtime.h"
#include "strew/text.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"
#include "tests/support/plan.h"
#include "tests/support/views.h"

namespace strew {
namespace {

using test::op_of;
using test::plan_of;
using test::verified;
using test::Views;
using testing::HasSubstr;
using testing::Not;

KernelOptions with(const std::string& backend, const std::string& schedule = "") {
  KernelOptions options;
  options.backend = test::backend(backend);
  test::set_schedule(options, schedule);
  return options;
}

class Halide : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_halide()) GTEST_SKIP() << "this build has no Halide (STREW_WITH_HALIDE)";
  }
  Runtime runtime_;
};

constexpr int64_t kRows = 37, kWidth = 27, kCount = 4000;

std::string rows_op(const std::string& rest) {
  return "strew1.scatter(operand=f32[37,27] indices=i32[4000] updates=f32[4000,27] update_window_dims=[1] "
         "inserted_window_dims=[0] "
         "scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place" +
         rest + ")";
}

/// The table after `op` (of rows_op) on data with repeated and out-of-bounds rows and inexact sums.
std::vector<float> run_rows(Runtime& runtime, const std::string& op, const KernelOptions& options) {
  std::vector<float> table(kRows * kWidth, 0.25f), updates(kCount * kWidth);
  std::vector<int32_t> indices(kCount);
  for (size_t i = 0; i < updates.size(); ++i) updates[i] = 1.0f / static_cast<float>(1 + i % 31);
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int32_t>(i * 2654435761u % 43) - 3;
  const auto kernel = runtime.get(op_of(op), options);
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  if (!kernel.ok()) return {};
  EXPECT_EQ(kernel->backend(), name(options.backend));
  Views views;
  views.add(table.data(), DType::f32, {kRows, kWidth}).add(indices.data(), DType::i32, {kCount});
  views.add(updates.data(), DType::f32, {kCount, kWidth});
  const Status status = kernel->run(views);
  EXPECT_TRUE(status.ok()) << status.message();
  return table;
}

TEST_F(Halide, RowsHaveTheReferencesBits) {
  for (const char* combiner : {"assign", "add", "max"})
    for (const char* policy : {"skip_element", "skip_window", "clamp", "wrap"}) {
      const std::string op = rows_op(std::string(" combiner=") + combiner + " oob=" + policy);
      const std::vector<float> expected = run_rows(runtime_, op, with("reference"));
      for (const char* schedule :
           {"strategy=sequential", "strategy=window,threads=3", "strategy=owner,threads=3", "strategy=radix,threads=2,prefetch=4",
            "strategy=sequential,vector_bytes=16,unroll=1", "strategy=sequential,prefetch=8"})
        EXPECT_EQ(run_rows(runtime_, op, with("halide", schedule)), expected) << combiner << " " << policy << " " << schedule;
    }
}

// Rows of whole vectors, in buffers that are aligned to an element only.
TEST_F(Halide, BuffersNeedNoAlignment) {
  constexpr int64_t kWide = 128;
  const auto kernel =
      runtime_.get(op_of("strew1.scatter(operand=f32[4,128] indices=i32[3] updates=f32[3,128] update_window_dims=[1] "
                         "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 "
                         "combiner=add init=in_place)"),
                   with("halide"));
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  const std::vector<int32_t> indices = {2, 0, 2};
  for (size_t offset = 0; offset < 8; ++offset) {
    std::vector<float> table(offset + 4 * kWide, 1.0f), updates(offset + 3 * kWide, 0.5f);
    Views views;
    views.add(table.data() + offset, DType::f32, {4, kWide}).add(indices.data(), DType::i32, {3});
    views.add(updates.data() + offset, DType::f32, {3, kWide});
    ASSERT_TRUE(kernel->run(views).ok());
    for (size_t i = 0; i < 4 * kWide; ++i)
      ASSERT_EQ(table[offset + i], i / kWide == 2 ? 2.0f : i / kWide == 0 ? 1.5f : 1.0f) << offset << " " << i;
  }
}

TEST_F(Halide, PolicyErrorChecksBeforeTheFirstWrite) {
  const auto kernel = runtime_.get(op_of(rows_op(" combiner=add oob=error")), with("halide"));
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  std::vector<float> table(kRows * kWidth, 2.0f), updates(kCount * kWidth, 1.0f);
  std::vector<int32_t> indices(kCount, 1);
  indices[3999] = 37;
  Views views;
  views.add(table.data(), DType::f32, {kRows, kWidth}).add(indices.data(), DType::i32, {kCount});
  views.add(updates.data(), DType::f32, {kCount, kWidth});
  BadIndex bad_index;
  EXPECT_EQ(kernel->run(views, &bad_index).code(), Code::out_of_bounds);
  EXPECT_EQ(bad_index.position, 3999);
  EXPECT_EQ(table, std::vector<float>(kRows * kWidth, 2.0f));
}

// Each thread asks for kernels of its own; Halide compiles on all of them at once.
TEST_F(Halide, CompilesOnSeveralThreads) {
  std::vector<std::string> wrong(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (const char* combiner : {"add", "max"}) {
        const std::string op = rows_op(" combiner=" + std::string(combiner) + " oob=clamp");
        const auto kernel = Runtime().get(op_of(op), with("halide", "vector_bytes=" + std::to_string(t % 2 == 0 ? 16 : 32)));
        if (!kernel.ok()) wrong[t] = kernel.status().message();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, testing::Each(""));
}

int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * 4096;
}

// 400 compiles grow the process by nothing at all; here fewer, and room for what the allocator keeps.
TEST_F(Halide, CompileMemoryIsGivenBack) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps freed memory";
#endif
  const auto compile = [&](int times) {
    for (int i = 0; i < times; ++i) ASSERT_TRUE(Runtime().get(op_of(rows_op(" combiner=mul")), with("halide")).ok());
  };
  compile(10);
  const int64_t before = resident_bytes();
  compile(30);
  EXPECT_LT(resident_bytes() - before, 4 << 20);
}

TEST_F(Halide, TextShowsAlgorithmScheduleAndLoops) {
  const VerifiedOp op = verified(op_of(rows_op(" combiner=add oob=clamp")));
  const Plan plan = *canonical_plan(op);
  const Target target = *parse_target("x86-64-v3");
  const Schedule schedule = *parse_schedule("vector_bytes=32", choose_schedule(plan, target, 1));
  const BuildRequest request{tensor_slots(op), plan, schedule, target, "strew_text"};
  const auto text = find_backend("halide")->emit_text(request, "halide");
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_THAT(*text, HasSubstr("// Algorithm\n"));
  EXPECT_THAT(*text, HasSubstr("in window loop 0, 27 long:"));
  EXPECT_THAT(*text, HasSubstr("key) = reinterpret<uint32>(reinterpret<float32>((uint32)result("));
  EXPECT_THAT(*text, HasSubstr("// Schedule\nresult.update()\n  .vectorize(walk$x, 8, TailStrategy::GuardWithIf)\n"));
  EXPECT_THAT(*text, HasSubstr("produce result"));
  EXPECT_EQ(find_backend("halide")->emit_text(request, "pto-as").status().message(),
            "--emit pto-as: the halide backend emits halide, ll, asm and obj");
}

/// The machine code of a kernel of `op` (of rows_op) with that schedule.
std::string assembly(const std::string& op_text, const std::string& knobs) {
  const VerifiedOp op = verified(op_of(op_text));
  const Plan plan = *canonical_plan(op);
  const Target target = *parse_target("x86-64-v3");
  const Schedule schedule = *parse_schedule(knobs, choose_schedule(plan, target, 1));
  const auto text = find_backend("halide")->emit_text({tensor_slots(op), plan, schedule, target, "kernel"}, "asm");
  EXPECT_TRUE(text.ok()) << text.status().message();
  return text.ok() ? *text : "";
}

// Nothing is left of the calls between the two compilers' code: no function but the entries, no buffers on the stack.
TEST_F(Halide, LoopsArePartOfTheEntries) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer instruments the kernels of this build";
#endif
  for (const char* knobs : {"strategy=sequential", "strategy=window", "strategy=owner"}) {
    const std::string code = assembly(rows_op(" combiner=add oob=skip_window"), knobs);
    EXPECT_THAT(code, HasSubstr("vaddps")) << knobs;
    EXPECT_THAT(code, Not(HasSubstr("call"))) << knobs;
    EXPECT_THAT(code, Not(HasSubstr("_apply"))) << knobs;
  }
}

// Streaming stores, where a window starts on a vector; elsewhere the same loop without.
TEST_F(Halide, StreamsWholeVectors) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer instruments the kernels of this build";
#endif
  constexpr int64_t kWide = 64;
  const std::string op =
      "strew1.scatter(operand=f32[9,64] indices=i32[3] updates=f32[3,64] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 unique_indices=true init=in_place)";
  const std::string code = assembly(op, "nontemporal=true");
  EXPECT_THAT(code, HasSubstr("vmovntps"));
  EXPECT_THAT(code, HasSubstr("sfence"));
  EXPECT_THAT(assembly(op, "nontemporal=false"), Not(HasSubstr("vmovnt")));
  EXPECT_THAT(assembly(rows_op(" combiner=add"), "nontemporal=false"), Not(HasSubstr("vmovnt")));
  const auto kernel = runtime_.get(op_of(op), with("halide", "nontemporal=true"));
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  const std::vector<int32_t> indices = {7, 0, 4};
  std::vector<float> updates(3 * kWide);
  std::iota(updates.begin(), updates.end(), 1.0f);
  for (size_t offset = 0; offset < 16; ++offset) {
    std::vector<float> table(offset + 9 * kWide), expected(9 * kWide);
    for (size_t i = 0; i < updates.size(); ++i)
      expected[static_cast<size_t>(indices[i / kWide]) * kWide + i % kWide] = updates[i];
    Views views;
    views.add(table.data() + offset, DType::f32, {9, kWide}).add(indices.data(), DType::i32, {3});
    views.add(updates.data(), DType::f32, {3, kWide});
    ASSERT_TRUE(kernel->run(views).ok());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), table.begin() + static_cast<std::ptrdiff_t>(offset))) << offset;
  }
}

// A plan no planner makes: an update of another type than the result it is stored to.
// Halide refuses to fold what overflows a signed type; constants this far apart once met in such a difference.
TEST_F(Halide, ComparesConstantsThatAreFarApart) {
  for (const char* compare : {"eq", "ne", "lt", "le", "gt", "ge"}) {
    const auto kernel = runtime_.get(
        op_of(std::string("strew1.scatter(operand=i32[2] indices=i32[1] updates=i32[2] update_window_dims=[0] "
                          "scatter_dims_to_operand_dims=[0] combiner=expr expr={%0=update(0):i32; %1=current(0):i32; "
                          "%2=constant(2007774326):i32; %3=constant(-665936998):i32; %4=") +
              compare + "(%2,%3):bool; %5=select(%4,%0,%1):i32; return %5} init=in_place)"),
        with("halide"));
    EXPECT_TRUE(kernel.ok()) << compare << ": " << kernel.status().message();
  }
}

TEST_F(Halide, ItsErrorsBecomeAStatus) {
  const VerifiedOp op = verified(op_of(rows_op("")));
  Plan plan = *canonical_plan(op);
  plan.tensors[0].dtype = DType::f64;
  const Target target = *parse_target("x86-64-v3");
  const BuildRequest request{tensor_slots(op), plan, Schedule{}, target, "strew_broken"};
  const auto text = find_backend("halide")->emit_text(request, "halide");
  EXPECT_EQ(text.status().code(), Code::internal);
  EXPECT_THAT(text.status().message(), testing::StartsWith("backend halide: strew_broken: Error: "));
  EXPECT_THAT(run_rows(runtime_, rows_op(" oob=clamp"), with("halide")), testing::Not(testing::IsEmpty())) << "and it goes on";
}

std::string answer(const std::string& text, const char* cpu = "x86-64-v3") {
  return halide_can_build(*plan_of(op_of(text)), Schedule{}, *parse_target(cpu)).message();
}

TEST(HalideCanBuild, DeclinesWithTheReason) {
  const std::string op =
      "strew1.scatter(operand=f32[64] indices=i32[8] updates=f32[8] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
      "index_vector_dim=1 combiner=expr expr={%0=update(0):f32;%1=ceil(%0):f32;return %1})";
  EXPECT_EQ(answer(op), "");
  EXPECT_EQ(answer(op, "x86-64"), "backend halide: node 1 of the combiner, ceil, needs sse4.1, which x86_64-x86-64 has not");
  const auto graph = [&](const std::string& dtype, const std::string& expr) {
    return answer("strew1.scatter(operand=[" + dtype + "[64]," + dtype + "[64]] indices=i32[8] updates=[" + dtype + "[8]," +
                  dtype + "[8]] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 " + expr + ")");
  };
  EXPECT_EQ(graph("f32", "combiner=mul"), "");
  EXPECT_EQ(graph("f32", "combiner=expr expr={%0=current(0):f32;%1=current(1):f32;%2=add(%0,%1):f32;return %0,%2}"), "");
  EXPECT_EQ(graph("f32", "combiner=expr expr={%0=current(0):f32;%1=current(1):f32;%2=add(%0,%1):f32;return %1,%2}"),
            "backend halide: result 0 depends on the current value of another");
  EXPECT_EQ(graph("complex128",
                  "combiner=expr expr={%0=current(0):complex128;%1=current(1):complex128;%2=add(%0,%1):complex128;return %0,%2}"),
            "backend halide: result 1 depends on the current value of another");
  EXPECT_EQ(graph("i4", "combiner=add"), "backend halide: result 0 of 2 is packed i4");
  EXPECT_EQ(graph("complex128", "combiner=add"), "");
  EXPECT_EQ(graph("complex128", "combiner=mul"), "backend halide: result 0, complex128, mixes the halves of its current value");
  EXPECT_EQ(answer(op, "generic"), "");
  EXPECT_THAT(answer(op, "npu-a5"), HasSubstr("its entries are made by LLVM: backend llvm: architecture npu"));
}

TEST(HalideCanBuild, WithoutHalideTheReasonIsTheBuild) {
  if (has_halide()) GTEST_SKIP() << "this build has Halide";
  const auto kernel = Runtime().get(op_of(rows_op("")), with("halide"));
  EXPECT_EQ(kernel.status().message(), "backend halide: not part of this build (STREW_WITH_HALIDE)");
}

/// What the autoschedulers propose for a kernel of backend halide whose schedule has vectors of `bytes`.
std::vector<int> proposed_vector_bytes(const std::string& op, int bytes) {
  const KernelOptions options = with("halide", "vector_bytes=" + std::to_string(bytes));
  const auto kernel = Runtime::process().get(op_of(op), options);
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  const auto proposals = find_backend("halide")->propose(kernel->state()->built->compiled.request());
  EXPECT_TRUE(proposals.ok()) << proposals.status().message();
  std::vector<int> all;
  for (const Schedule& schedule : *proposals) {
    EXPECT_EQ(schedule.strategy, kernel->schedule().strategy);
    all.push_back(schedule.vector_bytes);
  }
  return all;
}

TEST_F(Halide, AutoschedulersProposeWidths) {
  // They know nothing of what was chosen: of 32 and 16 bytes, they propose the one that was not.
  const std::string op = rows_op(" combiner=add");
  const std::vector<int> beside_16 = proposed_vector_bytes(op, 16);
  ASSERT_EQ(beside_16.size(), 1U);  // Mullapudi2016 and Li2018 agree
  EXPECT_GT(beside_16[0], 16);
  EXPECT_THAT(proposed_vector_bytes(op, beside_16[0]), testing::IsEmpty());
  EXPECT_THAT(
      find_backend("llvm")->propose(Runtime::process().get(op_of(op), with("llvm"))->state()->built->compiled.request()).value(),
      testing::IsEmpty());
}

}  // namespace
}  // namespace strew
