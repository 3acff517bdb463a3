/* Uses the library of kernels.json through its header alone. Exit: 0 right, 1 wrong. */
#include <stddef.h>
#include <string.h>

#include "test_kernels.h"
#include "tests/c_api/check.h"

int failures = 0;

static void add_rows(strew_context* context) {
  float table[6 * 4] = {0}, updates[3 * 4];
  int32_t indices[3] = {5, 0, 5};
  const int64_t table_dims[] = {6, 4}, index_dims[] = {3}, update_dims[] = {3, 4};
  const strew_tensor result = {table, table_dims, NULL, 2, STREW_F32, 0, {0}};
  const strew_tensor places = {indices, index_dims, NULL, 1, STREW_I32, 1, {0}};
  strew_tensor rows = {updates, update_dims, NULL, 2, STREW_F32, 1, {0}};
  int i;
  for (i = 0; i < 12; ++i) updates[i] = 1;
  OK(add_rows_f32_4(context, &result, &places, &rows));
  OK(add_rows_f32_4_at(context, table, indices, updates, 6, 3));
  CHECK(table[0] == 2 && table[20] == 4 && table[23] == 4 && table[4] == 0);
  indices[1] = 6;
  FAILS(add_rows_f32_4(context, &result, &places, &rows), STREW_CODE_OUT_OF_BOUNDS, "value 6");
  CHECK(table[20] == 4);
  rows.rank = 1;
  FAILS(add_rows_f32_4(context, &result, &places, &rows), STREW_CODE_INVALID_ARGUMENT, "updates 0");
  indices[1] = 0;
  memset(table, 0, sizeof table);
  {
    float wide[6 * 16] = {0}, more[3 * 16];
    for (i = 0; i < 48; ++i) more[i] = 2;
    OK(add_halide_at(context, wide, indices, more, 6, 3));
    CHECK(wide[0] == 2 && wide[5 * 16 + 15] == 4 && wide[16] == 0);
  }
  {
    uint16_t narrow[6 * 64] = {0}, ones[3 * 64];
    for (i = 0; i < 3 * 64; ++i) ones[i] = 0x3f80; /* 1 */
    OK(add_rows_bf16_64_at(context, narrow, indices, ones, 6, 3));
    CHECK(narrow[0] == 0x3f80 && narrow[5 * 64 + 63] == 0x4000 && narrow[64] == 0);
  }
}

static void take(strew_context* context) {
  float table[4 * 10], result[2 * 8];
  const int64_t indices[2] = {3, 1};
  int i;
  for (i = 0; i < 40; ++i) table[i] = (float)i;
  OK(take_rows_at(context, result, table, indices, 2, 4, 10)); /* rows of 8 that are 10 apart */
  CHECK(result[0] == 30 && result[7] == 37 && result[8] == 10);
}

