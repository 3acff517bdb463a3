// Broken files of the tensor dialect: one line that names the place, the operation, what is wrong and what was expected. Each row
// changes one piece of a file that imports.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/error/broken_mlir.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew {
namespace {

constexpr char kGather[] = R"(func.func @main(%s: tensor<4x5x6xf32>, %i: tensor<3x2xi32>) -> tensor<3x1x5x1xf32> {
  %r = tensor.gather %s[%i] gather_dims([0, 2]) : (tensor<4x5x6xf32>, tensor<3x2xi32>) -> tensor<3x1x5x1xf32>
  return %r : tensor<3x1x5x1xf32>
}
)";
constexpr char kScatter[] =
    R"(func.func @main(%u: tensor<3x5xf32>, %d: tensor<4x5x6xf32>, %i: tensor<3x2xindex>) -> tensor<4x5x6xf32> {
  %r = tensor.scatter %u into %d[%i] scatter_dims([0, 2]) unique : (tensor<3x5xf32>, tensor<4x5x6xf32>, tensor<3x2xindex>) -> tensor<4x5x6xf32>
  return %r : tensor<4x5x6xf32>
}
)";
constexpr char kOlder[] = R"(func.func @main(%s: tensor<4x5x6xf32>, %i: tensor<3x1xindex>) -> tensor<3x4x1x6xf32> {
  %r = tensor.gather %s[%i] gather_along_dimension(1) : tensor<4x5x6xf32>[tensor<3x1xindex>] -> tensor<3x4x1x6xf32>
  return %r : tensor<3x4x1x6xf32>
}
)";
constexpr char kWide[] = R"(func.func @main(%s: tensor<4x5x5xf32>, %i: tensor<3x1xi32>) -> tensor<3x5x5xf32> {
  %r = tensor.gather %s[%i] gather_dims([0]) : (tensor<4x5x5xf32>, tensor<3x1xi32>) -> tensor<3x5x5xf32>
  return %r : tensor<3x5x5xf32>
}
)";
constexpr char kUpdate[] =
    R"(func.func @main(%d: tensor<4xi32>, %i: tensor<3x1xindex>, %u: tensor<3xi32>) -> tensor<4xi32> {
  %g = tensor.gather %d[%i] gather_dims([0]) : (tensor<4xi32>, tensor<3x1xindex>) -> tensor<3xi32>
  %c = arith.addi %g, %u : tensor<3xi32>
  %r = tensor.scatter %c into %d[%i] scatter_dims([0]) unique : (tensor<3xi32>, tensor<4xi32>, tensor<3x1xindex>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}
)";
constexpr char kGeneric[] = R"(func.func @main(%s: tensor<4x5xf32>, %i: tensor<3x1xi32>) -> tensor<3x5xf32> {
  %r = "tensor.gather"(%s, %i) <{gather_dims = array<i64: 0>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}
)";

TEST(TensorError, TheUnbrokenFilesImport) {
  for (const char* file : {kGather, kScatter, kOlder, kUpdate, kGeneric}) EXPECT_EQ(import_message(file), "imported");
}

