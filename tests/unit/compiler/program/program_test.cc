// run_program: values of every kind, open dims, layouts, several kernels, and what it refuses. On the reference backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "compiler/import/strew_text.h"
#include "compiler/program/program_input.h"
#include "compiler/program/strided.h"
#include "strew/run_program.h"
#include "strew/text.h"
#include "tests/support/ops.h"

namespace strew {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Inputs = std::vector<std::unique_ptr<Tensor>>;

template <class T>
std::unique_ptr<Tensor> tensor(DType dtype, std::vector<int64_t> dims, std::vector<T> values) {
  auto out = std::make_unique<Tensor>(std::move(make_tensor(dtype, std::move(dims)).value()));
  EXPECT_EQ(out->data.size(), static_cast<int64_t>(values.size() * sizeof(T)));
  std::memcpy(out->data.data(), values.data(), values.size() * sizeof(T));
  return out;
}

template <class T>
std::vector<T> values_of(const Tensor& t) {
  std::vector<T> out(static_cast<size_t>(t.data.size()) / sizeof(T));
  std::memcpy(out.data(), t.data.data(), out.size() * sizeof(T));
  return out;
}

Program text(const std::string& ops) {
  Expected<Program> out = import_strew_text(ops, "t.strew", {});
  EXPECT_TRUE(out.ok()) << out.status().message();
  return out.ok() ? std::move(*out) : Program{};
}

Expected<std::vector<Tensor>> run(const Program& imported, Inputs inputs) {
  Runtime runtime;
  ProgramOptions options;
  options.kernel.backend = BackendChoice::reference;
  return run_program(runtime, imported, std::move(inputs), options);
}

Inputs list(std::unique_ptr<Tensor> a, std::unique_ptr<Tensor> b, std::unique_ptr<Tensor> c = nullptr) {
  Inputs out;
  out.push_back(std::move(a));
  out.push_back(std::move(b));
  if (c != nullptr) out.push_back(std::move(c));
  return out;
}

std::string scatter(const std::string& operand, const std::string& extra) {
  return "strew1.scatter(operand=" + operand +
         " indices=i32[2] updates=i32[2] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
         "index_vector_dim=1 combiner=add oob=error" +
         extra + ")";
}

Inputs three() {
  return list(tensor<int32_t>(DType::i32, {4}, {10, 20, 30, 40}), tensor<int32_t>(DType::i32, {2}, {3, 3}),
              tensor<int32_t>(DType::i32, {2}, {1, 2}));
}

TEST(Program, RunsAnOp) {
  const Program m = text(scatter("i32[4]", ""));
  ASSERT_EQ(m.inputs().size(), 3u);
  EXPECT_EQ(m.input(0).name, "operand");
  const auto out = run(m, three());
  ASSERT_TRUE(out.ok()) << out.status().message();
  EXPECT_THAT(values_of<int32_t>((*out)[0]), ElementsAre(10, 20, 30, 43));
}

TEST(Program, InPlaceStartsFromTheOperand) {
  const Program m = text(scatter("i32[4]", " init=in_place"));
  ASSERT_EQ(m.inputs().size(), 3u);
  const auto out = run(m, three());
  ASSERT_TRUE(out.ok()) << out.status().message();
  EXPECT_THAT(values_of<int32_t>((*out)[0]), ElementsAre(10, 20, 30, 43));
}

TEST(Program, OpenDimsComeFromTheOperand) {
  const auto out = run(text(scatter("i32[?]", "")), three());
  ASSERT_TRUE(out.ok()) << out.status().message();
  EXPECT_THAT((*out)[0].dims, ElementsAre(4));
  EXPECT_THAT(values_of<int32_t>((*out)[0]), ElementsAre(10, 20, 30, 43));
}

TEST(Program, StaticStridesGetALayoutOfTheirOwn) {
  for (const char* strides : {"{3}", "{-2}"}) {
    const auto out = run(text(scatter("i32[4]" + std::string(strides), "")), three());
    ASSERT_TRUE(out.ok()) << out.status().message();
    EXPECT_THAT(values_of<int32_t>((*out)[0]), ElementsAre(10, 20, 30, 43)) << strides;
  }
}

TEST(Program, OutOfBoundsNamesTheKernel) {
  const auto out =
      run(text(scatter("i32[4]", "")), list(tensor<int32_t>(DType::i32, {4}, {0, 0, 0, 0}),
                                            tensor<int32_t>(DType::i32, {2}, {0, 4}), tensor<int32_t>(DType::i32, {2}, {1, 2})));
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.status().code(), Code::out_of_bounds);
  EXPECT_THAT(out.status().message(), HasSubstr("t.strew:1: index out of bounds: update position [1]"));
}

