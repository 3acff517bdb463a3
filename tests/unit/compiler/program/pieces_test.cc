// Operations around kernels as kernels of their own: which operations become one, what stays apart, when it is done, and whose memory is used. That the
// bits are those of the interpreter is tested by strew_program_differential, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/number.h"
#include "compiler/import/builder/program_builder.h"
#include "compiler/program/buffers.h"
#include "compiler/program/pieces/view.h"
#include "strew/run_program.h"
#include "tests/support/programs.h"
#include "tests/support/rng.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A function of %x: f32[24,16], %v: f32[16] and %i: i32[2,1], with a gather, so that there is something to import.
Program program(const std::string& body, const std::string& result, const std::string& type) {
  const std::string text =
      "func.func @main(%x: tensor<24x16xf32>, %v: tensor<16xf32>, %i: tensor<2x1xi32>) -> (" + type + ", tensor<2xf32>) {\n" +
      body +
      R"(  %g = "stablehlo.gather"(%v, %i) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0],
    index_vector_dim = 1>, slice_sizes = array<i64: 1>} : (tensor<16xf32>, tensor<2x1xi32>) -> tensor<2xf32>
  return )" +
      result + ", %g : " + type + ", tensor<2xf32>\n}";
  Expected<Program> made = import_mlir_text(text, {});
  EXPECT_TRUE(made.ok()) << made.status().message();
  return made.ok() ? std::move(*made) : Program();
}

std::vector<std::unique_ptr<Tensor>> copies(const std::vector<Tensor>& tensors) {
  std::vector<std::unique_ptr<Tensor>> out;
  for (const Tensor& tensor : tensors) {
    out.push_back(std::make_unique<Tensor>(std::move(make_tensor(tensor.dtype, tensor.dims).value())));
    std::memcpy(out.back()->data.data(), tensor.data.data(), static_cast<size_t>(tensor.data.size()));
  }
  return out;
}

ProgramOptions options_of(int64_t interpreted_elements, ProgramTimes* times) {
  ProgramOptions options;
  options.interpreted_elements = interpreted_elements;
  options.times = times;
  return options;
}

/// How many kernels the operations became, and how many were interpreted; the results are compared with the interpreter's.
std::pair<size_t, size_t> counts(const Program& imported) {
  Rng rng(5);
  const std::vector<Tensor> inputs = random_inputs(imported, rng);
  ProgramTimes times;
  Runtime runtime;
  const auto want = run_program(runtime, imported, copies(inputs), options_of(ProgramOptions::kInterpreted, nullptr));
  const auto got = run_program(runtime, imported, copies(inputs), options_of(0, &times));
  EXPECT_EQ(difference(got, want), "");
  return {times.compiled.size(), times.interpreted.size()};
}

constexpr const char* kX = "tensor<24x16xf32>";

TEST(Pieces, ChainsWithMovementAreOneKernel) {
  const Program chain = program(
      "  %b = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<16xf32>) -> tensor<24x16xf32>\n"
      "  %1 = stablehlo.add %x, %b : tensor<24x16xf32>\n"
      "  %2 = stablehlo.multiply %1, %x : tensor<24x16xf32>\n"
      "  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<24x16xf32>) -> tensor<16x24xf32>\n"
      "  %4 = stablehlo.slice %3 [2:12:3, 0:24] : (tensor<16x24xf32>) -> tensor<4x24xf32>\n"
      "  %5 = stablehlo.reshape %4 : (tensor<4x24xf32>) -> tensor<4x2x12xf32>\n"
      "  %6 = stablehlo.negate %5 : tensor<4x2x12xf32>\n"
      "  %7 = stablehlo.reverse %6, dims = [2] : tensor<4x2x12xf32>\n",
      "%7", "tensor<4x2x12xf32>");
  EXPECT_EQ(counts(chain), std::pair(size_t{1}, size_t{0}));
}

TEST(Pieces, ReductionsTakeWhatIsBeforeThem) {
  const std::string before =
      "  %z = stablehlo.constant dense<0.5> : tensor<f32>\n"
      "  %1 = stablehlo.multiply %x, %x : tensor<24x16xf32>\n";
  for (const auto& [dims, kept] :
       {std::pair("0", "tensor<16xf32>"), std::pair("1", "tensor<24xf32>"), std::pair("0, 1", "tensor<f32>")})
    EXPECT_EQ(counts(program(before + "  %r = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [" + dims +
                                 "] : (tensor<24x16xf32>, tensor<f32>) -> " + kept + "\n",
                             "%r", kept)),
              std::pair(size_t{1}, size_t{0}))
        << dims;
}

