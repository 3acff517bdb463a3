// Broken StableHLO files: one line that names the place, the operation, what is wrong and what was expected. Never a crash,
// never an internal error. Each row changes one piece of a file that imports.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/error/broken_mlir.h"
#include "tests/support/limited.h"
#include "tests/support/rule_label.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew {
namespace {

const std::string kInJax =
    "; in JAX, jax.jit(f).lower(*args).as_text() and jax.export.export(jax.jit(f))(*args).mlir_module() are the text";

constexpr char kScatter[] =
    R"(func.func @main(%x: tensor<2x3x4x2xf32>, %i: tensor<2x2x3x2xi64>, %u: tensor<2x2x3x2x2xf32>) -> tensor<2x3x4x2xf32> {
  %r = "stablehlo.scatter"(%x, %i, %u) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [3, 4], inserted_window_dims = [1],
      input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 3>,
    indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x3x4x2xf32>, tensor<2x2x3x2xi64>, tensor<2x2x3x2x2xf32>) -> tensor<2x3x4x2xf32>
  return %r : tensor<2x3x4x2xf32>
}
)";
constexpr char kGather[] = R"(func.func @main(%x: tensor<2x3x4x2xf32>, %i: tensor<2x2x3x2xi64>) -> tensor<2x2x3x2x2xf32> {
  %r = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [3, 4], collapsed_slice_dims = [1], operand_batching_dims = [0],
      start_indices_batching_dims = [1], start_index_map = [2, 1], index_vector_dim = 3>,
    slice_sizes = array<i64: 1, 1, 2, 2>}> : (tensor<2x3x4x2xf32>, tensor<2x2x3x2xi64>) -> tensor<2x2x3x2x2xf32>
  return %r : tensor<2x2x3x2x2xf32>
}
)";
constexpr char kUpdateSlice[] =
    R"(func.func @main(%x: tensor<4x5xf32>, %u: tensor<2x5xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<4x5xf32> {
  %r = stablehlo.dynamic_update_slice %x, %u, %i, %j : (tensor<4x5xf32>, tensor<2x5xf32>, tensor<i32>, tensor<i32>) -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}
)";
constexpr char kSlice[] = R"(func.func @main(%x: tensor<4x5xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<1x4xf32> {
  %r = stablehlo.dynamic_slice %x, %i, %j, sizes = [1, 4] : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
  return %r : tensor<1x4xf32>
}
)";

TEST(StablehloError, TheUnbrokenFilesImport) {
  for (const char* file : {kScatter, kGather, kUpdateSlice, kSlice}) EXPECT_EQ(import_message(file), "imported");
}