TEST(TensorError, Dims) {
  check({
      {kGather, "gather_dims([0, 2])", "gather_dims([])", "FILE:2: tensor.gather: gather_dims must be non-empty"},
      {kGather, "gather_dims([0, 2])", "gather_dims([0])",
       "FILE:2: tensor.gather: gather_dims length must match the size of last dimension of indices"},
      {kGather, "gather_dims([0, 2])", "gather_dims([0, 1, 2])",
       "FILE:2: tensor.gather: gather_dims length must match the size of last dimension of indices"},
      {kGather, "gather_dims([0, 2])", "gather_dims([0, 1, 2, 3])", "FILE:2: tensor.gather: gather_dims overflow source rank"},
      {kGather, "gather_dims([0, 2])", "gather_dims([2, 0])",
       "FILE:2: tensor.gather: gather_dims values must be strictly increasing"},
      {kGather, "gather_dims([0, 2])", "gather_dims([2, 2])",
       "FILE:2: tensor.gather: gather_dims values must be strictly increasing"},
      {kGather, "gather_dims([0, 2])", "gather_dims([0, 3])",
       "FILE:2: tensor.gather: gather_dims value must be smaller than source rank"},
      {kGather, "gather_dims([0, 2])", "gather_dims([-1, 2])", "FILE:2: tensor.gather: gather_dims value must be non-negative"},
      {kGather, "gather_dims([0, 2])", "gather_dims([0, 1])",
       "FILE:2: tensor.gather: result type mismatch: expected 'tensor<3x1x1x6xf32>' or its rank-reduced variant "
       "'tensor<3x6xf32>' (got: 'tensor<3x1x5x1xf32>')"},
      {kScatter, "scatter_dims([0, 2])", "scatter_dims([])", "FILE:2: tensor.scatter: scatter_dims must be non-empty"},
      {kScatter, "scatter_dims([0, 2])", "scatter_dims([2])",
       "FILE:2: tensor.scatter: scatter_dims length must match the size of last dimension of indices"},
      {kScatter, "scatter_dims([0, 2])", "scatter_dims([2, 1])",
       "FILE:2: tensor.scatter: scatter_dims values must be strictly increasing"},
      {kScatter, "scatter_dims([0, 2])", "scatter_dims([0, 9])",
       "FILE:2: tensor.scatter: scatter_dims value must be smaller than dest rank"},
      {kOlder, "gather_along_dimension(1)", "gather_along_dimension(7)",
       "FILE:2: tensor.gather: gather_dims value must be smaller than source rank"},
      {kGeneric, "<{gather_dims = array<i64: 0>}>", "", "FILE:2: tensor.gather: requires attribute 'gather_dims'"},
      {kGeneric, "array<i64: 0>", "array<i32: 0>",
       "FILE:2: invalid properties {gather_dims = array<i32: 0>} for op tensor.gather: Invalid attribute `gather_dims` in "
       "property "
       "conversion: array<i32: 0>"},
      {kGeneric, "array<i64: 0>", "7",
       "FILE:2: invalid properties {gather_dims = 7 : i64} for op tensor.gather: Invalid attribute `gather_dims` in property "
       "conversion: 7 : i64"},
  });
}

TEST(TensorError, Shapes) {
  check({
      {kGather, "tensor<3x1x5x1xf32>", "tensor<3x5x1xf32>",
       "FILE:2: tensor.gather: result type mismatch: expected 'tensor<3x1x5x1xf32>' or its rank-reduced variant "
       "'tensor<3x5xf32>' (got: 'tensor<3x5x1xf32>')"},
      {kGather, "tensor<3x1x5x1xf32>", "tensor<3x1x4x1xf32>",
       "FILE:2: tensor.gather: result type mismatch: expected 'tensor<3x1x5x1xf32>' or its rank-reduced variant "
       "'tensor<3x5xf32>' (got: 'tensor<3x1x4x1xf32>')"},
      {kGather, "tensor<3x1x5x1xf32>", "tensor<?x1x5x1xf32>",
       "FILE:2: tensor.gather: result type mismatch: expected 'tensor<3x1x5x1xf32>' or its rank-reduced variant "
       "'tensor<3x5xf32>' (got: 'tensor<?x1x5x1xf32>')"},
      {kGather, "tensor<3x1x5x1xf32>", "tensor<2x5xf32>",
       "FILE:2: tensor.gather: result type mismatch: expected 'tensor<3x1x5x1xf32>' or its rank-reduced variant "
       "'tensor<3x5xf32>' (got: 'tensor<2x5xf32>')"},
      {kGather, "tensor<3x2xi32>", "tensor<i32>",
       "FILE:2: tensor.gather: gather_dims length must match the size of last dimension of indices"},
      {kGather, "tensor<3x2xi32>", "tensor<3x?xi32>",
       "FILE:2: tensor.gather: gather_dims length must match the size of last dimension of indices"},
      {kGather, "tensor<3x2xi32>", "tensor<3xi32>",
       "FILE:2: tensor.gather: gather_dims length must match the size of last dimension of indices"},
      {kGather, "tensor<4x5x6xf32>", "tensor<0x5x6xf32>",
       "FILE:2: tensor.gather: slice_sizes is [1,5,1]; expected entry 0 from 0 to 0, dim 0 of operand f32[0,5,6] [gather_c21]"},
      {kScatter, "tensor<3x5xf32>", "tensor<3x6xf32>",
       "FILE:2: tensor.scatter: source type mismatch: expected 'tensor<3x1x5x1xf32>' or its rank-reduced variant "
       "'tensor<3x5xf32>' (got: 'tensor<3x6xf32>')"},
      {kScatter, "tensor<3x5xf32>", "tensor<3x1x5x2xf32>",
       "FILE:2: tensor.scatter: source type mismatch: expected 'tensor<3x1x5x1xf32>' or its rank-reduced variant "
       "'tensor<3x5xf32>' (got: 'tensor<3x1x5x2xf32>')"},
      {kScatter, "tensor<3x2xindex>", "tensor<4x2xindex>",
       "FILE:2: tensor.scatter: source type mismatch: expected 'tensor<4x1x5x1xf32>' or its rank-reduced variant "
       "'tensor<4x5xf32>' (got: 'tensor<3x5xf32>')"},
      {kWide, "5", "99999999999",
       "FILE:1: func.func: argument 0: type tensor<4x99999999999x99999999999xf32>: the number of elements overflows 64 bits"},
  });
}

