// What becomes of a combiner region: a named kind where that is exact, else the graph of what the results need.
#include <gmock/gmock.h>

#include "strew/text.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew {
namespace {

/// A scatter of `type` rows whose region has arguments %a (current) and %b (update), plus private functions.
std::string with_region(const std::string& type, const std::string& body, const std::string& functions = "",
                        const std::string& element = "") {
  const std::string scalar = "tensor<" + (element.empty() ? type : element) + ">", row = "tensor<4x" + type + ">";
  const std::string result = "tensor<4x" + (element.empty() ? type : element) + ">";
  return main_function("%x: " + row + ", %i: tensor<4x1xi32>, %u: " + row,
                       "%half = stablehlo.constant dense<0.5> : tensor<f32>\n"
                       "%r = \"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = "
                       "#stablehlo.scatter<inserted_window_dims = [0], "
                       "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n^bb0(%a: " +
                           scalar + ", %b: " + scalar + "):\n" + body + "\n}) : (" + row + ", tensor<4x1xi32>, " + row + ") -> " +
                           result,
                       "%r", result) +
         functions;
}

std::string combiner_of(const std::string& text) {
  const Expected<Program> imported = import_mlir_text(text);
  if (!imported.ok()) return imported.status().message();
  const auto& scatter = std::get<Scatter>(*imported->kernels().at(0).op);
  const CombinerKind kind = scatter.combiner;
  return kind == CombinerKind::expr ? print(scatter.expr) : std::string(name(kind));
}

std::string one_op(const std::string& op, const std::string& arguments, const std::string& type) {
  const std::string t = "tensor<" + type + ">";
  return combiner_of(with_region(type, "%s = stablehlo." + op + " " + arguments + " : " + t + "\nstablehlo.return %s : " + t));
}

TEST(StablehloRegion, PlainCombinersAreRecognised) {
  struct Row {
    const char *op, *type, *kind;
    bool commutes;
  };
  const Row rows[] = {{"add", "f32", "add", true},         {"subtract", "f32", "sub", false}, {"multiply", "bf16", "mul", true},
                      {"divide", "f64", "div", false},     {"minimum", "f16", "min", true},   {"maximum", "ui8", "max", true},
                      {"and", "i32", "bit_and", true},     {"or", "i1", "bit_or", true},      {"xor", "i64", "bit_xor", true},
                      {"add", "complex<f32>", "add", true}};
  for (const Row& row : rows) {
    const std::string kind = one_op(row.op, "%a, %b", row.type);
    if (std::string(row.op).size() > 3 || row.op == std::string("add")) {
      EXPECT_EQ(kind, row.kind) << row.op;
    }
    const std::string turned = one_op(row.op, "%b, %a", row.type);
    if (row.commutes) {
      EXPECT_EQ(turned, kind) << row.op;
    } else {
      EXPECT_NE(turned, kind) << row.op;
    }
  }
  EXPECT_EQ(combiner_of(with_region("f32", "stablehlo.return %b : tensor<f32>")), "assign");
}

TEST(StablehloRegion, ReversedSubtractionStaysAGraph) {
  EXPECT_EQ(one_op("subtract", "%b, %a", "f32"), "{%0=update(0):f32; %1=current(0):f32; %2=subtract(%0,%1):f32; return %2}");
  EXPECT_EQ(one_op("add", "%b, %b", "f32"), "{%0=update(0):f32; %1=add(%0,%0):f32; return %1}");
  EXPECT_EQ(combiner_of(with_region("f32", "stablehlo.return %a : tensor<f32>")), "{%0=current(0):f32; return %0}");
}

TEST(StablehloRegion, PromotionConvertsTheUpdateOnce) {
  EXPECT_EQ(
      combiner_of(with_region("bf16", "%s = stablehlo.add %b, %a : tensor<f32>\nstablehlo.return %s : tensor<f32>", "", "f32")),
      "add");
  EXPECT_EQ(
      combiner_of(with_region("bf16", "%s = stablehlo.power %a, %b : tensor<f32>\nstablehlo.return %s : tensor<f32>", "", "f32")),
      "{%0=current(0):f32; %1=update(0):bf16; %2=convert(%1):f32; %3=power(%0,%2):f32; return %3}");
}

TEST(StablehloRegion, WhatJaxWritesForApply) {
  EXPECT_EQ(
      combiner_of(with_region("f32",
                              "%c = stablehlo.constant dense<0.0> : tensor<f32>\n"
                              "%0 = stablehlo.compare GT, %a, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
                              "%unused = stablehlo.log %a : tensor<f32>\n"
                              "%1 = stablehlo.exponential %a : tensor<f32>\n"
                              "%2 = func.call @pick(%0, %1, %a) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>\n"
                              "stablehlo.return %2 : tensor<f32>",
                              "func.func private @pick(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {\n"
                              "%0 = stablehlo.select %p, %x, %y : tensor<i1>, tensor<f32>\nreturn %0 : tensor<f32>\n}\n")),
      "{%0=current(0):f32; %1=constant(0):f32; %2=gt(%0,%1):bool; %3=exponential(%0):f32; %4=select(%2,%3,%0):f32; return %4}");
}

TEST(StablehloRegion, WhereScalarsLieDoesNotMatter) {
  const std::string body =
      "%c = sdy.sharding_constraint %a <@mesh, []> : tensor<f32>\n%d = stablehlo.optimization_barrier %b : tensor<f32>\n"
      "%s = stablehlo.add %c, %d : tensor<f32>\n%t = sdy.reshard %s <@mesh, []> : tensor<f32>\n"
      "stablehlo.return %t : tensor<f32>";
  EXPECT_EQ(combiner_of(with_region("f32", body)), "add");
}

TEST(StablehloRegion, GenericCompareClampAndConstantsFromOutside) {
  EXPECT_EQ(
      combiner_of(with_region("f32",
                              "%p = \"stablehlo.compare\"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LE>, "
                              "compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
                              "%s = \"stablehlo.select\"(%p, %half, %b) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>\n"
                              "stablehlo.return %s : tensor<f32>")),
      "{%0=current(0):f32; %1=update(0):f32; %2=le(%0,%1):bool; %3=constant(0.5):f32; %4=select(%2,%3,%1):f32; return %4}");
  EXPECT_EQ(
      combiner_of(with_region("f32",
                              "%n = stablehlo.negate %half : tensor<f32>\n"
                              "%s = stablehlo.clamp %n, %a, %half : tensor<f32>\nstablehlo.return %s : tensor<f32>")),
      "{%0=current(0):f32; %1=constant(0.5):f32; %2=negate(%1):f32; %3=maximum(%0,%2):f32; %4=minimum(%3,%1):f32; return %4}");
}

TEST(StablehloRegion, ConversionsShiftsAndComplexParts) {
  EXPECT_EQ(combiner_of(
                with_region("i32",
                            "%f = stablehlo.convert %a : (tensor<i32>) -> tensor<f32>\n%g = stablehlo.sqrt %f : tensor<f32>\n"
                            "%h = stablehlo.convert %g : (tensor<f32>) -> tensor<i32>\n%k = stablehlo.convert %h : tensor<i32>\n"
                            "%s = stablehlo.shift_left %k, %b : tensor<i32>\nstablehlo.return %s : tensor<i32>")),
            "{%0=current(0):i32; %1=convert(%0):f32; %2=sqrt(%1):f32; %3=convert(%2):i32; %4=update(0):i32; "
            "%5=shift_left(%3,%4):i32; return %5}");
  EXPECT_EQ(combiner_of(with_region(
                "complex<f32>",
                "%re = stablehlo.real %a : (tensor<complex<f32>>) -> tensor<f32>\n"
                "%im = stablehlo.imag %b : (tensor<complex<f32>>) -> tensor<f32>\n"
                "%s = stablehlo.complex %re, %im : tensor<complex<f32>>\nstablehlo.return %s : tensor<complex<f32>>")),
            "{%0=current(0):complex64; %1=real(%0):f32; %2=update(0):complex64; %3=imag(%2):f32; %4=complex(%1,%3):complex64; "
            "return %4}");
  EXPECT_EQ(combiner_of(with_region("f32", "%s = chlo.erf %b : tensor<f32> -> tensor<f32>\nstablehlo.return %s : tensor<f32>")),
            "{%0=update(0):f32; %1=erf(%0):f32; return %1}");
}

TEST(StablehloRegion, QuantizedElementsAreAddedAsWhatTheyStandFor) {
  const auto add_of = [](const std::string& type) {
    return "%s = stablehlo.add %a, %b : tensor<" + type + ">\nstablehlo.return %s : tensor<" + type + ">";
  };
  const std::string q = "!quant.uniform<i8:f32, 0.5:3>", wide = "!quant.uniform<i16:f32, 0.5:3>";
  EXPECT_EQ(combiner_of(with_region(q, "stablehlo.return %b : tensor<" + q + ">")), "assign");
  EXPECT_EQ(combiner_of(with_region(q, add_of(q))),
            "{%0=current(0):i8; %1=convert(%0):f32; %2=constant(3):f32; %3=subtract(%1,%2):f32; %4=constant(0.5):f32; "
            "%5=multiply(%3,%4):f32; %6=update(0):i8; %7=convert(%6):f32; %8=subtract(%7,%2):f32; %9=multiply(%8,%4):f32; "
            "%10=add(%5,%9):f32; %11=divide(%10,%4):f32; %12=round_nearest_even(%11):f32; %13=add(%12,%2):f32; "
            "%14=constant(-128):f32; %15=maximum(%13,%14):f32; %16=constant(127):f32; %17=minimum(%15,%16):f32; "
            "%18=convert(%17):i8; return %18}");
  // Promotion widens the storage and keeps the scale.
  EXPECT_THAT(combiner_of(with_region(q, add_of(wide), "", wide)),
              testing::HasSubstr("%6=update(0):i8; %7=convert(%6):i16; %8=convert(%7):f32; "));
  EXPECT_THAT(combiner_of(with_region("!quant.uniform<i8:f32, 0.25:3>", add_of(wide), "", wide)),
              testing::HasSubstr("expected a type that !quant.uniform<i8:f32, 2.500000e-01:3> promotes to [scatter_c23]"));
  const std::string large = "!quant.uniform<i32:f32, 0.5>";
  EXPECT_THAT(
      combiner_of(with_region(large, add_of(large))),
      testing::HasSubstr("stablehlo.add: type tensor<!quant.uniform<i32:f32, 5.000000e-01>>, expected one scale, and integers "
                         "of at most 16 bits that stand for f32"));
}

}  // namespace
}  // namespace strew
