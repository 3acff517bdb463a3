// Operations that strew does not run stand in the dataflow as Opaque; the kernels around and inside them can be cut out and used.
#include <gmock/gmock.h>

#include "strew/import.h"
#include "strew/partition.h"
#include "strew/verified.h"
#include "tests/support/kernel_arguments.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kGatherDims[] =
    "<{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], "
    "index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}>";

std::string gather(const std::string& result, const std::string& operand, const std::string& indices) {
  return "  " + result + " = \"stablehlo.gather\"(" + operand + ", " + indices + ") " + kGatherDims +
         " : (tensor<5x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>\n";
}

TEST(StablehloOpaque, OperationsAroundAKernelCutTheDataflow) {
  const auto imported = import_mlir_text(
      "func.func @main(%x: tensor<5x4xf32>, %i: tensor<3x1xi32>, %w: tensor<4x4xf32>) -> tensor<3x4xf32> {\n"
      "  %t = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x4xf32>, "
      "tensor<4x4xf32>) -> tensor<5x4xf32>\n" +
      gather("%r", "%t", "%i") +
      "  %o = stablehlo.dot_general %r, %w, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x4xf32>) -> "
      "tensor<3x4xf32>\n  return %o : tensor<3x4xf32>\n}\n");
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  ASSERT_EQ(imported->kernels().size(), 1U);
  ASSERT_EQ(imported->opaques().size(), 2U);
  EXPECT_EQ(imported->opaque(0).operation, "stablehlo.dot_general");
  EXPECT_EQ(imported->opaque(0).reason, "");
  EXPECT_FALSE(imported->opaque(0).indexed);
  EXPECT_EQ(imported->opaque(1).arguments.size(), 2U);
  std::vector<std::string> names;
  for (const int value : kernel_inputs(*imported, 0)) names.push_back(value_name(*imported, value));
  EXPECT_THAT(names, ElementsAre("arg1", "%t"));
  const Program cut = cut_kernel(*imported, 0);
  ASSERT_EQ(cut.outputs().size(), 1U);
  EXPECT_EQ(cut.outputs()[0].name, "%r");
  EXPECT_EQ(cut.input(1).type.dims, (std::vector<int64_t>{5, 4}));
}

std::string numbers_of(const Program& program, const std::vector<int>& nodes) {
  std::string out;
  for (const int n : nodes) out += " " + std::to_string(program.nodes()[n].number);
  return out;
}

TEST(StablehloOpaque, PartsKnowTheirOperationsAndThoseOfCalls) {
  const auto imported = import_mlir_text(
      "func.func @main(%x: tensor<5x4xf32>, %i: tensor<3x1xi32>, %w: tensor<4x4xf32>) -> (tensor<3x4xf32>, tensor<5x4xf32>) {\n"
      "  %y = func.call @twice(%x) : (tensor<5x4xf32>) -> tensor<5x4xf32>\n"
      "  %t = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<5x4xf32>, tensor<4x4xf32>) -> "
      "tensor<5x4xf32>\n"
      "  %z = stablehlo.exponential %y : tensor<5x4xf32>\n" +
      gather("%r", "%t", "%i") +
      "  return %r, %z : tensor<3x4xf32>, tensor<5x4xf32>\n}\n"
      "func.func private @twice(%a: tensor<5x4xf32>) -> tensor<5x4xf32> {\n"
      "  %b = stablehlo.negate %a : tensor<5x4xf32>\n  %c = stablehlo.add %b, %b : tensor<5x4xf32>\n"
      "  return %c : tensor<5x4xf32>\n}\n");
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  const auto parts = partitions(*imported);
  ASSERT_TRUE(parts.ok());
  ASSERT_EQ(parts->size(), 2U);
  EXPECT_EQ(numbers_of(*imported, (*parts)[0].nodes), " 0 0 0 2") << "of the call and of its two operations";
  EXPECT_EQ(numbers_of(*imported, (*parts)[1].nodes), " 3");
  EXPECT_THAT(imported->nodes()[(*parts)[1].nodes[0]].location, HasSubstr(":5: stablehlo.gather"));
  EXPECT_EQ((*parts)[0].outputs.size(), 2U) << "for the product, and of the function";
  for (const Part& part : *parts) EXPECT_TRUE(cut_part(*imported, part).ok());
}