TEST(Pieces, WhatTwoReadIsComputedOnce) {
  const Program twice = program(
      "  %1 = stablehlo.exponential %x : tensor<24x16xf32>\n"
      "  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<24x16xf32>) -> tensor<16x24xf32>\n"
      "  %3 = stablehlo.add %1, %1 : tensor<24x16xf32>\n"
      "  %4 = stablehlo.reshape %3 : (tensor<24x16xf32>) -> tensor<16x24xf32>\n"
      "  %5 = stablehlo.add %2, %4 : tensor<16x24xf32>\n",
      "%5", "tensor<16x24xf32>");
  EXPECT_EQ(counts(twice).first, 1u) << "one kernel computes it in each of its views";
  const Program output = program(
      "  %1 = stablehlo.exponential %x : tensor<24x16xf32>\n"
      "  %2 = stablehlo.add %1, %1 : tensor<24x16xf32>\n"
      "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "  %r = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<24x16xf32>, tensor<f32>) -> "
      "tensor<24xf32>\n"
      "  %b = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<24xf32>) -> tensor<24x16xf32>\n"
      "  %3 = stablehlo.divide %2, %b : tensor<24x16xf32>\n",
      "%3", kX);
  EXPECT_EQ(counts(output).first, 3u) << "exponentials, their sums, quotients";
}

TEST(Pieces, WhatIsBroadcastAfterwardsIsComputedBefore) {
  const Program bias = program(
      "  %1 = stablehlo.exponential %v : tensor<16xf32>\n"
      "  %b = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<16xf32>) -> tensor<24x16xf32>\n"
      "  %2 = stablehlo.add %x, %b : tensor<24x16xf32>\n",
      "%2", kX);
  EXPECT_EQ(counts(bias), std::pair(size_t{2}, size_t{0}));
}

TEST(Pieces, ReshapesThatMergeDimsThatLieApartBeginAKernel) {
  const Program merged = program(
      "  %1 = stablehlo.transpose %x, dims = [1, 0] : (tensor<24x16xf32>) -> tensor<16x24xf32>\n"
      "  %2 = stablehlo.reshape %1 : (tensor<16x24xf32>) -> tensor<384xf32>\n"
      "  %3 = stablehlo.negate %2 : tensor<384xf32>\n",
      "%3", "tensor<384xf32>");
  EXPECT_EQ(counts(merged), std::pair(size_t{2}, size_t{0}));
}

TEST(Pieces, CountsAndConstantsNeedNoTensor) {
  const Program numbers = program(
      "  %1 = stablehlo.iota dim = 0 : tensor<24x16xf32>\n"
      "  %h = stablehlo.constant dense<0.5> : tensor<24x16xf32>\n"
      "  %2 = stablehlo.multiply %1, %h : tensor<24x16xf32>\n"
      "  %3 = stablehlo.add %2, %x : tensor<24x16xf32>\n",
      "%3", kX);
  EXPECT_EQ(counts(numbers), std::pair(size_t{1}, size_t{0}));
}

TEST(Pieces, SmallWorkIsInterpretedUntilItIsOften) {
  const RunnableProgram runnable(program("  %1 = stablehlo.negate %x : tensor<24x16xf32>\n", "%1", kX));
  Rng rng(3);
  const std::vector<Tensor> inputs = random_inputs(runnable.program(), rng);
  Runtime runtime;
  std::vector<size_t> compiled;
  for (int run = 0; run < 4; ++run) {
    ProgramTimes times;
    ASSERT_TRUE(runnable.run(runtime, copies(inputs), options_of(2 * 24 * 16 + 1, &times)).ok());
    EXPECT_EQ(times.compiled.size() + times.interpreted.size(), 1u);
    compiled.push_back(times.compiled.size());
  }
  EXPECT_THAT(compiled, ElementsAre(0, 0, 1, 1));
}

TEST(Pieces, WhereNoKernelMayBeCompiledTheyAreInterpreted) {
  const Program negated = program("  %1 = stablehlo.negate %x : tensor<24x16xf32>\n", "%1", kX);
  Program only = negated;  // without the kernel, which would have to be there
  ProgramParts parts = std::move(only).parts();
  parts.outputs.resize(1);
  const Expected<Program> without = Program::of(std::move(parts));
  ASSERT_TRUE(without.ok()) << without.status().message();
  Rng rng(3);
  const std::vector<Tensor> inputs = random_inputs(*without, rng);
  Runtime runtime;
  ProgramTimes times;
  ProgramOptions options = options_of(0, &times);
  options.kernel.compile = CompileMode::must_hit;
  const auto got = run_program(runtime, *without, copies(inputs), options);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_THAT(times.compiled, IsEmpty());
  EXPECT_EQ(times.interpreted.size(), 1u);
}