TEST(StablehloError, ScatterDimensionNumbers) {
  check({
      {kScatter, "update_window_dims = [3, 4]", "update_window_dims = [4]",
       "FILE:2: stablehlo.scatter: operand[0] is f32[2,3,4,2] of rank 4; expected size(update_window_dims) + "
       "size(inserted_window_dims) + size(input_batching_dims) = 1 + 1 + 1 [scatter_c2]"},
      {kScatter, "update_window_dims = [3, 4]", "update_window_dims = [4, 3]",
       "FILE:2: stablehlo.scatter: update_window_dims is [4,3]; expected ascending order [scatter_c7]"},
      {kScatter, "update_window_dims = [3, 4]", "update_window_dims = [3, 3]",
       "FILE:2: stablehlo.scatter: update_window_dims is [3,3]; expected each entry once, 3 is there more often [scatter_c7]"},
      {kScatter, "update_window_dims = [3, 4]", "update_window_dims = [3, 5]",
       "FILE:2: stablehlo.scatter: update_window_dims is [3,5] and holds 5; expected entries from 0 to below 5, the "
       "rank of updates [scatter_c8]"},
      {kScatter, "inserted_window_dims = [1]", "inserted_window_dims = [0]",
       "FILE:2: stablehlo.scatter: inserted_window_dims is [0] and input_batching_dims is [0]; expected each entry "
       "once, 0 is there more often [scatter_c9]"},
      {kScatter, "inserted_window_dims = [1]", "inserted_window_dims = [4]",
       "FILE:2: stablehlo.scatter: inserted_window_dims is [4] and holds 4; expected entries from 0 to below 4, the "
       "rank of operand [scatter_c11]"},
      {kScatter, "input_batching_dims = [0]", "input_batching_dims = [-1]",
       "FILE:2: stablehlo.scatter: input_batching_dims is [-1] and holds -1; expected entries from 0 to below 4, "
       "the rank of operand [scatter_c13]"},
      {kScatter, "scatter_indices_batching_dims = [1]", "scatter_indices_batching_dims = [4]",
       "FILE:2: stablehlo.scatter: scatter_indices_batching_dims is [4] and holds 4; expected entries from 0 to "
       "below 4, the rank of indices [scatter_c15]"},
      {kScatter, "scatter_indices_batching_dims = [1]", "scatter_indices_batching_dims = [3]",
       "FILE:2: stablehlo.scatter: scatter_indices_batching_dims is [3]; expected it without index_vector_dim, 3 [scatter_c16]"},
      {kScatter, "scatter_indices_batching_dims = [1]", "scatter_indices_batching_dims = []",
       "FILE:2: stablehlo.scatter: scatter_indices_batching_dims is []; expected as many entries as "
       "input_batching_dims, [0] [scatter_c17]"},
      {kScatter, "scatter_indices_batching_dims = [1]", "scatter_indices_batching_dims = [2]",
       "FILE:2: stablehlo.scatter: indices is i64[2,2,3,2]; expected its batching dim 2 to be 2, dim 0 of operand "
       "f32[2,3,4,2] [scatter_c18]"},
      {kScatter, "scatter_dims_to_operand_dims = [2, 1]", "scatter_dims_to_operand_dims = [2]",
       "FILE:2: stablehlo.scatter: scatter_dims_to_operand_dims is [2]; expected one entry per component of the "
       "index vector, 2: indices is i64[2,2,3,2], index_vector_dim 3 [scatter_c19]"},
      {kScatter, "scatter_dims_to_operand_dims = [2, 1]", "scatter_dims_to_operand_dims = [2, 0]",
       "FILE:2: stablehlo.scatter: scatter_dims_to_operand_dims is [2,0] and input_batching_dims is [0]; expected "
       "each entry once, 0 is there more often [scatter_c20]"},
      {kScatter, "scatter_dims_to_operand_dims = [2, 1]", "scatter_dims_to_operand_dims = [2, 4]",
       "FILE:2: stablehlo.scatter: scatter_dims_to_operand_dims is [2,4] and holds 4; expected entries from 0 to "
       "below 4, the rank of operand [scatter_c21]"},
      {kScatter, "index_vector_dim = 3", "index_vector_dim = 5",
       "FILE:2: stablehlo.scatter: index_vector_dim is 5; expected from 0 to 4, the rank of indices i64[2,2,3,2] [scatter_c22]"},
      {kScatter, "index_vector_dim = 3", "index_vector_dim = -1",
       "FILE:2: stablehlo.scatter: index_vector_dim is -1; expected from 0 to 4, the rank of indices i64[2,2,3,2] [scatter_c22]"},
      {kScatter, "index_vector_dim = 3", "index_vector_dim = 99999999999999999999", "FILE:4: integer value too large"},
      {kScatter, "index_vector_dim = 3", "index_vector_dim = x",
       "FILE:4: #stablehlo.scatter: 'index_vector_dim': expected an integer or '['"},
      {kScatter, "index_vector_dim = 3", "index_vector_dim = 3, index_vector_dim = 3",
       "FILE:4: #stablehlo.scatter: 'index_vector_dim' is given twice"},
      {kScatter, "index_vector_dim = 3", "index_vector_dim = 3,,", "FILE:4: expected valid keyword"},
      {kScatter, "index_vector_dim = 3", "index_vector_dims = 3",
       "FILE:2: stablehlo.scatter: #stablehlo.scatter: 'index_vector_dims' is unknown, expected update_window_dims, "
       "inserted_window_dims, input_batching_dims, scatter_indices_batching_dims, scatter_dims_to_operand_dims, "
       "index_vector_dim"},
      {kScatter, "index_vector_dim = 3", "index_vector_dim 3", "FILE:4: expected '='"},
      {kScatter, "index_vector_dim = 3", "index_vector_dim = [3]",
       "FILE:2: stablehlo.scatter: #stablehlo.scatter: 'index_vector_dim': expected an integer"},
      {kScatter, "update_window_dims = [3, 4]", "update_window_dims = [3 4]", "FILE:3: expected ']'"},
      {kScatter, "update_window_dims = [3, 4],", "update_window_dims = [3, 4]", "FILE:3: expected ',' or '>'"},
      {kScatter, "update_window_dims = [3, 4]", "update_window_dims = 3",
       "FILE:2: stablehlo.scatter: #stablehlo.scatter: 'update_window_dims': expected '['"},
      {kScatter, "#stablehlo.scatter<", "#stablehlo.gather<",
       "FILE:2: stablehlo.scatter: attribute 'scatter_dimension_numbers', expected #stablehlo.scatter<...> (the old dictionary "
       "of "
       "tensors is not read)"},
  });
}

