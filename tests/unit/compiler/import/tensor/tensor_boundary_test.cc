// What stands around tensor.gather and tensor.scatter in a file: operations that only move elements are read, all others are boundaries in
// the dataflow, whatever their form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "strew/import.h"
#include "strew/run_program.h"
#include "tests/support/paths.h"
#include "tests/support/programs.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> opaque_names(const Program& imported) {
  std::vector<std::string> out;
  for (const Opaque& opaque : imported.opaques()) out.push_back(opaque.operation);
  return out;
}

std::vector<std::string> input_names(const Program& imported, int kernel) {
  std::vector<std::string> out;
  for (const int value : kernel_inputs(imported, kernel)) out.push_back(value_name(imported, value));
  return out;
}

TEST(TensorBoundary, OperationsAroundAKernelCutTheDataflow) {
  const auto imported = import_mlir_text(R"(#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%t: tensor<?x4xf32>, %i: tensor<3x1xindex>, %w: tensor<4x4xf32>, %n: index) -> tensor<3x4xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %t, %c0 : tensor<?x4xf32>
  %more = arith.addi %d, %n : index
  %e = tensor.empty(%more) : tensor<?x4xf32>
  %x = linalg.matmul ins(%t, %w : tensor<?x4xf32>, tensor<4x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %g = tensor.gather %x[%i] gather_dims([0]) : (tensor<?x4xf32>, tensor<3x1xindex>) -> tensor<3x4xf32>
  %o = tensor.empty() : tensor<3x4xf32>
  %r = linalg.generic {indexing_maps = [#map, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", #linalg.iterator_type<parallel>]}
      ins(%g : tensor<3x4xf32>) outs(%o : tensor<3x4xf32>) attrs = {tag = 1 : i32} {
  ^bb0(%in: f32, %out: f32):
    %m = arith.mulf %in, %out : f32
    linalg.yield %m : f32
  } -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
})");
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_EQ(imported->format(), "tensor");
  EXPECT_THAT(opaque_names(*imported), ElementsAre("tensor.empty", "linalg.matmul", "tensor.empty", "linalg.generic"));
  for (const Opaque& opaque : imported->opaques()) EXPECT_EQ(opaque.reason, "");
  EXPECT_EQ(imported->opaque(0).arguments.size(), 1U);
  EXPECT_EQ(imported->opaque(1).arguments.size(), 3U);
  ASSERT_EQ(imported->kernels().size(), 1U);
  EXPECT_EQ(imported->kernel(0).name, "main");
  EXPECT_THAT(input_names(*imported, 0), ElementsAre("arg1", "%x"));
  ASSERT_EQ(imported->inputs().size(), 4U);
  EXPECT_EQ(imported->input(3).type, (TensorType{DType::i64, {}, {}}));
  Runtime runtime;
  EXPECT_THAT(run_program(runtime, *imported, {}, {}).status().message(), HasSubstr("linalg.generic: strew does not run this"));
}

TEST(TensorBoundary, KernelsInRegionsAreNamedByPath) {
  const auto imported = import_mlir_text(R"(
func.func private @row(%x: tensor<5x4xf32>, %i: tensor<3x1xindex>) -> tensor<3x4xf32> {
  %0 = tensor.gather %x[%i] gather_dims([0]) : (tensor<5x4xf32>, tensor<3x1xindex>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
func.func @main(%x: tensor<5x4xf32>, %i: tensor<3x1xindex>, %p: i1) -> tensor<3x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<3x4xf32>
  %r = scf.for %k = %c0 to %c1 step %c1 iter_args(%s = %z) -> (tensor<3x4xf32>) {
    %g = func.call @row(%x, %i) : (tensor<5x4xf32>, tensor<3x1xindex>) -> tensor<3x4xf32>
    %a = arith.addf %s, %g : tensor<3x4xf32>
    scf.yield %a : tensor<3x4xf32>
  }
  %o = scf.if %p -> (tensor<3x4xf32>) {
    %g = tensor.gather %x[%i] gather_dims([0]) : (tensor<5x4xf32>, tensor<3x1xindex>) -> tensor<3x4xf32>
    scf.yield %g : tensor<3x4xf32>
  } else {
    scf.yield %r : tensor<3x4xf32>
  }
  return %o : tensor<3x4xf32>
})");
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  std::vector<std::string> names;
  for (const ProgramKernel& kernel : imported->kernels()) names.push_back(kernel.name);
  EXPECT_THAT(names, ElementsAre("main/for/body/gather", "main/if/true/gather"));
  EXPECT_THAT(opaque_names(*imported), ElementsAre("scf.for", "scf.if"));
  EXPECT_EQ(imported->opaque(0).yields.size(), 1U);
  for (int k = 0; k < 2; ++k) EXPECT_EQ(cut_kernel(*imported, k).kernels().size(), 1U);
}

TEST(TensorBoundary, AFunctionOfSeveralBlocksGivesItsKernels) {
  const auto imported = import_mlir_text(R"(func.func @main(%x: tensor<4xf32>, %i: tensor<3x1xindex>, %p: i1) -> tensor<3xf32> {
  %g = tensor.gather %x[%i] gather_dims([0]) : (tensor<4xf32>, tensor<3x1xindex>) -> tensor<3xf32>
  cf.cond_br %p, ^other(%g : tensor<3xf32>), ^end(%g : tensor<3xf32>)
^other(%a: tensor<3xf32>):
  %b = arith.addf %a, %g : tensor<3xf32>
  cf.br ^end(%b : tensor<3xf32>)
^end(%r: tensor<3xf32>):
  return %r : tensor<3xf32>
})");
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  ASSERT_EQ(imported->kernels().size(), 1U);
  EXPECT_EQ(imported->kernel(0).name, "main");
  ASSERT_EQ(imported->opaques().size(), 1U);
  EXPECT_EQ(imported->opaque(0).operation, "func.func");
  EXPECT_THAT(imported->opaque(0).reason, HasSubstr("has several blocks"));
  EXPECT_EQ(imported->opaque(0).yields.size(), 5U) << "%p and %g twice, %b, %r";
  ASSERT_EQ(imported->outputs().size(), 1U);
  const Value& result = imported->value(imported->outputs()[0].value);
  EXPECT_EQ(result.kind, ValueKind::opaque);
  EXPECT_EQ(result.type.dims, (std::vector<int64_t>{3}));
  EXPECT_THAT(input_names(*imported, 0), ElementsAre("arg0", "arg1"));
}

/// A gather after operations of so many dialects that nobody knows.
std::string of_dialects(int count) {
  std::string text = "func.func @main(%t: tensor<4x6xf32>, %i: tensor<3x1xindex>) -> tensor<3x6xf32> {\n";
  for (int i = 0; i < count; ++i) text += "  %r" + std::to_string(i) + " = d" + std::to_string(i) + ".op %t : tensor<4x6xf32>\n";
  return text +
         "  %g = tensor.gather %t[%i] gather_dims([0]) : (tensor<4x6xf32>, tensor<3x1xindex>) -> tensor<3x6xf32>\n"
         "  return %g : tensor<3x6xf32>\n}\n";
}

TEST(TensorBoundary, TwoHundredDialectsMayBeUnknown) {
  const auto imported = import_mlir_text(of_dialects(200));
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_EQ(imported->opaques().size(), 200U);
  EXPECT_EQ(imported->kernels().size(), 1U);
  EXPECT_THAT(import_mlir_text(of_dialects(300)).status().message(), HasSubstr("not found for custom op 'd"));
}

struct Form {
  std::string text;    ///< defines %r of %t (tensor<4x6xf32>), %s (tensor<2x3xf32>), %n (index), %f (f32)
  size_t arguments;    ///< of the boundary, or 0 if it is read
  std::string reason;  ///< of the boundary
  TensorType result;   ///< of %r
};

/// The form's operation is read, or is a boundary with these operands and results, and the kernel behind it is found.
void expect_read(const Form& form) {
  const auto imported = import_mlir_text(
      "func.func @main(%t: tensor<4x6xf32>, %s: tensor<2x3xf32>, %n: index, %f: f32, %i: tensor<3x1xindex>, "
      "%o: tensor<?xf32>, %m: memref<4x6xf32>, %v: vector<4xf32>, %w: tensor<2x2x2x3xf32>) -> tensor<3x6xf32> "
      "{\n"
      "  %r = " +
      form.text +
      "\n  %u = tensor.empty() : tensor<3xf32> loc(unknown)\n"
      "  %g = tensor.gather %t[%i] gather_dims([0]) : (tensor<4x6xf32>, tensor<3x1xindex>) -> tensor<3x6xf32>\n"
      "  return %g : tensor<3x6xf32>\n}\n");
  ASSERT_TRUE(imported.ok()) << form.text << "\n" << imported.status().message();
  EXPECT_EQ(imported->kernels().size(), 1U) << form.text;
  std::vector<Opaque> opaques = imported->opaques();
  std::erase_if(opaques, [](const Opaque& opaque) { return opaque.operation == "func.func"; });  // %m and %v
  ASSERT_EQ(opaques.size(), form.arguments == 0 ? 1U : 2U) << form.text;
  if (form.arguments > 0) {
    EXPECT_EQ(opaques[0].arguments.size(), form.arguments) << form.text;
    EXPECT_EQ(opaques[0].reason, form.reason) << form.text;
  }
  bool found = false;
  for (const Value& value : imported->values()) {
    if (value.name != "%r") continue;
    found = true;
    EXPECT_TRUE(value.is_typed) << form.text;
    EXPECT_EQ(value.type, form.result) << form.text;
  }
  EXPECT_TRUE(found) << form.text;
}

TEST(TensorBoundary, EveryFormGivesOperandsAndResults) {
  const TensorType whole{DType::f32, {4, 6}, {}}, part{DType::f32, {2, 3}, {}}, number{DType::i64, {}, {}};
  const TensorType element{DType::f32, {}, {}}, line{DType::f32, {kDynamic}, {}};
  const std::string known = "offsets, sizes or strides are known at the call only";
  const Form forms[] = {
      {"tensor.empty(%n) : tensor<?xf32>", 1, "", line},
      {"tensor.insert_slice %s into %t[%n, 1] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x6xf32>", 3, known, whole},
      {"tensor.insert_slice %s into %t[1, 1] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x6xf32>", 0, "", whole},
      {"tensor.extract_slice %t[%n, 1] [2, 3] [1, 1] : tensor<4x6xf32> to tensor<2x3xf32>", 2, known, part},
      {"tensor.extract %t[%n, %n] : tensor<4x6xf32>", 3, "", element},
      {"tensor.insert %f into %t[%n, %n] : tensor<4x6xf32>", 4, "", whole},
      {"tensor.from_elements %f, %f : tensor<2xf32>", 0, "", {DType::f32, {2}, {}}},
      {"\"tensor.from_elements\"(%f, %f) : (f32, f32) -> tensor<2xf32>", 0, "", {DType::f32, {2}, {}}},
      {"tensor.rank %t : tensor<4x6xf32>", 1, "", number},
      {"tensor.dim %t, %n : tensor<4x6xf32>", 2, "the number of the dim, expected a constant inside the rank", number},
      {"tensor.concat dim(0) %t, %t : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>", 0, "", {DType::f32, {8, 6}, {}}},
      {"tensor.pad %s low[1, 0] high[%n, 0] {\n  ^bb0(%a: index, %b: index):\n    tensor.yield %f : f32\n  } : tensor<2x3xf32> "
       "to "
       "tensor<?x3xf32>",
       3,
       "",
       {DType::f32, {kDynamic, 3}, {}}},
      {"tensor.generate %n {\n  ^bb0(%a: index):\n    tensor.yield %f : f32\n  } : tensor<?xf32>", 2, "", line},
      {"tensor.expand_shape %o [[0, 1]] output_shape [%n, %n] : tensor<?xf32> into tensor<?x?xf32>",
       3,
       "the shape leaves several dims open, expected one at most",
       {DType::f32, {kDynamic, kDynamic}, {}}},
      {"linalg.fill ins(%f : f32) outs(%t : tensor<4x6xf32>) -> tensor<4x6xf32>", 0, "", whole},
      {"linalg.map { arith.addf } ins(%t, %t : tensor<4x6xf32>, tensor<4x6xf32>) outs(%t : tensor<4x6xf32>)", 3, "", whole},
      {"linalg.map ins(%s : tensor<2x3xf32>) outs(%s : tensor<2x3xf32>) (%a: f32) {\n    linalg.yield %a : f32\n  }", 2, "",
       part},
      {"linalg.transpose ins(%t : tensor<4x6xf32>) outs(%t : tensor<4x6xf32>) permutation = [1, 0]", 2, "", whole},
      {"linalg.softmax dimension(1) ins(%t : tensor<4x6xf32>) outs(%t : tensor<4x6xf32>) -> tensor<4x6xf32>", 2, "", whole},
      {"bufferization.alloc_tensor(%n) {escape = true} : tensor<?xf32>", 1, "", line},
      {"tm_tensor.sort dimension(0) outs(%t : tensor<4x6xf32>) {\n  ^bb0(%a: f32):\n    tm_tensor.yield %a : f32\n  } -> "
       "tensor<4x6xf32>",
       1, "", whole},
      {"someones.frob %t, %n {some.note = #other.thing<4>} : (tensor<4x6xf32>, index) -> tensor<2x3xf32>", 2, "", part},
      {"\"linalg.matmul\"(%t, %t) {x = 1 : i32} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>", 2, "", whole},
      {"affine.apply affine_map<(d0)[s0] -> (d0 + s0 floordiv 2)>(%n)[%n]", 2, "", number},
      {"affine.for %k = 0 to %n step 2 iter_args(%x = %f) -> (f32) {\n    affine.yield %x : f32\n  }", 2, "", element},
      {"affine.load %m[%n + 1, symbol(%n) * 2] : memref<4x6xf32>", 2, "", element},
      {"memref.load %m[%n, %n] : memref<4x6xf32>", 3, "", element},
      {"bufferization.to_tensor %m restrict : memref<4x6xf32> to tensor<4x6xf32>", 1, "", whole},
      {"vector.reduction <add>, %v : vector<4xf32> into f32", 1, "", element},
      {"vector.contract {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], "
       "iterator_types = [\"reduction\"], kind = #vector.kind<add>} %v, %v, %f : vector<4xf32>, vector<4xf32> into f32",
       3, "", element},
      {"vector.transfer_write %v, %t[%n, %n] {in_bounds = [true]} : vector<4xf32>, tensor<4x6xf32>", 4, "", whole},
      {"linalg.reduce { arith.addf } ins(%t : tensor<4x6xf32>) outs(%o : tensor<?xf32>) dimensions = [0]", 2, "", line},
      {"linalg.pack %t inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %w : tensor<4x6xf32> -> tensor<2x2x2x3xf32>",
       2,
       "",
       {DType::f32, {2, 2, 2, 3}, {}}},
      {"index.add %n, %n", 2, "", number},
      {"arith.ceildivsi %n, %n : index", 2, "", number},
  };
  for (const Form& form : forms) expect_read(form);
}

/// The elements of f32 outputs.
std::vector<float> floats(const Tensor& tensor) {
  std::vector<float> out(static_cast<size_t>(tensor.elements()));
  std::memcpy(out.data(), tensor.data.data(), out.size() * sizeof(float));
  return out;
}

/// The first output of `text`, of 0, 1, 2, ... as its only input; with folding and without.
std::vector<float> run(const std::string& text) {
  std::vector<float> result;
  for (const bool fold : {true, false}) {
    ImportOptions options;
    options.fuse = fold;
    const auto imported = import_mlir_text(text, options);
    EXPECT_TRUE(imported.ok()) << imported.status().message();
    if (!imported.ok()) return {};
    EXPECT_TRUE(imported->opaques().empty()) << imported->opaques().front().location << imported->opaques().front().reason;
    std::vector<int64_t> dims = imported->input(0).type.dims;
    for (int64_t& d : dims) d = d == kDynamic ? 4 : d;
    std::vector<Tensor> inputs;
    inputs.push_back(make_tensor(DType::f32, dims).value());
    Tensor& input = inputs.back();
    for (int64_t i = 0; i < input.elements(); ++i) {
      const auto number = static_cast<float>(i);
      std::memcpy(input.data.data() + i * 4, &number, 4);
    }
    const auto outputs = test::run_copy(*imported, inputs, "reference");
    EXPECT_TRUE(outputs.ok()) << outputs.status().message();
    if (!outputs.ok()) return {};
    if (fold) result = floats(outputs->front());
    EXPECT_EQ(floats(outputs->front()), result) << "fold " << fold;
  }
  return result;
}

/// @main of %t: tensor<4x2xf32>, whose `body` defines %r, gathered by rows 2 and 0.
std::string rows_of(const std::string& body, const std::string& type, const std::string& result) {
  return "func.func @main(%t: tensor<4x2xf32>) -> " + result + " {\n" + body +
         "  %i = arith.constant dense<[[2], [0]]> : tensor<2x1xindex>\n  %g = tensor.gather %r[%i] gather_dims([0]) : (" + type +
         ", tensor<2x1xindex>) -> " + result + "\n  return %g : " + result + "\n}\n";
}

TEST(TensorBoundary, WhatOnlyMovesElementsIsRead) {
  EXPECT_EQ(run(rows_of("  %r = tensor.collapse_shape %t [[0, 1]] : tensor<4x2xf32> into tensor<8xf32>\n", "tensor<8xf32>",
                        "tensor<2xf32>")),
            (std::vector<float>{2, 0}));
  EXPECT_EQ(
      run(rows_of("  %r = tensor.expand_shape %t [[0], [1, 2]] output_shape [4, 1, 2] : tensor<4x2xf32> into tensor<4x1x2xf32>\n",
                  "tensor<4x1x2xf32>", "tensor<2x1x2xf32>")),
      (std::vector<float>{4, 5, 0, 1}));
  EXPECT_EQ(run(rows_of("  %r = tensor.extract_slice %t[1, 1] [3, 1] [1, 1] : tensor<4x2xf32> to tensor<3xf32>\n",
                        "tensor<3xf32>", "tensor<2xf32>")),
            (std::vector<float>{7, 3}));
  EXPECT_EQ(run(rows_of("  %r = tensor.extract_slice %t[0, 0] [3, 2] [1, 1] : tensor<4x2xf32> to tensor<3x2xf32>\n",
                        "tensor<3x2xf32>", "tensor<2x2xf32>")),
            (std::vector<float>{4, 5, 0, 1}));
  EXPECT_EQ(run(rows_of("  %s = arith.constant dense<[2, 4]> : tensor<2xi64>\n"
                        "  %q = tensor.reshape %t(%s) : (tensor<4x2xf32>, tensor<2xi64>) -> tensor<2x4xf32>\n"
                        "  %d = tensor.cast %q : tensor<2x4xf32> to tensor<?x4xf32>\n"
                        "  %e = tensor.collapse_shape %d [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>\n"
                        "  %r = tensor.cast %e : tensor<?xf32> to tensor<8xf32>\n",
                        "tensor<8xf32>", "tensor<2xf32>")),
            (std::vector<float>{2, 0}));
  EXPECT_EQ(run(rows_of("  %f = arith.constant 1.5 : f32\n  %s = tensor.splat %f : tensor<4x2xf32>\n"
                        "  %h = linalg.fill ins(%f : f32) outs(%s : tensor<4x2xf32>) -> tensor<4x2xf32>\n"
                        "  %r = arith.addf %h, %t : tensor<4x2xf32>\n",
                        "tensor<4x2xf32>", "tensor<2x2xf32>")),
            (std::vector<float>{5.5, 6.5, 1.5, 2.5}));
  EXPECT_EQ(run(rows_of("  %s = arith.constant dense<[10.0, 20.0]> : tensor<2xf32>\n"
                        "  %r = tensor.insert_slice %s into %t[1, 1] [2, 1] [1, 1] : tensor<2xf32> into tensor<4x2xf32>\n",
                        "tensor<4x2xf32>", "tensor<2x2xf32>")),
            (std::vector<float>{4, 20, 0, 1}));
  EXPECT_EQ(run(rows_of("  %s = arith.constant dense<[[10.0, 20.0]]> : tensor<1x2xf32>\n"
                        "  %r = tensor.concat dim(0) %s, %t : (tensor<1x2xf32>, tensor<4x2xf32>) -> tensor<5x2xf32>\n",
                        "tensor<5x2xf32>", "tensor<2x2xf32>")),
            (std::vector<float>{2, 3, 10, 20}));
  EXPECT_EQ(run(rows_of("  %a = arith.constant 1.5 : f32\n  %b = arith.constant 2.5 : f32\n  %c = arith.addf %a, %b : f32\n"
                        "  %s = tensor.from_elements %a, %b, %c, %a : tensor<2x2xf32>\n"
                        "  %r = tensor.concat dim(0) %s, %t : (tensor<2x2xf32>, tensor<4x2xf32>) -> tensor<6x2xf32>\n",
                        "tensor<6x2xf32>", "tensor<2x2xf32>")),
            (std::vector<float>{0, 1, 1.5, 2.5}));
}

TEST(TensorBoundary, IndicesMayBeMadeOfScalars) {
  const auto imported = import_mlir_text(R"(func.func @main(%t: tensor<5x4xf32>, %n: index) -> tensor<2x4xf32> {
  %one = arith.constant 1 : index
  %next = arith.addi %n, %one : index
  %i = tensor.from_elements %n, %next : tensor<2x1xindex>
  %g = tensor.gather %t[%i] gather_dims([0]) : (tensor<5x4xf32>, tensor<2x1xindex>) -> tensor<2x4xf32>
  return %g : tensor<2x4xf32>
})");
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_TRUE(imported->opaques().empty());
  ASSERT_EQ(imported->kernels().size(), 1U);
}

TEST(TensorBoundary, AnExtentIsAnIndex) {
  // Row -1 + 4 of the four that the call has.
  EXPECT_EQ(run(R"(func.func @main(%t: tensor<?x2xf32>) -> tensor<1x2xf32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1> : tensor<1x1xindex>
  %n = tensor.dim %t, %c0 : tensor<?x2xf32>
  %s = tensor.splat %n : tensor<1x1xindex>
  %i = arith.subi %s, %one : tensor<1x1xindex>
  %g = tensor.gather %t[%i] gather_dims([0]) : (tensor<?x2xf32>, tensor<1x1xindex>) -> tensor<1x2xf32>
  return %g : tensor<1x2xf32>
})"),
            (std::vector<float>{6, 7}));
}