TEST(TensorError, Types) {
  check({
      {kGather, "tensor<3x2xi32>", "tensor<3x2xf32>",
       "FILE:2: tensor.gather: operand #1 must be ranked tensor of signless integer or index values, but got 'tensor<3x2xf32>'"},
      {kGather, "tensor<3x2xi32>", "tensor<3x2xui32>",
       "FILE:2: tensor.gather: operand #1 must be ranked tensor of signless integer or index values, but got 'tensor<3x2xui32>'"},
      {kGather, "tensor<3x2xi32>", "tensor<3x2xi1>",
       "FILE:2: tensor.gather: indices tensor<3x2xi1>: strew has no index type of 1 bit, expected i4 to i64 or index"},
      {kGather, "tensor<3x2xi32>", "tensor<3x2xi7>",
       "FILE:1: func.func: argument 1: element type i7, expected an integer of 2, 4, 8, 16, 32 or 64 bits, or i1"},
      {kGather, "tensor<3x1x5x1xf32>", "tensor<3x1x5x1xf64>",
       "FILE:2: tensor.gather: result type mismatch: expected 'tensor<3x1x5x1xf32>' or its rank-reduced variant "
       "'tensor<3x5xf32>' (got: 'tensor<3x1x5x1xf64>')"},
      {kGather, "tensor<4x5x6xf32>", "tensor<*xf32>",
       "FILE:2: tensor.gather: operand #0 must be ranked tensor of any type values, but got 'tensor<*xf32>'"},
      {kGather, "tensor<4x5x6xf32>", "memref<4x5x6xf32>",
       "FILE:2: tensor.gather: operand #0 must be ranked tensor of any type values, but got 'memref<4x5x6xf32>'"},
      {kGather, "xf32>", "xf80>", "FILE:1: func.func: argument 0: element type f80 is not one strew stores"},
      {kGather, "xf32>", "xf32, \"sparse\">",
       "FILE:1: func.func: argument 0: type tensor<4x5x6xf32, \"sparse\">: this encoding is not read"},
      {kScatter, "tensor<3x5xf32>", "tensor<3x5xbf16>",
       "FILE:2: tensor.scatter: source type mismatch: expected 'tensor<3x1x5x1xf32>' or its rank-reduced variant "
       "'tensor<3x5xf32>' (got: 'tensor<3x5xbf16>')"},
  });
}

TEST(TensorError, Text) {
  check({
      {kScatter, " unique", "", "FILE:2: tensor.scatter: requires 'unique' attribute to be set"},
      {kScatter, "unique", "unique unique", "FILE:2: tensor.scatter: 'unique' is given twice"},
      {kScatter, "unique", "ordered", "FILE:2: tensor.scatter: expected 'scatter_dims' or 'unique', found 'ordered'"},
      {kScatter, "scatter_dims([0, 2])", "gather_dims([0, 2])",
       "FILE:2: tensor.scatter: expected 'scatter_dims' or 'unique', found 'gather_dims'"},
      {kScatter, "scatter_dims([0, 2]) ", "", "FILE:2: tensor.scatter: requires attribute 'scatter_dims'"},
      {kScatter, "scatter_dims([0, 2])", "scatter_dims([0, 2]) scatter_dims([0, 2])",
       "FILE:2: tensor.scatter: 'scatter_dims' is given twice"},
      {kScatter, "scatter_dims([0, 2])", "scatter_dims([0, x])", "FILE:2: tensor.scatter: expected integer value"},
      {kScatter, " into %d", "%d", "FILE:2: tensor.scatter: expected 'into'"},
      {kScatter, "unique :", "{unique = 3 : i32} :",
       "FILE:2: tensor.scatter: attribute 'unique' failed to satisfy constraint: unit attribute"},
      {kScatter, "%d[%i]", "%d[%i, %i]", "FILE:2: expected ']'"},
      {kScatter, "%d[%i]", "%e[%i]", "FILE:2: use of undeclared SSA value name"},
      {kGather, "(tensor<4x5x6xf32>, tensor<3x2xi32>) ->", "(tensor<4x5x6xf32>) ->",
       "FILE:2: tensor.gather: number of operands and types do not match: got 2 operands and 1 types"},
      {kGather, "-> tensor<3x1x5x1xf32>\n  return", "-> ()\n  return", "FILE:2: tensor.gather: 0 result types, expected 1"},
      {kOlder, "[tensor<3x1xindex>] ->", "tensor<3x1xindex> ->", "FILE:2: expected '['"},
      {kGeneric, "(%s, %i)", "(%s)", "FILE:2: expected 1 operand type  but had 2"},
      {kGeneric, "array<i64: 0>", "array<i64: 0>, unique = true",
       "FILE:2: invalid properties {gather_dims = array<i64: 0>, unique = true} for op tensor.gather: Invalid attribute `unique` "
       "in "
       "property conversion: true"},
  });
}