TEST(Program, InputsAreChecked) {
  const Program m = text(scatter("i32[4]", ""));
  Inputs wrong = three();
  wrong[1] = tensor<int32_t>(DType::i32, {3}, {0, 0, 0});
  EXPECT_THAT(run(m, std::move(wrong)).status().message(), HasSubstr("input 1 (indices): it is i32[3], expected i32[2]"));
  Inputs missing = three();
  missing[2] = nullptr;
  EXPECT_THAT(run(m, std::move(missing)).status().message(), HasSubstr("input 2 (updates) is missing"));
}

TEST(Program, ExtentsOfOneMayBeMoreOrFewerBehindAPointer) {
  Program imported = text(scatter("i32[2]", ""));
  ProgramInput& input = imported.edit_input(0);
  input.memory = true;
  input.type.dims = {1, kDynamic};
  const auto fits = [&](std::vector<int64_t> dims) {
    const size_t count = static_cast<size_t>(element_count(dims).value());
    Tensor given = std::move(make_tensor(imported.input(0).type.dtype, std::move(dims)).value());
    const Status s = fit_input(given, imported.input(0), 0, {});
    if (s.ok()) {
      EXPECT_THAT(given.dims, ElementsAre(1, static_cast<int64_t>(count)));
    }
    return s.ok();
  };
  EXPECT_TRUE(fits({1, 5}));
  EXPECT_TRUE(fits({5}));
  EXPECT_TRUE(fits({1, 1, 1, 5, 1}));
  EXPECT_TRUE(fits({5, 1}));
  EXPECT_TRUE(fits({1}));
  EXPECT_FALSE(fits({2, 5}));
  input.memory = false;
  EXPECT_FALSE(fits({5}));
}

TEST(Program, ScalarsMayFollowFromShapesAndAreCompared) {
  Program imported = text(scatter("i32[?]", ""));
  Value extent;
  extent.kind = ValueKind::extent;
  extent.type = {DType::i64, {}, {}};
  extent.like = imported.kernel(0).tensor(0);
  const int count = imported.add_input({"n", extent.type, true, true}), rows = imported.add_value(extent);
  imported.edit_value(count)->like = extent.like;
  imported.edit_kernel(0)->arguments.push_back(KernelArgument::equal_scalars(rows, count, "rows", " as n says"));
  const auto outcome = [&](std::unique_ptr<Tensor> n) {
    Inputs inputs = list(tensor<int32_t>(DType::i32, {4}, {1, 2, 3, 4}), tensor<int32_t>(DType::i32, {2}, {0, 1}),
                         tensor<int32_t>(DType::i32, {2}, {7, 8}));
    inputs.push_back(std::move(n));
    return run(imported, std::move(inputs)).status().message();
  };
  EXPECT_EQ(outcome(nullptr), "");
  EXPECT_EQ(outcome(tensor<int64_t>(DType::i64, {}, {4})), "");
  EXPECT_THAT(outcome(tensor<int64_t>(DType::i64, {}, {5})), HasSubstr("rows is 4, expected 5 as n says"));
}

TEST(Program, OneOfSeveralKernels) {
  const Program m = text(scatter("i32[4]", "") + "\n" + scatter("i32[?]", ""));
  ASSERT_EQ(m.kernels().size(), 2u);
  EXPECT_EQ(kernel_inputs(m, 1).size(), 3U);
  const Program alone = cut_kernel(m, 1);
  ASSERT_EQ(alone.inputs().size(), 3U);
  const auto out = run(alone, three());
  ASSERT_TRUE(out.ok()) << out.status().message();
  ASSERT_EQ(out->size(), 1u);
  EXPECT_THAT(values_of<int32_t>((*out)[0]), ElementsAre(10, 20, 30, 43));
}

TEST(Program, ResultsFeedLaterKernels) {
  Program m = text(scatter("i32[4]", "") + "\n" + scatter("i32[4]", ""));
  ProgramParts parts = std::move(m).parts();
  parts.kernels[1].arguments = parts.kernels[0].arguments;
  parts.kernels[1].arguments[0] = parts.outputs[0].value;
  parts.outputs = {parts.outputs[1], {"first", parts.kernels[0].tensor(0)}};
  m = Program::of(std::move(parts)).value();
  const auto out = run(m, three());
  ASSERT_TRUE(out.ok()) << out.status().message();
  EXPECT_THAT(values_of<int32_t>((*out)[0]), ElementsAre(10, 20, 30, 46));
  EXPECT_THAT(values_of<int32_t>((*out)[1]), ElementsAre(10, 20, 30, 40)) << "an input may be an output";
  // Alone, the second kernel takes the first one's result as an input, after the file's inputs.
  Inputs inputs = three();
  std::rotate(inputs.begin(), inputs.begin() + 1, inputs.end());
  const auto alone = run(cut_kernel(m, 1), std::move(inputs));
  ASSERT_TRUE(alone.ok()) << alone.status().message();
  EXPECT_THAT(values_of<int32_t>((*alone)[0]), ElementsAre(10, 20, 30, 43));
}

