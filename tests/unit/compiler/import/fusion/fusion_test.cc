// What folds and what must not, form by form; each also runs with and without folding to the same bits, on indices at both ends of their
// type. Real modules are tests/golden/fusion_test.cc's.
#include <gmock/gmock.h>

#include "strew/text.h"
#include "tests/support/programs.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  EXPECT_NE(text.find(from), std::string::npos) << from;
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

/// The kernels' ops, one a line; how many operations stay interpreted at the end. Runs it both ways.
std::string folded(const std::string& text) {
  ImportOptions plain_options;
  plain_options.fuse = false;
  const auto plain = import_mlir_text(text, plain_options), folded = import_mlir_text(text);
  EXPECT_TRUE(plain.ok()) << plain.status().message();
  EXPECT_TRUE(folded.ok()) << folded.status().message();
  if (!plain.ok() || !folded.ok()) return "";
  test::Rng rng(5);
  for (int round = 0; round < 20; ++round) {
    const std::vector<Tensor> inputs = test::random_inputs(*plain, rng);
    const std::string wrong =
        test::difference(test::run_copy(*folded, inputs, "reference"), test::run_copy(*plain, inputs, "reference"));
    EXPECT_EQ(wrong, "") << "round " << round << "\n" << text;
    if (!wrong.empty()) break;
  }
  std::string out;
  for (const ProgramKernel& kernel : folded->kernels()) out += print(kernel.op) + "\n";
  int left = 0;
  for (const Compute& compute : folded->computes()) left += compute.disposition == ComputeDisposition::interpreted ? 1 : 0;
  return out + "left " + std::to_string(left);
}

/// x[5,4], i[6] of type T; `index` computes %k from %i, with constants %zero, %five, %four, %n (N) of T[6] at hand.
std::string scatter(const std::string& index, const std::string& type = "i32", const std::string& n = "5") {
  const std::string v = "tensor<6x" + type + ">", column = "tensor<6x1x" + type + ">";
  std::string text =
      "func.func @main(%x: tensor<5x4xf32>, %i: V, %u: tensor<6x4xf32>, %w: V) -> tensor<5x4xf32> {\n"
      "  %zero = stablehlo.constant dense<0> : V\n  %four = stablehlo.constant dense<4> : V\n"
      "  %five = stablehlo.constant dense<5> : V\n  %n = stablehlo.constant dense<N> : V\n" +
      index +
      "\n  %c = stablehlo.reshape %k : (V) -> COLUMN\n"
      "  %r = \"stablehlo.scatter\"(%x, %c, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
      "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
      "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    stablehlo.return %b : tensor<f32>\n"
      "  }) : (tensor<5x4xf32>, COLUMN, tensor<6x4xf32>) -> tensor<5x4xf32>\n  return %r : tensor<5x4xf32>\n}\n";
  text = replaced(replaced(text, "COLUMN", column), "dense<N>", "dense<" + n + ">");
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool alone = text[at] == 'V' && !isalnum(static_cast<unsigned char>(text[at + 1])) &&
                       !isalnum(static_cast<unsigned char>(text[at - 1]));
    out += alone ? v : std::string(1, text[at]);
  }
  return out;
}

const std::string kNormalise =
    "  %t = stablehlo.compare LT, %i, %zero : (V, V) -> tensor<6xi1>\n  %s = stablehlo.add %i, %n : V\n"
    "  %k = stablehlo.select %t, %s, %i : tensor<6xi1>, V";

TEST(Fusion, NegativeIndicesInEverySignedType) {
  for (const std::string type : {"i8", "i16", "i32", "i64"}) {
    const std::string text = folded(scatter(kNormalise, type));
    EXPECT_THAT(text, HasSubstr("indices=" + type + "[6]"));
    EXPECT_THAT(text, HasSubstr("normalize_negative=true"));
    EXPECT_THAT(text, HasSubstr("left 0"));
  }
  // The sum the other way round.
  EXPECT_THAT(folded(scatter(replaced(kNormalise, "add %i, %n", "add %n, %i"))), HasSubstr("normalize_negative=true"));
}