/// What is read before the barrier does not wait for what the barrier hands on beside it.
TEST(StablehloOpaque, ABarrierHandsOnAnArgumentThatOthersRead) {
  const auto imported =
      import_mlir_text("func.func @main(%x: tensor<5x4xf32>, %i: tensor<3x1xi32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {\n" +
                       gather("%r", "%x", "%i") +
                       "  %b:2 = stablehlo.optimization_barrier %x, %r : tensor<5x4xf32>, tensor<3x4xf32>\n"
                       "  %e = stablehlo.exponential %b#0 : tensor<5x4xf32>\n" +
                       gather("%s", "%e", "%i") + "  return %b#1, %s : tensor<3x4xf32>, tensor<3x4xf32>\n}\n");
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  const auto parts = partitions(*imported);
  ASSERT_TRUE(parts.ok());
  ASSERT_EQ(parts->size(), 1U);
  EXPECT_EQ((*parts)[0].kernels.size(), 2U);
}

TEST(StablehloOpaque, ARefusedGatherBesideAKernelSaysWhy) {
  const auto imported = import_mlir_text(
      "func.func @main(%x: tensor<5x4xf32>, %i: tensor<3x1xi32>, %f: tensor<3x1xf32>) -> tensor<3x4xf32> {\n"
      "  %q = \"stablehlo.gather\"(%x, %f) " +
      std::string(kGatherDims) + " : (tensor<5x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>\n" + gather("%r", "%x", "%i") +
      "  return %r : tensor<3x4xf32>\n}\n");
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  ASSERT_EQ(imported->opaques().size(), 1U);
  EXPECT_TRUE(imported->opaque(0).indexed);
  EXPECT_THAT(imported->opaque(0).reason, HasSubstr("index_dtype"));
  EXPECT_THAT(imported->opaque(0).location, HasSubstr(":2: stablehlo.gather"));
}

/// "stablehlo.return" is not what ends a function, so the function returns nothing, and the call is refused after all of it was translated.
TEST(StablehloOpaque, ARefusedCallLeavesNothingOfItsCallee) {
  const auto imported = import_mlir_text(
      "func.func private @f(%x: tensor<5x4xf32>, %i: tensor<3x1xi32>, %p: tensor<i1>) -> tensor<3x4xf32> {\n"
      "  stablehlo.custom_call @shape_assertion(%p) {error_message = \"no\"} : (tensor<i1>) -> ()\n"
      "  %d = stablehlo.cholesky %x, lower = true : tensor<5x4xf32>\n" +
      gather("%r", "%x", "%i") +
      "  \"stablehlo.return\"(%r) : (tensor<3x4xf32>) -> ()\n}\n"
      "func.func @main(%x: tensor<5x4xf32>, %i: tensor<3x1xi32>, %p: tensor<i1>) -> tensor<3x4xf32> {\n"
      "  %c = func.call @f(%x, %i, %p) : (tensor<5x4xf32>, tensor<3x1xi32>, tensor<i1>) -> tensor<3x4xf32>\n" +
      gather("%r", "%x", "%i") + "  return %r : tensor<3x4xf32>\n}\n");
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  ASSERT_EQ(imported->kernels().size(), 1U);
  EXPECT_EQ(imported->kernel(0).name, "main");
  EXPECT_THAT(test::arguments_for(imported->kernel(0), ArgumentUse::equal_scalars), testing::IsEmpty());
  ASSERT_EQ(imported->opaques().size(), 1U);
  EXPECT_EQ(imported->opaque(0).operation, "func.call");
  EXPECT_THAT(imported->opaque(0).reason, HasSubstr("returns 0 values, expected 1"));
}