TEST(StablehloError, ScatterTypes) {
  check({
      {kScatter, "%x, %i, %u) <{", "%x, %i) <{", "FILE:9: expected 2 operand types but had 3"},
      {kScatter, "tensor<2x2x3x2x2xf32>", "tensor<2x2x3x2x3xf32>",
       "FILE:2: stablehlo.scatter: updates[0] is f32[2,2,3,2,3]; expected its window dim 4 to be at most 2, dim 3 of "
       "operand f32[2,3,4,2] [scatter_c4]"},
      {kScatter, "tensor<2x2x3x2x2xf32>", "tensor<2x2x3x2x2xf16>",
       "FILE:2: stablehlo.scatter: updates[0] tensor<2x2x3x2x2xf16>, expected element type f32 [scatter_c6]"},
      {kScatter, "tensor<2x2x3x2xi64>", "tensor<2x2x3x2xf32>",
       "FILE:2: stablehlo.scatter: indices is f32[2,2,3,2]; expected an integer dtype from i4 to i64 or u4 "
       "to u64 [scatter_index_dtype]"},
      {kScatter, "tensor<f32>", "tensor<f16>",
       "FILE:2: stablehlo.scatter: update_computation argument 0 is tensor<f16>, expected a type that f32 promotes "
       "to [scatter_c23]"},
      {kScatter, "tensor<f32>", "tensor<f64>",
       "FILE:2: stablehlo.scatter: results[0] tensor<2x3x4x2xf32>, expected element type f64 [scatter_c25]"},
      {kScatter, "tensor<f32>", "tensor<1xf32>",
       "FILE:2: stablehlo.scatter: update_computation argument 0 is tensor<1xf32>, expected rank 0 [scatter_c23]"},
      {kScatter, "%b: tensor<f32>", "%b: tensor<f64>",
       "FILE:7: use of value '%b' expects different type than prior uses: 'tensor<f32>' vs 'tensor<f64>'"},
      {kScatter, ", %b: tensor<f32>", "", "FILE:7: use of undeclared SSA value name"},
      {kScatter, "-> tensor<2x3x4x2xf32>\n  return %r : tensor<2x3x4x2xf32>",
       "-> tensor<2x3x4x3xf32>\n  return %x : tensor<2x3x4x2xf32>",
       "FILE:2: stablehlo.scatter: shape of results [2,3,4,3], expected [2,3,4,2] [scatter_c24]"},
      {kScatter, "-> tensor<2x3x4x2xf32>\n  return %r : tensor<2x3x4x2xf32>", "-> ()\n  return %x : tensor<2x3x4x2xf32>",
       "FILE:2: cannot name an operation with no results"},
      {kScatter, "tensor<2x3x4x2xf32>", "tensor<*xf32>",
       "FILE:1: func.func: argument 0: type tensor<*xf32>, expected a ranked tensor"},
      {kScatter, "tensor<2x3x4x2xf32>", "tensor<2x3x4x2xf128>",
       "FILE:1: func.func: argument 0: element type f128 is not one strew stores"},
      {kScatter, "tensor<2x3x4x2xf32>", "tensor<2x3x4x2xi7>",
       "FILE:1: func.func: argument 0: element type i7, expected an integer of 2, 4, 8, 16, 32 or 64 bits, or i1"},
      {kScatter, "tensor<2x3x4x2xf32>", "tensor<99999999999x99999999999x4x2xf32>",
       "FILE:1: func.func: argument 0: type tensor<99999999999x99999999999x4x2xf32>: the number of elements overflows 64 bits"},
      {kScatter, "tensor<2x3x4x2xf32>", "tensor<2x3x4x2xf32, \"sparse\">",
       "FILE:1: func.func: argument 0: type tensor<2x3x4x2xf32, \"sparse\">: this encoding is not read"},
      {kScatter, "tensor<2x3x4x2xf32>", "memref<2x3x4x2xf32>",
       "FILE:1: func.func: argument 0: type memref<2x3x4x2xf32>, expected a ranked tensor"},
  });
}

TEST(StablehloError, ScatterAttributesAndRegion) {
  check({
      {kScatter, "unique_indices = false", "unique_indices = 1 : i32",
       "FILE:2: stablehlo.scatter: attribute 'unique_indices', expected true or false"},
      {kScatter, "unique_indices = false", "unique_indexes = false",
       "FILE:2: stablehlo.scatter: attribute 'unique_indexes' is unknown"},
      {kScatter, "indices_are_sorted = false, unique_indices = false", "indices_are_sorted = false, indices_are_sorted = false",
       "FILE:5: duplicate key 'indices_are_sorted' in dictionary attribute"},
      {kScatter, "  }) : (tensor<2x3", "  }) {unique_indices = true} : (tensor<2x3",
       "FILE:2: stablehlo.scatter: attribute 'unique_indices' is given twice"},
      {kScatter, "scatter_dimension_numbers", "dimension_numbers",
       "FILE:2: stablehlo.scatter: attribute 'dimension_numbers' is unknown"},
      {kScatter, "stablehlo.return %s : tensor<f32>", "stablehlo.return %s, %s : tensor<f32>, tensor<f32>",
       "FILE:2: stablehlo.scatter: update_computation returns 2 values, expected 1 [scatter_c23]"},
      {kScatter, "stablehlo.return %s : tensor<f32>", "stablehlo.return",
       "FILE:2: stablehlo.scatter: update_computation returns 0 values, expected 1 [scatter_c23]"},
      {kScatter, "    stablehlo.return %s : tensor<f32>\n", "",
       "FILE:2: stablehlo.scatter: the region does not end in stablehlo.return"},
      {kScatter, "stablehlo.add %a, %b", "stablehlo.add %a", "FILE:7: stablehlo.add: 1 operands, expected 2"},
      {kScatter, "stablehlo.add %a, %b : tensor<f32>", "stablehlo.sort %a, %b : tensor<f32>",
       "FILE:7: stablehlo.sort: not read in a combiner region, expected elementwise scalar operations"},
      {kScatter, "stablehlo.add %a, %b : tensor<f32>", "stablehlo.convert %x : (tensor<2x3x4x2xf32>) -> tensor<f32>",
       "FILE:7: stablehlo.convert: type tensor<2x3x4x2xf32>, expected rank 0 in a combiner region"},
      {kScatter, "stablehlo.add %a, %b : tensor<f32>", "stablehlo.compare AT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>",
       "FILE:7: stablehlo.compare: comparison_direction 'AT', expected EQ, NE, LT, LE, GT or GE"},
      {kScatter, "%s = stablehlo.add",
       "%t = stablehlo.compare LT, %a, %b, SIGNED : (tensor<f32>, tensor<f32>) -> tensor<i1>\n    %s = stablehlo.add",
       "FILE:7: stablehlo.compare: compare_type SIGNED on f32, expected FLOAT"},
      {kScatter, "stablehlo.add %a, %b : tensor<f32>", "stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>",
       "FILE:2: stablehlo.scatter: update_computation returns bool as value 0, expected f32 [scatter_c23]"},
      {kScatter, "%s = stablehlo.add %a, %b : tensor<f32>",
       "%h = stablehlo.convert %a : (tensor<f32>) -> tensor<f16>\n    %s = stablehlo.power %h, %b : (tensor<f16>, tensor<f32>) "
       "-> tensor<f32>",
       "FILE:2: stablehlo.scatter: expr node %3, power:f32, has arguments of dtypes f16 and f32; expected one dtype "
       "[expr_types]"},
      {kScatter, "stablehlo.add %a, %b : tensor<f32>", "stablehlo.and %a, %b : tensor<f32>",
       "FILE:2: stablehlo.scatter: combiner is and and result[0] is f32; expected one of: bool, integers [scatter_combiner]"},
      {kScatter, "stablehlo.add %a, %b : tensor<f32>", "stablehlo.constant dense<1> : tensor<f32>",
       "FILE:7: unexpected decimal integer literal for a floating point value"},
      {kScatter, "stablehlo.add %a, %b : tensor<f32>", "func.call @main(%a) : (tensor<f32>) -> tensor<f32>",
       "FILE:7: func.call: incorrect number of operands for callee"},
      {kScatter, "stablehlo.add %a, %b : tensor<f32>", "func.call @absent(%a) : (tensor<f32>) -> tensor<f32>",
       "FILE:7: func.call: 'absent' does not reference a valid function"},
  });
}