TEST(Fusion, WhatIsNoNormalisationStays) {
  EXPECT_THAT(folded(scatter(kNormalise, "i32", "4")), Not(HasSubstr("normalize")));                            // another extent
  EXPECT_THAT(folded(scatter(replaced(kNormalise, "compare LT", "compare LE"))), Not(HasSubstr("normalize")));  // 0 becomes 5
  EXPECT_THAT(folded(scatter(replaced(kNormalise, "LT, %i", "LT, %w"))), Not(HasSubstr("normalize")));  // tests another value
  EXPECT_THAT(folded(scatter(replaced(kNormalise, "%t, %s, %i", "%t, %i, %s"))),
              Not(HasSubstr("normalize")));  // the wrong way round
  EXPECT_THAT(folded(scatter(replaced(kNormalise, "select %t, %s, %i", "select %t, %s, %w"))), Not(HasSubstr("normalize")));
  EXPECT_THAT(folded(scatter(replaced(kNormalise, "LT, %i, %zero", "LT, %i, %four"))), Not(HasSubstr("normalize")));
  EXPECT_THAT(folded(scatter(kNormalise, "ui32")), Not(HasSubstr("normalize")));  // never below 0
  // Twice: the inner one stays, since a normalised index may still be negative.
  const std::string twice =
      replaced(kNormalise, "%k =", "%j =") +
      "\n  %t2 = stablehlo.compare LT, %j, %zero : (V, V) -> tensor<6xi1>\n  %s2 = stablehlo.add %j, %n : V\n"
      "  %k = stablehlo.select %t2, %s2, %j : tensor<6xi1>, V";
  EXPECT_THAT(folded(scatter(twice)), HasSubstr("left 3"));
}

/// Constants c, max(c, c), max of that twice, and so on: 2^60 paths lead from the last to the first. Where there are too many elements to work
/// them out, a few steps are a bound that folds; many are left alone, at once.
TEST(Fusion, ConstantsThatShareTermsAreLookedAtAFewTimes) {
  const auto clipped = [](int steps) {
    std::string text = "  %c0 = stablehlo.maximum %zero, %zero : V\n";
    for (int i = 1; i <= steps; ++i) {
      const std::string last = "%c" + std::to_string(i - 1);
      text += "  %c" + std::to_string(i) + " = stablehlo.maximum " + last + ", " + last + " : V\n";
    }
    return scatter(text + "  %k = stablehlo.clamp %c" + std::to_string(steps) + ", %i, %four : V");
  };
  EXPECT_THAT(folded(clipped(3)), HasSubstr("oob=clamp"));
  EXPECT_THAT(folded(clipped(60)), HasSubstr("oob=clamp"));  // small constants are worked out when the file is read
  const std::string large = replaced(clipped(60), "tensor<6x", "tensor<5000x");
  EXPECT_THAT(folded(large), Not(HasSubstr("oob=clamp")));
}

TEST(Fusion, ClipsAreThePolicy) {
  for (const std::string type : {"i8", "i32", "ui8", "ui32", "ui64", "i64"}) {
    const std::string clamp = folded(scatter("  %k = stablehlo.clamp %zero, %i, %four : V", type));
    EXPECT_THAT(clamp, HasSubstr("oob=clamp"));
    EXPECT_THAT(clamp, HasSubstr("left 0"));
    EXPECT_THAT(folded(scatter("  %m = stablehlo.maximum %zero, %i : V\n  %k = stablehlo.minimum %four, %m : V", type)),
                HasSubstr("oob=clamp"));
  }
  // Clipped before it is normalised, which then changes nothing.
  const std::string both = replaced(kNormalise, "%i", "%j");
  EXPECT_THAT(folded(scatter("  %j = stablehlo.clamp %zero, %i, %four : V\n" + both)), HasSubstr("oob=clamp"));
  EXPECT_THAT(folded(scatter("  %j = stablehlo.clamp %zero, %i, %four : V\n" + both)), Not(HasSubstr("normalize")));
  // Normalised, then clipped.
  const std::string after =
      folded(scatter(replaced(kNormalise, "%k =", "%j =") + "\n  %k = stablehlo.clamp %zero, %j, %four : V"));
  EXPECT_THAT(after, HasSubstr("oob=clamp normalize_negative=true"));
}