/* What the registry tells of its kernels. */
static void registry(void) {
  strew_library other = *test_kernels();
  strew_variant variant = STREW_VARIANT_INIT, small = STREW_VARIANT_INIT;
  uint32_t k, v;
  CHECK(test_kernels_query(STREW_LIBRARY_VERSION + 1) == NULL && test_kernels_query(STREW_LIBRARY_VERSION) == test_kernels());
  CHECK(strcmp(strew_library_name(test_kernels()), "test_kernels") == 0);
  for (k = 0; k < test_kernels()->kernel_count; ++k) {
    OK(strew_library_variant(test_kernels(), k, 0, &variant));
    CHECK(variant.variant_count == 4 && variant.features[0] == 0 && strcmp(variant.target, "x86_64-x86-64") == 0);
    CHECK(strew_library_find(test_kernels(), variant.kernel) == k);
    CHECK(strncmp(variant.symbol, "strew_", 6) == 0 && strncmp(variant.identity, "strew1.", 7) == 0);
    CHECK(strncmp(variant.schedule, "strategy=", 9) == 0 && variant.backend[0] != 0);
    for (v = 1; v < 4; ++v) {
      OK(strew_library_variant(test_kernels(), k, v, &variant));
      CHECK(variant.features[0] != 0);
    }
  }
  small.size = offsetof(strew_variant, symbol); /* of a caller that was compiled when the struct had no more */
  OK(strew_library_variant(test_kernels(), 0, 0, &small));
  CHECK(small.kernel != NULL && small.symbol == NULL);
  small.size = 2;
  FAILS(strew_library_variant(test_kernels(), 0, 0, &small), STREW_CODE_INVALID_ARGUMENT, "out.size: 2");
  FAILS(strew_library_variant(NULL, 0, 0, &variant), STREW_CODE_INVALID_ARGUMENT, "library: null");
  FAILS(strew_library_variant(test_kernels(), 0, 0, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_library_variant(test_kernels(), 99, 0, &variant), STREW_CODE_INVALID_ARGUMENT, "kernel: number 99");
  FAILS(strew_library_variant(test_kernels(), 0, 4, &variant), STREW_CODE_INVALID_ARGUMENT, "variant: number 4");
  other.abi = 1;
  FAILS(strew_library_variant(&other, 0, 0, &variant), STREW_CODE_INVALID_ARGUMENT, "kernels of abi 1");
  CHECK(strew_library_name(&other)[0] == 0 && strew_library_name(NULL)[0] == 0);
  CHECK(strew_library_find(&other, "take_rows") == STREW_NO_KERNEL);
}

/* The functions by pointers find out what is wrong, too. */
static void pointers(strew_context* context) {
  float table[6 * 4] = {0}, updates[3 * 4] = {1};
  int32_t indices[3] = {5, 0, 5};
  FAILS(add_rows_f32_4_at(context, NULL, indices, updates, 6, 3), STREW_CODE_INVALID_ARGUMENT, "result 0: data is null");
  FAILS(add_rows_f32_4_at(context, table, indices, updates, 6, -3), STREW_CODE_INVALID_ARGUMENT, "is -3");
  OK(add_rows_f32_4_at(context, table, indices, updates, 6, 0));
  OK(add_rows_f32_4_at(context, table, NULL, NULL, 6, 0));
  indices[2] = 6;
  FAILS(add_rows_f32_4_at(context, table, indices, updates, 6, 3), STREW_CODE_OUT_OF_BOUNDS, "value 6");
  CHECK(table[20] == 0 && table[0] == 0);
}

int main(void) {
  strew_context* context = NULL;
  strew_context_options options = STREW_CONTEXT_OPTIONS_INIT;
  strew_library other = *test_kernels();
  strew_kernel_ref* kernel = NULL;
  FAILS(strew_context_open(NULL, NULL, &context), STREW_CODE_INVALID_ARGUMENT, "library: null");
  FAILS(strew_context_open(test_kernels(), NULL, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  other.version = 99;
  FAILS(strew_context_open(&other, NULL, &context), STREW_CODE_INVALID_ARGUMENT, "library: version is 99");
  other.magic = 0;
  FAILS(strew_context_open(&other, NULL, &context), STREW_CODE_INVALID_ARGUMENT, "no registry");
  options.cpu = "z80";
  FAILS(test_kernels_open(&options, &context), STREW_CODE_INVALID_ARGUMENT, "cpu: 'z80'");
  options.cpu = "x86-64+warp";
  FAILS(test_kernels_open(&options, &context), STREW_CODE_INVALID_ARGUMENT, "feature 'warp'");
  options.cpu = NULL;
  options.threads = -2;
  FAILS(test_kernels_open(&options, &context), STREW_CODE_INVALID_ARGUMENT, "threads");
  options.threads = 0;
  options.size = 1;
  FAILS(test_kernels_open(&options, &context), STREW_CODE_INVALID_ARGUMENT, "options.size: 1");
  CHECK(context == NULL);
  if (!OK(test_kernels_open(NULL, &context))) return 1;
  add_rows(context);
  pointers(context);
  take(context);
  FAILS(strew_context_run(context, test_kernels()->kernel_count, NULL, 0, NULL), STREW_CODE_INVALID_ARGUMENT, "kernel: number");
  FAILS(strew_context_run(NULL, 0, NULL, 0, NULL), STREW_CODE_INVALID_ARGUMENT, "context: null");
  FAILS(strew_context_kernel(context, 0, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  CHECK(strew_library_find(test_kernels(), "take_rows") == TEST_KERNELS_take_rows);
  CHECK(strew_library_find(test_kernels(), "nothing") == STREW_NO_KERNEL && strew_library_find(NULL, "x") == STREW_NO_KERNEL);
  registry();
  OK(strew_context_kernel(context, TEST_KERNELS_take_rows, &kernel));
  strew_context_free(context);
  strew_context_free(NULL);
  /* The variant that was chosen. */
  if (kernel != NULL) printf("%s\n", strew_kernel_descriptor(kernel)->target);
  strew_kernel_release(kernel);
  return failures == 0 ? 0 : 1;
}