TEST(Program, StacksZerosAndConstants) {
  Program m = text(scatter("i32[4]", ""));
  const int two =
      m.add_constant({{DType::i32, {}, {}}, std::vector<std::byte>{std::byte{2}, std::byte{0}, std::byte{0}, std::byte{0}}, {}});
  Value stack, zeros;
  stack.kind = ValueKind::stack;
  stack.type = {DType::i32, {2}, {}};
  stack.parts = {two, two};
  zeros.kind = ValueKind::zeros;
  zeros.type = {DType::i32, {kDynamic}, {}};
  zeros.like = m.kernel(0).tensor(0);
  const int indices = m.add_value(stack);
  m.edit_kernel(0)->arguments[1] = indices;
  m.add_output({"zeros", m.add_value(zeros)});
  const auto out = run(m, three());
  ASSERT_TRUE(out.ok()) << out.status().message();
  EXPECT_THAT(values_of<int32_t>((*out)[0]), ElementsAre(10, 20, 33, 40));
  EXPECT_THAT(values_of<int32_t>((*out)[1]), ElementsAre(0, 0, 0, 0));
}

TEST(Program, NegativesAreRefusedWhereTheSourceSaysSo) {
  Program m = text(scatter("i32[4]", ""));
  Scatter wrapping = std::get<Scatter>(*m.kernel(0).op);
  wrapping.oob = OobPolicy::wrap;
  m.edit_kernel(0)->op = test::verified(std::move(wrapping));
  Inputs inputs = three();
  inputs[1] = tensor<int32_t>(DType::i32, {2}, {0, -1});
  ASSERT_TRUE(run(m, std::move(inputs)).ok());
  m.edit_kernel(0)->arguments.push_back({ArgumentUse::non_negative, m.kernel(0).tensor(1)});
  inputs = three();
  inputs[1] = tensor<int32_t>(DType::i32, {2}, {0, -1});
  const auto out = run(m, std::move(inputs));
  EXPECT_EQ(out.status().code(), Code::out_of_bounds);
  EXPECT_THAT(out.status().message(), HasSubstr("update position [1] (linear 1), component 0: value -1, expected 0 <= v"));
}

TEST(Program, GatherWithSliceSizesKnownAtTheCall) {
  Program m = text(
      "strew1.gather(operand=i32[4,3] indices=i32[2,2] result=i32[2,?,?] offset_dims=[1,2] start_index_map=[0,1] "
      "index_vector_dim=1 "
      "slice_sizes=[?,?])");
  ASSERT_EQ(m.kernels().size(), 1u);
  std::vector<std::byte> bytes(16);
  bytes[0] = std::byte{2};
  bytes[8] = std::byte{1};
  const int sizes = m.add_constant({{DType::i64, {2}, {}}, std::move(bytes), {}});
  m.edit_kernel(0)->arguments.push_back({ArgumentUse::slice_sizes, sizes});
  const auto out = run(m, list(tensor<int32_t>(DType::i32, {4, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}),
                               tensor<int32_t>(DType::i32, {2, 2}, {0, 2, 2, 0})));
  ASSERT_TRUE(out.ok()) << out.status().message();
  EXPECT_THAT((*out)[0].dims, ElementsAre(2, 2, 1));
  EXPECT_THAT(values_of<int32_t>((*out)[0]), ElementsAre(2, 5, 6, 9));
}

TEST(Program, StringsAreOwnedByTheOutput) {
  const Program m = text(
      "strew1.scatter(operand=string[3] indices=i32[1] updates=string[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] "
      "index_vector_dim=1 oob=error)");
  const auto strings = [](std::vector<std::string> values) {
    auto out = std::make_unique<Tensor>(std::move(make_tensor(DType::string, {static_cast<int64_t>(values.size())}).value()));
    set_strings(*out, std::move(values));
    return out;
  };
  const auto out = run(
      m, list(strings({"a", "b", "c"}), tensor<int32_t>(DType::i32, {1}, {1}), strings({"a string too long to be kept inside"})));
  ASSERT_TRUE(out.ok()) << out.status().message();
  EXPECT_EQ(string_at((*out)[0], 0), "a");
  EXPECT_EQ(string_at((*out)[0], 1), "a string too long to be kept inside");
}

