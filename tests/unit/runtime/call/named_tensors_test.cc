// Binding by name (Kernel::run_by_name) and what TensorView's constructors say about a tensor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "strew/runtime.h"
#include "strew/text.h"

namespace strew {
namespace {

/// Two results and two updates, so that their names need a number.
Kernel add_pairs() {
  const Expected<Op> op = parse_op(
      "strew1.scatter(operand=[f32[4],i32[4]] indices=i64[2] updates=[f32[2],i32[2]] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place)");
  EXPECT_TRUE(op.ok()) << op.status().message();
  if (!op.ok()) return {};
  Expected<Kernel> kernel = Runtime::process().get(*op);
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  return kernel.value_or({});
}

struct Tensors {
  std::vector<float> floats = {1, 1, 1, 1}, float_updates = {2, 3};
  std::vector<int32_t> ints = {5, 5, 5, 5}, int_updates = {7, 8};
  std::vector<int64_t> indices = {2, 0};
  std::vector<int64_t> four = {4}, two = {2};
  std::vector<NamedTensor> named() {
    return {{"updates 1", {int_updates.data(), two}},
            {"result 0", {floats.data(), four}},
            {"indices", {indices.data(), two}},
            {"updates 0", {float_updates.data(), two}},
            {"result 1", {ints.data(), four}}};
  }
};

TEST(NamedTensors, MayComeInAnyOrder) {
  const Kernel kernel = add_pairs();
  Tensors tensors;
  const Status status = kernel.run_by_name(tensors.named());
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(tensors.floats, (std::vector<float>{4, 1, 3, 1}));
  EXPECT_EQ(tensors.ints, (std::vector<int32_t>{13, 5, 12, 5}));
}

TEST(NamedTensors, WrongNamesAreRefused) {
  const Kernel kernel = add_pairs();
  const std::string all = "result 0, result 1, indices, updates 0, updates 1";
  Tensors tensors;
  std::vector<NamedTensor> named = tensors.named();
  named[0].name = "updates";  // which of the two?
  EXPECT_EQ(kernel.run_by_name(named).message(), "tensors: \"updates\" is no tensor of this kernel, expected one of " + all);
  named[0].name = "updates 0";
  EXPECT_EQ(kernel.run_by_name(named).message(), "tensors: updates 0 is given twice, expected once");
  named.erase(named.begin());
  EXPECT_EQ(kernel.run_by_name(named).message(), "tensors: updates 1 is missing, expected all of " + all);
  EXPECT_EQ(kernel.run_by_name({}).message(), "tensors: result 0 is missing, expected all of " + all);
  EXPECT_EQ(Kernel().run_by_name({}).message(), "kernel: an empty handle, expected one from Runtime::get");
  EXPECT_EQ(tensors.floats, std::vector<float>(4, 1.0F)) << "a refused call wrote something";
}

TEST(TensorView, TellsInputsFromResults) {
  const Kernel kernel = add_pairs();
  Tensors tensors;
  std::vector<NamedTensor> named = tensors.named();
  const std::vector<float>& constant = tensors.floats;
  named[1].view = TensorView(constant.data(), tensors.four);
  EXPECT_TRUE(named[1].view.read_only);
  EXPECT_EQ(kernel.run_by_name(named).message(),
            "result 0: a view of memory that is read-only, expected one made from a pointer to memory that may be written");
  named = tensors.named();
  const void* updates = tensors.float_updates.data();
  named[3].view = TensorView(updates, DType::f32, tensors.two);
  EXPECT_TRUE(kernel.run_by_name(named).ok()) << "inputs may be read-only";
}

TEST(TensorView, TakesDtypeDimsAndStridesFromItsArguments) {
  std::vector<int32_t> data(6);
  const std::vector<int64_t> dims = {2, 3}, strides = {1, 2}, few = {1};
  const TensorView view(data.data(), dims, strides);
  EXPECT_EQ(view.dtype, DType::i32);
  EXPECT_EQ(view.rank, 2);
  EXPECT_EQ(view.strides, strides.data());
  EXPECT_FALSE(view.read_only);
  EXPECT_EQ(TensorView(data.data(), dims).strides, nullptr);
  EXPECT_EQ(TensorView(static_cast<void*>(data.data()), DType::bf16, dims).dtype, DType::bf16);

  const Kernel kernel = add_pairs();
  Tensors tensors;
  std::vector<NamedTensor> named = tensors.named();
  named[1].view = TensorView(tensors.floats.data(), tensors.four, dims);
  EXPECT_EQ(kernel.run_by_name(named).message(),
            "result 0: the view was given another number of strides than of dims, expected as many, or no strides");
}

}  // namespace
}  // namespace strew