TEST(StablehloError, Gather) {
  check({
      {kGather, "offset_dims = [3, 4]", "offset_dims = [4]",
       "FILE:2: stablehlo.gather: operand is f32[2,3,4,2] of rank 4; expected size(offset_dims) + "
       "size(collapsed_slice_dims) + size(operand_batching_dims) = 1 + 1 + 1 [gather_c1]"},
      {kGather, "offset_dims = [3, 4]", "offset_dims = [4, 3]",
       "FILE:2: stablehlo.gather: offset_dims is [4,3]; expected ascending order [gather_c4]"},
      {kGather, "offset_dims = [3, 4]", "offset_dims = [3, 5]",
       "FILE:2: stablehlo.gather: offset_dims is [3,5] and holds 5; expected entries from 0 to below 5, the rank of "
       "result [gather_c5]"},
      {kGather, "collapsed_slice_dims = [1]", "collapsed_slice_dims = [0]",
       "FILE:2: stablehlo.gather: collapsed_slice_dims is [0] and operand_batching_dims is [0]; expected each entry "
       "once, 0 is there more often [gather_c6]"},
      {kGather, "collapsed_slice_dims = [1]", "collapsed_slice_dims = [7]",
       "FILE:2: stablehlo.gather: collapsed_slice_dims is [7] and holds 7; expected entries from 0 to below 4, the "
       "rank of operand [gather_c8]"},
      {kGather, "operand_batching_dims = [0]", "operand_batching_dims = [9]",
       "FILE:2: stablehlo.gather: operand_batching_dims is [9] and holds 9; expected entries from 0 to below 4, the "
       "rank of operand [gather_c11]"},
      {kGather, "start_indices_batching_dims = [1]", "start_indices_batching_dims = [2]",
       "FILE:2: stablehlo.gather: indices is i64[2,2,3,2]; expected its batching dim 2 to be 2, dim 0 of operand "
       "f32[2,3,4,2] [gather_c17]"},
      {kGather, "start_indices_batching_dims = [1]", "start_indices_batching_dims = [3]",
       "FILE:2: stablehlo.gather: start_indices_batching_dims is [3]; expected it without index_vector_dim, 3 [gather_c15]"},
      {kGather, "start_index_map = [2, 1]", "start_index_map = [2, 2]",
       "FILE:2: stablehlo.gather: start_index_map is [2,2] and operand_batching_dims is [0]; expected each entry "
       "once, 2 is there more often [gather_c18]"},
      {kGather, "start_index_map = [2, 1]", "start_index_map = [2]",
       "FILE:2: stablehlo.gather: start_index_map is [2]; expected one entry per component of the index vector, 2: "
       "indices is i64[2,2,3,2], index_vector_dim 3 [gather_c3]"},
      {kGather, "index_vector_dim = 3", "index_vector_dim = 9",
       "FILE:2: stablehlo.gather: index_vector_dim is 9; expected from 0 to 4, the rank of indices i64[2,2,3,2] [gather_c2]"},
      {kGather, "array<i64: 1, 1, 2, 2>", "array<i64: 1, 2, 2, 2>",
       "FILE:2: stablehlo.gather: slice_sizes is [1,2,2,2]; expected entry 1 to be 0 or 1: dim 1 is in "
       "collapsed_slice_dims [1] [gather_c9]"},
      {kGather, "array<i64: 1, 1, 2, 2>", "array<i64: 1, 1, 5, 2>",
       "FILE:2: stablehlo.gather: slice_sizes is [1,1,5,2]; expected entry 2 from 0 to 4, dim 2 of operand "
       "f32[2,3,4,2] [gather_c21]"},
      {kGather, "array<i64: 1, 1, 2, 2>", "array<i64: 1, 1, 2>",
       "FILE:2: stablehlo.gather: slice_sizes is [1,1,2]; expected 4 entries, the rank of operand [gather_c20]"},
      {kGather, "array<i64: 1, 1, 2, 2>", "array<i64: 1, 1, -2, 2>",
       "FILE:2: stablehlo.gather: slice_sizes is [1,1,-2,2]; expected entry 2 from 0 to 4, dim 2 of operand "
       "f32[2,3,4,2] [gather_c21]"},
      {kGather, "array<i64: 1, 1, 2, 2>", "array<i32: 1, 1, 2, 2>",
       "FILE:2: stablehlo.gather: attribute 'slice_sizes', expected array<i64: ...>"},
      {kGather, ",\n    slice_sizes = array<i64: 1, 1, 2, 2>", "",
       "FILE:2: stablehlo.gather: attribute 'slice_sizes' is missing"},
      {kGather, "tensor<2x2x3x2x2xf32>", "tensor<2x2x3x2x2xf16>",
       "FILE:2: stablehlo.gather: result tensor<2x2x3x2x2xf16>, expected element type f32 [gather_c23]"},
      {kGather, "tensor<2x2x3x2x2xf32>", "tensor<2x2x3x2x3xf32>",
       "FILE:2: stablehlo.gather: result is f32[2,2,3,2,3]; expected dims [2,2,3,2,2], from indices i64[2,2,3,2] and "
       "slice_sizes [1,1,2,2] [gather_c22]"},
      {kGather, "(%x, %i)", "(%x)", "FILE:5: expected 1 operand type  but had 2"},
      {kGather, "\"stablehlo.gather\"", "\"stablehlo.dynamic_gather\"",
       "FILE:2: stablehlo.dynamic_gather: attribute 'slice_sizes' is unknown"},
      {kGather, "\"stablehlo.gather\"", "\"mhlo.gather\"",
       "FILE:2: mhlo.gather: the mhlo dialect is not read; convert the module to StableHLO (mlir-hlo-opt "
       "--hlo-legalize-to-stablehlo)"},
      {kGather, "#stablehlo.gather<", "#mhlo.gather<",
       "FILE:2: stablehlo.gather: attribute 'dimension_numbers', expected #stablehlo.gather<...> (the old dictionary of tensors "
       "is not read)"},
  });
}

