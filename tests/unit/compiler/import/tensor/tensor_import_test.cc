// tensor.gather and tensor.scatter in every spelling become the same op.
#include <gtest/gtest.h>

#include "strew/text.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew {
namespace {

std::string gather_file(const std::string& source, const std::string& indices, const std::string& clause,
                        const std::string& types, const std::string& result) {
  return main_function("%s: " + source + ", %i: " + indices, "  %r = tensor.gather %s[%i] " + clause + " : " + types, "%r",
                       result);
}
std::string scatter_file(const std::string& source, const std::string& dest, const std::string& indices,
                         const std::string& clause, const std::string& types) {
  return main_function("%u: " + source + ", %d: " + dest + ", %i: " + indices,
                       "  %r = tensor.scatter %u into %d[%i] " + clause + " : " + types, "%r", dest);
}

constexpr char kSlices[] =
    "strew1.gather(operand=f32[2,3,4] indices=i64[5,6,1] result=f32[5,6,2,1,4] offset_dims=[2,3,4] start_index_map=[1] "
    "index_vector_dim=2 slice_sizes=[2,1,4] oob=undefined)";

TEST(TensorImport, AGatherInEverySpelling) {
  const std::string s = "tensor<2x3x4xf32>", i = "tensor<5x6x1xindex>", r = "tensor<5x6x2x1x4xf32>";
  const std::string now = "(" + s + ", " + i + ") -> " + r, then = s + "[tensor<5x6x 1xindex>] -> " + r;
  for (const char* clause :
       {"gather_dims([1])", "gather_dims([1]) unique", "gather_dims([1]) {unique}", "gather_along_dimension(1)",
        "gather_along_dimension = [1]", "coordinates = [1]", "unique gather_along_dimension(1)"})
    for (const std::string& types : {now, then}) EXPECT_EQ(only_op(gather_file(s, i, clause, types, r)), kSlices) << clause;
  EXPECT_EQ(only_op(gather_file(s, i, "", then, r)), kSlices);  // the unit dim of the result says which
  for (const char* generic :
       {"<{gather_dims = array<i64: 1>}>", "{gather_dims = array<i64: 1>}", "<{gather_dims = array<i64: 1>, unique}>"})
    EXPECT_EQ(only_op(main_function("%s: " + s + ", %i: " + i,
                                    "  %r = \"tensor.gather\"(%s, %i) " + std::string(generic) + " : " + now, "%r", r)),
              kSlices)
        << generic;
}

TEST(TensorImport, GathersOfElementsAndReducedRank) {
  EXPECT_EQ(
      only_op(gather_file("tensor<4x4x4xf32>", "tensor<1x2x3xindex>", "",
                          "tensor<4x4x4xf32>[tensor<1x2x 3xindex>] -> tensor<1x2xf32>", "tensor<1x2xf32>")),
      "strew1.gather(operand=f32[4,4,4] indices=i64[1,2,3] result=f32[1,2] collapsed_slice_dims=[0,1,2] start_index_map=[0,1,2] "
      "index_vector_dim=2 slice_sizes=[1,1,1] oob=undefined)");
  EXPECT_EQ(only_op(gather_file("tensor<?x3x?xi4>", "tensor<?x1xi8>", "gather_dims([0])",
                                "(tensor<?x3x?xi4>, tensor<?x1xi8>) -> tensor<?x3x?xi4>", "tensor<?x3x?xi4>")),
            "strew1.gather(operand=i4[?,3,?] indices=i8[?,1] result=i4[?,3,?] offset_dims=[1,2] collapsed_slice_dims=[0] "
            "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,3,?] oob=undefined)");
}

TEST(TensorImport, AScatterInEverySpelling) {
  const std::string u = "tensor<5x6x4x1x4xf32>", d = "tensor<4x4x4xf32>", i = "tensor<5x6x1xindex>";
  const std::string now = "(" + u + ", " + d + ", " + i + ") -> " + d, then = u + " into " + d + "[" + i + "] -> " + d;
  const std::string last_wins =
      "strew1.scatter(operand=f32[4,4,4] indices=i64[5,6,1] updates=f32[5,6,4,1,4] update_window_dims=[2,3,4] "
      "scatter_dims_to_operand_dims=[1] index_vector_dim=2 oob=undefined";
  for (const char* clause :
       {"scatter_dims([1]) unique", "coordinates = [1] unique", "unique coordinates = [1]", "coordinates(1) {unique}"})
    for (const std::string& types : {now, then})
      EXPECT_EQ(only_op(scatter_file(u, d, i, clause, types)), last_wins + " unique_indices=true)") << clause;
  EXPECT_EQ(only_op(scatter_file(u, d, i, "coordinates = [1]", now)), last_wins + ")");
  EXPECT_EQ(only_op(scatter_file(u, d, i, "scatter_dims([1])", then)), last_wins + ")");
  EXPECT_EQ(
      only_op(scatter_file("tensor<3x5xf32>", "tensor<4x5x6xf32>", "tensor<3x2xi32>", "scatter_dims([0, 2]) unique",
                           "(tensor<3x5xf32>, tensor<4x5x6xf32>, tensor<3x2xi32>) -> tensor<4x5x6xf32>")),
      "strew1.scatter(operand=f32[4,5,6] indices=i32[3,2] updates=f32[3,5] update_window_dims=[1] inserted_window_dims=[0,2] "
      "scatter_dims_to_operand_dims=[0,2] index_vector_dim=1 oob=undefined unique_indices=true)");
}

TEST(TensorImport, ThePolicyIsTheCallersToReplace) {
  ImportOptions options;
  options.override_oob = true;
  options.oob = OobPolicy::skip_window;
  const auto imported =
      import_mlir_text(scatter_file("tensor<3xf32>", "tensor<4xf32>", "tensor<3x1xindex>", "scatter_dims([0]) unique",
                                    "(tensor<3xf32>, tensor<4xf32>, tensor<3x1xindex>) -> tensor<4xf32>"),
                       options);
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_EQ(imported->format(), "tensor");
  EXPECT_EQ(std::get<Scatter>(*imported->kernel(0).op).oob, OobPolicy::skip_window);
}

TEST(TensorImport, SeveralFunctionsAndOperations) {
  const auto imported = import_mlir_text(R"(module {
  func.func @first(%s: tensor<4xf32>, %i: tensor<3x1xindex>) -> (tensor<3xf32>, tensor<3xf32>) {
    %a = tensor.gather %s[%i] gather_dims([0]) : (tensor<4xf32>, tensor<3x1xindex>) -> tensor<3xf32>
    %j = arith.constant dense<[[2], [0], [1]]> : tensor<3x1xi64>
    %b = tensor.gather %a[%j] gather_dims([0]) : (tensor<3xf32>, tensor<3x1xi64>) -> tensor<3xf32>
    return %a, %b : tensor<3xf32>, tensor<3xf32>
  }
  func.func @second(%d: tensor<4xf32>, %i: tensor<3x1xindex>) -> tensor<4xf32> {
    %u = arith.constant dense<1.5> : tensor<3xf32>
    %r = tensor.scatter %u into %d[%i] scatter_dims([0]) unique : (tensor<3xf32>, tensor<4xf32>, tensor<3x1xindex>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
})");
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  ASSERT_EQ(imported->kernels().size(), 3U);
  EXPECT_EQ(imported->kernel(1).name, "first_2");
  EXPECT_EQ(imported->kernel(2).location, "FILE:10: tensor.scatter");
  EXPECT_EQ(imported->constants().size(), 2U);
  ASSERT_EQ(imported->outputs().size(), 3U);
  EXPECT_EQ(imported->outputs()[1].name, "first.result1");
  EXPECT_EQ(imported->input(2).name, "second.arg0");
}

}  // namespace
}  // namespace strew