TEST(Strided, NarrowElementsKeepTheirPlaces) {
  Tensor t = std::move(make_tensor(DType::u4, {2, 3}).value());
  for (int i = 0; i < 3; ++i) t.data.data()[i] = std::byte(0x21 + 0x22 * i);  // 1 2 3 4 5 6
  for (const std::vector<int64_t>& strides : {std::vector<int64_t>{1, 2}, {-5, 1}, {7, -2}}) {
    const StridedTensor laid = std::move(lay_out(t, {DType::u4, {2, 3}, strides}).value());
    EXPECT_EQ(laid.strides, strides);
    Tensor back = std::move(make_tensor(DType::u4, {2, 3}).value());
    collect_layout(laid, back);
    EXPECT_EQ(std::memcmp(back.data.data(), t.data.data(), 3), 0);
  }
  EXPECT_FALSE(lay_out(t, {DType::u4, {2, 3}, {int64_t{1} << 62, 1}}).ok());
}

TEST(TensorMemory, SizesThatNoMachineHas) {
  EXPECT_FALSE(make_tensor(DType::f32, {int64_t{1} << 40, int64_t{1} << 40}).ok());
  EXPECT_FALSE(make_tensor(DType::f64, {int64_t{1} << 50}).ok());
  EXPECT_FALSE(make_tensor(DType::f32, {-1}).ok());
  const Tensor empty = std::move(make_tensor(DType::f32, {0, 5}).value());
  EXPECT_NE(empty.data.data(), nullptr) << "an empty tensor still has an address";
  EXPECT_EQ(reinterpret_cast<uintptr_t>(empty.data.data()) % 64, 0u);
}

// ---- The caller's buffers ---------------------------------------------------------------------------------------------------------

Status run_into(const Program& imported, Inputs inputs, std::span<const TensorView> outputs, ProgramOptions options = {}) {
  Runtime runtime;
  options.kernel.backend = BackendChoice::reference;
  return run_program_into(runtime, imported, std::move(inputs), outputs, options);
}

TEST(ProgramBuffers, ResultsTakeOverTheMemoryOfInputsThatTheyUpdate) {
  for (const char* init : {"", " init=in_place"}) {
    Inputs inputs = three();
    const std::byte* const memory = inputs[0]->data.data();
    const auto out = run(text(scatter("i32[4]", init)), std::move(inputs));
    ASSERT_TRUE(out.ok()) << out.status().message();
    EXPECT_THAT(values_of<int32_t>((*out)[0]), ElementsAre(10, 20, 30, 43));
    EXPECT_EQ((*out)[0].data.data(), memory) << init;
    EXPECT_TRUE((*out)[0].data.owns());
  }
}

TEST(ProgramBuffers, InputsThatAreReadOnlyOrReadTwiceAreCopied) {
  int32_t table[] = {10, 20, 30, 40};
  const Program m = text(scatter("i32[4]", " init=in_place"));
  Inputs inputs = three();
  inputs[0]->data = Buffer::share(std::as_bytes(std::span(table)), nullptr);
  auto out = run(m, std::move(inputs));
  ASSERT_TRUE(out.ok()) << out.status().message();
  EXPECT_EQ(table[3], 40);
  EXPECT_THAT(values_of<int32_t>((*out)[0]), ElementsAre(10, 20, 30, 43));

  Program twice = m;  // the operand is an output, too
  twice.add_output({"before", twice.kernel(0).tensor(0)});
  out = run(twice, three());
  ASSERT_TRUE(out.ok()) << out.status().message();
  EXPECT_THAT(values_of<int32_t>((*out)[0]), ElementsAre(10, 20, 30, 43));
  EXPECT_THAT(values_of<int32_t>((*out)[1]), ElementsAre(10, 20, 30, 40));

  Program same = m;  // by another value that is the same input
  same.add_output({"before", same.add_value(Value(same.value(same.kernel(0).tensor(0))))});
  out = run(same, three());
  ASSERT_TRUE(out.ok()) << out.status().message();
  EXPECT_THAT(values_of<int32_t>((*out)[0]), ElementsAre(10, 20, 30, 43));
  EXPECT_THAT(values_of<int32_t>((*out)[1]), ElementsAre(10, 20, 30, 40));
}

