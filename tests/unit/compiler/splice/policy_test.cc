// choose_parts(): which indexed operations of a module strew takes, what goes with them, and why the others stay XLA's.
#include "compiler/splice/policy.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "compiler/import/import_bytes.h"

namespace strew {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kRows[] = "tensor<10000x16xf32>", kIndices[] = "tensor<3000x1xi32>", kPicked[] = "tensor<3000x16xf32>";

/// "%a = stablehlo.add %b, %c : TYPE".
std::string line(const std::string& result, const std::string& operation, const std::string& arguments, const std::string& type) {
  return "  " + result + " = stablehlo." + operation + " " + arguments + " : " + type + "\n";
}

/// Rows of f32[10000,16] by i32[3000,1].
std::string gather(const std::string& result, const std::string& operand, const std::string& indices) {
  return "  " + result + " = \"stablehlo.gather\"(" + operand + ", " + indices +
         ") <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], "
         "index_vector_dim = 1>, slice_sizes = array<i64: 1, 16>}> : (" +
         kRows + ", " + kIndices + ") -> " + kPicked + "\n";
}

const std::string kAdds =
    "^bb0(%old: tensor<f32>, %new: tensor<f32>):\n  %s = stablehlo.add %old, %new : tensor<f32>\n  stablehlo.return %s : "
    "tensor<f32>\n";

/// Rows into f32[10000,16] by `count` indices.
std::string scatter(const std::string& result, const std::string& operand, const std::string& indices, const std::string& updates,
                    const std::string& region = kAdds, int count = 3000) {
  const std::string n = std::to_string(count);
  return "  " + result + " = \"stablehlo.scatter\"(" + operand + ", " + indices + ", " + updates +
         ") <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
         "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n" +
         region + "}) : (" + kRows + ", tensor<" + n + "x1xi32>, tensor<" + n + "x16xf32>) -> " + kRows + "\n";
}

/// @main of %x f32[10000,16], %i i32[3000,1], %u f32[3000,16] and %w f32[16,16], which returns these values: "%r: TYPE".
std::string module_of(const std::string& body, const std::vector<std::pair<std::string, std::string>>& results) {
  std::string names, types;
  for (const auto& [name, type] : results) {
    names += (names.empty() ? "" : ", ") + name;
    types += (types.empty() ? "" : ", ") + type;
  }
  return "func.func @main(%x: tensor<10000x16xf32>, %i: tensor<3000x1xi32>, %u: tensor<3000x16xf32>, %w: tensor<16x16xf32>) -> "
         "(" +
         types + ") {\n" + body + "  return " + names + " : " + types + "\n}\n";
}

constexpr SpliceOptions kOperators{SpliceLevel::operators}, kFused{SpliceLevel::fused}, kOwn{SpliceLevel::fused, true};

struct Found {
  std::vector<std::string> parts;  ///< "arg0 %5 -> %7 | gather multiply | 0 over 1"
  std::vector<std::string> kept;   ///< "gather: REASON"
};

Found find(const std::string& text, const SpliceOptions& options) {
  const Expected<Program> program = import_bytes(text, "m.mlir", import_options(options));
  EXPECT_TRUE(program.ok()) << program.status().message();
  if (!program.ok()) return {};
  const Expected<Chosen> chosen = choose_parts(*program, options);
  EXPECT_TRUE(chosen.ok()) << chosen.status().message();
  const auto name = [](const std::string& location) { return location.substr(location.rfind('.') + 1); };
  Found out;
  for (const auto& [part, in_place] : chosen->parts) {
    std::string each;
    for (const int v : part.inputs) each += value_name(*program, v) + " ";
    each += "->";
    for (const int v : part.outputs) each += " " + value_name(*program, v);
    each += " |";
    for (const int n : part.nodes) each += " " + name(program->nodes()[n].location);
    each += " |";
    for (const auto& [output, input] : in_place) each += " " + std::to_string(output) + " over " + std::to_string(input);
    out.parts.push_back(each);
    EXPECT_TRUE(cut_part(*program, part).ok());
  }
  for (const KeptOperation& each : chosen->kept) {
    EXPECT_THAT(each.location, HasSubstr(": " + each.operation));
    out.kept.push_back(name(each.operation) + ": " + each.reason);
  }
  return out;
}

TEST(SplicePolicy, AGatherOfArgumentsIsTaken) {
  const Found found = find(module_of(gather("%r", "%x", "%i"), {{"%r", kPicked}}), kOperators);
  EXPECT_THAT(found.parts, ElementsAre("arg0 arg1 -> %r | gather |"));
  EXPECT_THAT(found.kept, IsEmpty());
}

const std::string kSquared = line("%m", "multiply", "%x, %x", kRows);

TEST(SplicePolicy, AnOperandThatXlaFusesIntoTheGatherKeepsItThere) {
  Found found = find(module_of(kSquared + gather("%r", "%m", "%i"), {{"%r", kPicked}}), kOperators);
  EXPECT_THAT(found.parts, IsEmpty());
  EXPECT_THAT(found.kept, ElementsAre("gather: its operand is made by stablehlo.multiply, which XLA fuses into it"));
  const std::string reshaped = line("%f", "reshape", "%m", "(tensor<10000x16xf32>) -> tensor<160000xf32>") +
                               line("%g", "reshape", "%f", "(tensor<160000xf32>) -> tensor<10000x16xf32>");
  found = find(module_of(kSquared + reshaped + gather("%r", "%g", "%i"), {{"%r", kPicked}}), kOperators);
  EXPECT_THAT(found.parts, IsEmpty());
}

TEST(SplicePolicy, ASliceOfALargerTableIsNotCopiedForTheGather) {
  const std::string slice =
      "  %t = stablehlo.concatenate %x, %x, dim = 0 : (tensor<10000x16xf32>, tensor<10000x16xf32>) -> tensor<20000x16xf32>\n"
      "  %z = stablehlo.constant dense<7> : tensor<i32>\n"
      "  %d = stablehlo.dynamic_slice %t, %z, %z, sizes = [10000, 16] : (tensor<20000x16xf32>, tensor<i32>, tensor<i32>) -> "
      "tensor<10000x16xf32>\n";
  const Found found = find(module_of(slice + gather("%r", "%d", "%i"), {{"%r", kPicked}}), kOperators);
  EXPECT_THAT(found.parts, IsEmpty());
  EXPECT_THAT(found.kept, ElementsAre("dynamic_slice: XLA reads the slice where it is used, without a copy",
                                      "gather: its operand is made by stablehlo.dynamic_slice, which XLA fuses into it"));
}

TEST(SplicePolicy, AnOperandThatXlaStoresAnywayIsRead) {
  const auto parts = [](const std::string& body, const std::string& name, const std::string& type) {
    return find(module_of(body, {{"%r", kPicked}, {name, type}}), kOperators).parts;
  };
  const std::string made = kSquared + gather("%r", "%m", "%i");
  EXPECT_THAT(parts(made, "%m", kRows), ElementsAre("arg1 %m -> %r | gather |")) << "the function returns it";
  const std::string product =
      "  %d = stablehlo.dot_general %m, %w, contracting_dims = [1] x [0] : (tensor<10000x16xf32>, tensor<16x16xf32>) -> "
      "tensor<10000x16xf32>\n";
  EXPECT_THAT(parts(made + product, "%d", kRows), ElementsAre("arg1 %m -> %r | gather |")) << "a product reads it";
  EXPECT_THAT(parts(kSquared + product + gather("%r", "%d", "%i"), "%m", kRows), ElementsAre("arg1 %d -> %r | gather |"))
      << "it is one";
  EXPECT_THAT(parts(made + line("%e", "negate", "%m", kRows), "%e", kRows), IsEmpty()) << "what reads it is fused, too";
}

TEST(SplicePolicy, AnOperandNoLargerThanWhatIsGatheredIsMade) {
  const std::string body =
      line("%m", "multiply", "%w, %w", "tensor<16x16xf32>") +
      "  %r = \"stablehlo.gather\"(%m, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
      "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, "
      "16>}> : (tensor<16x16xf32>, tensor<3000x1xi32>) -> tensor<3000x16xf32>\n";
  EXPECT_THAT(find(module_of(body, {{"%r", kPicked}}), kOperators).parts, ElementsAre("arg1 %m -> %r | gather |"));
}

TEST(SplicePolicy, AGatherWhoseReaderXlaFusesStaysUnlessTheReaderGoesWithIt) {
  const std::string body = gather("%r", "%x", "%i") + line("%p", "multiply", "%r, %u", kPicked);
  const std::string text = module_of(body, {{"%p", kPicked}});
  EXPECT_THAT(find(text, kOperators).parts, IsEmpty());
  EXPECT_THAT(find(text, kOperators).kept,
              ElementsAre("gather: its result is read by stablehlo.multiply, into which XLA fuses it"));
  EXPECT_THAT(find(text, kFused).parts, ElementsAre("arg0 arg1 arg2 -> %p | gather multiply |"));
  EXPECT_THAT(find(text, kFused).kept, IsEmpty());
  const std::string both = module_of(body, {{"%p", kPicked}, {"%r", kPicked}});
  EXPECT_THAT(find(both, kOperators).parts, ElementsAre("arg0 arg1 -> %r | gather |")) << "XLA stores what is returned";
}

TEST(SplicePolicy, AReshapeBeforeTheReaderChangesNothing) {
  const std::string body = gather("%r", "%x", "%i") + line("%f", "reshape", "%r", "(tensor<3000x16xf32>) -> tensor<48000xf32>");
  EXPECT_THAT(find(module_of(body, {{"%f", "tensor<48000xf32>"}}), kOperators).parts, ElementsAre("arg0 arg1 -> %r | gather |"));
  const std::string read = body + line("%n", "negate", "%f", "tensor<48000xf32>");
  EXPECT_THAT(find(module_of(read, {{"%n", "tensor<48000xf32>"}}), kOperators).kept,
              ElementsAre("gather: its result is read by stablehlo.negate, into which XLA fuses it"));
}

TEST(SplicePolicy, WhatALargeReductionReadsIsStored) {
  const auto sum = [](const std::string& of) {
    return "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n  %s = stablehlo.reduce(" + of +
           " init: %z) applies stablehlo.add across dimensions = [0] : (tensor<3000x16xf32>, tensor<f32>) -> tensor<16xf32>\n";
  };
  const auto parts = [](const std::string& body, const SpliceOptions& options) {
    return find(module_of(gather("%r", "%x", "%i") + body, {{"%s", "tensor<16xf32>"}}), options).parts;
  };
  for (const SpliceOptions& options : {kOperators, kFused}) {
    EXPECT_THAT(parts(sum("%r"), options), ElementsAre("arg0 arg1 -> %r | gather |"));
    EXPECT_THAT(parts(line("%e", "exponential", "%r", kPicked) + sum("%e"), options), ElementsAre("arg0 arg1 -> %r | gather |"))
        << "the library computes the exponentials, too";
    EXPECT_THAT(parts(line("%e", "cosine", "%r", kPicked) + sum("%e"), options), IsEmpty());
  }
  const std::string few = line("%y", "reshape", "%x", "(tensor<10000x16xf32>) -> tensor<5000x32xf32>") +
                          "  %j = stablehlo.slice %i [0:100, 0:1] : (tensor<3000x1xi32>) -> tensor<100x1xi32>\n"
                          "  %r = \"stablehlo.gather\"(%y, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
                          "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, "
                          "32>}> : (tensor<5000x32xf32>, tensor<100x1xi32>) -> tensor<100x32xf32>\n"
                          "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n  %s = stablehlo.reduce(%r init: %z) applies "
                          "stablehlo.add across dimensions = [0] : (tensor<100x32xf32>, tensor<f32>) -> tensor<32xf32>\n";
  EXPECT_THAT(find(module_of(few, {{"%s", "tensor<32xf32>"}}), kFused).kept,
              ElementsAre("gather: its result is read by stablehlo.reduce, into which XLA fuses it"));
}

TEST(SplicePolicy, FunctionsWithOtherBitsStayXlas) {
  const std::string text = module_of(gather("%r", "%x", "%i") + line("%e", "exponential", "%r", kPicked), {{"%e", kPicked}});
  EXPECT_THAT(find(text, kFused).parts, IsEmpty());
  EXPECT_THAT(find(text, kFused).kept,
              ElementsAre("gather: its result is read by stablehlo.exponential, into which XLA fuses it"));
  EXPECT_THAT(find(text, kOwn).parts, ElementsAre("arg0 arg1 -> %e | gather exponential |"));
}

TEST(SplicePolicy, RemaindersOfFloatsStayXlas) {
  const auto parts = [](const std::string& dtype) {
    std::string text = module_of(gather("%r", "%x", "%i") + line("%e", "remainder", "%r, %u", kPicked), {{"%e", kPicked}});
    for (size_t at = 0; (at = text.find("f32", at)) != std::string::npos; at += dtype.size()) text.replace(at, 3, dtype);
    return find(text, kFused).parts;
  };
  for (const char* const dtype : {"f32", "bf16"}) EXPECT_THAT(parts(dtype), IsEmpty()) << dtype;
  EXPECT_THAT(parts("i32"), ElementsAre(HasSubstr("| gather remainder |")));
}

TEST(SplicePolicy, AScatterReadsItsUpdatesFromMemory) {
  const std::string text =
      module_of(line("%p", "multiply", "%u, %u", kPicked) + scatter("%r", "%x", "%i", "%p"), {{"%r", kRows}});
  EXPECT_THAT(find(text, kOperators).parts, ElementsAre("arg0 arg1 %p -> %r | scatter | 0 over 0"));
  EXPECT_THAT(find(text, kFused).parts, ElementsAre("arg0 arg1 arg2 -> %r | multiply scatter | 0 over 0"));
  EXPECT_THAT(find(text, kFused).kept, IsEmpty());
}

TEST(SplicePolicy, WhatXlaRoundsOnceStaysTogether) {
  const std::string product = line("%p", "multiply", "%u, %u", kPicked);
  const auto parts = [&](const std::string& more, const SpliceOptions& options) {
    return find(module_of(product + more + scatter("%r", "%x", "%i", "%v"), {{"%r", kRows}}), options).parts;
  };
  const std::string add = line("%v", "add", "%p, %u", kPicked);
  EXPECT_THAT(parts(add, kFused), ElementsAre("arg0 arg1 %v -> %r | scatter | 0 over 0"));
  EXPECT_THAT(parts(add, kOwn), ElementsAre("arg0 arg1 arg2 -> %r | multiply add scatter | 0 over 0"));
  EXPECT_THAT(parts(line("%n", "negate", "%p", kPicked) + line("%v", "subtract", "%u, %n", kPicked), kFused),
              ElementsAre("arg0 arg1 %v -> %r | scatter | 0 over 0"));
  EXPECT_THAT(parts(line("%v", "multiply", "%p, %u", kPicked), kFused),
              ElementsAre("arg0 arg1 arg2 -> %r | multiply multiply scatter | 0 over 0"))
      << "two products are rounded twice";
}

TEST(SplicePolicy, AScatterKeepsItsRegionIfXlaRoundsItsStepsTogether) {
  const std::string region = "^bb0(%old: tensor<f32>, %new: tensor<f32>):\n" +
                             line("%h", "multiply", "%new, %new", "tensor<f32>") + line("%s", "add", "%old, %h", "tensor<f32>") +
                             "  stablehlo.return %s : tensor<f32>\n";
  const std::string text =
      module_of(scatter("%r", "%x", "%i", "%u", region) + gather("%g", "%x", "%i"), {{"%r", kRows}, {"%g", kPicked}});
  for (const SpliceOptions& options : {kOperators, kFused}) {
    EXPECT_THAT(find(text, options).parts, ElementsAre("arg0 arg1 -> %g | gather |"));
    EXPECT_THAT(find(text, options).kept, ElementsAre("scatter: add of f32 reads a product, and XLA rounds both once"));
  }
  EXPECT_THAT(find(text, kOwn).kept, IsEmpty());
}

TEST(SplicePolicy, RowsThatOnlyAScatterReadsAreLookedUp) {
  const std::string text = module_of(gather("%g", "%x", "%i") + scatter("%r", "%x", "%i", "%g"), {{"%r", kRows}});
  EXPECT_THAT(find(text, kOperators).parts, ElementsAre("arg0 arg1 -> %r | gather scatter |")) << "its operand is the table, too";
  const Found found =
      find(module_of(kSquared + gather("%g", "%m", "%i") + scatter("%r", "%x", "%i", "%g"), {{"%r", kRows}}), kOperators);
  EXPECT_THAT(found.parts, IsEmpty());
  ASSERT_EQ(found.kept.size(), 2U);
  EXPECT_THAT(found.kept[0], testing::AllOf(testing::StartsWith("gather: it would be part of "),
                                            HasSubstr(": stablehlo.scatter, and that stays: its operand")));
  EXPECT_EQ(found.kept[1], "scatter: its operand is made by stablehlo.multiply, which XLA fuses into it");
}

TEST(SplicePolicy, SmallOnesStay) {
  const std::string few =
      "  %r = \"stablehlo.gather\"(%w, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = "
      "[0], "
      "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 16>}> : (tensor<16x16xf32>, tensor<2x1xi32>) -> "
      "tensor<2x16xf32>\n";
  const std::string two = "  %j = stablehlo.slice %i [0:2, 0:1] : (tensor<3000x1xi32>) -> tensor<2x1xi32>\n",
                    one =
                        "  %k = stablehlo.slice %i [0:1, 0:1] : (tensor<3000x1xi32>) -> tensor<1x1xi32>\n"
                        "  %v = stablehlo.slice %u [0:1, 0:16] : (tensor<3000x16xf32>) -> tensor<1x16xf32>\n";
  const Found found =
      find(module_of(two + few + one + scatter("%s", "%x", "%k", "%v", kAdds, 1), {{"%r", "tensor<2x16xf32>"}, {"%s", kRows}}),
           kOperators);
  EXPECT_THAT(found.parts, IsEmpty());
  EXPECT_THAT(found.kept,
              ElementsAre("gather: what it gathers is 128 bytes, and up to 32768 XLA is done before a call is",
                          "scatter: it has one window, and XLA rounds what it adds together with the arithmetic around it"));
}

TEST(SplicePolicy, WhatXlaWalksFasterStays) {
  const std::string columns =
      "  %y = stablehlo.reshape %x : (tensor<10000x16xf32>) -> tensor<16x10000xf32>\n"
      "  %r = \"stablehlo.gather\"(%y, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = "
      "[1], "
      "start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 16, 1>}> : (tensor<16x10000xf32>, "
      "tensor<3000x1xi32>) -> tensor<16x3000xf32>\n";
  EXPECT_THAT(find(module_of(columns, {{"%r", "tensor<16x3000xf32>"}}), kOperators).kept,
              ElementsAre("gather: its windows lie across the rows of memory, which XLA walks along"));
  const std::string transposed =
      "  %y = stablehlo.reshape %x : (tensor<10000x16xf32>) -> tensor<16x10000xf32>\n"
      "  %t = stablehlo.transpose %y, dims = [1, 0] : (tensor<16x10000xf32>) -> tensor<10000x16xf32>\n" +
      gather("%r", "%t", "%i");
  EXPECT_THAT(find(module_of(transposed, {{"%r", kPicked}}), kOperators).kept,
              ElementsAre("gather: its windows lie across the rows of memory, which XLA walks along"));
  const std::string elements =
      "  %j = stablehlo.custom_call @pairs(%i) : (tensor<3000x1xi32>) -> tensor<9000x2xi32>\n"
      "  %r = \"stablehlo.gather\"(%x, %j) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], "
      "start_index_map "
      "= [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<10000x16xf32>, tensor<9000x2xi32>) -> "
      "tensor<9000xf32>\n";
  EXPECT_THAT(find(module_of(elements, {{"%r", "tensor<9000xf32>"}}), kOperators).kept,
              ElementsAre("gather: it finds few bytes, 4, by 2 indices, which XLA does faster"));
}

TEST(SplicePolicy, NewRowsThatAreTransposedAreTaken) {
  const std::string body = "  %c = stablehlo.constant dense<0.0> : tensor<10000x16xf32>\n" + scatter("%s", "%c", "%i", "%u") +
                           "  %r = stablehlo.transpose %s, dims = [1, 0] : (tensor<10000x16xf32>) -> tensor<16x10000xf32>\n";
  const Found found = find(module_of(body, {{"%r", "tensor<16x10000xf32>"}}), kOperators);
  EXPECT_EQ(found.parts.size(), 1U);
  EXPECT_THAT(found.kept, IsEmpty());
}

TEST(SplicePolicy, ConstantsAreXlas) {
  const std::string body =
      "  %c = stablehlo.constant dense<1.0> : tensor<10000x16xf32>\n"
      "  %j = stablehlo.constant dense<3> : tensor<3000x1xi32>\n" +
      gather("%r", "%c", "%j");
  EXPECT_THAT(find(module_of(body, {{"%r", kPicked}}), kOperators).kept,
              ElementsAre("gather: it reads constants alone, and XLA computes it when it compiles"));
}

TEST(SplicePolicy, PackedElementsLieInAnotherWayInXla) {
  const std::string text =
      "func.func @main(%x: tensor<10000x64xi4>, %i: tensor<3000x1xi32>) -> tensor<3000x64xi4> {\n"
      "  %r = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = "
      "[0], "
      "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<10000x64xi4>, "
      "tensor<3000x1xi32>) "
      "-> "
      "tensor<3000x64xi4>\n  return %r : tensor<3000x64xi4>\n}\n";
  EXPECT_THAT(find(text, kOperators).kept, ElementsAre("gather: XLA stores i4 in another way"));
}

TEST(SplicePolicy, AnInputIsUpdatedInPlaceIfNothingElseReadsIt) {
  const auto parts = [](const std::string& body) { return find(module_of(body, {{"%r", kRows}}), kOperators).parts; };
  EXPECT_THAT(parts(scatter("%r", "%x", "%i", "%u")), ElementsAre("arg0 arg1 arg2 -> %r | scatter | 0 over 0"));
  EXPECT_THAT(parts(scatter("%a", "%x", "%i", "%u") + scatter("%r", "%a", "%i", "%u")),
              ElementsAre("arg0 arg1 arg2 -> %r | scatter scatter | 0 over 0"))
      << "one behind the other";
  EXPECT_THAT(parts("  %c = stablehlo.constant dense<0.0> : tensor<10000x16xf32>\n" + scatter("%r", "%c", "%i", "%u")),
              ElementsAre("arg1 arg2 -> %r | constant scatter |"))
      << "it is filled";
}

/// A loop of ten steps that carries %x; `body` makes %n of it, which is called %c there.
std::string loop(const std::string& body) {
  return "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
         "  %o:2 = stablehlo.while(%c = %x, %t = %z) : tensor<10000x16xf32>, tensor<i32>\n   cond {\n"
         "    %ten = stablehlo.constant dense<10> : tensor<i32>\n"
         "    %l = stablehlo.compare LT, %t, %ten, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
         "    stablehlo.return %l : tensor<i1>\n   } do {\n"
         "    %one = stablehlo.constant dense<1> : tensor<i32>\n    %next = stablehlo.add %t, %one : tensor<i32>\n" +
         body + "    stablehlo.return %n, %next : tensor<10000x16xf32>, tensor<i32>\n   }\n";
}

std::string write_row(const std::string& result, const std::string& operand) {
  return "  %v" + result.substr(1) + " = stablehlo.slice %u [0:1, 0:16] : (tensor<3000x16xf32>) -> tensor<1x16xf32>\n  " +
         result + " = stablehlo.dynamic_update_slice " + operand + ", %v" + result.substr(1) +
         ", %t, %z : (tensor<10000x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<i32>) -> tensor<10000x16xf32>\n";
}

TEST(SplicePolicy, SlicesThatAreWrittenBeforeACallGoWithIt) {
  const auto in_loop = [](const std::string& body) { return find(module_of(loop(body), {{"%o#0", kRows}}), kOperators); };
  const std::string slice = "dynamic_update_slice: XLA writes the slice in place, without a call";
  Found found = in_loop(write_row("%a", "%c") + write_row("%b", "%a") + scatter("%n", "%b", "%i", "%u"));
  ASSERT_EQ(found.parts.size(), 1U);
  EXPECT_THAT(found.parts[0], HasSubstr("| dynamic_update_slice dynamic_update_slice scatter | 0 over "));
  EXPECT_THAT(found.kept, IsEmpty());

  found = in_loop(scatter("%a", "%c", "%i", "%u") + write_row("%n", "%a"));
  ASSERT_EQ(found.parts.size(), 1U) << "behind a call XLA writes in place";
  EXPECT_THAT(found.parts[0], HasSubstr("| scatter | 0 over "));
  EXPECT_THAT(found.kept, ElementsAre(slice));

  found = in_loop(write_row("%n", "%c"));
  EXPECT_THAT(found.parts, IsEmpty());
  EXPECT_THAT(found.kept, ElementsAre(slice));
}

TEST(SplicePolicy, WhatCannotGoWithACallKeepsItOut) {
  const std::string region =
      "^bb0(%old: tensor<f32>, %new: tensor<f32>):\n  %s = stablehlo.tanh %old : tensor<f32>\n"
      "  stablehlo.return %s : tensor<f32>\n";
  const Found found =
      find(module_of(scatter("%a", "%x", "%i", "%u", region) + scatter("%r", "%a", "%i", "%u"), {{"%r", kRows}}), kOperators);
  EXPECT_THAT(found.parts, IsEmpty());
  EXPECT_THAT(found.kept,
              ElementsAre("scatter: tanh of f32 has other bits in XLA",
                          "scatter: m.mlir:2: stablehlo.scatter writes to its operand before, stays XLA's, and would copy it"));
}

TEST(SplicePolicy, OneWindowThatIsAddedStays) {
  const std::string one =
      "  %k = stablehlo.slice %i [0:1, 0:1] : (tensor<3000x1xi32>) -> tensor<1x1xi32>\n"
      "  %v = stablehlo.slice %u [0:1, 0:16] : (tensor<3000x16xf32>) -> tensor<1x16xf32>\n";
  const std::string sets = "^bb0(%old: tensor<f32>, %new: tensor<f32>):\n  stablehlo.return %new : tensor<f32>\n";
  const auto parts = [&](const std::string& region, SpliceLevel level, bool own_numerics) {
    const SpliceOptions options{level, own_numerics, true};
    return find(module_of(one + scatter("%r", "%x", "%k", "%v", region, 1), {{"%r", kRows}}), options).parts.size();
  };
  EXPECT_EQ(parts(kAdds, SpliceLevel::operators, false), 0U);
  EXPECT_EQ(parts(kAdds, SpliceLevel::fused, false), 0U);
  EXPECT_EQ(parts(kAdds, SpliceLevel::fused, true), 1U);
  EXPECT_EQ(parts(sets, SpliceLevel::operators, false), 1U);
}

TEST(SplicePolicy, SumsOfZerosThatAreAddedToAnArrayStay) {
  const std::string zeros = "  %z = stablehlo.constant dense<0.0> : tensor<10000x16xf32>\n",
                    sum = scatter("%s", "%z", "%i", "%u");
  const auto kept = [&](const std::string& operation) {
    const std::string text = zeros + sum + line("%r", operation, "%x, %s", kRows);
    return find(module_of(text, {{"%r", kRows}}), kOperators).kept;
  };
  for (const char* const operation : {"add", "subtract"})
    EXPECT_THAT(kept(operation), ElementsAre(HasSubstr("with which XLA makes one scatter of it"))) << operation;
  for (const char* const operation : {"multiply", "divide", "maximum"}) EXPECT_THAT(kept(operation), IsEmpty()) << operation;
  EXPECT_THAT(find(module_of(zeros + sum, {{"%s", kRows}}), kOperators).kept, IsEmpty());
}

TEST(SplicePolicy, UpdatesOfAnotherViewOfAnArrayStay) {
  const std::string
      view = "  %y = stablehlo.reshape %w : (tensor<16x16xf32>) -> tensor<256xf32>\n",
      indices =
          "  %k = stablehlo.slice %i [0:9, 0:1] : (tensor<3000x1xi32>) -> tensor<9x1xi32>\n"
          "  %c = stablehlo.constant dense<2.0> : tensor<9xf32>\n",
      update =
          "  %s = \"stablehlo.scatter\"(%y, %k, %c) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = "
          "[0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n" +
          kAdds + "}) : (tensor<256xf32>, tensor<9x1xi32>, tensor<9xf32>) -> tensor<256xf32>\n";
  const Found found =
      find(module_of(view + indices + update, {{"%s", "tensor<256xf32>"}}), {SpliceLevel::operators, false, true});
  EXPECT_THAT(found.kept, ElementsAre(HasSubstr("its operand is another view of an array")));
}

TEST(SplicePolicy, SumsThatOnlyAnAdditionReadsStay) {
  const std::string sum = scatter("%s", "%x", "%i", "%u");
  const auto kept = [&](const std::string& operation, bool is_returned, const SpliceOptions& options) {
    std::vector<std::pair<std::string, std::string>> results{{"%r", kRows}};
    if (is_returned) results.emplace_back("%s", kRows);
    return find(module_of(sum + line("%r", operation, "%s, %x", kRows), results), options).kept;
  };
  for (const char* const operation : {"add", "subtract"})
    EXPECT_THAT(kept(operation, false, kOperators),
                ElementsAre("scatter: its result is read by stablehlo." + std::string(operation) +
                            ", with which XLA makes one scatter of it"));
  EXPECT_THAT(kept("add", true, kOperators), IsEmpty()) << "the function returns it, too";
  EXPECT_THAT(kept("multiply", false, kOperators), IsEmpty());
  EXPECT_THAT(kept("add", false, kOwn), IsEmpty());
}

TEST(SplicePolicy, SumsOfProductsThatAnAdditionReadsStay) {
  const std::string product = line("%p", "multiply", "%u, %u", kPicked) + scatter("%s", "%x", "%i", "%p");
  const auto kept = [&](const std::string& reader) {
    return find(module_of(product + line("%r", reader, "%s, %x", kRows), {{"%r", kRows}}), kFused).kept;
  };
  EXPECT_THAT(kept("add"), ElementsAre(HasSubstr("with which XLA makes one scatter of it")))
      << "the product is part of the combiner";
  EXPECT_THAT(kept("multiply"), IsEmpty());
}

TEST(SplicePolicy, ProductsWithOneAreNothingBetweenASumAndAnAddition) {
  const auto kept = [](const std::string& operation, const std::string& operands, const std::string& factor) {
    const std::string text = "  %f = stablehlo.constant dense<" + factor + "> : tensor<10000x16xf32>\n" +
                             scatter("%s", "%x", "%i", "%u") + line("%p", operation, operands, kRows) +
                             line("%r", "add", "%p, %x", kRows);
    return find(module_of(text, {{"%r", kRows}}), kOperators).kept;
  };
  for (const auto& [operation, operands] : {std::pair{"multiply", "%s, %f"}, {"multiply", "%f, %s"}, {"divide", "%s, %f"}}) {
    EXPECT_THAT(kept(operation, operands, "1.0"),
                ElementsAre(HasSubstr("read by stablehlo.add, with which XLA makes one scatter")))
        << operation << " " << operands;
    EXPECT_THAT(kept(operation, operands, "0.5"), IsEmpty()) << operation << " " << operands;
  }
  EXPECT_THAT(kept("divide", "%f, %s", "1.0"), IsEmpty());
}

TEST(SplicePolicy, InLoopsTheSameRulesHold) {
  const auto kept = [](const std::string& region, const std::string& reader) {
    const std::string body = scatter("%s", "%c", "%i", "%u", region) + line("%n", reader, "%s, %x", kRows);
    return find(module_of(loop(body), {{"%o#0", kRows}}), kOperators).kept;
  };
  const std::string maxima =
      "^bb0(%old: tensor<f32>, %new: tensor<f32>):\n  %s = stablehlo.maximum %old, %new : tensor<f32>\n  stablehlo.return %s : "
      "tensor<f32>\n";
  EXPECT_THAT(kept(kAdds, "add"), ElementsAre(HasSubstr("with which XLA makes one scatter of it")));
  EXPECT_THAT(kept(kAdds, "multiply"), IsEmpty());
  EXPECT_THAT(kept(maxima, "add"), IsEmpty());
}

TEST(SplicePolicy, OneWindowThatIsWrittenIsFusedIntoItsReader) {
  const std::string one =
      "  %k = stablehlo.slice %i [0:1, 0:1] : (tensor<3000x1xi32>) -> tensor<1x1xi32>\n"
      "  %v = stablehlo.slice %u [0:1, 0:16] : (tensor<3000x16xf32>) -> tensor<1x16xf32>\n";
  const std::string sets = "^bb0(%old: tensor<f32>, %new: tensor<f32>):\n  stablehlo.return %new : tensor<f32>\n";
  const auto found = [&](const std::string& more, const std::string& result) {
    const std::string body = one + scatter("%a", "%x", "%i", "%u", sets) + scatter("%s", "%a", "%k", "%v", sets, 1) + more;
    return find(module_of(body, {{result, kRows}}), {SpliceLevel::operators, false, true});
  };
  EXPECT_THAT(found("", "%s").parts, ElementsAre(HasSubstr("| scatter scatter |")));
  const Found read = found(line("%r", "add", "%s, %x", kRows), "%r");
  EXPECT_THAT(read.parts, ElementsAre(HasSubstr("-> %a | scatter |")));
  EXPECT_THAT(read.kept, ElementsAre("scatter: its result is read by stablehlo.add, into which XLA fuses it"));
}

/// %m = JAX's shard_map of `first`, %i and %u, which are called %c, %j and %v in it. `body` makes %n of `type` of them.
std::string shard_map(const std::string& first, const std::string& body, const std::string& type = kRows) {
  const std::string on = "<@mesh, [{\"d\"}, {}]>";
  return "  %m = sdy.manual_computation(" + first + ", %i, %u) in_shardings=[" + on + ", " + on + ", " + on +
         "] out_shardings=[" + on + "] manual_axes={\"d\"} (%c: " + kRows + ", %j: " + kIndices + ", %v: " + kPicked + ") {\n" +
         body + "    sdy.return %n : " + type + "\n  } : (" + kRows + ", " + kIndices + ", " + kPicked + ") -> " + type + "\n";
}

TEST(SplicePolicy, WhatStandsBeforeAShardMapXlaFusesIntoIt) {
  const auto found = [](const std::string& before, const std::string& first) {
    return find(module_of(before + shard_map(first, gather("%n", "%c", "%j"), kPicked), {{"%m", kPicked}}), kOperators);
  };
  EXPECT_THAT(found("", "%x").parts, ElementsAre(HasSubstr(" | gather |")));
  const std::string squared = line("%q", "multiply", "%x, %x", kRows);
  EXPECT_THAT(found(squared, "%q").kept,
              ElementsAre("gather: its operand is made by stablehlo.multiply, which XLA fuses into it"));
}

TEST(SplicePolicy, WhatReadsTheResultsOfAShardMapXlaFusesWithIt) {
  const std::string rows = shard_map("%x", gather("%n", "%c", "%j"), kPicked);
  EXPECT_THAT(find(module_of(rows + line("%r", "multiply", "%m, %u", kPicked), {{"%r", kPicked}}), kOperators).kept,
              ElementsAre("gather: its result is read by stablehlo.multiply, into which XLA fuses it"));
  EXPECT_THAT(
      find(module_of(rows + line("%r", "multiply", "%m, %u", kPicked), {{"%r", kPicked}, {"%m", kPicked}}), kOperators).kept,
      IsEmpty());
  const std::string zeros = "  %z = stablehlo.constant dense<0.0> : tensor<10000x16xf32>\n",
                    sum = scatter("%n", "%z", "%j", "%v");
  EXPECT_THAT(find(module_of(shard_map("%x", zeros + sum), {{"%m", kRows}}), kOperators).kept, IsEmpty());
  EXPECT_THAT(
      find(module_of(shard_map("%x", zeros + sum) + line("%r", "add", "%m, %x", kRows), {{"%r", kRows}}), kOperators).kept,
      ElementsAre(HasSubstr("with which XLA makes one scatter of it")));
}

TEST(SplicePolicy, OnesFromOutsideOfAShardMap) {
  const std::string sum =
      scatter("%s", "%c", "%j", "%v") + line("%p", "multiply", "%s, %c", kRows) + line("%n", "add", "%p, %c", kRows);
  const std::string scalar =
      "  %y = stablehlo.constant dense<1.0> : tensor<f32>\n  %z = stablehlo.broadcast_in_dim %y, dims = [] : (tensor<f32>) -> "
      "tensor<10000x16xf32>\n";
  const auto kept = [&](const std::string& before, const std::string& first) {
    return find(module_of(before + shard_map(first, sum), {{"%m", kRows}}), kOperators).kept;
  };
  EXPECT_THAT(kept("", "%x"), IsEmpty());
  EXPECT_THAT(kept(scalar, "%z"), ElementsAre(HasSubstr("with which XLA makes one scatter of it")));
}

TEST(SplicePolicy, AViewFromOutsideOfAShardMap) {
  const std::string view =
      "  %f = stablehlo.reshape %x : (tensor<10000x16xf32>) -> tensor<160000xf32>\n"
      "  %g = stablehlo.reshape %f : (tensor<160000xf32>) -> tensor<10000x16xf32>\n";
  const auto kept = [&](const std::string& before, const std::string& first) {
    return find(module_of(before + shard_map(first, scatter("%n", "%c", "%j", "%v")), {{"%m", kRows}}), kOperators).kept;
  };
  EXPECT_THAT(kept("", "%x"), IsEmpty());
  EXPECT_THAT(kept(view, "%g"), ElementsAre(HasSubstr("its operand is another view of an array")));
}

TEST(SplicePolicy, ArithmeticAcrossTheBoundsOfAShardMap) {
  const auto parts = [](const std::string& before, const std::string& first) {
    const std::string body = gather("%g", "%c", "%j") + line("%n", "add", "%g, %v", kPicked);
    return find(module_of(before + shard_map(first, body, kPicked), {{"%m", kPicked}}), kFused).parts;
  };
  EXPECT_THAT(parts("", "%x"), ElementsAre(HasSubstr(" | gather add |")));
  const std::string product =
      "  %q = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<10000x16xf32>, tensor<16x16xf32>) -> "
      "tensor<10000x16xf32>\n";
  EXPECT_THAT(parts(product, "%q"), IsEmpty()) << "XLA may add to the product before it rounds it";
}

}  // namespace
}  // namespace strew
