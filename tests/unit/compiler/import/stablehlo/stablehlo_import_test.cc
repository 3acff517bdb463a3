// What the StableHLO front end makes of each textual form: the op's canonical text, and where its tensors come from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/import/option_text.h"
#include "strew/text.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew {
namespace {

constexpr char kBatchedAdd[] =
    "strew1.scatter(operand=i64[2,3,4,2] indices=i64[2,2,3,2] updates=i64[2,2,3,2,2] update_window_dims=[3,4] "
    "inserted_window_dims=[1] input_batching_dims=[0] scatter_indices_batching_dims=[1] scatter_dims_to_operand_dims=[2,1] "
    "index_vector_dim=3 combiner=add)";
constexpr char kBatchedDims[] =
    "#stablehlo.scatter<update_window_dims = [3, 4], inserted_window_dims = [1], input_batching_dims = [0], "
    "scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 3>";
constexpr char kBatchedArguments[] = "%x: tensor<2x3x4x2xi64>, %i: tensor<2x2x3x2xi64>, %u: tensor<2x2x3x2x2xi64>";
constexpr char kBatchedTypes[] = "(tensor<2x3x4x2xi64>, tensor<2x2x3x2xi64>, tensor<2x2x3x2x2xi64>) -> tensor<2x3x4x2xi64>";

std::string batched(const std::string& before_types) {
  return main_function(kBatchedArguments, "%r = \"stablehlo.scatter\"(%x, %i, %u) " + before_types + " : " + kBatchedTypes, "%r",
                       "tensor<2x3x4x2xi64>");
}

TEST(StablehloImport, PropertiesFirst) {
  EXPECT_EQ(only_op(batched(std::string("<{indices_are_sorted = false, scatter_dimension_numbers = ") + kBatchedDims +
                            ", unique_indices = false}> ({\n^bb0(%a: tensor<i64>, %b: tensor<i64>):\n"
                            "%s = stablehlo.add %a, %b : tensor<i64>\nstablehlo.return %s : tensor<i64>\n})")),
            kBatchedAdd);
}

TEST(StablehloImport, RegionFirstThenDictionary) {
  EXPECT_EQ(only_op(batched(std::string("({\n^bb0(%a: tensor<i64>, %b: tensor<i64>):\n"
                                        "%s = \"stablehlo.add\"(%b, %a) : (tensor<i64>, tensor<i64>) -> tensor<i64>\n"
                                        "\"stablehlo.return\"(%s) : (tensor<i64>) -> ()\n}) {scatter_dimension_numbers = ") +
                            kBatchedDims + "}")),
            kBatchedAdd);
}

TEST(StablehloImport, DimensionNumbersInAnyOrderWithAliasesCommentsAndHints) {
  const std::string text =
      "#dims = #stablehlo.scatter<\n index_vector_dim = 3, // the last\n scatter_dims_to_operand_dims = [2,1],"
      " scatter_indices_batching_dims = [1], input_batching_dims=[0], inserted_window_dims = [1], update_window_dims = [3, "
      "4]>\n" +
      batched(
          "<{unique_indices = true, scatter_dimension_numbers = #dims, indices_are_sorted = true}> ({\n"
          "^bb0(%a: tensor<i64>, %b: tensor<i64>):\nstablehlo.return %b : tensor<i64>\n}) {mhlo.sharding = \"x\"}");
  std::string expected = kBatchedAdd;
  expected.replace(expected.find(" combiner=add"), 13, " indices_are_sorted=true unique_indices=true");
  EXPECT_EQ(only_op(text), expected);
}

constexpr char kRowDims[] =
    "<{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
    "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}>";
constexpr char kRowText[] = "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1";

TEST(StablehloImport, SeveralOperandsArePairs) {
  const std::string text =
      "func.func @two(%a: tensor<4x5xf32>, %b: tensor<4x5xi32>, %i: tensor<2x1xi32>, %ua: tensor<2x5xf32>, %ub: tensor<2x5xi32>)"
      " -> (tensor<4x5xf32>, tensor<4x5xi32>) {\n"
      "%r:2 = \"stablehlo.scatter\"(%a, %b, %i, %ua, %ub) " +
      std::string(kRowDims) +
      " ({\n^bb0(%p: tensor<f32>, %q: tensor<i32>, %s: tensor<f32>, %t: tensor<i32>):\n"
      "%0 = stablehlo.maximum %p, %s : tensor<f32>\n%1 = stablehlo.maximum %t, %q : tensor<i32>\n"
      "stablehlo.return %0, %1 : tensor<f32>, tensor<i32>\n"
      "}) : (tensor<4x5xf32>, tensor<4x5xi32>, tensor<2x1xi32>, tensor<2x5xf32>, tensor<2x5xi32>) -> (tensor<4x5xf32>, "
      "tensor<4x5xi32>)\n"
      "return %r#1, %r#0 : tensor<4x5xi32>, tensor<4x5xf32>\n}\n";
  // The function's result types do not match what it returns: MLIR's own verifier speaks.
  EXPECT_THAT(only_op(text), testing::StartsWith("FILE:8: type of return operand 0"));
  std::string right = text;
  right.replace(right.find("%r#1, %r#0 : tensor<4x5xi32>, tensor<4x5xf32>"), 45, "%r#0, %r#1 : tensor<4x5xf32>, tensor<4x5xi32>");
  const Expected<Program> imported = import_mlir_text(right);
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_EQ(print(imported->kernel(0).op), std::string("strew1.scatter(operand=[f32[4,5],i32[4,5]] indices=i32[2,1] "
                                                       "updates=[f32[2,5],i32[2,5]] ") +
                                               kRowText + " combiner=max)");
  EXPECT_THAT(imported->kernel(0).tensors(), testing::ElementsAre(0, 1, 2, 3, 4));
  ASSERT_EQ(imported->outputs().size(), 2u);
  EXPECT_EQ(imported->value(imported->outputs()[1].value).result, 1);
}

TEST(StablehloImport, PromotionGivesEachTensorItsOwnType) {
  EXPECT_EQ(only_op(main_function("%x: tensor<4x5xbf16>, %i: tensor<2x1xi32>, %u: tensor<2x5xbf16>",
                                  "%r = \"stablehlo.scatter\"(%x, %i, %u) " + std::string(kRowDims) +
                                      " ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%s = stablehlo.add %a, %b : tensor<f32>\n"
                                      "stablehlo.return %s : tensor<f32>\n}) : (tensor<4x5xbf16>, tensor<2x1xi32>, "
                                      "tensor<2x5xbf16>) -> tensor<4x5xf32>",
                                  "%r", "tensor<4x5xf32>")),
            std::string("strew1.scatter(operand=bf16[4,5] indices=i32[2,1] updates=bf16[2,5] result=f32[4,5] ") + kRowText +
                " combiner=add)");
}

TEST(StablehloImport, OpenExtentsAreClosedWhereTheTextKnowsThem) {
  EXPECT_EQ(only_op(main_function("%x: tensor<?x5xf32>, %i: tensor<?x1xi32>, %u: tensor<?x?xf32>",
                                  "%r = \"stablehlo.scatter\"(%x, %i, %u) " + std::string(kRowDims) +
                                      " ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\nstablehlo.return %b : tensor<f32>\n}) : "
                                      "(tensor<?x5xf32>, tensor<?x1xi32>, tensor<?x?xf32>) -> tensor<4x?xf32>",
                                  "%r", "tensor<4x?xf32>")),
            std::string("strew1.scatter(operand=f32[4,5] indices=i32[?,1] updates=f32[?,?] ") + kRowText + ")");
}

std::string row_gather(const std::string& element, const std::string& attributes) {
  const std::string x = "tensor<4x5x" + element + ">", r = "tensor<2x5x" + element + ">";
  return main_function("%x: " + x + ", %i: tensor<2xi32>",
                       "%r = \"stablehlo.gather\"(%x, %i) " + attributes + " : (" + x + ", tensor<2xi32>) -> " + r, "%r", r);
}
constexpr char kRowGather[] =
    "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>";
constexpr char kRowGatherText[] =
    "offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1,5])";

TEST(StablehloImport, GatherInEveryForm) {
  const std::string expected = std::string("strew1.gather(operand=f32[4,5] indices=i32[2] result=f32[2,5] ") + kRowGatherText;
  const std::string dims = std::string("dimension_numbers = ") + kRowGather;
  EXPECT_EQ(only_op(row_gather("f32", "<{" + dims + ", slice_sizes = array<i64: 1, 5>}>")), expected);
  EXPECT_EQ(only_op(row_gather("f32", "{" + dims + ", slice_sizes = array<i64: 1, 5>, indices_are_sorted = false}")), expected);
  EXPECT_EQ(only_op(row_gather("f32", "{slice_sizes = dense<[1, 5]> : tensor<2xi64>, " + dims + "}")), expected);
  EXPECT_EQ(only_op(row_gather("f32", "<{" + dims + "}> {slice_sizes = array<i64: 1, 5>}")), expected);
  std::string with_comma = dims;
  with_comma.insert(with_comma.rfind('>'), ", ");
  EXPECT_EQ(only_op(row_gather("f32", "<{" + with_comma + ", slice_sizes = array<i64: 1, 5>}>")), expected);
}

struct ElementName {
  const char *mlir, *strew;
};
class StablehloElement : public testing::TestWithParam<ElementName> {};
TEST_P(StablehloElement, HasItsStorageType) {
  const std::string attributes = std::string("<{dimension_numbers = ") + kRowGather + ", slice_sizes = array<i64: 1, 5>}>";
  const std::string t = GetParam().strew;
  EXPECT_EQ(only_op(row_gather(GetParam().mlir, attributes)),
            "strew1.gather(operand=" + t + "[4,5] indices=i32[2] result=" + t + "[2,5] " + kRowGatherText);
}
INSTANTIATE_TEST_SUITE_P(
    All, StablehloElement,
    testing::Values(ElementName{"i1", "bool"}, ElementName{"i2", "i2"}, ElementName{"ui2", "u2"}, ElementName{"i4", "i4"},
                    ElementName{"ui4", "u4"}, ElementName{"si8", "i8"}, ElementName{"ui8", "u8"}, ElementName{"i16", "i16"},
                    ElementName{"ui16", "u16"}, ElementName{"i32", "i32"}, ElementName{"ui32", "u32"}, ElementName{"i64", "i64"},
                    ElementName{"ui64", "u64"}, ElementName{"index", "i64"}, ElementName{"f4E2M1FN", "f4e2m1"},
                    ElementName{"f6E2M3FN", "f6e2m3"}, ElementName{"f6E3M2FN", "f6e3m2"}, ElementName{"f8E3M4", "f8e3m4"},
                    ElementName{"f8E4M3", "f8e4m3"}, ElementName{"f8E4M3FN", "f8e4m3fn"}, ElementName{"f8E4M3FNUZ", "f8e4m3fnuz"},
                    ElementName{"f8E4M3B11FNUZ", "f8e4m3b11fnuz"}, ElementName{"f8E5M2", "f8e5m2"},
                    ElementName{"f8E5M2FNUZ", "f8e5m2fnuz"}, ElementName{"f8E8M0FNU", "f8e8m0"}, ElementName{"f16", "f16"},
                    ElementName{"bf16", "bf16"}, ElementName{"f32", "f32"}, ElementName{"f64", "f64"},
                    ElementName{"complex<f32>", "complex64"}, ElementName{"complex<f64>", "complex128"},
                    ElementName{"!quant.uniform<i8:f32, 0.5:3>", "i8"}, ElementName{"!quant.uniform<u8:f32, 0.5>", "u8"},
                    ElementName{"!quant.uniform<i4:f32, 1.0>", "i4"}, ElementName{"!quant.uniform<i32:f32, 1.0>", "i32"}));

TEST(StablehloImport, SlicesStackTheirStartsAndKeepTheirPolicy) {
  const std::string arguments = "%x: tensor<4x5xf32>, %u: tensor<2x5xf32>, %i: tensor<i32>, %j: tensor<i32>";
  const std::string types = "(tensor<4x5xf32>, tensor<2x5xf32>, tensor<i32>, tensor<i32>) -> tensor<4x5xf32>";
  const std::string expected =
      "strew1.scatter(operand=f32[4,5] indices=i32[2] updates=f32[2,5] update_window_dims=[0,1] "
      "scatter_dims_to_operand_dims=[0,1] oob=clamp)";
  const std::string pretty =
      main_function(arguments, "%r = stablehlo.dynamic_update_slice %x, %u, %i, %j : " + types, "%r", "tensor<4x5xf32>");
  EXPECT_EQ(only_op(pretty), expected);
  EXPECT_EQ(only_op(main_function(arguments, "%r = \"stablehlo.dynamic_update_slice\"(%x, %u, %i, %j) : " + types, "%r",
                                  "tensor<4x5xf32>")),
            expected);
  ImportOptions options;
  options.override_oob = true;
  options.oob = OobPolicy::error;
  const Expected<Program> imported = import_mlir_text(pretty, options);
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_EQ(print(imported->kernel(0).op), expected);
  const Value& stack = imported->value(imported->kernel(0).tensor(1));
  EXPECT_EQ(stack.kind, ValueKind::stack);
  EXPECT_THAT(stack.parts, testing::ElementsAre(2, 3));
}

TEST(StablehloImport, DynamicSlicePrettyAndGeneric) {
  const std::string arguments = "%x: tensor<4x5xf32>, %i: tensor<ui8>",
                    types = "(tensor<4x5xf32>, tensor<ui8>, tensor<ui8>) -> tensor<1x4xf32>";
  const std::string expected =
      "strew1.gather(operand=f32[4,5] indices=u8[2] result=f32[1,4] offset_dims=[0,1] start_index_map=[0,1] slice_sizes=[1,4])";
  EXPECT_EQ(only_op(main_function(arguments, "%r = stablehlo.dynamic_slice %x, %i, %i, sizes = [1, 4] : " + types, "%r",
                                  "tensor<1x4xf32>")),
            expected);
  EXPECT_EQ(only_op(main_function(arguments,
                                  "%r = \"stablehlo.dynamic_slice\"(%x, %i, %i) <{slice_sizes = array<i64: 1, 4>}> : " + types,
                                  "%r", "tensor<1x4xf32>")),
            expected);
}

TEST(StablehloImport, RankZeroSlice) {
  EXPECT_EQ(only_op(main_function("%x: tensor<f32>, %u: tensor<f32>",
                                  "%r = stablehlo.dynamic_update_slice %x, %u : (tensor<f32>, tensor<f32>) -> tensor<f32>", "%r",
                                  "tensor<f32>")),
            "strew1.scatter(operand=f32[] indices=i64[0] updates=f32[] oob=clamp)");
}

std::vector<uint8_t> constant_bytes(const std::string& type, const std::string& constant) {
  const std::string text =
      main_function("%x: tensor<4x5xf32>, %i: tensor<2xi32>",
                    "%c = " + constant + "\n%r = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = " + kRowGather +
                        ", slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<2xi32>) -> tensor<2x5xf32>",
                    "%c", type);
  const Expected<Program> imported = import_mlir_text(text);
  if (!imported.ok()) {
    ADD_FAILURE() << imported.status().message();
    return {};
  }
  const Value& value = imported->value(imported->outputs()[0].value);
  EXPECT_EQ(value.kind, ValueKind::constant);
  const std::vector<std::byte>& data = imported->constant(value.index).data;
  std::vector<uint8_t> out;
  for (const std::byte byte : data) out.push_back(static_cast<uint8_t>(byte));
  return out;
}
std::vector<uint8_t> dense_bytes(const std::string& value, const std::string& type) {
  return constant_bytes(type, "stablehlo.constant dense<" + value + "> : " + type);
}

TEST(StablehloImport, Constants) {
  using Bytes = std::vector<uint8_t>;
  EXPECT_EQ(dense_bytes("[1, -1]", "tensor<2xi32>"), (Bytes{1, 0, 0, 0, 255, 255, 255, 255}));
  EXPECT_EQ(dense_bytes("7", "tensor<3xi8>"), (Bytes{7, 7, 7}));
  EXPECT_EQ(dense_bytes("\"0x0100FF7F\"", "tensor<2xi16>"), (Bytes{1, 0, 255, 127}));
  EXPECT_EQ(dense_bytes("0x7F800000", "tensor<f32>"), (Bytes{0, 0, 0x80, 0x7f}));
  EXPECT_EQ(dense_bytes("0x7FA00001", "tensor<f32>"), (Bytes{1, 0, 0xa0, 0x7f}));  // a signalling NaN keeps its bits
  EXPECT_EQ(dense_bytes("[1.0, -2.0]", "tensor<2xbf16>"), (Bytes{0x80, 0x3f, 0x00, 0xc0}));
  EXPECT_EQ(dense_bytes("[true, false, true]", "tensor<3xi1>"), (Bytes{1, 0, 1}));
  EXPECT_EQ(dense_bytes("true", "tensor<2xi1>"), (Bytes{1, 1}));
  EXPECT_EQ(dense_bytes("[1, -1, 7]", "tensor<3xi4>"), (Bytes{0xf1, 0x07}));
  EXPECT_EQ(dense_bytes("3", "tensor<3xui4>"), (Bytes{0x33, 0x03}));
  EXPECT_EQ(dense_bytes("[1, 2, 3, 0, 1]", "tensor<5xui2>"), (Bytes{0x39, 0x01}));
  EXPECT_EQ(dense_bytes("[1.0, -6.0]", "tensor<2xf4E2M1FN>"), (Bytes{0xf2}));
  EXPECT_EQ(dense_bytes("[1.0]", "tensor<1xf8E5M2>"), (Bytes{0x3c}));
  EXPECT_EQ(dense_bytes("(1.0, -2.0)", "tensor<complex<f32>>"), (Bytes{0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}));
  EXPECT_EQ(dense_bytes("[[(0.0, 1.0)]]", "tensor<1x1xcomplex<f32>>"), (Bytes{0, 0, 0, 0, 0, 0, 0x80, 0x3f}));
  EXPECT_EQ(dense_bytes("5", "tensor<1xindex>"), (Bytes{5, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(dense_bytes("[]", "tensor<0xf32>"), (Bytes{}));
  EXPECT_EQ(
      constant_bytes(
          "tensor<2x!quant.uniform<i8:f32, 0.5>>",
          "\"stablehlo.constant\"() <{value = dense<[1, -1]> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 0.5>>"),
      (Bytes{1, 255}));
}

// 83 GB that are never made: one number with which the result is filled, or that a gather reads.
TEST(StablehloImport, LargeSplatsAreOneNumber) {
  const auto table = [](const std::string& dims, const std::string& type, const std::string& value) {
    const std::string whole = "tensor<" + dims + "x" + type + ">", rows = "tensor<3x64x" + type + ">";
    return main_function("%i: tensor<3x1xi64>, %u: " + rows,
                         "%t = stablehlo.constant dense<" + value + "> : " + whole + "\n%r = \"stablehlo.scatter\"(%t, %i, %u) " +
                             kRowDims + " ({\n^bb0(%a: tensor<" + type + ">, %b: tensor<" + type +
                             ">):\nstablehlo.return %b : tensor<" + type + ">\n}) : (" + whole + ", tensor<3x1xi64>, " + rows +
                             ") -> " + whole,
                         "%r", whole);
  };
  EXPECT_THAT(only_op(table("325000000x64", "f32", "2.5")), ::testing::HasSubstr("operand=f32[325000000,64]"));
  EXPECT_THAT(only_op(table("325000000x64", "f32", "2.5")), ::testing::HasSubstr("init=fill fill=2.5:f32"));
  EXPECT_THAT(only_op(table("325000000x64", "i1", "true")), ::testing::HasSubstr("init=fill fill="));
  EXPECT_THAT(only_op(table("1000x64", "complex<f32>", "(1.0, 2.0)")), ::testing::HasSubstr("init=fill"));
}

TEST(StablehloImport, SkipPoliciesAreForScattersWhereAFileHasBoth) {
  const std::string text = main_function(
      "%x: tensor<4x5xf32>, %i: tensor<2x1xi32>, %u: tensor<2x5xf32>",
      "%s = \"stablehlo.scatter\"(%x, %i, %u) " + std::string(kRowDims) +
          " ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\nstablehlo.return %b : tensor<f32>\n}) : (tensor<4x5xf32>, "
          "tensor<2x1xi32>, tensor<2x5xf32>) -> tensor<4x5xf32>\n%r = \"stablehlo.gather\"(%s, %i) <{dimension_numbers = " +
          kRowGather + ", slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<2x1xi32>) -> tensor<2x5xf32>",
      "%r", "tensor<2x5xf32>");
  ImportOptions options;
  options.override_oob = true;
  options.oob = OobPolicy::skip_window;
  const Expected<Program> imported = import_mlir_text(text, options);
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_EQ(std::get<Scatter>(*imported->kernel(0).op).oob, OobPolicy::skip_window);
  EXPECT_EQ(std::get<Gather>(*imported->kernel(1).op).oob, OobPolicy::clamp);
  EXPECT_THAT(imported->kernel(1).notes, testing::ElementsAre("keeps its policy: a gather has no skip_window"));
  options.oob = OobPolicy::wrap;
  const Expected<Program> both = import_mlir_text(text, options);
  ASSERT_TRUE(both.ok()) << both.status().message();
  EXPECT_EQ(std::get<Gather>(*both->kernel(1).op).oob, OobPolicy::wrap);
  options.gather_oob = OobPolicy::error;
  const Expected<Program> apart = import_mlir_text(text, options);
  ASSERT_TRUE(apart.ok()) << apart.status().message();
  EXPECT_EQ(std::get<Scatter>(*apart->kernel(0).op).oob, OobPolicy::wrap);
  EXPECT_EQ(std::get<Gather>(*apart->kernel(1).op).oob, OobPolicy::error);
}

TEST(StablehloImport, PoliciesOfKindsAreParsed) {
  ImportOptions options;
  ASSERT_TRUE(set_oob("scatter=skip_window,gather=fill_element:1.5", options).ok());
  EXPECT_FALSE(options.override_oob);
  EXPECT_EQ(options.scatter_oob, OobPolicy::skip_window);
  EXPECT_EQ(options.gather_oob, OobPolicy::fill_element);
  EXPECT_EQ(options.fill, "1.5");
  for (const char* text : {"scatter=clamp,scatter=wrap", "scatter=fill_element", "gather=skip_window", "slice=clamp",
                           "scatter=", "scatter=clamp,wrap", "gather=clamp:1"}) {
    ImportOptions fresh;
    EXPECT_FALSE(set_oob(text, fresh).ok()) << text;
  }
}

constexpr char kModule[] = R"(
module @jit_step attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%x: tensor<4x5xf32> {mhlo.layout_mode = "default"}, %u: tensor<2x5xf32>, %i: tensor<i32>)
      -> (tensor<4x5xf32> {jax.result_info = "result"}, tensor<1x4xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0 = call @update(%x, %u, %i, %zero) : (tensor<4x5xf32>, tensor<2x5xf32>, tensor<i32>, tensor<i32>) -> tensor<4x5xf32> loc("main.py":1:2)
    %1 = stablehlo.dynamic_slice %0, %zero, %i, sizes = [1, 4] : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32> loc("main.py":7:2)
    stablehlo.custom_call @check.expect_eq(%1, %1) {has_side_effect = true} : (tensor<1x4xf32>, tensor<1x4xf32>) -> ()
    return %0, %1 : tensor<4x5xf32>, tensor<1x4xf32>
  }
  func.func private @update(%a: tensor<4x5xf32>, %b: tensor<2x5xf32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<4x5xf32> {
    %0 = stablehlo.dynamic_update_slice %a, %b, %c, %d : (tensor<4x5xf32>, tensor<2x5xf32>, tensor<i32>, tensor<i32>) -> tensor<4x5xf32>
    %1 = stablehlo.dynamic_update_slice %0, %b, %d, %d : (tensor<4x5xf32>, tensor<2x5xf32>, tensor<i32>, tensor<i32>) -> tensor<4x5xf32>
    return %1 : tensor<4x5xf32>
  }
}
)";

TEST(StablehloImport, KernelsFollowCallsAndReadEachOther) {
  const Expected<Program> imported = import_mlir_text(kModule);
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_EQ(imported->format(), "stablehlo");
  ASSERT_EQ(imported->kernels().size(), 3u);
  EXPECT_EQ(imported->kernel(0).name, "main");
  EXPECT_EQ(imported->kernel(1).name, "main_2");
  EXPECT_EQ(imported->kernel(2).name, "main_3");
  EXPECT_EQ(imported->kernel(0).location, "FILE:12: stablehlo.dynamic_update_slice");
  EXPECT_EQ(imported->kernel(2).location, "FILE:7: stablehlo.dynamic_slice");
  const Value& operand = imported->value(imported->kernel(1).tensor(0));
  EXPECT_EQ(operand.kind, ValueKind::result);
  EXPECT_EQ(operand.index, 0);
  ASSERT_EQ(imported->inputs().size(), 3u);
  EXPECT_EQ(imported->input(0).name, "arg0");
  EXPECT_EQ(imported->input(2).name, "arg2");
  ASSERT_EQ(imported->outputs().size(), 2u);
  EXPECT_EQ(imported->outputs()[1].name, "result1");
  EXPECT_EQ(imported->value(imported->outputs()[0].value).index, 1);
}

TEST(StablehloImport, SeveralFunctionsShareAFile) {
  const std::string slice =
      "(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<2xf32> {\n%r = stablehlo.dynamic_slice %x, %i, sizes = [2] : "
      "(tensor<4xf32>, tensor<i32>) -> tensor<2xf32>\n";
  const std::string twice = "%q = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>\n";
  const Expected<Program> imported = import_mlir_text("func.func @f_2" + slice + "return %r : tensor<2xf32>\n}\nfunc.func @f" +
                                                      slice + twice + "return %q : tensor<2xf32>\n}\n");
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  ASSERT_EQ(imported->kernels().size(), 3u);
  EXPECT_EQ(imported->kernel(0).name, "f_2");
  EXPECT_EQ(imported->kernel(1).name, "f");
  EXPECT_EQ(imported->kernel(2).name, "f_3");
  ASSERT_EQ(imported->inputs().size(), 4u);
  EXPECT_EQ(imported->input(3).name, "f.arg1");
  EXPECT_EQ(imported->outputs()[1].name, "f.result0");
}

TEST(StablehloImport, BoundsOfOpenExtentsAreNoEncoding) {
  EXPECT_EQ(only_op(main_function("%x: tensor<?xf32, #stablehlo.bounds<8>>, %i: tensor<i32>",
                                  "%r = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<?xf32, #stablehlo.bounds<8>>, "
                                  "tensor<i32>) -> tensor<2xf32>",
                                  "%r", "tensor<2xf32>")),
            "strew1.gather(operand=f32[?] indices=i32[] result=f32[2] offset_dims=[0] start_index_map=[0] slice_sizes=[2])");
}

}  // namespace
}  // namespace strew