TEST(StablehloError, Slices) {
  check({
      {kUpdateSlice, "tensor<2x5xf32>", "tensor<5x5xf32>",
       "FILE:2: stablehlo.dynamic_update_slice: shape of update[0] is 5, expected 0 to 4 [dynamic_update_slice_c6]"},
      {kUpdateSlice, "tensor<2x5xf32>", "tensor<5xf32>",
       "FILE:2: stablehlo.dynamic_update_slice: update has rank 1, expected 2 [dynamic_update_slice_c3]"},
      {kUpdateSlice, "tensor<2x5xf32>", "tensor<2x5xf16>",
       "FILE:2: stablehlo.dynamic_update_slice: update tensor<2x5xf16>, expected element type f32 [dynamic_update_slice_c2]"},
      {kUpdateSlice, "tensor<i32>", "tensor<1xi32>",
       "FILE:2: stablehlo.dynamic_update_slice: start index 0 is tensor<1xi32>, expected a rank-0 integer"},
      {kUpdateSlice, "tensor<i32>", "tensor<f32>",
       "FILE:2: stablehlo.dynamic_update_slice: start index 0 is tensor<f32>, expected a rank-0 integer"},
      {kUpdateSlice, "%i: tensor<i32>, %j: tensor<i32>", "%i: tensor<i64>, %j: tensor<i32>",
       "FILE:2: use of value '%i' expects different type than prior uses: 'tensor<i32>' vs 'tensor<i64>'"},
      {kUpdateSlice, "%i, %j : (tensor<4x5xf32>, tensor<2x5xf32>, tensor<i32>, tensor<i32>)",
       "%i : (tensor<4x5xf32>, tensor<2x5xf32>, tensor<i32>)",
       "FILE:2: stablehlo.dynamic_update_slice: 1 start indices, expected one per dim of the operand: "
       "2 [dynamic_update_slice_c4]"},
      {kSlice, "f32", "!quant.uniform<i8:f32:0, {0.5, 0.25, 0.5, 0.25}>",
       "FILE:2: stablehlo.dynamic_slice: operand is tensor<4x5x!quant.uniform<i8:f32:0, "
       "{5.000000e-01,2.500000e-01,5.000000e-01,2.500000e-01}>>, expected plain numbers or one scale for all elements"},
      {kSlice, "sizes = [1, 4]", "sizes = [1]", "FILE:2: stablehlo.dynamic_slice: 1 slice_sizes, expected 2 [dynamic_slice_c2]"},
      {kSlice, "sizes = [1, 4]", "sizes = [1, 6]",
       "FILE:2: stablehlo.dynamic_slice: slice_sizes[1] is 6, expected 0 to 5 [dynamic_slice_c4]"},
      {kSlice, "sizes = [1, 4]", "sizes = [1, 3]",
       "FILE:2: stablehlo.dynamic_slice: shape of the result [1,4], expected [1,3] [dynamic_slice_c5]"},
      {kSlice, ", sizes = [1, 4]", "", "FILE:2: stablehlo.dynamic_slice: attribute 'slice_sizes' is missing"},
      {kSlice, "sizes = [1, 4]", "sizes = [1, 4], sizes = [1, 4]",
       "FILE:2: stablehlo.dynamic_slice: 'slice_sizes' is given twice"},
      {kSlice, "sizes = [1, 4]", "size = [1, 4]", "FILE:2: stablehlo.dynamic_slice: attribute 'slice_sizes' is missing"},
      {kSlice, "tensor<1x4xf32>", "tensor<1x4xi32>",
       "FILE:2: stablehlo.dynamic_slice: result tensor<1x4xi32>, expected element type f32 [dynamic_slice_c1]"},
  });
}