TEST(Fusion, OtherClipsStay) {
  EXPECT_THAT(folded(scatter("  %k = stablehlo.clamp %zero, %i, %five : V")), Not(HasSubstr("oob")));
  EXPECT_THAT(folded(scatter("  %k = stablehlo.clamp %zero, %i, %n : V", "i32", "3")), Not(HasSubstr("oob")));
  EXPECT_THAT(folded(scatter("  %k = stablehlo.clamp %n, %i, %four : V", "i32", "1")), Not(HasSubstr("oob")));
  EXPECT_THAT(folded(scatter("  %k = stablehlo.minimum %i, %four : V")), Not(HasSubstr("oob")));
  EXPECT_THAT(folded(scatter("  %k = stablehlo.clamp %zero, %i, %w : V")), Not(HasSubstr("oob")));
}

TEST(Fusion, ConversionsThatKeepEveryValue) {
  const auto converted = [](const std::string& from, const std::string& to) {
    return replaced(
        replaced(scatter("  %k = stablehlo.convert %i : (FROM) -> V", to), "%i: tensor<6x" + to, "%i: tensor<6x" + from), "FROM",
        "tensor<6x" + from + ">");
  };
  EXPECT_THAT(folded(converted("i8", "i32")), HasSubstr("indices=i8[6]"));
  EXPECT_THAT(folded(converted("ui8", "i32")), HasSubstr("indices=u8[6]"));
  EXPECT_THAT(folded(converted("ui32", "ui64")), HasSubstr("indices=u32[6]"));
  EXPECT_THAT(folded(converted("ui32", "i32")), HasSubstr("indices=i32[6]"));  // 2^31 and more become negative
  EXPECT_THAT(folded(converted("i32", "ui32")), HasSubstr("indices=u32[6]"));
  EXPECT_THAT(folded(converted("i64", "i32")), HasSubstr("indices=i32[6]"));
  EXPECT_THAT(folded(converted("i8", "ui32")), HasSubstr("indices=u32[6]"));
}

/// x[5,4], p[6,2] (both components of each index); `mask` computes %m: tensor<6xi1> from %p.
std::string masked_gather(const std::string& mask) {
  return "func.func @main(%x: tensor<5x4xf32>, %p: tensor<6x2xi32>, %y: tensor<6xf32>) -> tensor<6xf32> {\n"
         "  %true = stablehlo.constant dense<true> : tensor<i1>\n  %zero = stablehlo.constant dense<0> : tensor<6x2xi32>\n"
         "  %ends = stablehlo.constant dense<[4, 3]> : tensor<2xi32>\n"
         "  %most = stablehlo.broadcast_in_dim %ends, dims = [1] : (tensor<2xi32>) -> tensor<6x2xi32>\n" +
         mask +
         "\n  %g = \"stablehlo.gather\"(%x, %p) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], "
         "start_index_map = [0, "
         "1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<5x4xf32>, tensor<6x2xi32>) -> tensor<6xf32>\n"
         "  %v = stablehlo.constant dense<7.0> : tensor<6xf32>\n"
         "  %r = stablehlo.select %m, %g, %v : tensor<6xi1>, tensor<6xf32>\n  return %r : tensor<6xf32>\n}\n";
}
constexpr char kMask[] =
    "  %ge = stablehlo.compare GE, %p, %zero : (tensor<6x2xi32>, tensor<6x2xi32>) -> tensor<6x2xi1>\n"
    "  %le = stablehlo.compare LE, %p, %most : (tensor<6x2xi32>, tensor<6x2xi32>) -> tensor<6x2xi1>\n"
    "  %both = stablehlo.and %ge, %le : tensor<6x2xi1>\n"
    "  %m = stablehlo.reduce(%both init: %true) applies stablehlo.and across dimensions = [1] : (tensor<6x2xi1>, tensor<i1>) -> "
    "tensor<6xi1>";

TEST(Fusion, FillMasks) {
  const std::string whole = folded(masked_gather(kMask));
  EXPECT_THAT(whole, HasSubstr("oob=fill_window fill=7:f32"));
  EXPECT_THAT(whole, HasSubstr("left 0"));
  EXPECT_THAT(folded(masked_gather(replaced(kMask, "GE, %p, %zero", "LE, %zero, %p"))), HasSubstr("oob=fill_window"));
}