TEST(TensorBoundary, SlicesOutsideOfTheirSourceAreNotRead) {
  for (const char* slice :
       {"%t[2, 0] [3, 2] [1, 1] : tensor<4x2xf32> to tensor<3x2xf32>",
        "%t[-1, 0] [3, 2] [1, 1] : tensor<4x2xf32> to tensor<3x2xf32>",
        "%t[0, 0] [3, 2] [0, 1] : tensor<4x2xf32> to tensor<3x2xf32>",
        "%t[0, 0] [3, 2] [2, 1] : tensor<4x2xf32> to tensor<3x2xf32>", "%t[0] [3] [1] : tensor<4x2xf32> to tensor<3x2xf32>",
        "%t[0, 0] [3, 1] [1, 1] : tensor<4x2xf32> to tensor<3x2xf32>"}) {
    const auto imported = import_mlir_text(
        rows_of("  %r = tensor.extract_slice " + std::string(slice) + "\n", "tensor<3x2xf32>", "tensor<2x2xf32>"));
    if (!imported.ok()) continue;  // MLIR's verifier refuses the file
    ASSERT_EQ(imported->opaques().size(), 1U) << slice;
    EXPECT_NE(imported->opaque(0).reason, "") << slice;
  }
}

TEST(TensorBoundary, SlicesThatDoNotFitAreNotInserted) {
  for (const std::string slice : {"%s into %t[3, 0] [2, 1] [1, 1] : tensor<2xf32> into tensor<4x2xf32>",
                                  "%s into %t[0, 2] [2, 1] [1, 1] : tensor<2xf32> into tensor<4x2xf32>",
                                  "%s into %t[0, 0] [2, 1] [2, 1] : tensor<2xf32> into tensor<4x2xf32>",
                                  "%s into %t[0, 0] [3, 1] [1, 1] : tensor<2xf32> into tensor<4x2xf32>",
                                  "%s into %t[0] [2] [1] : tensor<2xf32> into tensor<4x2xf32>"}) {
    const auto imported = import_mlir_text(
        rows_of("  %s = arith.constant dense<[10.0, 20.0]> : tensor<2xf32>\n  %r = tensor.insert_slice " + slice + "\n",
                "tensor<4x2xf32>", "tensor<2x2xf32>"));
    if (!imported.ok()) continue;  // MLIR's verifier refuses the file
    ASSERT_EQ(imported->opaques().size(), 1U) << slice;
    EXPECT_NE(imported->opaque(0).reason, "") << slice;
  }
}

