// Pretty forms that JAX, TensorFlow and XLA print, of operations that strew does not run: each must parse, with its operands and results.
#include <gtest/gtest.h>

#include "strew/import.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew {
namespace {

/// A file with the lines `body` before a dynamic_slice.
Expected<Program> import_around(const std::string& body, const std::string& before = "") {
  return import_mlir_text(
      before +
      "func.func @main(%x: tensor<4x5xf32>, %i: tensor<i32>, %p: tensor<i1>, %s: tensor<f32>, %d: tensor<2xi32>, "
      "%m: tensor<1x4x4x1xf32>) -> tensor<1x4xf32> {\n" +
      body +
      "\n  %last = stablehlo.dynamic_slice %x, %i, %i, sizes = [1, 4] : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) "
      "-> tensor<1x4xf32>\n  return %last : tensor<1x4xf32>\n}\n");
}

struct Form {
  const char* text;
  const char* operation;
  size_t arguments, results;  ///< results: with the arguments of its region, if that is read
};

class StablehloForms : public testing::TestWithParam<Form> {};

TEST_P(StablehloForms, IsParsed) {
  const Form& form = GetParam();
  const auto imported = import_around(form.text);
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_EQ(imported->kernels().size(), 1U);
  ASSERT_EQ(imported->opaques().size(), 1U);
  const Opaque& opaque = imported->opaque(0);
  EXPECT_EQ(opaque.operation, form.operation);
  EXPECT_EQ(opaque.arguments.size(), form.arguments);
  size_t results = 0;
  for (const Value& value : imported->values()) results += value.kind == ValueKind::opaque && value.index == 0 ? 1 : 0;
  EXPECT_EQ(results, form.results);
}

INSTANTIATE_TEST_SUITE_P(
    All, StablehloForms,
    testing::Values(
        Form{"%k = stablehlo.dot_general %x, %x, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, "
             "DEFAULT] : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4xf32>",
             "stablehlo.dot_general", 2, 1},
        Form{"%k = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1], algorithm = <lhs_precision_type = tf32, "
             "rhs_precision_type = tf32, accumulation_type = f32, allow_imprecise_accumulation = false> : (tensor<4x5xf32>, "
             "tensor<4x5xf32>) -> tensor<4x4xf32>",
             "stablehlo.dot_general", 2, 1},
        Form{"%k = stablehlo.convolution(%m, %m) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, "
             "1], "
             "pad = [[0, 0], [-1, 1]], lhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, "
             "feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>]} : (tensor<1x4x4x1xf32>, "
             "tensor<1x4x4x1xf32>) -> tensor<1x1x1x1xf32>",
             "stablehlo.convolution", 2, 1},
        Form{"%v, %j = chlo.top_k(%x, k = 3) {largest = true} : tensor<4x5xf32> -> (tensor<4x3xf32>, tensor<4x3xi32>)",
             "chlo.top_k", 1, 2},
        Form{"%k = stablehlo.composite \"my.op\" %x, %s {composite_attributes = {n = 1 : i64}, decomposition = @f, version = 2 : "
             "i32} : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>",
             "stablehlo.composite", 2, 1},
        Form{"%k:2 = stablehlo.custom_call @target(%x, %s) {api_version = 4 : i32, backend_config = {a = 1.0 : f32}, "
             "operand_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<> : tensor<0xindex>]} : (tensor<4x5xf32>, tensor<f32>) "
             "-> (tensor<4x5xf32>, tensor<f32>)",
             "stablehlo.custom_call", 2, 2},
        Form{"%k = stablehlo.rng %s, %s, %d, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi32>) -> "
             "tensor<4x5xf32>",
             "stablehlo.rng", 3, 1},
        Form{"%k, %l = stablehlo.rng_bit_generator %d, algorithm = THREE_FRY : (tensor<2xi32>) -> (tensor<2xi32>, tensor<3xi32>)",
             "stablehlo.rng_bit_generator", 1, 2},
        Form{"%k = stablehlo.cholesky %x, lower = true : tensor<4x5xf32>", "stablehlo.cholesky", 1, 1},
        Form{"%k = stablehlo.fft %x, type = RFFT, length = [5] : (tensor<4x5xf32>) -> tensor<4x3xcomplex<f32>>", "stablehlo.fft",
             1, 1},
        Form{"%k = stablehlo.partition_id : tensor<ui32>", "stablehlo.partition_id", 0, 1},
        Form{"%k = stablehlo.create_token : !stablehlo.token", "stablehlo.create_token", 0, 1},
        Form{"%k = stablehlo.uniform_quantize %x : (tensor<4x5xf32>) -> tensor<4x5x!quant.uniform<i8:f32, 1.0>>",
             "stablehlo.uniform_quantize", 1, 1},
        Form{"%k = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"x\"}, {}]>] out_shardings=[<@mesh, [{\"x\"}, {}]>] "
             "manual_axes={\"x\"} (%y: tensor<4x5xf32>) {\n    %z = stablehlo.add %y, %y : tensor<4x5xf32>\n    sdy.return %z : "
             "tensor<4x5xf32>\n  } : (tensor<4x5xf32>) -> tensor<4x5xf32>",
             "sdy.manual_computation", 1, 2},
        Form{
            "%k:2 = stablehlo.while(%a = %x, %b = %i) : tensor<4x5xf32>, tensor<i32>\n  cond {\n    %c = stablehlo.compare LT, "
            "%b, "
            "%i : (tensor<i32>, tensor<i32>) -> tensor<i1>\n    stablehlo.return %c : tensor<i1>\n  } do {\n    stablehlo.return "
            "%a, %b : tensor<4x5xf32>, tensor<i32>\n  }",
            "stablehlo.while", 3, 2},
        Form{"%k = \"stablehlo.case\"(%i) ({\n    stablehlo.return %x : tensor<4x5xf32>\n  }, {\n    stablehlo.return %x : "
             "tensor<4x5xf32>\n  }) : (tensor<i32>) -> tensor<4x5xf32>",
             "stablehlo.case", 2, 1},
        Form{"%k = \"stablehlo.sort\"(%x) <{dimension = 1 : i64, is_stable = true}> ({\n  ^bb0(%a: tensor<f32>, %b: "
             "tensor<f32>):\n   "
             " %c = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>\n    stablehlo.return %c "
             ": tensor<i1>\n  }) : (tensor<4x5xf32>) -> tensor<4x5xf32>",
             "stablehlo.sort", 1, 1},
        Form{"%k = stablehlo.some_later_operation %x, [1, {a = \"b\"}] @f <1.5, !t.u, #v.w>\n    then %s : (tensor<4x5xf32>, "
             "tensor<f32>) -> tensor<4x5xf32> loc(\"x\")",
             "stablehlo.some_later_operation", 2, 1}));

TEST(StablehloFormsTest, WhereATensorLiesDoesNotMatter) {
  for (const char* text :
       {"%k = sdy.sharding_constraint %x <@mesh, [{\"x\"}, {}], replicated={\"y\"}> : tensor<4x5xf32>",
        "%k = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = \"{replicated}\"} : (tensor<4x5xf32>) -> tensor<4x5xf32>"}) {
    const auto imported = import_around(text);
    ASSERT_TRUE(imported.ok()) << imported.status().message();
    EXPECT_TRUE(imported->opaques().empty()) << imported->opaque(0).reason;
  }
}

TEST(StablehloFormsTest, MeshesAndLocationsAndForeignAttributesAreIgnored) {
  const auto imported = import_around(
      "%k = stablehlo.add %x, %x {mhlo.frontend_attributes = {a = \"b\"}, jax.thing, unknown.other = #u<x>} : tensor<4x5xf32> "
      "loc(callsite(\"f\"(\"a.py\":1:2 to :3) at \"g\"))",
      "sdy.mesh @mesh = <[\"data\"=1, \"model\"=1]> {stablehlo.mesh = {axes = []}}\n");
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_TRUE(imported->opaques().empty());
}

TEST(StablehloFormsTest, AReducerIsPairsOfArguments) {
  const auto imported = import_around(
      "%q = stablehlo.constant dense<0> : tensor<4x5xi32>\n  %k:2 = stablehlo.reduce(%x init: %s), (%q init: %i) across "
      "dimensions "
      "= [1] : (tensor<4x5xf32>, tensor<4x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)\n   reducer(%a: "
      "tensor<f32>, %b: tensor<f32>) (%e: tensor<i32>, %f: tensor<i32>)  {\n    %c = stablehlo.add %a, %b : tensor<f32>\n    %g "
      "= "
      "stablehlo.maximum %e, %f : tensor<i32>\n    stablehlo.return %c, %g : tensor<f32>, tensor<i32>\n  }");
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_TRUE(imported->opaques().empty()) << imported->opaque(0).reason;
  ASSERT_EQ(imported->computes().size(), 1U);
  EXPECT_EQ(imported->compute(0).results.size(), 2U);
}

TEST(StablehloFormsTest, BrokenFormsAreErrorsOfOneLine) {
  for (const char* text :
       {"%k = stablehlo.some_operation %x, ) : tensor<4x5xf32>", "%k = stablehlo.some_operation %x, [1 : tensor<4x5xf32>",
        "%k = stablehlo.some_operation <%x : tensor<4x5xf32>", "%k = stablehlo.while(%a = %x) : tensor<4x5xf32>",
        "%k = stablehlo.while(%a = %x) : tensor<4x5xf32> cond { } do",
        "%k = stablehlo.some_operation %x : tensor<4x5xf32>, tensor<i32>", "%k = sdy.mesh = <>",
        "%k = stablehlo.reduce(%x init: %s) across dimensions = [1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<4xf32>",
        "%k = stablehlo.some_operation %x, a = : tensor<4x5xf32>"}) {
    const auto imported = import_around(text);
    ASSERT_FALSE(imported.ok()) << text;
    EXPECT_EQ(imported.status().message().substr(0, 5), "FILE:") << imported.status().message();
    EXPECT_EQ(imported.status().message().find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace strew