TEST(Fusion, MasksThatSaySomethingElseStay) {
  const std::string mask = kMask;
  EXPECT_THAT(folded(masked_gather(replaced(mask, "LE, %p", "LT, %p"))),
              Not(HasSubstr("fill_window")));  // the last row is masked too
  EXPECT_THAT(folded(masked_gather(replaced(mask, "and %ge, %le", "or %ge, %le"))), Not(HasSubstr("fill_window")));
  EXPECT_THAT(folded(masked_gather(replaced(mask, "and %ge, %le", "and %ge, %ge"))),
              Not(HasSubstr("fill_window")));  // half of it
  EXPECT_THAT(folded(masked_gather(replaced(mask, "applies stablehlo.and", "applies stablehlo.or"))),
              Not(HasSubstr("fill_window")));
  const std::string first =  // the first component only
      "  %c = stablehlo.slice %p [0:6, 0:1] : (tensor<6x2xi32>) -> tensor<6x1xi32>\n"
      "  %d = stablehlo.reshape %c : (tensor<6x1xi32>) -> tensor<6xi32>\n  %z = stablehlo.constant dense<0> : tensor<6xi32>\n"
      "  %f = stablehlo.constant dense<4> : tensor<6xi32>\n"
      "  %ge = stablehlo.compare GE, %d, %z : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>\n"
      "  %le = stablehlo.compare LE, %d, %f : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>\n  %m = stablehlo.and %ge, %le : "
      "tensor<6xi1>";
  EXPECT_THAT(folded(masked_gather(first)), Not(HasSubstr("fill_window")));
  const std::string also =  // and something that has nothing to do with indices
      replaced(mask, "%m =", "%n =") +
      "\n  %k = stablehlo.compare GE, %y, %y : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>\n  %m = stablehlo.and %n, %k : "
      "tensor<6xi1>";
  EXPECT_THAT(folded(masked_gather(also)), Not(HasSubstr("fill_window")));
  const std::string again = replaced(masked_gather(mask), "return %r", "%h = stablehlo.add %g, %r : tensor<6xf32>\n  return %h");
  EXPECT_THAT(folded(again), Not(HasSubstr("fill_window")));  // what is gathered is read without the mask as well
}

TEST(Fusion, NotesAndOptions) {
  const auto imported = import_mlir_text(scatter("  %k = stablehlo.clamp %zero, %i, %four : V"));
  ASSERT_TRUE(imported.ok());
  ASSERT_EQ(imported->kernel(0).notes.size(), 2U);
  EXPECT_THAT(imported->kernel(0).notes[0], HasSubstr("policy is clamp: --oob does not apply"));
  ImportOptions options;
  options.override_oob = true;
  options.oob = OobPolicy::skip_window;
  const auto overridden = import_mlir_text(scatter("  %k = stablehlo.clamp %zero, %i, %four : V"), options);
  ASSERT_TRUE(overridden.ok());
  EXPECT_EQ(std::get<Scatter>(*overridden->kernel(0).op).oob, OobPolicy::clamp);
}

/// x[5,4].add at rows i of what `update` computes as %v from %u[6,4], %b[4], %w[6], %s.
std::string accumulating(const std::string& update, const std::string& result = "%r") {
  return "func.func @main(%x: tensor<5x4xbf16>, %i: tensor<6xi32>, %u: tensor<6x4xbf16>, %b: tensor<4xbf16>, %w: tensor<6xbf16>, "
         "%s: tensor<bf16>) -> tensor<5x4xbf16> {\n" +
         update +
         "\n  %r = \"stablehlo.scatter\"(%x, %i, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
         "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
         "  ^bb0(%m: tensor<bf16>, %n: tensor<bf16>):\n    %t = stablehlo.add %m, %n : tensor<bf16>\n    stablehlo.return %t : "
         "tensor<bf16>\n"
         "  }) : (tensor<5x4xbf16>, tensor<6xi32>, tensor<6x4xbf16>) -> tensor<5x4xbf16>\n  return " +
         result + " : tensor<5x4xbf16>\n}\n";
}