TEST(TensorBoundary, OneFileMixesDialects) {
  const auto imported =
      import_mlir_text(R"(func.func @main(%t: tensor<5x4xf32>, %i: tensor<3x1xi32>) -> (tensor<3x4xf32>, tensor<1x4xf32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %g = tensor.gather %t[%i] gather_dims([0]) : (tensor<5x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  %n = stablehlo.negate %g : tensor<3x4xf32>
  %m = arith.mulf %n, %n : tensor<3x4xf32>
  %s = stablehlo.dynamic_slice %t, %z, %z, sizes = [1, 4] : (tensor<5x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
  return %m, %s : tensor<3x4xf32>, tensor<1x4xf32>
})");
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  ASSERT_EQ(imported->kernels().size(), 2U);
  EXPECT_TRUE(imported->opaques().empty());
  EXPECT_EQ(std::get<Gather>(*imported->kernel(0).op).oob, OobPolicy::undefined);
  EXPECT_EQ(std::get<Gather>(*imported->kernel(1).op).oob, OobPolicy::clamp);
  EXPECT_THAT(imported->kernel(0).notes, ElementsAre("fused: 2 elementwise operations on what is gathered"));
}

TEST(TensorBoundary, TheExampleIsRead) {
  const auto imported = import_file((test::source_folder() / "examples/tensor_gather/layer.mlir").string(), {});
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_THAT(opaque_names(*imported), ElementsAre("tensor.empty", "linalg.matmul", "linalg.generic", "scf.for"));
  ASSERT_EQ(imported->kernels().size(), 2U);
  EXPECT_EQ(imported->kernel(0).name, "layer");
  EXPECT_EQ(imported->kernel(1).name, "layer/for/body/scatter");
  EXPECT_EQ(std::get<Scatter>(*imported->kernel(1).op).combiner, CombinerKind::add);
}

/// XLA's rule for scatters is about StableHLO's: what a module of JAX has of another dialect keeps its own policy.
TEST(TensorBoundary, XlasRuleIsForStablehlo) {
  const auto imported = import_mlir_text(R"(module attributes {mhlo.num_partitions = 1 : i32} {
func.func @main(%d: tensor<4xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) -> tensor<4xf32> {
  %r = tensor.scatter %u into %d[%i] scatter_dims([0]) unique : (tensor<3xf32>, tensor<4xf32>, tensor<3x1xi32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
})");
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_EQ(std::get<Scatter>(*imported->kernel(0).op).oob, OobPolicy::undefined);
  EXPECT_TRUE(imported->kernel(0).notes.empty());
}

}  // namespace
}  // namespace strew