TEST(StablehloError, FilesAndOperations) {
  check({
      {kSlice, "stablehlo.dynamic_slice %x", "stablehlo.dynamic_slise %x",
       "FILE:1: no stablehlo.scatter, gather, dynamic_slice or dynamic_update_slice, and no tensor.gather or tensor.scatter, in "
       "a public "
       "function"},
      {kSlice, "stablehlo.dynamic_slice %x", "mhlo.dynamic_slice %x",
       "FILE:2: mhlo.dynamic_slice: the mhlo dialect is not read; convert the module to StableHLO (mlir-hlo-opt "
       "--hlo-legalize-to-stablehlo)"},
      {kSlice, "  %r = ", "  %k = stablehlo.constant dense<\"0x00\"> : tensor<2xf32>\n  %r = ",
       "FILE:2: elements hex data size is invalid for provided type: 'tensor<2xf32>'"},
      {kSlice,
       "  %r = ", "  %k = stablehlo.constant 3 : i32\n  %r = ", "FILE:2: stablehlo.constant: expected dense<...> : tensor<...>"},
      {kSlice,
       "  %r = ", "  %k = call @main(%x, %i, %i) : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>\n  %r = ",
       "FILE:2: func.call: calls are nested more than 64 deep"},
      {kSlice,
       "  %r = ", "  %k = stablehlo.while(%a = %x) : tensor<4x5xf32>\n  %r = ", "FILE:3: stablehlo.while: expected 'cond'"},
      {kSlice, "func.func @main", "func.func private @main",
       "FILE:1: no stablehlo.scatter, gather, dynamic_slice or dynamic_update_slice, and no tensor.gather or tensor.scatter, in "
       "a public "
       "function"},
      {kSlice, kSlice, "",
       "FILE: no stablehlo.scatter, gather, dynamic_slice or dynamic_update_slice, and no tensor.gather or tensor.scatter, in a "
       "public "
       "function"},
      {kSlice, kSlice, "stablehlo.iota", "FILE:1: stablehlo.iota: stands outside a function, expected func.func"},
      {kSlice, kSlice, "module { module {} }", "FILE:1: builtin.module: stands outside a function, expected func.func"},
      {kSlice, kSlice, "func.func @main(tensor<4xf32>) -> tensor<4xf32>",
       "FILE:1: func.func: symbol declaration cannot have public visibility"},
      {kSlice, kSlice, "func.func @main(%x: i32) -> i32 { return %x : i32 }",
       "FILE:1: no stablehlo.scatter, gather, dynamic_slice or dynamic_update_slice, and no tensor.gather or tensor.scatter, in "
       "a public "
       "function"},
      {kSlice, kSlice, "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }",
       "FILE:1: no stablehlo.scatter, gather, dynamic_slice or dynamic_update_slice, and no tensor.gather or tensor.scatter, in "
       "a public "
       "function"},
      {kSlice, kSlice, "#a = affine_map<(d0) -> (" + std::string(2000, '-') + "d0)>",
       "FILE:1: 'affine_map' does not end within 1024 characters"},
      {kSlice, kSlice, "#a = affine_map<(d0) -> (" + std::string(900, '-') + "d0",
       "FILE:1: 'affine_map' does not end within 1024 characters"},
      {kSlice, kSlice, "module attributes {a = array<index: 0>} {}",
       "FILE:1: an 'array' with elements of index, expected integers or floats"},
      {kSlice, kSlice, "module attributes {a = array // [\n < // <\n index>} {}",
       "FILE:1: an 'array' with elements of index, expected integers or floats"},
      {kSlice, kSlice, "!t = index\nmodule attributes {a = array<!t: 0>} {}",
       "FILE:2: an 'array' with elements of an alias, expected integers or floats"},
      {kSlice, kSlice, std::string("ML\xefR\x01"),
       "FILE: MLIR bytecode, expected text: 'mlir-opt FILE -o FILE.mlir' makes it" + kInJax},
      {kSlice, kSlice, std::string("ML\xefR\x0dMLIR22.1.8\0\1builtin\0stablehlo\0func\0", 39),
       "FILE: MLIR bytecode of the stablehlo dialect, expected text: 'stablehlo-opt FILE -o FILE.mlir' makes it" + kInJax},
      {kSlice, kSlice, std::string("ML\xefR\x01StableHLO_v1.9.3\0vhlo\0", 27),
       "FILE: a StableHLO portable artifact (bytecode of the VHLO dialect), expected text: 'stablehlo-translate --deserialize "
       "FILE -o "
       "FILE.mlir' makes it" +
           kInJax},
      {kSlice, kSlice, "HloModule jit_f, entry_computation_layout={(f32[4])->f32[4]}\n",
       "FILE: HLO text, expected StableHLO: 'xla-translate --hlo-text-to-stablehlo FILE -o FILE.mlir' makes it"},
      {kSlice, kSlice, std::string("module {\0}", 10), "FILE:1: the file holds a zero byte, expected MLIR text"},
      {kSlice, "return %r", "return \"x", "FILE:3: string is not closed on its line, expected '\"'"},
  });
}

