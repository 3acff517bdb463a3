/* Modules with calls of strew. */
#include "areas.h"

static const char* const kGather =
    "module {\n"
    "  func.func public @main(%x: tensor<8x3xf32>, %i: tensor<4x1xi32>) -> tensor<4x3xf32> {\n"
    "    %0 = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = "
    "[0], "
    "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<8x3xf32>, tensor<4x1xi32>) -> "
    "tensor<4x3xf32>\n"
    "    return %0 : tensor<4x3xf32>\n"
    "  }\n"
    "}\n";

void test_splice(void) {
  strew_spliced* spliced = NULL;
  strew_splice_options options = STREW_SPLICE_OPTIONS_INIT;
  strew_call_of_part call = STREW_CALL_OF_PART_INIT;
  strew_kept_operation kept = STREW_KEPT_OPERATION_INIT;
  const size_t size = strlen(kGather);
  FAILS(strew_splice(NULL, 1, "a.mlir", NULL, &spliced), STREW_CODE_INVALID_ARGUMENT, "text: null");
  FAILS(strew_splice(kGather, size, NULL, NULL, &spliced), STREW_CODE_INVALID_ARGUMENT, "name: null");
  FAILS(strew_splice(kGather, size, "a.mlir", NULL, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_splice(kGather, size / 2, "a.mlir", NULL, &spliced), STREW_CODE_INVALID_ARGUMENT, "a.mlir:3: ");
  options.size = 1;
  FAILS(strew_splice(kGather, size, "a.mlir", &options, &spliced), STREW_CODE_INVALID_ARGUMENT, "options.size: 1");
  CHECK(spliced == NULL);
  options.size = sizeof options;
  options.fused = 1;
  options.own_numerics = 1;
  options.any_size = 1;
  if (!OK(strew_splice(kGather, size, "a.mlir", &options, &spliced))) return;
  CHECK(strew_spliced_length(spliced) == strlen(strew_spliced_text(spliced)));
  CHECK(strstr(strew_spliced_text(spliced), "    %0 = stablehlo.custom_call @strew(%x, %i) {") != NULL);
  CHECK(strew_spliced_call_count(spliced) == 1 && strew_spliced_kept_count(spliced) == 0);
  OK(strew_spliced_call(spliced, 0, &call));
  CHECK(strcmp(call.name, "main") == 0 && strcmp(call.location, "a.mlir:3: stablehlo.gather") == 0);
  CHECK(call.operation_count == 1 && strcmp(call.operations[0], "stablehlo.gather") == 0);
  FAILS(strew_spliced_call(spliced, 1, &call), STREW_CODE_INVALID_ARGUMENT, "number: 1");
  FAILS(strew_spliced_call(spliced, 0, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_spliced_call(NULL, 0, &call), STREW_CODE_INVALID_ARGUMENT, "spliced: null");
  FAILS(strew_spliced_kept(spliced, 0, &kept), STREW_CODE_INVALID_ARGUMENT, "number: 0");
  FAILS(strew_spliced_kept(NULL, 0, &kept), STREW_CODE_INVALID_ARGUMENT, "spliced: null");
  strew_spliced_free(spliced);
  strew_spliced_free(NULL);
  CHECK(strew_spliced_text(NULL) == NULL && strew_spliced_length(NULL) == 0);
  CHECK(strew_spliced_call_count(NULL) == 0 && strew_spliced_kept_count(NULL) == 0);
}