/// A file that imports although something in it is not read: what the opaque operations say.
std::string boundaries(const std::string& text) {
  const auto imported = import_mlir_text(text);
  if (!imported.ok()) return imported.status().message();
  std::string out;
  for (const Opaque& opaque : imported->opaques()) {
    const std::string location = "FILE" + opaque.location.substr(opaque.location.find(".mlir:") + 5);
    out += (out.empty() ? "" : "; ") + location + (opaque.reason.empty() ? "" : ": " + opaque.reason);
  }
  return out;
}

/// Beside another kernel, an operation that is refused is a boundary that says why.
TEST(TensorError, RefusedBesideAKernel) {
  EXPECT_EQ(
      boundaries(replaced(kOlder, "  return",
                          "  %q = tensor.gather %s[%i] : tensor<4x5x6xf32>[tensor<3x1xindex>] -> tensor<3x4x6xf32>\n  return")),
      "FILE:3: tensor.gather: gather_dims is missing, and the types do not tell which dims are indexed");
  EXPECT_EQ(boundaries(replaced(
                kScatter, "  return",
                "  %q = tensor.scatter %u into %d[%i] scatter_dims([0, 2]) unique : (tensor<3x5xf32>, tensor<4x5x6xf32>, "
                "tensor<3x2xindex>) -> tensor<4x5x7xf32>\n  return")),
            "FILE:3: tensor.scatter: result tensor<4x5x7xf32>, expected the type of dest, tensor<4x5x6xf32>");
}

TEST(TensorError, Computing) {
  check({
      {kUpdate, "%c = arith.addi %g, %u : tensor<3xi32>", "%c = arith.addf %g, %u : tensor<3xi32>",
       "FILE:3: arith.addf: operand #0 must be floating-point-like, but got 'tensor<3xi32>'"},
      {kUpdate, "%c = arith.addi %g, %u : tensor<3xi32>", "%c = tensor.frob %g, %u", "FILE:3: tensor.frob: is unknown"},
      {kUpdate, "%c = arith.addi %g, %u : tensor<3xi32>",
       "%c = linalg.frob ins(%g, %nothing : tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>",
       "FILE:3: use of undeclared SSA value name"},
      {kUpdate, "%c = arith.addi %g, %u : tensor<3xi32>", "%c = nobody.frob %g#3 : tensor<3xi32>",
       "FILE:3: reference to invalid result number"},
      {kUpdate, "%c = arith.addi %g, %u : tensor<3xi32>", "%c = nobody.frob %g ) : tensor<3xi32>",
       "FILE:3: nobody.frob: expected an operand, 'key = value' or ':'"},
      {kUpdate, "%c = arith.addi %g, %u : tensor<3xi32>", "%c = nobody.frob %g",
       "FILE:3: nobody.frob: expected ':' and types, or the operation in generic form"},
      {kUpdate, "%c = arith.addi %g, %u : tensor<3xi32>", "%c = tensor.extract_slice %g[0] [3] : tensor<3xi32> to tensor<3xi32>",
       "FILE:3: expected '[' in dynamic index list"},
  });
  struct Row {
    std::string line, boundary;
  };
  for (const Row& row : std::vector<Row>{
           {"%c = \"linalg.generic\"(%g) : (tensor<3xi32>) -> tensor<3xi32>", "linalg.generic"},
           {"%c = arith.ceildivsi %g, %u : tensor<3xi32>", "arith.ceildivsi"},
           {"%c = \"stablehlo.add\"(%g, %d) : (tensor<3xi32>, tensor<4xi32>) -> tensor<3xi32>",
            "stablehlo.add: shape of operand 1 [4], expected [3]"},
           {"%c = \"stablehlo.add\"(%g) : (tensor<3xi32>) -> tensor<3xi32>", "stablehlo.add: 1 operands, expected 2"}}) {
    const std::string text = replaced(kUpdate, "%c = arith.addi %g, %u : tensor<3xi32>", row.line);
    EXPECT_EQ(boundaries(text), "FILE:3: " + row.boundary);
  }
}