TEST(StablehloOpaque, KernelsInRegionsAreNamedByPath) {
  const auto imported = import_mlir_text(
      "func.func private @row(%x: tensor<5x4xf32>, %i: tensor<3x1xi32>) -> tensor<3x4xf32> {\n" + gather("%0", "%x", "%i") +
      "  return %0 : tensor<3x4xf32>\n}\n"
      "func.func @main(%x: tensor<5x4xf32>, %i: tensor<3x1xi32>, %p: tensor<i1>) -> tensor<3x4xf32> {\n"
      "  %z = stablehlo.constant dense<0.0> : tensor<3x4xf32>\n"
      "  %n = stablehlo.constant dense<0> : tensor<i32>\n"
      "  %w:2 = stablehlo.while(%k = %n, %s = %z) : tensor<i32>, tensor<3x4xf32> attributes {mhlo.frontend_attributes = {}}\n"
      "  cond {\n"
      "    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    stablehlo.return %c : tensor<i1>\n"
      "  } do {\n" +
      gather("%g", "%x", "%i") +
      "    %h = func.call @row(%x, %i) : (tensor<5x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>\n"
      "    %a = stablehlo.add %s, %g : tensor<3x4xf32>\n"
      "    %b = stablehlo.add %a, %h : tensor<3x4xf32>\n"
      "    stablehlo.return %k, %b : tensor<i32>, tensor<3x4xf32>\n"
      "  }\n"
      "  %o = \"stablehlo.if\"(%p) ({\n" +
      gather("%g", "%x", "%i") +
      "    stablehlo.return %g : tensor<3x4xf32>\n  }, {\n    stablehlo.return %w#1 : tensor<3x4xf32>\n  }) : (tensor<i1>) -> "
      "tensor<3x4xf32>\n"
      "  return %o : tensor<3x4xf32>\n}\n");
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  std::vector<std::string> names;
  for (const ProgramKernel& kernel : imported->kernels()) names.push_back(kernel.name);
  EXPECT_THAT(names, ElementsAre("main/while/body/gather", "main/while/body/gather_2", "main/if/true/gather"));
  ASSERT_EQ(imported->opaques().size(), 2U);
  EXPECT_EQ(imported->opaque(0).operation, "stablehlo.while");
  EXPECT_EQ(imported->opaque(0).yields.size(), 2U) << "of the body; the condition has no kernels";
  EXPECT_EQ(imported->opaque(1).yields.size(), 1U);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(cut_kernel(*imported, k).kernels().size(), 1U);
  std::vector<int> regions;
  const std::vector<Part> parts = partitions(*imported).value();
  for (const Part& part : parts) {
    regions.push_back(part.region);
    for (const int n : part.nodes) EXPECT_EQ(imported->nodes()[n].region, part.region);
    EXPECT_TRUE(cut_part(*imported, part).ok());
  }
  std::sort(regions.begin(), regions.end());
  EXPECT_THAT(regions, testing::IsSupersetOf({0, 1})) << "of the loop, and of the condition";
}

TEST(StablehloOpaque, ValuesThatAreNoTensorsAreUntyped) {
  const auto imported = import_mlir_text(
      "func.func @main(%x: tensor<5x4xf32>, %i: tensor<3x1xi32>, %t: !stablehlo.token) -> tensor<3x4xf32> {\n"
      "  %u = stablehlo.after_all %t, %t : !stablehlo.token\n" +
      gather("%r", "%x", "%i") + "  return %r : tensor<3x4xf32>\n}\n");
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  ASSERT_EQ(imported->opaques().size(), 2U);
  EXPECT_EQ(imported->opaque(0).operation, "func.func");
  EXPECT_EQ(imported->opaque(1).operation, "stablehlo.after_all");
  int untyped = 0;
  for (const Value& value : imported->values()) untyped += value.is_typed ? 0 : 1;
  EXPECT_EQ(untyped, 2);
}

constexpr char kScatter[] =
    "  %r = \"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
    "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
    "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    stablehlo.return %b : tensor<f32>\n  }) : (tensor<5x4xf32>, "
    "tensor<?x?xi32>, tensor<?x4xf32>) -> tensor<5x4xf32>\n  return %r : tensor<5x4xf32>\n}\n";
constexpr char kScatterArguments[] = "(%x: tensor<5x4xf32>, %i: tensor<?x?xi32>, %u: tensor<?x4xf32>) -> ";

TEST(StablehloOpaque, ModulesOfJaxAndTensorflowHaveXlasRule) {
  struct Case {
    std::string text;
    OobPolicy oob;
    const char* note;
  };
  const std::string function = std::string("func.func @main") + kScatterArguments;
  const Case cases[] = {
      {function + "tensor<5x4xf32> {\n" + kScatter, OobPolicy::skip_element, nullptr},
      {"module @jit_f attributes {mhlo.num_partitions = 1 : i32} {\n" + function + "tensor<5x4xf32> {\n" + kScatter + "}\n",
       OobPolicy::skip_window, "mhlo.num_partitions"},
      {function + "(tensor<5x4xf32> {jax.result_info = \"result\"}) {\n" + kScatter, OobPolicy::skip_window, "jax.result_info"},
      {"module attributes {tf.versions = {producer = 1 : i32}, other.attribute} {\n" + function + "tensor<5x4xf32> {\n" +
           kScatter + "}\n",
       OobPolicy::skip_window, "tf.versions"},
  };
  for (const Case& each : cases) {
    const auto imported = import_mlir_text(each.text);
    ASSERT_TRUE(imported.ok()) << imported.status().message();
    const ProgramKernel& kernel = imported->kernel(0);
    EXPECT_EQ(std::get<Scatter>(*kernel.op).oob, each.oob);
    EXPECT_EQ(std::get<Scatter>(*kernel.op).indices.dims, (std::vector<int64_t>{kDynamic, 1})) << "one component";
    ASSERT_EQ(kernel.notes.size(), each.note == nullptr ? 0U : 1U);
    if (each.note != nullptr) {
      EXPECT_THAT(kernel.notes[0], HasSubstr(each.note));
    }
  }
}

}  // namespace
}  // namespace strew