TEST(ProgramBuffers, ResultsNeverLieInMemoryThatWasLent) {
  int32_t table[] = {10, 20, 30, 40};
  Program m = text(scatter("i32[4]", " init=in_place"));
  Inputs inputs = three();
  inputs[0]->data = Buffer::borrow(std::as_writable_bytes(std::span(table)));
  auto out = run(m, std::move(inputs));
  ASSERT_TRUE(out.ok()) << out.status().message();
  EXPECT_EQ(table[3], 43) << "it may be written, and nothing else reads it";
  EXPECT_NE(static_cast<void*>((*out)[0].data.data()), table);
  EXPECT_THAT(values_of<int32_t>((*out)[0]), ElementsAre(10, 20, 30, 43));

  ProgramParts parts = std::move(m).parts();
  parts.outputs[0].value = parts.kernels[0].tensor(0);  // an output that is an input
  m = Program::of(std::move(parts)).value();
  inputs = three();
  inputs[0]->data = Buffer::share(std::as_bytes(std::span(table)), nullptr);
  out = run(m, std::move(inputs));
  ASSERT_TRUE(out.ok()) << out.status().message();
  EXPECT_NE(static_cast<void*>((*out)[0].data.data()), table);
  EXPECT_THAT(values_of<int32_t>((*out)[0]), ElementsAre(10, 20, 30, 43));
}

TEST(ProgramBuffers, KernelsWriteToTheOutputs) {
  const Program m = text(scatter("i32[?]", ""));
  int32_t table[4] = {};
  const int64_t dims[] = {4};
  const TensorView output(table, dims);
  const void* written = nullptr;
  ProgramOptions options;
  options.after_kernel = [&](const ProgramKernel&, const Kernel&, std::span<const TensorView> views) {
    written = views[0].data;
    return Status();
  };
  const Status status = run_into(m, three(), {&output, 1}, options);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(written, table);
  EXPECT_THAT(table, ElementsAre(10, 20, 30, 43));
}

TEST(ProgramBuffers, AnInputThatMayBeWrittenIsUpdatedWhereItLies) {
  const Program m = text(scatter("i32[?]", " init=in_place"));
  int32_t table[] = {10, 20, 30, 40};
  const int64_t dims[] = {4};
  const TensorView output(table, dims);
  Inputs inputs = three();
  inputs[0]->data = Buffer::borrow(std::as_writable_bytes(std::span(table)));
  const Status status = run_into(m, std::move(inputs), {&output, 1});
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(table, ElementsAre(10, 20, 30, 43));
}

TEST(ProgramBuffers, OutputsAreChecked) {
  const Program m = text(scatter("i32[?]", ""));
  int32_t table[8] = {};
  const int64_t dims[] = {4}, five[] = {5}, square[] = {2, 2}, negative[] = {-1}, two[] = {2};
  const auto message = [&](const TensorView& output) { return run_into(m, three(), {&output, 1}).message(); };
  EXPECT_THAT(message(TensorView(table, five)), HasSubstr("output 'result': dims are [5], expected [4]"));
  EXPECT_THAT(message(TensorView(table, square)), HasSubstr("rank is 2, expected 1"));
  EXPECT_THAT(message(TensorView(table, negative)), HasSubstr("dim 0 is -1"));
  EXPECT_THAT(message(TensorView(table, dims, two)), HasSubstr("stride 0 is 2, expected 1"));
  EXPECT_THAT(message(TensorView(static_cast<const int32_t*>(table), dims)), HasSubstr("read-only"));
  EXPECT_THAT(message(TensorView(static_cast<float*>(nullptr), dims)), HasSubstr("dtype is f32, expected i32"));
  EXPECT_THAT(message(TensorView(static_cast<int32_t*>(nullptr), dims)), HasSubstr("data: null"));
  EXPECT_THAT(run_into(m, three(), {}).message(), HasSubstr("outputs: 0 are given, expected 1"));
  EXPECT_EQ(table[3], 0);

  Program twice = m;
  twice.add_output({"again", twice.outputs()[0].value});
  const TensorView overlapping[] = {{table, dims}, {table + 3, dims}}, apart[] = {{table, dims}, {table + 4, dims}};
  EXPECT_THAT(run_into(twice, three(), overlapping).message(), HasSubstr("output 'again': its buffer overlaps that of output"));
  EXPECT_TRUE(run_into(twice, three(), apart).ok());
  EXPECT_THAT(table, ElementsAre(10, 20, 30, 43, 10, 20, 30, 43));
}

}  // namespace
}  // namespace strew