TEST(TensorError, Structure) {
  check({
      {kGather, "func.func @main", "func.func private @main",
       "FILE:1: no stablehlo.scatter, gather, dynamic_slice or dynamic_update_slice, and no tensor.gather or tensor.scatter, in "
       "a public "
       "function"},
      {kGather, "  return", "  func.call @main(%s, %i) : (tensor<4x5x6xf32>, tensor<3x2xi32>) -> tensor<3x1x5x1xf32>\n  return",
       "FILE:3: func.call: calls are nested more than 64 deep"},
      {kGather, "  return", "  cf.br ^bb1\n^bb2:\n  return", "FILE:3: reference to an undefined block"},
  });
  EXPECT_EQ(boundaries(replaced(kGather, "%i: tensor<3x2xi32>", "%i: tensor<3x2xi32>, %n: index")), "");
  EXPECT_EQ(boundaries(replaced(kGather, "%i: tensor<3x2xi32>", "%i: tensor<3x2xi32>, %n: memref<3xf32>")),
            "FILE:1: func.func: argument 2: type memref<3xf32>, expected a ranked tensor");
  EXPECT_EQ(boundaries(replaced(kGather, "  return", "  cf.br ^bb1\n^bb1:\n  return")),
            "FILE:1: func.func: has several blocks, and which of them run is known at the call only");
  EXPECT_EQ(boundaries(replaced(kGather, "  return",
                                "  %x = \"tensor.dim\"(%s, %s) : (tensor<4x5x6xf32>, tensor<4x5x6xf32>) -> index\n  return")),
            "FILE:3: tensor.dim: operand #1 must be index, but got 'tensor<4x5x6xf32>'");
  EXPECT_EQ(boundaries(replaced(kGather, "  return", "  func.call @other(%s) : (tensor<4x5x6xf32>) -> ()\n  return") +
                       "func.func private @other(tensor<4x5x6xf32>)\n"),
            "FILE:3: func.call: function 'other' has no body here");
}

/// Boundaries are parsed in time that grows with the file, not with its square.
TEST(TensorError, ManyBoundariesTakeTheirTime) {
  std::string operations = "  %e0 = tensor.empty() : tensor<4xf32>\n", operands;
  for (int n = 1; n < 20000; ++n)
    operations += "  %e" + std::to_string(n) + " = linalg.copy ins(%e" + std::to_string(n - 1) +
                  " : tensor<4xf32>) outs(%e0 : tensor<4xf32>) -> tensor<4xf32>\n";
  for (int n = 0; n < 20000; ++n) operands += "%g,\n    ";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(import_message(replaced(kUpdate, "  return", operations + "  return")), "imported");
  EXPECT_EQ(import_message(replaced(kUpdate, "  return", "  %e = linalg.frob " + operands + "%g : tensor<3xi32>\n  return")),
            "imported");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

/// Chains of operations longer than one kernel may compute are imported at once, and a file longer than is read is refused at once.
TEST(TensorError, Sizes) {
  const auto chain = [](int length) {
    std::string text =
        "func.func @main(%d: tensor<4xi32>, %i: tensor<3x1xindex>) -> tensor<3xi32> {\n"
        "  %0 = tensor.gather %d[%i] gather_dims([0]) : (tensor<4xi32>, tensor<3x1xindex>) -> tensor<3xi32>\n";
    for (int n = 1; n <= length; ++n) {
      const std::string before = "%" + std::to_string(n - 1);
      text += "  %" + std::to_string(n) + " = arith.muli " + before + ", " + before + " : tensor<3xi32>\n";
    }
    return text + "  return %" + std::to_string(length) + " : tensor<3xi32>\n}\n";
  };
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(import_message(chain(500)), "imported");
  EXPECT_EQ(import_message(chain(20000)), "imported");
  EXPECT_EQ(import_message(chain(100000)), "FILE:100002: arith.muli: more than 100000 operations once calls are inlined");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace strew
