/* The bad index of a call that fails with STREW_CODE_OUT_OF_BOUNDS: through every kind of call, of kernels of every kind, and with structs of
 * other sizes. */
#include "areas.h"
#include "check.h"

/* u64 indices, and a result that is not its operand, so that the indices are tensor 2. */
static const char* const kCopied =
    "strew1.scatter(operand=f32[10,4] indices=u64[3] updates=f32[3,4] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add oob=error)";
/* Sums in f32, which are rounded at the end: the kernel has parts that bind other tensors than the call. */
static const char* const kWide =
    "strew1.scatter(operand=bf16[10,4] indices=i32[3] updates=bf16[3,4] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add accumulate=wide oob=error)";

static int is(const strew_bad_index* bad, int32_t source, int64_t position, int64_t value) {
  return bad->size == sizeof *bad && bad->source == source && bad->position == position && bad->component == 0 && bad->value == value &&
         bad->bound == 9;
}

static void test_calls_of(const char* backend) {
  const strew_bad_index empty = STREW_BAD_INDEX_INIT;
  strew_bad_index bad = STREW_BAD_INDEX_INIT;
  strew_call_options options = STREW_CALL_OPTIONS_INIT;
  strew_request request = STREW_REQUEST_INIT;
  strew_named_tensor named[3];
  strew_kernel_call call;
  void* data[3];
  Rows rows;
  strew_kernel_ref* kernel;
  request.backend = backend;
  kernel = get(kRows, &request);
  if (kernel == NULL) return;
  options.bad_index = &bad;
  fill(&rows);
  OK(strew_kernel_run(kernel, rows.tensors, 3, &options));
  CHECK(bad.source == -1);
  rows.indices[2] = 11;
  FAILS(strew_kernel_run(kernel, rows.tensors, 3, &options), STREW_CODE_OUT_OF_BOUNDS, "value 11");
  CHECK(is(&bad, 1, 2, 11));
  bad = empty;
  named[0].name = "indices";
  named[0].tensor = rows.tensors[1];
  named[1].name = "updates";
  named[1].tensor = rows.tensors[2];
  named[2].name = "result";
  named[2].tensor = rows.tensors[0];
  FAILS(strew_kernel_run_named(kernel, named, 3, &options), STREW_CODE_OUT_OF_BOUNDS, "value 11");
  CHECK(is(&bad, 1, 2, 11)); /* counted as the kernel counts, not as the names are given */
  bad = empty;
  data[0] = rows.table;
  data[1] = rows.indices;
  data[2] = rows.updates;
  FAILS(strew_kernel_run_many(kernel, rows.tensors, 3, data, 1, &options), STREW_CODE_OUT_OF_BOUNDS, "value 11");
  CHECK(is(&bad, 1, 2, 11));
  bad = empty;
  call.kernel = kernel;
  call.tensors = rows.tensors;
  call.tensor_count = 3;
  FAILS(strew_run_batch(&call, 1, &options), STREW_CODE_OUT_OF_BOUNDS, "value 11");
  CHECK(is(&bad, 1, 2, 11));
  bad = empty;
  rows.tensors[0].rank = 1; /* another failure leaves it as it is */
  FAILS(strew_kernel_run(kernel, rows.tensors, 3, &options), STREW_CODE_INVALID_ARGUMENT, "rank");
  CHECK(memcmp(&bad, &empty, sizeof bad) == 0);
  strew_kernel_release(kernel);
}

static void test_sources(void) {
  const int64_t table_dims[2] = {10, 4}, index_dims[1] = {3}, update_dims[2] = {3, 4};
  float result[40], operand[40] = {0}, updates[12] = {0};
  uint16_t narrow_result[40], narrow_operand[40] = {0}, narrow_updates[12] = {0};
  uint64_t large[3] = {0, UINT64_MAX, 1};
  int32_t indices[3] = {0, 1, -7};
  const strew_tensor copied[4] = {{result, table_dims, NULL, 2, STREW_F32, 0, {0}},
                                  {operand, table_dims, NULL, 2, STREW_F32, 1, {0}},
                                  {large, index_dims, NULL, 1, STREW_U64, 1, {0}},
                                  {updates, update_dims, NULL, 2, STREW_F32, 1, {0}}};
  const strew_tensor wide[4] = {{narrow_result, table_dims, NULL, 2, STREW_BF16, 0, {0}},
                                {narrow_operand, table_dims, NULL, 2, STREW_BF16, 1, {0}},
                                {indices, index_dims, NULL, 1, STREW_I32, 1, {0}},
                                {narrow_updates, update_dims, NULL, 2, STREW_BF16, 1, {0}}};
  strew_call_options options = STREW_CALL_OPTIONS_INIT;
  strew_bad_index bad = STREW_BAD_INDEX_INIT;
  strew_kernel_ref* kernel = get(kCopied, NULL);
  options.bad_index = &bad;
  FAILS(strew_kernel_run(kernel, copied, 4, &options), STREW_CODE_OUT_OF_BOUNDS, "value 18446744073709551615");
  CHECK(is(&bad, 2, 1, -1) && (uint64_t)bad.value == UINT64_MAX);
  strew_kernel_release(kernel);
  kernel = get(kWide, NULL);
  FAILS(strew_kernel_run(kernel, wide, 4, &options), STREW_CODE_OUT_OF_BOUNDS, "value -7");
  CHECK(is(&bad, 2, 2, -7));
  strew_kernel_release(kernel);
}

static void test_sizes(void) {
  struct {
    strew_bad_index bad;
    int64_t later;
  } newer = {STREW_BAD_INDEX_INIT, 7};
  strew_bad_index bad = STREW_BAD_INDEX_INIT;
  strew_call_options options = STREW_CALL_OPTIONS_INIT;
  strew_kernel_ref* kernel = get(kRows, NULL);
  Rows rows;
  fill(&rows);
  rows.indices[0] = 10;
  options.bad_index = &bad;
  bad.size = 0;
  FAILS(strew_kernel_run(kernel, rows.tensors, 3, &options), STREW_CODE_INVALID_ARGUMENT, "options.bad_index.size: 0");
  bad.size = offsetof(strew_bad_index, position); /* of a caller with an earlier header */
  bad.position = 5;
  FAILS(strew_kernel_run(kernel, rows.tensors, 3, &options), STREW_CODE_OUT_OF_BOUNDS, "value 10");
  CHECK(bad.source == 1 && bad.position == 5 && bad.size == offsetof(strew_bad_index, position));
  newer.bad.size = sizeof newer;
  options.bad_index = &newer.bad;
  FAILS(strew_kernel_run(kernel, rows.tensors, 3, &options), STREW_CODE_OUT_OF_BOUNDS, "value 10");
  CHECK(newer.bad.source == 1 && newer.bad.value == 10 && newer.later == 0);
  strew_kernel_release(kernel);
}

void test_bad_index(void) {
  test_calls_of("llvm");
  test_calls_of("reference");
  test_sources();
  test_sizes();
}