std::string repeated(const std::string& piece, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += piece;
  return text;
}

/// Files that ask for more than they are worth, in a child of 1 second and 256 MiB.
TEST(StablehloError, HostileTextIsRefusedQuickly) {
  const std::string deep = "FILE:1: brackets are nested more than 256 deep", f = "tensor<f32>";
  const auto around = [](const std::string& line) { return replaced(kSlice, "  %r = ", line + "\n  %r = "); };
  const auto sized = [](const std::string& type) { return replaced(kSlice, "tensor<4x5xf32>", type); };
  const std::vector<std::pair<std::string, std::string>> files{
      {repeated("module {", 100'000), deep},
      {"#a = " + repeated("[", 100'000), deep},
      {"#a = " + repeated("<->[>=", 100'000), deep},
      {"#a = " + repeated("tensor<", 100'000), deep},
      {"#a = loc(" + repeated("fused[", 100'000), deep},
      {"#a = {" + repeated("a = {", 100'000), deep},
      {"// " + repeated("[", 100'000), "FILE:"},
      {repeated("\"\\", 100'000), "FILE:1: unknown escape in string"},
      {repeated("func.func private @f()\n", 2), "FILE:"},
      {repeated("%", 1'000'000), "FILE:"},
      {repeated("a.b ", 300'000), "FILE:"},
      {repeated("\xff\xfe", 100'000), "FILE:"},
      {"\xef\xbb\xbf" + std::string(kSlice), "FILE:"},
      {replaced(kSlice, "stablehlo.dynamic_slice", "stablehlo." + std::string(100'000, 'x')),
       "FILE:2: a name of 100000 characters, expected at most 1024"},
      {replaced(kSlice, "%x", "%" + std::string(2000, 'x')), "FILE:1: a name of 2000 characters"},
      {sized("tensor<" + repeated("1x", 100'000) + "f32>"), "FILE:1: a name of 200002 characters, expected at most 1024"},
      {sized("tensor<" + repeated("?x", 100'000) + "f32>"), "FILE:2: stablehlo.dynamic_slice: 2 start indices"},
      {sized("tensor<9223372036854775807x5xf32>"), "FILE:"},
      {sized("tensor<4611686018427387904x4xf32>"), "FILE:"},
      {sized("tensor<99999999999999999999x5xf32>"), "FILE:1: "},
      {sized("tensor<3037000500x3037000500xf32>"), "FILE:"},
      {sized("tensor<4294967296x4294967296xi1>"), "FILE:"},
      {replaced(kSlice, "sizes = [1, 4]", "sizes = [9223372036854775807, 4]"),
       "FILE:2: stablehlo.dynamic_slice: slice_sizes[0] is 9223372036854775807, expected 0 to 4 [dynamic_slice_c4]"},
      {replaced(kSlice, "sizes = [1, 4]", "sizes = [-9223372036854775808, 4]"), "FILE:2: stablehlo.dynamic_slice"},
      {replaced(kSlice, "sizes = [1, 4]", "sizes = [" + repeated("1, ", 100'000) + "4]"), "FILE:2: stablehlo.dynamic_slice"},
      {replaced(kScatter, "[3, 4]", "[" + repeated("3, ", 100'000) + "4]"),
       "FILE:2: stablehlo.scatter: operand[0] is f32[2,3,4,2]"},
      {replaced(kScatter, "[3, 4]", "[-9223372036854775808, 4]"),
       "FILE:2: stablehlo.scatter: update_window_dims is [?,4] and holds -9223372036854775808"},
      {around("  %k = affine.apply affine_map<(d0) -> (d0)>(" + repeated("-", 100'000) + "%n)"),
       "FILE:2: an expression of more than 256 operators"},
      {around("  %k = affine.load %m[" + repeated("%n + ", 100'000) + "1]"), "FILE:2: an expression of more than 256 operators"},
      {around("  %k = affine.load %m[" + repeated("%n mod ", 100'000) + "1]"),
       "FILE:2: an expression of more than 256 operators"},
      {around("  %k = affine.load %m[" + repeated(repeated("1 + ", 200) + "(", 200) + "1]"),
       "FILE:2: an expression of more than 256 operators"},
      {sized("vector<99999999999xf32>"), "FILE:1: a vector of more than 65536 elements"},
      {sized("vector<1024x[16]x5xf32>"), "FILE:1: a vector of more than 65536 elements"},
      {sized("vector < [4294967296]x[4294967296]xf32>"), "FILE:1: a vector of more than 65536 elements"},
      {around("  %k = tensor.from_elements %f : tensor<99999999999xf32>"), "FILE:"},
      {around("  %k = \"tensor.from_elements\"(%x) : (tensor<4x5xf32>) -> tensor<99999999999xf32>"),
       "FILE:2: tensor.from_elements: 1 elements, expected as many as the result has"},
      {around("  %k = tensor.concat dim(-1) %x, %x : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>"),
       "FILE:2: tensor.concat: dim is negative, expected 0 or more"},
      {around("  %k = \"memref.get_global\"() : () -> memref<4xf32>"), "FILE:2: memref.get_global: requires attribute 'name'"},
      {around("  %k = stablehlo.constant dense<[" + repeated("0, ", 1000) + "0]> : tensor<7xi32>"), "FILE:2: "},
      {around("  %k = stablehlo.constant dense<\"0x" + std::string(1'000'000, '0') + "\"> : tensor<7xi32>"), "FILE:2: "},
      {around("  %k = call @gone(%x) : (tensor<4x5xf32>) -> tensor<4x5xf32>"), "FILE:2: "},
      {replaced(kScatter, "stablehlo.add %a, %b", "stablehlo.add %a, %i"), "FILE:"},
      {replaced(kScatter, "    stablehlo.return %s",
                repeated("    %s = stablehlo.add %a, %b : tensor<f32>\n", 2) + "    stablehlo.return %s"),
       "FILE:8: "},
  };
  EXPECT_GE(files.size(), 30U);
  for (const auto& [text, message] : files) {
    const test::Refusal cli = test::refusal(text, ".mlir");
    EXPECT_EQ(cli.wrong, "") << text.substr(0, 200) << "\n" << cli.message;
    EXPECT_EQ(cli.message.substr(0, message.size()), message) << text.substr(0, 200);
  }
}

/// The end of a message says what was expected, and names the rule.
TEST(StablehloError, ALongListIsCutAndItsMessageKeepsItsEnd) {
  const std::string message =
      import_message(replaced(kGather, "array<i64: 1, 1, 2, 2>", "array<i64: " + repeated("1, ", 1000) + "2>"));
  EXPECT_EQ(message.rfind("FILE:2: stablehlo.gather: slice_sizes is [1,1,1,", 0), 0U) << message;
  EXPECT_NE(message.find(",1,1,...]; expected 4 entries, the rank of operand [gather_c20]"), std::string::npos) << message;
  EXPECT_EQ(test::rule_label(message), "gather_c20") << message;
  EXPECT_LT(message.size(), 1010U);
}

/// Operations that are refused beside a kernel refuse nothing else.
TEST(StablehloError, RefusedOperationsAreOpaque) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"stablehlo.constant dense_resource<gone> : tensor<4xf32>", "dense_resource<gone>"},
      {"stablehlo.slice %x [0:9223372036854775807, 0:1] : (tensor<4x5xf32>) -> tensor<4x1xf32>",
       "dim 0: 0:9223372036854775807:1"},
      {"stablehlo.slice %x [0:4:9223372036854775807, 0:1] : (tensor<4x5xf32>) -> tensor<2x1xf32>",
       "shape of the result [2,1], expected [1,1]"},
      {"stablehlo.reshape %x : (tensor<4x5xf32>) -> tensor<0x9223372036854775807xf32>",
       "result 0: type tensor<0x9223372036854775807xf32>"},
      {"stablehlo.broadcast_in_dim %x, dims = [0, 9223372036854775807] : (tensor<4x5xf32>) -> tensor<4x5xf32>",
       "broadcast_dimensions holds 9223372036854775807"},
      {"stablehlo.iota dim = 9223372036854775807 : tensor<4xi32>", "iota_dimension is 9223372036854775807"},
      {"stablehlo.iota dim = 0 : tensor<?xi32>", "result tensor<?xi32>, expected static extents"},
      {"stablehlo.custom_call @f(%x) : (tensor<4x5xf32>) -> tensor<4x5xf32>", "target 'f' is not read"},
      {"\"mhlo.add\"(%x, %x) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>", "the mhlo dialect is not read"},
      {"stablehlo.add %x, %x : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<5x4xf32>", "shape of operand 0"},
  };
  for (const auto& [line, reason] : rows) {
    const Expected<Program> imported = import_mlir_text(replaced(kSlice, "  %r = ", "  %k = " + line + "\n  %r = "));
    ASSERT_TRUE(imported.ok()) << imported.status().message();
    EXPECT_EQ(imported->kernels().size(), 1U);
    ASSERT_EQ(imported->opaques().size(), 1U) << line;
    EXPECT_EQ(imported->opaque(0).reason.substr(0, reason.size()), reason);
  }
}

TEST(StablehloError, CallsThatDoubleAtEveryLevelAreBounded) {
  std::string functions;
  const std::string f = "tensor<f32>";
  for (int i = 0; i < 40; ++i) {
    const std::string next = "@f" + std::to_string(i + 1) + "(";
    functions += "func.func private @f" + std::to_string(i) + "(%x: " + f + ") -> " + f + " {\n%0 = call " + next + "%x) : (" +
                 f + ") -> " + f + "\n%1 = call " + next + "%0) : (" + f + ") -> " + f + "\nreturn %1 : " + f + "\n}\n";
  }
  functions += "func.func private @f40(%x: " + f + ") -> " + f + " { return %x : " + f + " }\n";
  EXPECT_EQ(import_message(functions + "func.func @main(%x: " + f + ") -> " + f + " {\n%0 = call @f0(%x) : (" + f + ") -> " + f +
                           "\nreturn %0 : " + f + "\n}\n"),
            "FILE:182: func.call: more than 100000 operations once calls are inlined");
  EXPECT_EQ(import_message(functions +
                           replaced(kScatter, "stablehlo.add %a, %b : tensor<f32>", "func.call @f0(%a) : (" + f + ") -> " + f)),
            "FILE:197: func.call: the region has more than 4096 operations once calls are inlined");
}

TEST(StablehloError, EveryTruncationIsOneLine) {
  for (const std::string text : {kScatter, kGather, kUpdateSlice, kSlice}) {
    for (size_t size = 0; size + 3 < text.size(); ++size) {
      const std::string message = import_message(text.substr(0, size));
      EXPECT_EQ(message.substr(0, 4), "FILE") << size;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }
}

}  // namespace
}  // namespace strew
