// Programs that the differential test of programs drew, and on which import or runs failed once, made small.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/import/builder/program_builder.h"
#include "compiler/import/import_bytes.h"
#include "compiler/import/importer.h"
#include "strew/forms.h"
#include "strew/run_program.h"
#include "tests/support/options.h"
#include "tests/support/programs.h"

namespace strew::test {
namespace {

Tensor tensor_of(const std::vector<int64_t>& values) {
  Tensor out = make_tensor(DType::i64, {static_cast<int64_t>(values.size())}).value();
  std::memcpy(out.data.data(), values.data(), values.size() * sizeof(int64_t));
  return out;
}

int input(ProgramBuilder& builder, const std::string& name, DType dtype, std::vector<int64_t> dims) {
  ProgramInput made;
  made.name = name;
  made.type = {dtype, std::move(dims), {}};
  return builder.input(std::move(made));
}

int gathered(ProgramBuilder& builder, int table, int indices) {
  ProgramKernel kernel = verified_kernel(gather(builder.type(table), builder.type(indices)).build().value(), "gather").value();
  kernel.set_tensors({table, indices});
  return builder.kernel(std::move(kernel))[0];
}

/// A gather that counts negative indices from the end, of indices that `arithmetic` makes; both ways.
template <class Arithmetic>
void expect_same(const std::vector<int64_t>& indices, const Arithmetic& arithmetic) {
  Program program;
  ProgramBuilder builder(program, "drawn");
  const int table = input(builder, "table", DType::i64, {4});
  const int at = input(builder, "at", DType::i64, {static_cast<int64_t>(indices.size())});
  program.add_output({"out", gathered(builder, table, arithmetic(builder, at))});
  const auto finished = finish_import(program, "drawn", {});
  ASSERT_TRUE(finished.ok()) << finished.status().message();
  std::vector<Tensor> inputs;
  inputs.push_back(tensor_of({10, 20, 30, 40}));
  inputs.push_back(tensor_of(indices));
  EXPECT_EQ(difference(run_copy(*finished, inputs, "reference"), run_copy(program, inputs, "reference")), "");
}

TEST(DrawnPrograms, ClippedIndicesAreNotCountedFromTheEnd) {
  expect_same({-3, -1, 2, 9}, [](ProgramBuilder& b, int at) {
    return b.apply(ExprOp::min, {b.apply(ExprOp::max, {at, b.integer(0)}), b.integer(3)}).value();
  });
}

TEST(DrawnPrograms, IndicesThatCountFromTheEndTwice) {
  expect_same({-7, -4, -1, 3}, [](ProgramBuilder& b, int at) {
    return b.apply(ExprOp::select, {b.apply(ExprOp::lt, {at, b.integer(0)}), b.apply(ExprOp::add, {at, b.integer(4)}), at})
        .value();
  });
}

TEST(DrawnPrograms, AnExtentThatNobodyReadsOfAResultThatIsLookedUp) {
  Program program;
  ProgramBuilder builder(program, "drawn");
  const int table = input(builder, "table", DType::i64, {4, kDynamic}), at = input(builder, "at", DType::i64, {3});
  const int rows = gathered(builder, table, at), sums = input(builder, "sums", DType::i64, {8, kDynamic});
  const int shape = builder.stack({builder.integer(5), builder.extent(rows, 1)}, DType::i64);
  ASSERT_TRUE(builder.broadcast_to(input(builder, "row", DType::i64, {kDynamic}), shape, {1}).ok());
  ProgramKernel kernel =
      verified_kernel(
          scatter_rows(builder.type(sums), builder.type(at), builder.type(rows)).combine(CombinerKind::add).build().value(),
          "scatter")
          .value();
  kernel.set_tensors({sums, at, rows});
  program.add_output({"out", builder.kernel(std::move(kernel))[0]});
  const auto finished = finish_import(program, "drawn", {});
  ASSERT_TRUE(finished.ok()) << finished.status().message();
  EXPECT_EQ(finished->kernels().size(), 1U);
}

TEST(DrawnPrograms, AnInputThatIsAnOutputAndLiesWhereAnotherOutputWill) {
  Program program;
  ProgramBuilder builder(program, "drawn");
  const int given = input(builder, "given", DType::i64, {2});
  program.add_output({"negative", builder.apply(ExprOp::neg, {given}).value()});
  program.add_output({"given", given});
  std::vector<int64_t> memory{3, 4}, kept(2);
  const auto bytes = std::as_writable_bytes(std::span(memory));
  std::vector<std::unique_ptr<Tensor>> inputs;
  inputs.push_back(std::make_unique<Tensor>(Tensor{DType::i64, {2}, Buffer::borrow(bytes), {}}));
  const std::vector<int64_t> dims{2};
  const std::vector<TensorView> outputs{{memory.data(), dims}, {kept.data(), dims}};
  Runtime runtime;
  ASSERT_TRUE(run_program_into(runtime, program, std::move(inputs), outputs, {}).ok());
  EXPECT_EQ(memory, (std::vector<int64_t>{-3, -4}));
  EXPECT_EQ(kept, (std::vector<int64_t>{3, 4}));
}

}  // namespace
}  // namespace strew::test