TEST(Fuse, UpdatesWithEveryKindOfExtra) {
  const std::string row = "  %W = stablehlo.broadcast_in_dim %w, dims = [0] : (tensor<6xbf16>) -> tensor<6x4xbf16>\n",
                    bias = "  %B = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xbf16>) -> tensor<6x4xbf16>\n",
                    one = "  %S = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<bf16>) -> tensor<6x4xbf16>\n";
  const std::string text =
      folded(accumulating(row + bias + one +
                          "  %p = stablehlo.multiply %u, %W : tensor<6x4xbf16>\n  %q = stablehlo.add %p, %B : tensor<6x4xbf16>\n"
                          "  %v = stablehlo.subtract %q, %S : tensor<6x4xbf16>"));
  EXPECT_THAT(text, HasSubstr("extras=[per_position:bf16[6],per_window:bf16[4],scalar:bf16[]]"));
  EXPECT_THAT(text, HasSubstr("left 0"));
  // A bias that is computed is computed once, outside.
  EXPECT_THAT(folded(accumulating("  %e = stablehlo.add %b, %b : tensor<4xbf16>\n" + replaced(bias, "%b,", "%e,") +
                                  "  %v = stablehlo.add %u, %B : tensor<6x4xbf16>")),
              HasSubstr("left 1"));
}

TEST(Fuse, WhatSomethingElseReadsStays) {
  const std::string text = accumulating("  %v = stablehlo.multiply %u, %u : tensor<6x4xbf16>");
  EXPECT_THAT(folded(text), HasSubstr("combiner=expr"));
  const std::string twice = replaced(replaced(text, "-> tensor<5x4xbf16> {", "-> (tensor<5x4xbf16>, tensor<6x4xbf16>) {"),
                                     "return %r : tensor<5x4xbf16>", "return %r, %v : tensor<5x4xbf16>, tensor<6x4xbf16>");
  EXPECT_THAT(folded(twice), HasSubstr("combiner=add)\nleft 1"));
}

TEST(Fuse, NeedsAnUpdateAndANamedCombinerForWide) {
  EXPECT_THAT(folded(accumulating("  %c = stablehlo.multiply %b, %b : tensor<4xbf16>\n"
                                  "  %v = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<4xbf16>) -> tensor<6x4xbf16>")),
              HasSubstr("combiner=add)\nleft 1"));
  ImportOptions wide;
  wide.override_accumulate = true;
  wide.accumulate = Accumulate::wide;
  const auto imported = import_mlir_text(accumulating("  %v = stablehlo.multiply %u, %u : tensor<6x4xbf16>"), wide);
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_THAT(print(imported->kernel(0).op), HasSubstr("combiner=add accumulate=wide"));
}

// Start indices that are elements of a tensor: what is left of one without its arithmetic is that element, and not the tensor.
TEST(Fusion, StartsThatAreElementsOfATensorStayElements) {
  const auto start = [](const std::string& number, const std::string& extent) {
    std::string text =
        "  %s_N = stablehlo.slice %i [N:M] : (tensor<3xi32>) -> tensor<1xi32>\n  %e_N = stablehlo.reshape %s_N : (tensor<1xi32>) "
        "-> tensor<i32>\n"
        "  %p_N = stablehlo.compare LT, %e_N, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "  %d_N = stablehlo.constant dense<EXTENT> : tensor<i32>\n  %a_N = stablehlo.add %e_N, %d_N : tensor<i32>\n"
        "  %k_N = stablehlo.select %p_N, %a_N, %e_N : tensor<i1>, tensor<i32>\n";
    text = replaced(replaced(text, "N:M", number + ":" + std::to_string(std::stoi(number) + 1)), "EXTENT", extent);
    return replaced(text, "_N", "_" + number);
  };
  EXPECT_THAT(folded("func.func @main(%x: tensor<5x4xf32>, %i: tensor<3xi32>) -> tensor<2x2xf32> {\n  %zero = stablehlo.constant "
                     "dense<0> : tensor<i32>\n" +
                     start("0", "5") + start("2", "4") +
                     "  %r = stablehlo.dynamic_slice %x, %k_0, %k_2, sizes = [2, 2] : (tensor<5x4xf32>, tensor<i32>, "
                     "tensor<i32>) -> tensor<2x2xf32>\n"
                     "  return %r : tensor<2x2xf32>\n}\n"),
              HasSubstr("normalize_negative"));
}

}  // namespace
}  // namespace strew