TEST(Pieces, ThreadsRunOneProgram) {
  const RunnableProgram runnable(
      program("  %1 = stablehlo.add %x, %x : tensor<24x16xf32>\n"
              "  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<24x16xf32>) -> tensor<16x24xf32>\n",
              "%2", "tensor<16x24xf32>"));
  Rng rng(3);
  const std::vector<Tensor> inputs = random_inputs(runnable.program(), rng);
  Runtime runtime;
  const auto want = runnable.run(runtime, copies(inputs), options_of(ProgramOptions::kInterpreted, nullptr));
  std::vector<std::string> differences(4);
  std::vector<std::thread> threads;
  for (std::string& found : differences)
    threads.emplace_back([&] {
      for (int run = 0; run < 20 && found.empty(); ++run)
        found = difference(runnable.run(runtime, copies(inputs), options_of(0, nullptr)), want);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(differences, ::testing::Each(""));
}

TEST(Pieces, WhatIsOnlyReshapedIsUpdatedInPlace) {
  const std::string text = R"(
func.func @main(%x: tensor<8x4xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>) -> tensor<32xf32> {
  %r = stablehlo.reshape %x : (tensor<8x4xf32>) -> tensor<32xf32>
  %s = "stablehlo.scatter"(%r, %i, %u) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
    : (tensor<32xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<32xf32>
  return %s : tensor<32xf32>
})";
  const Expected<Program> imported = import_mlir_text(text, {});
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  Rng rng(3);
  std::vector<std::unique_ptr<Tensor>> inputs = copies(random_inputs(*imported, rng));
  const std::byte* const memory = inputs[0]->data.data();
  Runtime runtime;
  const auto got = run_program(runtime, *imported, std::move(inputs), options_of(0, nullptr));
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ((*got)[0].data.data(), memory);
}

TEST(Pieces, ConcatenationsAreWrittenPartByPart) {
  const Program columns = program(
      "  %1 = stablehlo.slice %x [0:24, 8:16] : (tensor<24x16xf32>) -> tensor<24x8xf32>\n"
      "  %2 = stablehlo.negate %1 : tensor<24x8xf32>\n"
      "  %3 = stablehlo.slice %x [0:24, 0:8] : (tensor<24x16xf32>) -> tensor<24x8xf32>\n"
      "  %4 = stablehlo.concatenate %2, %3, dim = 1 : (tensor<24x8xf32>, tensor<24x8xf32>) -> tensor<24x16xf32>\n",
      "%4", kX);
  EXPECT_EQ(counts(columns), std::pair(size_t{2}, size_t{0})) << "negated columns, and others";
  const Program rows =
      program("  %1 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<24x16xf32>, tensor<24x16xf32>) -> tensor<48x16xf32>\n",
              "%1", "tensor<48x16xf32>");
  EXPECT_EQ(counts(rows), std::pair(size_t{0}, size_t{0})) << "rows are copied";
  const Program read = program(
      "  %1 = stablehlo.negate %x : tensor<24x16xf32>\n"
      "  %2 = stablehlo.concatenate %1, %x, dim = 1 : (tensor<24x16xf32>, tensor<24x16xf32>) -> tensor<24x32xf32>\n"
      "  %3 = stablehlo.concatenate %2, %2, dim = 0 : (tensor<24x32xf32>, tensor<24x32xf32>) -> tensor<48x32xf32>\n",
      "%3", "tensor<48x32xf32>");
  EXPECT_EQ(counts(read), std::pair(size_t{2}, size_t{0})) << "what is read twice is put together once, and copied";
}

TEST(Pieces, PaddingIsWrittenAroundWhatItPads) {
  const Program padded = program(
      "  %z = stablehlo.constant dense<7.0> : tensor<f32>\n"
      "  %1 = stablehlo.negate %x : tensor<24x16xf32>\n"
      "  %2 = stablehlo.pad %1, %z, low = [1, 2], high = [0, 3], interior = [0, 0] : (tensor<24x16xf32>, tensor<f32>) -> "
      "tensor<25x21xf32>\n",
      "%2", "tensor<25x21xf32>");
  EXPECT_EQ(counts(padded), std::pair(size_t{3}, size_t{0}))
      << "padding on two sides, and the elements between; the row above is copied";
  const Program spread = program(
      "  %z = stablehlo.constant dense<7.0> : tensor<f32>\n"
      "  %2 = stablehlo.pad %x, %z, low = [0, -1], high = [1, 0], interior = [2, 1] : (tensor<24x16xf32>, tensor<f32>) -> "
      "tensor<71x30xf32>\n",
      "%2", "tensor<71x30xf32>");
  EXPECT_EQ(counts(spread).second, 0u);
}

TEST(Pieces, ResultsWithoutElementsNeedNoKernel) {
  const Program none = program(
      "  %1 = stablehlo.slice %x [3:3, 0:16] : (tensor<24x16xf32>) -> tensor<0x16xf32>\n"
      "  %2 = stablehlo.negate %1 : tensor<0x16xf32>\n"
      "  %3 = stablehlo.reshape %2 : (tensor<0x16xf32>) -> tensor<0x4x4xf32>\n",
      "%3", "tensor<0x4x4xf32>");
  EXPECT_EQ(counts(none), std::pair(size_t{0}, size_t{0}));
}

TEST(Pieces, WhatLiesInMemoryOfTheCallersIsNotUpdatedWhileAPartOfItIsRead) {
  const std::string text = R"(
func.func @main(%x: tensor<8x4xf32>, %i: tensor<2x1xi32>) -> tensor<32xf32> {
  %r = stablehlo.reshape %x : (tensor<8x4xf32>) -> tensor<32xf32>
  %u = stablehlo.slice %r [0:2] : (tensor<32xf32>) -> tensor<2xf32>
  %s = "stablehlo.scatter"(%r, %i, %u) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %t = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %t : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
    : (tensor<32xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<32xf32>
  return %s : tensor<32xf32>
})";
  const Expected<Program> imported = import_mlir_text(text, {});
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  Rng rng(3);
  std::vector<Tensor> inputs = random_inputs(*imported, rng);
  reinterpret_cast<int32_t*>(inputs[1].data.data())[0] = 1;
  reinterpret_cast<int32_t*>(inputs[1].data.data())[1] = 0;
  Runtime runtime;
  const auto want = run_program(runtime, *imported, copies(inputs), options_of(ProgramOptions::kInterpreted, nullptr));
  std::vector<std::unique_ptr<Tensor>> lent;
  for (const Tensor& input : inputs) {
    lent.push_back(std::make_unique<Tensor>(Tensor{input.dtype, input.dims, {}, {}}));
    lent.back()->data = Buffer::borrow({input.data.data(), static_cast<size_t>(input.data.size())});
  }
  EXPECT_EQ(difference(run_program(runtime, *imported, std::move(lent), options_of(0, nullptr)), want), "");
}

/// f32[6,4] updated by f32[2,3], which is negated before, at [1,0], or at the place that in2 and in3 say.
Program update_program(bool is_known, bool reads_twice) {
  Program made;
  ProgramBuilder build(made, "drawn");
  const int into = build.input({.name = "in0", .type = {DType::f32, {6, 4}, {}}}),
            part = build.input({.name = "in1", .type = {DType::f32, {2, 3}, {}}}),
            row = build.input({.name = "in2", .type = {DType::i64, {}, {}}}),
            column = build.input({.name = "in3", .type = {DType::i32, {}, {}}});
  const int changed = build.apply(ExprOp::neg, {part}).value();
  const int result =
      is_known ? build.update(into, changed, {1, 0}).value() : build.update_from(into, changed, {row, column}).value();
  made.add_output({"out0", result});
  if (reads_twice) made.add_output({"out1", into});
  return made;
}

std::vector<Tensor> update_inputs(int64_t row, int64_t column) {
  Rng rng(3);
  std::vector<Tensor> out;
  out.push_back(random_tensor({DType::f32, {6, 4}, {}}, rng));
  out.push_back(random_tensor({DType::f32, {2, 3}, {}}, rng));
  out.push_back(std::move(make_tensor(DType::i64, {}).value()));
  out.push_back(std::move(make_tensor(DType::i32, {}).value()));
  store_element(DType::i64, out[2].data.data(), 0, {DType::i64, {encode_i64(DType::i64, row), 0}});
  store_element(DType::i32, out[3].data.data(), 0, {DType::i32, {encode_i64(DType::i32, column), 0}});
  return out;
}

TEST(Pieces, UpdatesWriteTheirPartInPlaceWhereNobodyElseReadsTheTensor) {
  Runtime runtime;
  for (const bool is_known : {true, false})
    for (const bool reads_twice : {true, false}) {
      const Program update = update_program(is_known, reads_twice);
      const std::vector<Tensor> inputs = update_inputs(4, 1);
      std::vector<std::unique_ptr<Tensor>> given = copies(inputs);
      const std::byte* const memory = given[0]->data.data();
      ProgramTimes times;
      const auto got = run_program(runtime, update, std::move(given), options_of(0, &times));
      const auto want = run_program(runtime, update, copies(inputs), options_of(ProgramOptions::kInterpreted, nullptr));
      EXPECT_EQ(difference(got, want), "");
      EXPECT_EQ((*got)[0].data.data() == memory, !reads_twice);
      EXPECT_THAT(times.interpreted, IsEmpty());
      EXPECT_EQ(times.compiled.size(), 1u);
    }
}

TEST(Pieces, WhatLeavesATensorIsTheInterpretersError) {
  Runtime runtime;
  for (const auto& [row, column] : {std::pair(5, 0), std::pair(0, -1), std::pair(0, 2)}) {
    const Program update = update_program(false, true);
    const auto got = run_program(runtime, update, copies(update_inputs(row, column)), options_of(0, nullptr));
    const auto want =
        run_program(runtime, update, copies(update_inputs(row, column)), options_of(ProgramOptions::kInterpreted, nullptr));
    ASSERT_FALSE(want.ok());
    EXPECT_EQ(got.status().message(), want.status().message());
  }
}

TEST(Pieces, ShapesThatOnlyTheCallKnowsAreExtentsOfThePiece) {
  Program made;
  ProgramBuilder build(made, "drawn");
  const int value = build.input({.name = "in0", .type = {DType::f32, {1, 4}, {}}}),
            shape = build.input({.name = "in1", .type = {DType::i32, {2}, {}}});
  made.add_output({"out0", build.broadcast_to(build.apply(ExprOp::neg, {value}).value(), shape, {0, 1}).value()});
  const RunnableProgram runnable(std::move(made));
  Runtime runtime;
  Rng rng(4);
  for (const int64_t rows : {3, 5, 3}) {
    std::vector<Tensor> inputs;
    inputs.push_back(random_tensor({DType::f32, {1, 4}, {}}, rng));
    inputs.push_back(std::move(make_tensor(DType::i32, {2}).value()));
    store_element(DType::i32, inputs[1].data.data(), 0, {DType::i32, {encode_i64(DType::i32, rows), 0}});
    store_element(DType::i32, inputs[1].data.data(), 1, {DType::i32, {encode_i64(DType::i32, 4), 0}});
    ProgramTimes times;
    const auto got = runnable.run(runtime, copies(inputs), options_of(0, &times));
    const auto want = runnable.run(runtime, copies(inputs), options_of(ProgramOptions::kInterpreted, nullptr));
    EXPECT_EQ(difference(got, want), "");
    EXPECT_THAT((*got)[0].dims, ElementsAre(rows, 4));
    EXPECT_THAT(times.interpreted, IsEmpty());
  }
}

TEST(Views, SayWhatStridesCan) {
  Compute reshape{ReshapeOp{}, "", {0}, {{DType::f32, {6, 2, 2}, {}}}, ComputeDisposition::interpreted, -1};
  View view{{3, 2, 4}, 5, {8, 4, 1}};
  ASSERT_TRUE(move(reshape, reshape.results[0], view));
  EXPECT_EQ(view, (View{{6, 2, 2}, 5, {4, 2, 1}}));
  View apart{{3, 2, 4}, 0, {10, 4, 1}};  // 6 rows of which every third begins 2 elements later
  EXPECT_FALSE(move(reshape, reshape.results[0], apart));
  View repeated{{3, 2, 4}, 0, {0, 0, 1}};
  EXPECT_TRUE(move(reshape, reshape.results[0], repeated));
  EXPECT_THAT(repeated.strides, ElementsAre(0, 2, 1));
}

TEST(Buffers, MemoryOfLargeTensorsIsUsedAgain) {
  auto pool = std::make_unique<BufferPool>();
  Tensor large = std::move(pool->make(DType::f32, {1 << 15}).value());
  const std::byte* const memory = large.data.data();
  Buffer other = large.data.share();
  large.data = {};
  EXPECT_NE(pool->make(DType::f32, {1 << 15})->data.data(), memory) << "somebody else reads it";
  other = {};
  Tensor again = std::move(pool->make(DType::i32, {1 << 14, 2}).value());
  EXPECT_EQ(again.data.data(), memory);
  pool.reset();
  again.data.data()[0] = std::byte{1};  // the tensor outlives the pool
}

}  // namespace
}  // namespace strew::test
