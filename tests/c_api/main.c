/* The C interface, used from C99: every function with good and with bad input. Exit: 0 right, 1 wrong. Its argument is the folder of
 * example files. */
#include <stdint.h>
#include <stdlib.h>

#include "areas.h"
#include "check.h"
#include "dlpack_types.h"

int failures = 0;

const char* const kRows =
    "strew1.scatter(operand=f32[?,4] indices=i32[?] updates=f32[?,4] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place oob=error)";

void fill(Rows* rows) {
  const Rows empty = {{0}, {2, 0, 2}, {0}, {10, 4}, {3}, {3, 4}, {{0}}};
  const strew_tensor table = {rows->table, rows->table_dims, NULL, 2, STREW_F32, 0, {0}};
  const strew_tensor indices = {rows->indices, rows->index_dims, NULL, 1, STREW_I32, 1, {0}};
  const strew_tensor updates = {rows->updates, rows->update_dims, NULL, 2, STREW_F32, 1, {0}};
  int i;
  *rows = empty;
  for (i = 0; i < 12; ++i) rows->updates[i] = 1;
  rows->tensors[0] = table;
  rows->tensors[1] = indices;
  rows->tensors[2] = updates;
}

int holds(const Rows* rows, float calls) {
  int i;
  for (i = 0; i < 40; ++i) {
    const float expected = i / 4 == 0 ? calls : i / 4 == 2 ? 2 * calls : 0;
    if (rows->table[i] != expected) return 0;
  }
  return 1;
}

strew_prepared* prepare(const char* text, const strew_request* request) {
  strew_op* op = NULL;
  strew_prepared* prepared = NULL;
  if (OK(strew_op_parse(text, &op))) OK(strew_prepare(op, request, &prepared));
  strew_op_free(op);
  return prepared;
}

strew_kernel_ref* get(const char* text, const strew_request* request) {
  strew_prepared* const prepared = prepare(text, request);
  strew_kernel_ref* kernel = NULL;
  OK(strew_get(strew_runtime_process(), prepared, STREW_NO_TIMEOUT, &kernel));
  strew_prepared_free(prepared);
  return kernel;
}

static void test_status_and_dtypes(void) {
  CHECK(strew_status_code(NULL) == STREW_CODE_OK);
  CHECK(strcmp(strew_status_message(NULL), "") == 0);
  strew_status_free(NULL);
  CHECK(strcmp(strew_dtype_name(STREW_BF16), "bf16") == 0);
  CHECK(strcmp(strew_dtype_name(STREW_F8E4M3FN), "f8e4m3fn") == 0);
  CHECK(strcmp(strew_dtype_name(STREW_COMPLEX128), "complex128") == 0);
  CHECK(strew_dtype_bits(STREW_COMPLEX128) == 128 && strew_dtype_bits(STREW_I4) == 4 && strew_dtype_bits(STREW_BOOL) == 8);
  CHECK(strew_dtype_name(STREW_DTYPE_COUNT) == NULL && strew_dtype_bits((strew_dtype)200) == 0);
}

/* The dims of results that an op leaves open follow from the inputs of a call. */
static void test_result_dims(void) {
  static const char kGather[] =
      "strew1.gather(operand=f32[?,4] indices=i32[?] result=f32[?,4] offset_dims=[1] collapsed_slice_dims=[0] "
      "start_index_map=[0] "
      "index_vector_dim=1 slice_sizes=[1,4])";
  static const char kCopy[] =
      "strew1.scatter(operand=f32[?,4] indices=i32[?] updates=f32[?,4] update_window_dims=[1] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1)";
  static const int64_t kTable[] = {7, 4}, kThree[] = {3}, kUpdates[] = {3, 4};
  const strew_tensor table = {NULL, kTable, NULL, 2, STREW_F32, 0, {0}}, rows = {NULL, kThree, NULL, 1, STREW_I32, 0, {0}};
  const strew_tensor updates = {NULL, kUpdates, NULL, 2, STREW_F32, 0, {0}};
  const strew_tensor gathered[] = {table, rows}, copied[] = {table, rows, updates}, in_place[] = {rows, updates};
  const strew_tensor flat[] = {rows, rows}, nowhere[] = {{NULL, NULL, NULL, 2, STREW_F32, 0, {0}}, rows};
  int64_t dims[2] = {-1, -1};
  strew_op* op = NULL;
  if (!OK(strew_op_parse(kGather, &op))) return;
  OK(strew_op_result_dims(op, 0, gathered, 2, dims, 2));
  CHECK(dims[0] == 3 && dims[1] == 4);
  dims[0] = -1;
  FAILS(strew_op_result_dims(NULL, 0, gathered, 2, dims, 2), STREW_CODE_INVALID_ARGUMENT, "op: null");
  FAILS(strew_op_result_dims(op, 1, gathered, 2, dims, 2), STREW_CODE_INVALID_ARGUMENT, "result: 1, expected less than 1");
  FAILS(strew_op_result_dims(op, 0, NULL, 2, dims, 2), STREW_CODE_INVALID_ARGUMENT, "inputs: null");
  FAILS(strew_op_result_dims(op, 0, gathered, 1, dims, 2), STREW_CODE_INVALID_ARGUMENT, "input_count: 1, expected 2");
  FAILS(strew_op_result_dims(op, 0, gathered, 2, dims, 1), STREW_CODE_INVALID_ARGUMENT, "rank: 1, expected 2");
  FAILS(strew_op_result_dims(op, 0, gathered, 2, NULL, 2), STREW_CODE_INVALID_ARGUMENT, "dims: null");
  FAILS(strew_op_result_dims(op, 0, flat, 2, dims, 2), STREW_CODE_INVALID_ARGUMENT, "inputs[0].rank: 1, expected 2");
  FAILS(strew_op_result_dims(op, 0, nowhere, 2, dims, 2), STREW_CODE_INVALID_ARGUMENT, "inputs[0].dims: null");
  CHECK(dims[0] == -1);
  strew_op_free(op);
  op = NULL;
  if (!OK(strew_op_parse(kCopy, &op))) return;
  OK(strew_op_result_dims(op, 0, copied, 3, dims, 2));
  CHECK(dims[0] == 7 && dims[1] == 4);
  strew_op_free(op);
  op = NULL;
  if (!OK(strew_op_parse(kRows, &op))) return; /* in place: the result's buffer is the operand's, which is no input */
  FAILS(strew_op_result_dims(op, 0, in_place, 2, dims, 2), STREW_CODE_INVALID_ARGUMENT,
        "result 0: the extent of dim 0 is open and follows from no input");
  strew_op_free(op);
}

static void test_ops(void) {
  struct {
    strew_slot slot;
    int64_t later;
  } newer = {STREW_SLOT_INIT, 7};
  strew_op* op = NULL;
  strew_slot slot = STREW_SLOT_INIT;
  strew_prepared* prepared = NULL;
  strew_request request = STREW_REQUEST_INIT;
  FAILS(strew_op_parse(NULL, &op), STREW_CODE_INVALID_ARGUMENT, "text: null");
  FAILS(strew_op_parse(kRows, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_op_parse("strew1.scatter(", &op), STREW_CODE_INVALID_ARGUMENT, "offset");
  CHECK(op == NULL);
  if (!OK(strew_op_parse(kRows, &op))) return;
  CHECK(strstr(strew_op_text(op), "strew1.scatter(operand=f32[?,4]") == strew_op_text(op));
  CHECK(strew_op_slot_count(op) == 3 && strew_op_slot_count(NULL) == 0);
  CHECK(strew_op_text(NULL) == NULL);
  OK(strew_op_slot(op, 0, &slot));
  CHECK(strcmp(slot.name, "result 0") == 0 && slot.role == STREW_RESULT && slot.dtype == STREW_F32 && slot.rank == 2);
  CHECK(slot.dims[0] == STREW_OPEN && slot.dims[1] == 4 && slot.strides == NULL);
  OK(strew_op_slot(op, 1, &slot));
  CHECK(strcmp(slot.name, "indices") == 0);
  FAILS(strew_op_slot(op, 3, &slot), STREW_CODE_INVALID_ARGUMENT, "number: 3, expected less than 3");
  FAILS(strew_op_slot(NULL, 0, &slot), STREW_CODE_INVALID_ARGUMENT, "op: null");
  FAILS(strew_op_slot(op, 0, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  slot.size = 3;
  FAILS(strew_op_slot(op, 0, &slot), STREW_CODE_INVALID_ARGUMENT, "out.size: 3, expected the size of the struct");
  CHECK(strcmp(slot.name, "indices") == 0);
  newer.slot.size = sizeof newer;
  OK(strew_op_slot(op, 0, &newer.slot)); /* of a caller with a later header: what this library does not know is zero */
  CHECK(newer.slot.size == sizeof newer && newer.slot.rank == 2 && newer.later == 0);

  FAILS(strew_prepare(NULL, NULL, &prepared), STREW_CODE_INVALID_ARGUMENT, "op: null");
  FAILS(strew_prepare(op, NULL, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  request.backend = "gpu";
  FAILS(strew_prepare(op, &request, &prepared), STREW_CODE_INVALID_ARGUMENT, "backend: 'gpu', expected one of");
  request.backend = NULL;
  request.schedule = "unrol=2";
  FAILS(strew_prepare(op, &request, &prepared), STREW_CODE_INVALID_ARGUMENT, "unrol");
  request.schedule = NULL;
  request.target = "z80";
  FAILS(strew_prepare(op, &request, &prepared), STREW_CODE_INVALID_ARGUMENT, "z80");
  request.target = NULL;
  request.compile = "later";
  FAILS(strew_prepare(op, &request, &prepared), STREW_CODE_INVALID_ARGUMENT,
        "compile: 'later', expected one of blocking, background");
  request.compile = NULL;
  request.size = 2;
  FAILS(strew_prepare(op, &request, &prepared), STREW_CODE_INVALID_ARGUMENT, "request.size: 2");
  CHECK(prepared == NULL);
  strew_op_free(op);
  strew_op_free(NULL);
  strew_prepared_free(NULL);
}

static int is_built(const strew_op_builder* builder, const char* text) {
  strew_op* op = NULL;
  const int built = OK(strew_op_builder_build(builder, &op));
  const int same = built && strcmp(strew_op_text(op), text) == 0;
  if (built && !same) printf("built %s\n  expected %s\n", strew_op_text(op), text);
  strew_op_free(op);
  return same;
}

/* Every form gives the op that its C++ function gives (tests/unit/compiler/op/builder_test.cc pins those). */
static void test_forms(void) {
  const int64_t table[] = {STREW_OPEN, 4}, three[] = {3}, rows[] = {3, 4}, vectors[] = {3, 1}, two[] = {2},
                cache[] = {2, 3, 8, 4};
  const int64_t batch[] = {2}, token[] = {2, 3, 1, 4}, window[] = {1, 4}, fixed[] = {10, 4};
  const strew_tensor operand = {NULL, table, NULL, 2, STREW_F32, 0, {0}}, indices = {NULL, three, NULL, 1, STREW_I32, 0, {0}};
  const strew_tensor updates = {NULL, rows, NULL, 2, STREW_F32, 0, {0}}, elements = {NULL, rows, NULL, 2, STREW_I64, 0, {0}};
  const strew_tensor of_vectors = {NULL, vectors, NULL, 2, STREW_I32, 0, {0}}, start = {NULL, two, NULL, 1, STREW_I32, 0, {0}};
  const strew_tensor kv = {NULL, cache, NULL, 4, STREW_F16, 0, {0}}, positions = {NULL, batch, NULL, 1, STREW_I64, 0, {0}};
  const strew_tensor one = {NULL, token, NULL, 4, STREW_F16, 0, {0}}, slice = {NULL, window, NULL, 2, STREW_F32, 0, {0}};
  const strew_tensor whole = {NULL, fixed, NULL, 2, STREW_F32, 0, {0}}, values = {NULL, three, NULL, 1, STREW_F32, 0, {0}};
  const strew_tensor both[] = {indices, indices};
  strew_op_builder* builder = NULL;
#define FORM(call, text)                          \
  do {                                            \
    builder = NULL;                               \
    if (OK(call)) CHECK(is_built(builder, text)); \
    strew_op_builder_free(builder);               \
  } while (0)
  FORM(strew_op_builder_scatter_rows(&operand, &indices, &updates, &builder),
       "strew1.scatter(operand=f32[?,4] indices=i32[3] updates=f32[3,4] update_window_dims=[1] inserted_window_dims=[0] "
       "scatter_dims_to_operand_dims=[0] index_vector_dim=1)");
  FORM(strew_op_builder_gather_rows(&operand, &indices, &builder),
       "strew1.gather(operand=f32[?,4] indices=i32[3] result=f32[3,4] offset_dims=[1] collapsed_slice_dims=[0] "
       "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,4])");
  FORM(
      strew_op_builder_scatter_elements(&operand, &elements, &updates, -2, &builder),
      "strew1.scatter(operand=f32[?,4] indices=i64[3,4] updates=f32[3,4] inserted_window_dims=[0] input_batching_dims=[1] "
      "scatter_indices_batching_dims=[1] scatter_dims_to_operand_dims=[0] index_vector_dim=2 oob=error normalize_negative=true)");
  FORM(strew_op_builder_gather_elements(&operand, &elements, 0, &builder),
       "strew1.gather(operand=f32[?,4] indices=i64[3,4] result=f32[3,4] collapsed_slice_dims=[0] operand_batching_dims=[1] "
       "start_indices_batching_dims=[1] start_index_map=[0] index_vector_dim=2 slice_sizes=[1,1] oob=error "
       "normalize_negative=true)");
  FORM(strew_op_builder_scatter_nd(&operand, &of_vectors, &updates, &builder),
       "strew1.scatter(operand=f32[?,4] indices=i32[3,1] updates=f32[3,4] update_window_dims=[1] inserted_window_dims=[0] "
       "scatter_dims_to_operand_dims=[0] index_vector_dim=1 oob=error normalize_negative=true)");
  FORM(strew_op_builder_gather_nd(&operand, &of_vectors, 0, &builder),
       "strew1.gather(operand=f32[?,4] indices=i32[3,1] result=f32[3,4] offset_dims=[1] collapsed_slice_dims=[0] "
       "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,4] oob=error normalize_negative=true)");
  FORM(strew_op_builder_scatter_at(&operand, both, 2, &values, &builder),
       "strew1.scatter(operand=f32[?,4] indices=i32[3] more_indices=i32[3] updates=f32[3] inserted_window_dims=[0,1] "
       "scatter_dims_to_operand_dims=[0,1] index_vector_dim=1 oob=error normalize_negative=true)");
  FORM(strew_op_builder_gather_at(&operand, both, 1, &builder),
       "strew1.gather(operand=f32[?,4] indices=i32[3] result=f32[3,4] offset_dims=[1] collapsed_slice_dims=[0] "
       "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,4] oob=error normalize_negative=true)");
  FORM(strew_op_builder_sddmm(&operand, &indices, &operand, &indices, 4, &builder),
       "strew1.scatter(operand=f32[3,4]{1,0} indices=i32[3,0] updates=f32[3,4] extras=[per_element:f32[3,4]] "
       "lookups=[updates(0)=gather(operand=f32[?,4] indices=i32[3] result=f32[3,4] offset_dims=[1] collapsed_slice_dims=[0] "
       "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,4] oob=error),extra(0)=gather(operand=f32[?,4] indices=i32[3] "
       "result=f32[3,4] offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1,4] "
       "oob=error)] row_reductions=[add(4){%0=update(0):f32; %1=extra(0):f32; %2=multiply(%0,%1):f32; return %2}] "
       "update_window_dims=[1] input_batching_dims=[0] scatter_indices_batching_dims=[0] index_vector_dim=1 combiner=expr "
       "expr={%0=extra(1):f32; return %0} init=fill fill=0:f32)");
  FORM(strew_op_builder_gather(&operand, &indices, -1, 0, &builder),
       "strew1.gather(operand=f32[?,4] indices=i32[3] result=f32[?,3] offset_dims=[0] collapsed_slice_dims=[1] "
       "start_index_map=[1] index_vector_dim=1 slice_sizes=[?,1] oob=error normalize_negative=true)");
  FORM(strew_op_builder_tensor_scatter(&kv, &positions, &one, -2, 1, &builder),
       "strew1.scatter(operand=f16[2,3,8,4] indices=i64[2] updates=f16[2,3,1,4] update_window_dims=[1,2,3] "
       "input_batching_dims=[0] scatter_indices_batching_dims=[0] scatter_dims_to_operand_dims=[2] index_vector_dim=1 oob=wrap)");
  FORM(strew_op_builder_dynamic_update_slice(&whole, &start, &slice, &builder),
       "strew1.scatter(operand=f32[10,4] indices=i32[2] updates=f32[1,4] update_window_dims=[0,1] "
       "scatter_dims_to_operand_dims=[0,1] oob=clamp)");
  FORM(strew_op_builder_dynamic_slice(&whole, &start, window, 2, &builder),
       "strew1.gather(operand=f32[10,4] indices=i32[2] result=f32[1,4] offset_dims=[0,1] start_index_map=[0,1] "
       "slice_sizes=[1,4])");
#undef FORM

  builder = NULL;
  FAILS(strew_op_builder_scatter_rows(NULL, &indices, &updates, &builder), STREW_CODE_INVALID_ARGUMENT, "operand: null");
  FAILS(strew_op_builder_scatter_rows(&operand, NULL, &updates, &builder), STREW_CODE_INVALID_ARGUMENT, "indices: null");
  FAILS(strew_op_builder_scatter_rows(&operand, &indices, NULL, &builder), STREW_CODE_INVALID_ARGUMENT, "updates: null");
  FAILS(strew_op_builder_scatter_rows(&operand, &indices, &updates, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_op_builder_gather_rows(&operand, NULL, &builder), STREW_CODE_INVALID_ARGUMENT, "indices: null");
  FAILS(strew_op_builder_scatter_at(&operand, NULL, 2, &values, &builder), STREW_CODE_INVALID_ARGUMENT, "indices: null");
  FAILS(strew_op_builder_sddmm(&operand, &indices, NULL, &indices, 8, &builder), STREW_CODE_INVALID_ARGUMENT, "rhs: null");
  FAILS(strew_op_builder_sddmm(&operand, &indices, &operand, &indices, 8, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_op_builder_gather_at(&operand, both, 65, &builder), STREW_CODE_INVALID_ARGUMENT, "count: 65");
  FAILS(strew_op_builder_dynamic_slice(&whole, &start, NULL, 2, &builder), STREW_CODE_INVALID_ARGUMENT, "slice_sizes: null");
  FAILS(strew_op_builder_dynamic_slice(&whole, &start, window, 65, &builder), STREW_CODE_INVALID_ARGUMENT, "count: 65");
  CHECK(builder == NULL);
  /* What does not fit together is found when the op is built. */
  if (OK(strew_op_builder_sddmm(&operand, &indices, &operand, &indices, 3, &builder))) {
    strew_op* op = NULL;
    FAILS(strew_op_builder_build(builder, &op), STREW_CODE_INVALID_ARGUMENT, "has 3 lanes; expected a power of two from 1 to 64");
    strew_op_builder_free(builder);
    builder = NULL;
  }
  if (OK(strew_op_builder_gather_at(&operand, both, 0, &builder))) {
    strew_op* op = NULL;
    FAILS(strew_op_builder_build(builder, &op), STREW_CODE_INVALID_ARGUMENT, "0 index tensors; expected from 1 to 2");
  }
  strew_op_builder_free(builder);
  if (OK(strew_op_builder_scatter_elements(&operand, &elements, &updates, 7, &builder))) {
    strew_op* op = NULL;
    FAILS(strew_op_builder_build(builder, &op), STREW_CODE_INVALID_ARGUMENT, "axis is 7; expected from -2 to 1");
    CHECK(op == NULL);
  }
  strew_op_builder_free(builder);
}

static void test_op_builder(void) {
  const int64_t table[] = {STREW_OPEN, 4}, three[] = {STREW_OPEN}, rows[] = {STREW_OPEN, 4};
  const int64_t strides[] = {STREW_OPEN, 1};
  const strew_tensor operand = {NULL, table, NULL, 2, STREW_F32, 0, {0}}, indices = {NULL, three, NULL, 1, STREW_I32, 0, {0}};
  const strew_tensor updates = {NULL, rows, NULL, 2, STREW_F32, 0, {0}}, strided = {NULL, rows, strides, 2, STREW_F32, 0, {0}};
  strew_tensor bad = operand;
  strew_op_builder* builder = NULL;
  strew_op* op = NULL;
  strew_prepared* prepared = NULL;
  strew_kernel_ref* kernel = NULL;
  strew_slot slot = STREW_SLOT_INIT;
  Rows data;
  /* The op of the text above, from a form, and its kernel. */
  if (!OK(strew_op_builder_scatter_rows(&operand, &indices, &updates, &builder))) return;
  OK(strew_op_builder_set(builder, "combiner", "add"));
  OK(strew_op_builder_set(builder, "oob", "error"));
  OK(strew_op_builder_set(builder, "init", "in_place"));
  CHECK(is_built(builder, kRows));
  FAILS(strew_op_builder_set(builder, "oob", "often"), STREW_CODE_INVALID_ARGUMENT,
        "oob, offset 0: found \"often\"; expected one of");
  FAILS(strew_op_builder_set(builder, "colour", "red"), STREW_CODE_INVALID_ARGUMENT, "field: 'colour', expected one of operand");
  FAILS(strew_op_builder_set(NULL, "oob", "error"), STREW_CODE_INVALID_ARGUMENT, "builder: null");
  FAILS(strew_op_builder_set(builder, NULL, "error"), STREW_CODE_INVALID_ARGUMENT, "field: null");
  FAILS(strew_op_builder_set(builder, "oob", NULL), STREW_CODE_INVALID_ARGUMENT, "value: null");
  FAILS(strew_op_builder_build(NULL, &op), STREW_CODE_INVALID_ARGUMENT, "builder: null");
  FAILS(strew_op_builder_build(builder, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  CHECK(is_built(builder, kRows));
  if (OK(strew_op_builder_build(builder, &op)) && OK(strew_prepare(op, NULL, &prepared)) &&
      OK(strew_get(strew_runtime_process(), prepared, STREW_NO_TIMEOUT, &kernel))) {
    fill(&data);
    OK(strew_kernel_run(kernel, data.tensors, 3, NULL));
    CHECK(holds(&data, 1));
  }
  strew_kernel_release(kernel);
  strew_prepared_free(prepared);
  strew_op_free(op);
  op = NULL;
  strew_op_builder_free(builder);
  strew_op_builder_free(NULL);

  /* From nothing, with an extra input and a graph; the results follow. */
  builder = NULL;
  if (!OK(strew_op_builder_create_scatter(&builder))) return;
  FAILS(strew_op_builder_build(builder, &op), STREW_CODE_INVALID_ARGUMENT, "operand");
  OK(strew_op_builder_tensor(builder, STREW_OPERAND, &operand));
  OK(strew_op_builder_tensor(builder, STREW_INDICES, &indices));
  OK(strew_op_builder_tensor(builder, STREW_UPDATES, &strided));
  OK(strew_op_builder_extra(builder, "per_position", &indices));
  OK(strew_op_builder_set(builder, "update_window_dims", "[1]"));
  OK(strew_op_builder_set(builder, "inserted_window_dims", "[0]"));
  OK(strew_op_builder_set(builder, "scatter_dims_to_operand_dims", "[0]"));
  OK(strew_op_builder_set(builder, "index_vector_dim", "1"));
  OK(strew_op_builder_set(builder, "expr",
                          "{%0=update(0):f32; %1=extra(0):i32; %2=convert(%1):f32; %3=multiply(%0,%2):f32; return %3}"));
  CHECK(is_built(
      builder,
      "strew1.scatter(operand=f32[?,4] indices=i32[?] updates=f32[?,4]{?,1} extras=[per_position:i32[?]] "
      "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=expr "
      "expr={%0=update(0):f32; %1=extra(0):i32; %2=convert(%1):f32; %3=multiply(%0,%2):f32; return %3})"));
  if (OK(strew_op_builder_build(builder, &op))) {
    OK(strew_op_slot(op, 0, &slot));
    CHECK(slot.role == STREW_RESULT && slot.dtype == STREW_F32 && slot.rank == 2 && slot.dims[0] == STREW_OPEN &&
          slot.dims[1] == 4);
  }
  strew_op_free(op);
  op = NULL;
  FAILS(strew_op_builder_tensor(NULL, STREW_OPERAND, &operand), STREW_CODE_INVALID_ARGUMENT, "builder: null");
  FAILS(strew_op_builder_tensor(builder, STREW_OPERAND, NULL), STREW_CODE_INVALID_ARGUMENT, "type: null");
  FAILS(strew_op_builder_tensor(builder, STREW_EXTRA, &operand), STREW_CODE_INVALID_ARGUMENT, "strew_op_builder_extra()");
  FAILS(strew_op_builder_tensor(builder, -1, &operand), STREW_CODE_INVALID_ARGUMENT, "role: number -1, expected STREW_RESULT");
  FAILS(strew_op_builder_extra(builder, "per_row", &operand), STREW_CODE_INVALID_ARGUMENT,
        "kind: 'per_row', expected one of per_element, per_position, per_window, scalar");
  FAILS(strew_op_builder_extra(builder, NULL, &operand), STREW_CODE_INVALID_ARGUMENT, "kind: null");
  FAILS(strew_op_builder_extra(NULL, "scalar", &operand), STREW_CODE_INVALID_ARGUMENT, "builder: null");
  FAILS(strew_op_builder_extra(builder, "scalar", NULL), STREW_CODE_INVALID_ARGUMENT, "type: null");
  bad.dtype = 200;
  FAILS(strew_op_builder_tensor(builder, STREW_OPERAND, &bad), STREW_CODE_INVALID_ARGUMENT,
        "type.dtype: number 200, expected 0..");
  bad = operand;
  bad.rank = 65;
  FAILS(strew_op_builder_tensor(builder, STREW_OPERAND, &bad), STREW_CODE_INVALID_ARGUMENT, "type.rank: 65, expected 0..64");
  bad = operand;
  bad.dims = NULL;
  FAILS(strew_op_builder_tensor(builder, STREW_OPERAND, &bad), STREW_CODE_INVALID_ARGUMENT, "type.dims: null");
  strew_op_builder_free(builder);
  builder = NULL;
  FAILS(strew_op_builder_create_scatter(NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_op_builder_create_gather(NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  if (!OK(strew_op_builder_create_gather(&builder))) return;
  FAILS(strew_op_builder_tensor(builder, STREW_UPDATES, &updates), STREW_CODE_INVALID_ARGUMENT, "for a gather");
  FAILS(strew_op_builder_set(builder, "combiner", "add"), STREW_CODE_INVALID_ARGUMENT, "field: 'combiner'");
  strew_op_builder_free(builder);
}

/* Updates that are rows of a table: the op has the table in their place, and one more index tensor. */
static void test_look_up(void) {
  const int64_t table[] = {STREW_OPEN, 4}, three[] = {STREW_OPEN};
  const strew_tensor rows = {NULL, table, NULL, 2, STREW_F32, 0, {0}}, indices = {NULL, three, NULL, 1, STREW_I32, 0, {0}};
  strew_op_builder *builder = NULL, *gather = NULL;
  strew_op* op = NULL;
  strew_slot slot = STREW_SLOT_INIT;
  if (!OK(strew_op_builder_scatter_rows(&rows, &indices, &rows, &builder))) return;
  if (!OK(strew_op_builder_gather_rows(&rows, &indices, &gather))) return;
  FAILS(strew_op_builder_look_up(builder, STREW_UPDATES, 0, NULL), STREW_CODE_INVALID_ARGUMENT, "gather: null");
  FAILS(strew_op_builder_look_up(NULL, STREW_UPDATES, 0, gather), STREW_CODE_INVALID_ARGUMENT, "builder: null");
  FAILS(strew_op_builder_look_up(gather, STREW_UPDATES, 0, gather), STREW_CODE_INVALID_ARGUMENT, "expected that of a scatter");
  FAILS(strew_op_builder_look_up(builder, STREW_UPDATES, 0, builder), STREW_CODE_INVALID_ARGUMENT, "expected that of a gather");
  FAILS(strew_op_builder_look_up(builder, STREW_INDICES, 0, gather), STREW_CODE_INVALID_ARGUMENT, "expected STREW_UPDATES");
  OK(strew_op_builder_set(gather, "oob", "skip_window"));
  OK(strew_op_builder_look_up(builder, STREW_UPDATES, 0, gather));
  CHECK(is_built(builder,
                 "strew1.scatter(operand=f32[?,4] indices=i32[?] updates=f32[?,4] lookups=[updates(0)=gather(operand=f32[?,4] "
                 "indices=i32[?] result=f32[?,4] offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 "
                 "slice_sizes=[1,4] oob=skip_window)] update_window_dims=[1] inserted_window_dims=[0] "
                 "scatter_dims_to_operand_dims=[0] index_vector_dim=1)"));
  if (OK(strew_op_builder_build(builder, &op))) {
    OK(strew_op_slot(op, 4, &slot));
    CHECK(slot.role == STREW_INDICES && slot.dtype == STREW_I32 && strcmp(slot.name, "indices 1") == 0);
  }
  strew_op_free(op);
  strew_op_builder_free(builder);
  strew_op_builder_free(gather);
}

/* A struct of a caller that was compiled with a later header. */
static void test_struct_versions(void) {
  struct {
    strew_request known;
    int64_t later;
  } newer = {STREW_REQUEST_INIT, 0};
  strew_op* op = NULL;
  strew_prepared* prepared = NULL;
  strew_request older = STREW_REQUEST_INIT;
  strew_kernel_ref* kernel = NULL;
  newer.known.size = sizeof newer;
  if (!OK(strew_op_parse(kRows, &op))) return;
  OK(strew_prepare(op, &newer.known, &prepared));
  strew_prepared_free(prepared);
  prepared = NULL;
  newer.later = 1;
  FAILS(strew_prepare(op, &newer.known, &prepared), STREW_CODE_UNSUPPORTED, "this library knows the first");
  /* Fields that an older header lacks are not read. */
  older.size = sizeof older.size + sizeof older.threads;
  older.threads = 1;
  older.target = "z80";
  if (OK(strew_prepare(op, &older, &prepared)) && OK(strew_get(strew_runtime_process(), prepared, STREW_NO_TIMEOUT, &kernel)))
    CHECK(strew_kernel_threads(kernel) == 1);
  strew_kernel_release(kernel);
  strew_prepared_free(prepared);
  strew_op_free(op);
}

static void test_calls(const char* backend) {
  strew_request request = STREW_REQUEST_INIT;
  strew_call_options options = STREW_CALL_OPTIONS_INIT;
  strew_bad_index bad_index = STREW_BAD_INDEX_INIT;
  Rows rows;
  strew_kernel_ref* kernel;
  strew_named_tensor named[3] = {{"updates", {0}}, {"result", {0}}, {"indices", {0}}};
  request.backend = backend;
  kernel = get(kRows, &request);
  if (kernel == NULL) return;
  fill(&rows);
  OK(strew_kernel_run(kernel, rows.tensors, 3, NULL));
  CHECK(holds(&rows, 1));
  options.threads = 2;
  options.bad_index = &bad_index;
  OK(strew_kernel_run(kernel, rows.tensors, 3, &options));
  CHECK(holds(&rows, 2));
  named[0].tensor = rows.tensors[2];
  named[1].tensor = rows.tensors[0];
  named[2].tensor = rows.tensors[1];
  OK(strew_kernel_run_named(kernel, named, 3, &options));
  CHECK(holds(&rows, 3));

  rows.indices[1] = 10;
  FAILS(strew_kernel_run(kernel, rows.tensors, 3, &options), STREW_CODE_OUT_OF_BOUNDS, "value 10");
  CHECK(bad_index.position == 1 && bad_index.value == 10 && bad_index.bound == 9);
  FAILS(strew_kernel_run(kernel, rows.tensors, 3, NULL), STREW_CODE_OUT_OF_BOUNDS, "value 10");
  rows.indices[1] = 0;
  FAILS(strew_kernel_run(NULL, rows.tensors, 3, NULL), STREW_CODE_INVALID_ARGUMENT, "kernel: null");
  FAILS(strew_kernel_run(kernel, NULL, 3, NULL), STREW_CODE_INVALID_ARGUMENT, "tensors: null");
  FAILS(strew_kernel_run(kernel, rows.tensors, 2, NULL), STREW_CODE_INVALID_ARGUMENT, "expected 3");
  FAILS(strew_kernel_run(kernel, NULL, 0, NULL), STREW_CODE_INVALID_ARGUMENT, "expected 3");
  options.threads = -1;
  FAILS(strew_kernel_run(kernel, rows.tensors, 3, &options), STREW_CODE_INVALID_ARGUMENT, "threads");
  options.threads = 0;
  options.size = 0;
  FAILS(strew_kernel_run(kernel, rows.tensors, 3, &options), STREW_CODE_INVALID_ARGUMENT, "options.size: 0");
  options.size = sizeof options;
  rows.tensors[0].read_only = 1;
  FAILS(strew_kernel_run(kernel, rows.tensors, 3, NULL), STREW_CODE_INVALID_ARGUMENT, "read");
  rows.tensors[0].read_only = 0;
  rows.tensors[0].dtype = 200;
  FAILS(strew_kernel_run(kernel, rows.tensors, 3, NULL), STREW_CODE_INVALID_ARGUMENT, "result 0");
  rows.tensors[0].dtype = STREW_F32;
  named[0].name = NULL;
  FAILS(strew_kernel_run_named(kernel, named, 3, NULL), STREW_CODE_INVALID_ARGUMENT, "tensors[0].name: null");
  named[0].name = "update";
  FAILS(strew_kernel_run_named(kernel, named, 3, NULL), STREW_CODE_INVALID_ARGUMENT, "update");
  FAILS(strew_kernel_run_named(kernel, NULL, 3, NULL), STREW_CODE_INVALID_ARGUMENT, "tensors: null");
  CHECK(holds(&rows, 3));

  CHECK(strcmp(strew_kernel_descriptor(kernel)->tensors[0].name, "result 0") == 0);
  CHECK(strcmp(strew_kernel_descriptor(kernel)->backend, backend) == 0);
  CHECK(strew_kernel_descriptor(NULL) == NULL && strew_kernel_threads(NULL) == 0);
  CHECK(strew_kernel_retain(NULL) == NULL);
  CHECK(strew_kernel_retain(kernel) == kernel);
  strew_kernel_release(kernel);
  OK(strew_kernel_run(kernel, rows.tensors, 3, NULL));
  strew_kernel_release(kernel);
  strew_kernel_release(NULL);
}

static void test_batches(const char* backend) {
  enum { kCalls = 5 };
  strew_request request = STREW_REQUEST_INIT;
  strew_call_options options = STREW_CALL_OPTIONS_INIT;
  static Rows rows[kCalls];
  void* data[3 * kCalls];
  strew_kernel_call calls[kCalls];
  strew_kernel_ref* kernel;
  int c;
  request.backend = backend;
  options.threads = 2;
  kernel = get(kRows, &request);
  if (kernel == NULL) return;
  for (c = 0; c < kCalls; ++c) {
    fill(&rows[c]);
    data[3 * c] = rows[c].table;
    data[3 * c + 1] = rows[0].indices;
    data[3 * c + 2] = rows[c].updates;
    calls[c].kernel = kernel;
    calls[c].tensors = rows[c].tensors;
    calls[c].tensor_count = 3;
  }
  OK(strew_kernel_run_many(kernel, rows[0].tensors, 3, data, kCalls, &options));
  OK(strew_run_batch(calls, kCalls, NULL));
  for (c = 0; c < kCalls; ++c) CHECK(holds(&rows[c], 2));
  OK(strew_kernel_run_many(kernel, rows[0].tensors, 3, data, 0, NULL));
  OK(strew_run_batch(NULL, 0, NULL));

  data[3] = data[0];
  FAILS(strew_kernel_run_many(kernel, rows[0].tensors, 3, data, kCalls, NULL), STREW_CODE_INVALID_ARGUMENT, "overlaps");
  FAILS(strew_kernel_run_many(NULL, rows[0].tensors, 3, data, kCalls, NULL), STREW_CODE_INVALID_ARGUMENT, "kernel: null");
  FAILS(strew_kernel_run_many(kernel, NULL, 3, data, kCalls, NULL), STREW_CODE_INVALID_ARGUMENT, "tensors: null");
  FAILS(strew_kernel_run_many(kernel, rows[0].tensors, 3, NULL, kCalls, NULL), STREW_CODE_INVALID_ARGUMENT, "data: null");
  FAILS(strew_kernel_run_many(kernel, rows[0].tensors, 2, data, kCalls, NULL), STREW_CODE_INVALID_ARGUMENT, "expected 3");
  FAILS(strew_run_batch(NULL, 1, NULL), STREW_CODE_INVALID_ARGUMENT, "calls: null");
  rows[3].indices[0] = -11;
  FAILS(strew_run_batch(calls, kCalls, NULL), STREW_CODE_OUT_OF_BOUNDS, "call 3: ");
  calls[2].kernel = NULL;
  FAILS(strew_run_batch(calls, kCalls, NULL), STREW_CODE_INVALID_ARGUMENT, "call 2: kernel: null");
  /* An interpreted kernel checks its indices when it runs, and then other calls of the batch have run. */
  for (c = 0; strcmp(backend, "llvm") == 0 && c < kCalls; ++c) CHECK(holds(&rows[c], 2));
  strew_kernel_release(kernel);
}

/* ---- A host's thread pool: everything on the calling thread, backwards. */

static int loops = 0, loops_of_call = 0, released = 0;
static int32_t four(void* context) {
  CHECK(context == &loops || context == &loops_of_call);
  return 4;
}
static void serial(void* context, int32_t count, strew_task task, void* task_context) {
  ++*(int*)context;
  while (count-- > 0) task(task_context, count);
}
static void note_release(void* context) { released += context == &loops; }

static void test_executors(void) {
  strew_executor_callbacks callbacks = STREW_EXECUTOR_CALLBACKS_INIT;
  strew_executor *host = NULL, *pool = NULL;
  strew_runtime* runtime = NULL;
  strew_prepared* prepared = prepare(
      "strew1.scatter(operand=f32[4096,256] indices=i32[8192] updates=f32[8192,256] update_window_dims=[1] "
      "inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add oob=skip_window init=in_place)",
      NULL);
  strew_kernel_ref* kernel = NULL;
  FAILS(strew_executor_create(NULL, &host), STREW_CODE_INVALID_ARGUMENT, "callbacks: null");
  FAILS(strew_executor_create(&callbacks, &host), STREW_CODE_INVALID_ARGUMENT, "callbacks.threads: null");
  callbacks.context = &loops;
  callbacks.threads = four;
  FAILS(strew_executor_create(&callbacks, &host), STREW_CODE_INVALID_ARGUMENT, "callbacks.parallel_for: null");
  callbacks.parallel_for = serial;
  callbacks.release = note_release;
  FAILS(strew_executor_create(&callbacks, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  callbacks.size = 1;
  FAILS(strew_executor_create(&callbacks, &host), STREW_CODE_INVALID_ARGUMENT, "callbacks.size: 1");
  callbacks.size = sizeof callbacks;
  OK(strew_executor_create(&callbacks, &host));
  FAILS(strew_executor_create_pool(-1, 0, &pool), STREW_CODE_INVALID_ARGUMENT, "threads");
  FAILS(strew_executor_create_pool(2, 0, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  OK(strew_executor_create_pool(2, 0, &pool));

  OK(strew_runtime_create(NULL, host, &runtime));
  if (OK(strew_get(runtime, prepared, STREW_NO_TIMEOUT, &kernel))) {
    const int64_t table_dims[] = {4096, 256}, index_dims[] = {8192}, update_dims[] = {8192, 256};
    float* const table = calloc(4096 * 256, sizeof *table);
    float* const updates = calloc(8192 * 256, sizeof *updates);
    int32_t* const indices = calloc(8192, sizeof *indices);
    const strew_tensor tensors[3] = {{table, table_dims, NULL, 2, STREW_F32, 0, {0}},
                                     {indices, index_dims, NULL, 1, STREW_I32, 1, {0}},
                                     {updates, update_dims, NULL, 2, STREW_F32, 1, {0}}};
    strew_call_options options = STREW_CALL_OPTIONS_INIT;
    int i;
    for (i = 0; i < 8192; ++i) indices[i] = (i * 7) % 4096;
    for (i = 0; i < 8192 * 256; ++i) updates[i] = 1;
    OK(strew_kernel_run(kernel, tensors, 3, NULL));
    CHECK(loops > 0);
    CHECK(table[0] == 2 && table[4095 * 256 + 255] == 2);
    options.executor = pool;
    loops = 0;
    OK(strew_kernel_run(kernel, tensors, 3, &options));
    CHECK(loops == 0 && table[17 * 256] == 4);
    /* The context of a call. */
    options.executor_context = &loops_of_call;
    FAILS(strew_kernel_run(kernel, tensors, 3, &options), STREW_CODE_INVALID_ARGUMENT,
          "options.executor_context: a pointer, expected null");
    options.executor = NULL;
    FAILS(strew_kernel_run(kernel, tensors, 3, &options), STREW_CODE_INVALID_ARGUMENT,
          "options.executor_context: a pointer, expected null");
    options.executor = host;
    OK(strew_kernel_run(kernel, tensors, 3, &options));
    CHECK(loops == 0 && loops_of_call > 0 && table[17 * 256] == 6);
    free(table);
    free(updates);
    free(indices);
  }
  strew_executor_free(host); /* the runtime keeps it */
  CHECK(released == 0);
  strew_kernel_release(kernel);
  strew_prepared_free(prepared);
  strew_runtime_free(runtime);
  CHECK(released == 1);
  strew_executor_free(pool);
  strew_executor_free(NULL);
}

static int answers = 0;
static void count_answer(void* context, strew_status status, strew_kernel_ref* kernel) {
  CHECK(status == NULL && kernel != NULL);
  *(strew_kernel_ref**)context = strew_kernel_retain(kernel);
  ++answers;
}
static void count_failure(void* context, strew_status status, strew_kernel_ref* kernel) {
  CHECK(kernel == NULL && strew_status_code(status) != STREW_CODE_OK && strlen(strew_status_message(status)) > 0);
  ++*(int*)context;
}

static void test_runtimes(void) {
  strew_options options = strew_options_from_environment();
  strew_runtime* runtime = NULL;
  strew_prepared* const prepared = prepare(kRows, NULL);
  strew_request impossible_request = STREW_REQUEST_INIT;
  strew_prepared* impossible;
  strew_kernel_ref *kernel = NULL, *kept = NULL;
  strew_pending* pending = NULL;
  strew_stats stats = {.size = sizeof(strew_stats)};
  int failed = 0;
  FAILS(strew_runtime_create(&options, NULL, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  options.threads = 100000;
  FAILS(strew_runtime_create(&options, NULL, &runtime), STREW_CODE_INVALID_ARGUMENT, "threads");
  options.threads = 1;
  options.target = "z80";
  FAILS(strew_runtime_create(&options, NULL, &runtime), STREW_CODE_INVALID_ARGUMENT, "z80");
  options.target = NULL;
  options.compile = "later";
  FAILS(strew_runtime_create(&options, NULL, &runtime), STREW_CODE_INVALID_ARGUMENT,
        "compile: 'later', expected one of blocking, ");
  options.compile = "blocking";
  options.exact_shapes = -1;
  FAILS(strew_runtime_create(&options, NULL, &runtime), STREW_CODE_INVALID_ARGUMENT, "exact_shapes");
  options.exact_shapes = 0;
  options.learn = 2;
  FAILS(strew_runtime_create(&options, NULL, &runtime), STREW_CODE_INVALID_ARGUMENT, "learn is 2, expected 0 or 1");
  options.learn = 0;
  options.cache_mode = "writes";
  FAILS(strew_runtime_create(&options, NULL, &runtime), STREW_CODE_INVALID_ARGUMENT,
        "cache_mode: 'writes', expected one of off, ");
  options.cache_mode = NULL;
  options.cache_limit_bytes = -1;
  FAILS(strew_runtime_create(&options, NULL, &runtime), STREW_CODE_INVALID_ARGUMENT, "cache_limit_bytes");
  options.cache_limit_bytes = 1 << 20;
  options.learned_wisdom_file = "off";
  if (!OK(strew_runtime_create(&options, NULL, &runtime))) return;

  FAILS(strew_get(NULL, prepared, STREW_NO_TIMEOUT, &kernel), STREW_CODE_INVALID_ARGUMENT, "runtime: null");
  FAILS(strew_get(runtime, NULL, STREW_NO_TIMEOUT, &kernel), STREW_CODE_INVALID_ARGUMENT, "op: null");
  FAILS(strew_get(runtime, prepared, STREW_NO_TIMEOUT, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_get(runtime, prepared, -1, &kernel), STREW_CODE_DEADLINE_EXCEEDED, "");
  CHECK(kernel == NULL);
  OK(strew_get(runtime, prepared, 60000000000, &kernel));
  CHECK(strew_kernel_threads(kernel) == 1);
  CHECK(strew_kernel_build_nanoseconds(kernel) > 0 && strew_kernel_build_nanoseconds(NULL) == 0);

  OK(strew_get_async(runtime, prepared, count_answer, &kept, STREW_NO_TIMEOUT, &pending));
  strew_kernel_release(kernel);
  kernel = NULL;
  OK(strew_pending_wait(pending, STREW_NO_TIMEOUT, &kernel));
  CHECK(answers == 1 && strew_pending_ready(pending) == 1);
  CHECK(strew_kernel_descriptor(kept) == strew_kernel_descriptor(kernel));
  FAILS(strew_pending_wait(NULL, 0, &kernel), STREW_CODE_INVALID_ARGUMENT, "pending: null");
  FAILS(strew_pending_wait(pending, 0, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  strew_pending_free(pending);
  strew_kernel_release(kept);
  OK(strew_get_async(runtime, prepared, count_answer, &kept, STREW_NO_TIMEOUT, NULL)); /* it is known, so the answer is there */
  CHECK(answers == 2);
  strew_kernel_release(kept);
  FAILS(strew_get_async(runtime, prepared, NULL, NULL, 0, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_get_async(NULL, prepared, NULL, NULL, 0, &pending), STREW_CODE_INVALID_ARGUMENT, "runtime: null");
  FAILS(strew_get_async(runtime, NULL, NULL, NULL, 0, &pending), STREW_CODE_INVALID_ARGUMENT, "op: null");

  impossible_request.target = "npu-a5"; /* a machine that this one is not */
  impossible = prepare(kRows, &impossible_request);
  OK(strew_get_async(runtime, impossible, count_failure, &failed, STREW_NO_TIMEOUT, &pending));
  FAILS(strew_pending_wait(pending, STREW_NO_TIMEOUT, &kept), STREW_CODE_UNSUPPORTED, "npu");
  strew_pending_cancel(pending);
  strew_pending_free(pending);
  strew_pending_free(NULL);
  strew_pending_cancel(NULL);
  CHECK(strew_pending_ready(NULL) == 0);
  strew_prepared_free(impossible);

  OK(strew_runtime_stats(runtime, &stats));
  CHECK(stats.built == 1 && stats.kernels == 1 && stats.failed == 1 && stats.bytes > 0 && stats.hits >= 2);
  FAILS(strew_runtime_stats(NULL, &stats), STREW_CODE_INVALID_ARGUMENT, "runtime: null");
  FAILS(strew_runtime_stats(runtime, NULL), STREW_CODE_INVALID_ARGUMENT, "stats: null");
  stats.size = sizeof stats.size + 4 + 2 * sizeof(uint64_t); /* of a header that ended with `misses` */
  stats.built = 77;
  OK(strew_runtime_stats(runtime, &stats));
  CHECK(stats.built == 77 && stats.hits >= 2);
  strew_runtime_clear(runtime);
  strew_runtime_set_capacity(runtime, 0);
  stats.size = sizeof stats;
  OK(strew_runtime_stats(runtime, &stats));
  CHECK(stats.kernels == 0);
  strew_runtime_clear(NULL);
  strew_runtime_set_capacity(NULL, 0);
  strew_runtime_free(runtime); /* waits for callbacks */
  CHECK(failed == 1);
  strew_runtime_free(NULL);
  strew_runtime_free(strew_runtime_process()); /* stays */
  strew_kernel_release(kernel);                /* outlives its runtime */
  strew_prepared_free(prepared);
}

static int made = 0;
static strew_status make_rows(void* context, strew_op** out) {
  ++made;
  return strew_op_parse((const char*)context, out);
}
static strew_status make_nothing(void* context, strew_op** out) {
  (void)context;
  (void)out;
  return NULL;
}

static void test_sites(void) {
  strew_site* site = NULL;
  strew_prepared* const prepared = prepare(kRows, NULL);
  strew_bad_index bad_index = STREW_BAD_INDEX_INIT;
  strew_call_options options = STREW_CALL_OPTIONS_INIT;
  Rows rows;
  char text[600];
  int turn;
  FAILS(strew_site_create(NULL, &site), STREW_CODE_INVALID_ARGUMENT, "runtime: null");
  FAILS(strew_site_create(strew_runtime_process(), NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  if (!OK(strew_site_create(strew_runtime_process(), &site))) return;
  fill(&rows);
  options.bad_index = &bad_index;
  OK(strew_site_run(site, prepared, rows.tensors, 3, &options));
  OK(strew_site_run(site, prepared, rows.tensors, 3, NULL));
  CHECK(holds(&rows, 2));
  strcpy(text, kRows);
  OK(strew_site_run_tensors(site, rows.tensors, 3, make_rows, text, 0, NULL, NULL));
  OK(strew_site_run_tensors(site, rows.tensors, 3, make_rows, text, 0, NULL, NULL));
  CHECK(made == 1 && holds(&rows, 4));
  OK(strew_site_run_tensors(site, rows.tensors, 3, make_rows, text, 1, NULL, NULL));
  CHECK(made == 2 && holds(&rows, 5));
  for (turn = 0; turn < 80; ++turn)
    OK(strew_site_run_tensors(site, rows.tensors, 3, make_rows, text, (uint64_t)(turn % 40), NULL, NULL));
  CHECK(made == 40 && holds(&rows, 85)); /* a site remembers more kernels than a few */
  rows.indices[0] = -1;
  FAILS(strew_site_run(site, prepared, rows.tensors, 3, &options), STREW_CODE_OUT_OF_BOUNDS, "value -1");
  CHECK(bad_index.position == 0 && bad_index.value == -1);
  FAILS(strew_site_run_tensors(site, rows.tensors, 3, make_rows, text, 0, NULL, &options), STREW_CODE_OUT_OF_BOUNDS, "value -1");
  strcpy(text, "nonsense");
  FAILS(strew_site_run_tensors(site, rows.tensors, 3, make_rows, text, 200, NULL, NULL), STREW_CODE_INVALID_ARGUMENT,
        "expected strew1.scatter");
  FAILS(strew_site_run_tensors(site, rows.tensors, 3, make_nothing, NULL, 200, NULL, NULL), STREW_CODE_INVALID_ARGUMENT,
        "make_op");
  FAILS(strew_site_run_tensors(site, rows.tensors, 3, NULL, NULL, 2, NULL, NULL), STREW_CODE_INVALID_ARGUMENT, "make_op: null");
  FAILS(strew_site_run_tensors(NULL, rows.tensors, 3, make_rows, text, 200, NULL, NULL), STREW_CODE_INVALID_ARGUMENT,
        "site: null");
  FAILS(strew_site_run_tensors(site, NULL, 3, make_rows, text, 200, NULL, NULL), STREW_CODE_INVALID_ARGUMENT, "tensors: null");
  FAILS(strew_site_run(NULL, prepared, rows.tensors, 3, NULL), STREW_CODE_INVALID_ARGUMENT, "site: null");
  FAILS(strew_site_run(site, NULL, rows.tensors, 3, NULL), STREW_CODE_INVALID_ARGUMENT, "op: null");
  FAILS(strew_site_run(site, prepared, NULL, 3, NULL), STREW_CODE_INVALID_ARGUMENT, "tensors: null");
  strew_prepared_free(prepared);
  strew_site_free(site);
  strew_site_free(NULL);
}

static int lines = 0;
static void count_line(void* context, strew_log_level level, const char* line, size_t length) {
  CHECK(context == &lines && level <= STREW_LOG_DUMP && strlen(line) >= length);
  ++lines;
}

static void test_log(void) {
  strew_request request = STREW_REQUEST_INIT;
  request.schedule = "unroll=1";
  OK(strew_set_log(count_line, &lines, STREW_LOG_COMPILE));
  strew_kernel_release(get(kRows, &request));
  CHECK(lines > 0);
  OK(strew_set_log(NULL, NULL, STREW_LOG_OFF));
  lines = 0;
  request.schedule = "unroll=2";
  strew_kernel_release(get(kRows, &request));
  CHECK(lines == 0);
  FAILS(strew_set_log(count_line, NULL, (strew_log_level)99), STREW_CODE_INVALID_ARGUMENT, "level: number 99");
}

/* ---- DLPack, as dlpack.h has it. */

static void count_release(void* context) { ++*(int*)context; }

static void test_dlpack(void) {
  float values[6] = {0};
  int64_t shape[] = {2, 3}, strides[] = {1, 2};
  struct DLManagedTensorVersioned given = {{1, 0}, NULL, NULL, 1, {values, {1, 0}, 2, {2, 32, 1}, shape, strides, 4}};
  struct DLManagedTensorVersioned* out = NULL;
  strew_tensor view = {0};
  int count = 0, dtype;
  OK(strew_tensor_from_dltensor(&given.dl_tensor, &view));
  CHECK(view.data == values + 1 && view.rank == 2 && view.dims == shape && view.strides == strides && view.dtype == STREW_F32);
  CHECK(view.read_only == 0);
  OK(strew_tensor_from_dlpack(&given, &view));
  CHECK(view.read_only == 1);
  FAILS(strew_tensor_from_dlpack(NULL, &view), STREW_CODE_INVALID_ARGUMENT, "managed: null");
  FAILS(strew_tensor_from_dlpack(&given, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_tensor_from_dltensor(NULL, &view), STREW_CODE_INVALID_ARGUMENT, "dl_tensor: null");
  FAILS(strew_tensor_from_dltensor(&given.dl_tensor, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  given.version.major = 2;
  FAILS(strew_tensor_from_dlpack(&given, &view), STREW_CODE_UNSUPPORTED, "version is 2.0");
  given.version.major = 1;
  given.dl_tensor.device.device_type = 2;
  FAILS(strew_tensor_from_dlpack(&given, &view), STREW_CODE_UNSUPPORTED, "device type is 2");
  given.dl_tensor.device.device_type = 1;
  given.dl_tensor.dtype.lanes = 2;
  FAILS(strew_tensor_from_dlpack(&given, &view), STREW_CODE_UNSUPPORTED, "lanes is 2");
  given.dl_tensor.dtype.lanes = 1;
  given.dl_tensor.dtype.bits = 24;
  FAILS(strew_tensor_from_dlpack(&given, &view), STREW_CODE_UNSUPPORTED, "dtype code 2 with 24 bits");
  given.dl_tensor.dtype.code = 0;
  given.dl_tensor.dtype.bits = 4;
  OK(strew_tensor_from_dlpack(&given, &view));
  CHECK(view.dtype == STREW_I4);
  given.flags = 4;
  FAILS(strew_tensor_from_dlpack(&given, &view), STREW_CODE_UNSUPPORTED, "padded");
  given.flags = 0;
  given.dl_tensor.ndim = -1;
  FAILS(strew_tensor_from_dlpack(&given, &view), STREW_CODE_INVALID_ARGUMENT, "ndim is -1");

  /* Every dtype there and back. */
  for (dtype = 0; dtype < STREW_DTYPE_COUNT; ++dtype) {
    const strew_tensor tensor = {values, shape, NULL, 2, (uint8_t)dtype, 0, {0}};
    strew_status status;
    if (dtype == STREW_HIF8 || dtype == STREW_STRING) {
      FAILS(strew_tensor_to_dlpack(&tensor, NULL, NULL, &out), STREW_CODE_UNSUPPORTED, strew_dtype_name((strew_dtype)dtype));
      continue;
    }
    status = strew_tensor_to_dlpack(&tensor, count_release, &count, &out);
    if (!OK(status)) continue;
    CHECK(out->version.major == 1 && out->flags == 0 && out->dl_tensor.ndim == 2 && out->dl_tensor.shape != shape);
    CHECK(out->dl_tensor.strides[0] == 3 && out->dl_tensor.strides[1] == 1);
    OK(strew_tensor_from_dlpack(out, &view));
    CHECK(view.dtype == dtype && view.data == values && view.dims[1] == 3);
    count = 0;
    out->deleter(out);
    CHECK(count == 1);
  }
  view = (strew_tensor){values, shape, strides, 2, STREW_F32, 1, {0}};
  OK(strew_tensor_to_dlpack(&view, NULL, NULL, &out));
  CHECK(out->flags == 1 && out->dl_tensor.strides[1] == 2);
  out->deleter(out);
  view.dtype = 99;
  FAILS(strew_tensor_to_dlpack(&view, NULL, NULL, &out), STREW_CODE_UNSUPPORTED, "number 99");
  view.dtype = STREW_F32;
  view.rank = -2;
  FAILS(strew_tensor_to_dlpack(&view, NULL, NULL, &out), STREW_CODE_INVALID_ARGUMENT, "tensor.rank: -2");
  FAILS(strew_tensor_to_dlpack(NULL, NULL, NULL, &out), STREW_CODE_INVALID_ARGUMENT, "tensor: null");
  FAILS(strew_tensor_to_dlpack(&view, NULL, NULL, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
}

/* The TFLite example: two appends to a cache. */
static void test_programs(const char* examples) {
  strew_program* program = NULL;
  strew_import_options options = STREW_IMPORT_OPTIONS_INIT;
  strew_op* op = NULL;
  strew_port port = STREW_PORT_INIT;
  const strew_tensor* inputs[16] = {0};
  strew_tensor tensors[16];
  struct DLManagedTensorVersioned* outputs[16] = {0};
  size_t n, i, d;
  char path[4096];
  snprintf(path, sizeof path, "%s/tflite_cache/append.tflite", examples);
  FAILS(strew_program_open(NULL, NULL, &program), STREW_CODE_INVALID_ARGUMENT, "path: null");
  FAILS(strew_program_open(path, NULL, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_program_open("no_such_file.tflite", NULL, &program), STREW_CODE_IO, "no_such_file.tflite");
  options.oob = "bounce";
  FAILS(strew_program_open(path, &options, &program), STREW_CODE_INVALID_ARGUMENT, "oob: policy is 'bounce'");
  options.oob = NULL;
  options.order = "any";
  FAILS(strew_program_open(path, &options, &program), STREW_CODE_INVALID_ARGUMENT, "order: it is 'any'");
  options.order = NULL;
  options.accumulate = "deep";
  FAILS(strew_program_open(path, &options, &program), STREW_CODE_INVALID_ARGUMENT, "accumulate: it is 'deep'");
  if (!OK(strew_program_open(path, NULL, &program))) return;
  CHECK(strew_program_kernel_count(program) >= 1 && strew_program_kernel_count(NULL) == 0);
  CHECK(strew_program_kernel_name(program, 0) != NULL && strew_program_kernel_name(program, 1000) == NULL);
  OK(strew_program_kernel_op(program, 0, &op));
  CHECK(strstr(strew_op_text(op), "strew1.scatter(") == strew_op_text(op));
  strew_op_free(op);
  FAILS(strew_program_kernel_op(program, 1000, &op), STREW_CODE_INVALID_ARGUMENT, "number: 1000");
  FAILS(strew_program_kernel_op(NULL, 0, &op), STREW_CODE_INVALID_ARGUMENT, "program: null");
  FAILS(strew_program_input(program, 1000, &port), STREW_CODE_INVALID_ARGUMENT, "number: 1000");
  FAILS(strew_program_output(program, 1000, &port), STREW_CODE_INVALID_ARGUMENT, "number: 1000");
  n = strew_program_input_count(program);
  CHECK(n > 0 && n <= 16 && strew_program_output_count(program) > 0 && strew_program_output_count(program) <= 16);
  for (i = 0; i < n; ++i) {
    size_t elements = 1;
    OK(strew_program_input(program, i, &port));
    for (d = 0; d < (size_t)port.rank; ++d) elements *= (size_t)port.dims[d];
    tensors[i] = (strew_tensor){calloc(elements, 16), port.dims, NULL, port.rank, port.dtype, 1, {0}};
    if (port.dtype == STREW_F32) /* i32 inputs, which are positions, stay 0 */
      for (d = 0; d < elements; ++d) ((float*)tensors[i].data)[d] = (float)(i + 1);
    inputs[i] = &tensors[i];
  }
  FAILS(strew_program_run(program, strew_runtime_process(), NULL, inputs, n + 1, outputs, strew_program_output_count(program)),
        STREW_CODE_INVALID_ARGUMENT, "input_count: ");
  FAILS(strew_program_run(program, strew_runtime_process(), NULL, inputs, n, outputs, 0), STREW_CODE_INVALID_ARGUMENT,
        "output_count: 0");
  FAILS(strew_program_run(program, NULL, NULL, inputs, n, outputs, strew_program_output_count(program)),
        STREW_CODE_INVALID_ARGUMENT, "runtime: null");
  FAILS(strew_program_run(program, strew_runtime_process(), NULL, NULL, n, outputs, strew_program_output_count(program)),
        STREW_CODE_INVALID_ARGUMENT, "inputs: null");
  tensors[0].dtype = STREW_STRING;
  FAILS(strew_program_run(program, strew_runtime_process(), NULL, inputs, n, outputs, strew_program_output_count(program)),
        STREW_CODE_UNSUPPORTED, "string");
  OK(strew_program_input(program, 0, &port));
  tensors[0].dtype = port.dtype;
  tensors[0].strides = tensors[0].dims; /* not row-major */
  FAILS(strew_program_run(program, strew_runtime_process(), NULL, inputs, n, outputs, strew_program_output_count(program)),
        STREW_CODE_INVALID_ARGUMENT, "row-major");
  tensors[0].strides = NULL;
  CHECK(outputs[0] == NULL);
  if (OK(strew_program_run(program, strew_runtime_process(), NULL, inputs, n, outputs, strew_program_output_count(program)))) {
    for (i = 0; i < strew_program_output_count(program); ++i) {
      const DLTensor* const result = &outputs[i]->dl_tensor;
      OK(strew_program_output(program, i, &port));
      CHECK(result->ndim == port.rank && strlen(port.name) > 0);
      outputs[i]->deleter(outputs[i]);
    }
  }
  for (i = 0; i < n; ++i) free(tensors[i].data);
  strew_program_free(program);
  strew_program_free(NULL);
}

static void test_loading(void) {
  strew_kernel_list* list = NULL;
  const strew_kernel* descriptor;
  strew_kernel_ref *kernel = get(kRows, NULL), *opened = NULL;
  strew_kernel other;
  FAILS(strew_runtime_load_file(NULL, "x.o", &list), STREW_CODE_INVALID_ARGUMENT, "runtime: null");
  FAILS(strew_runtime_load_file(strew_runtime_process(), NULL, &list), STREW_CODE_INVALID_ARGUMENT, "path: null");
  FAILS(strew_runtime_load_file(strew_runtime_process(), "x.o", NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_runtime_load_file(strew_runtime_process(), "no_such.o", &list), STREW_CODE_IO, "no_such.o");
  FAILS(strew_runtime_load_memory(strew_runtime_process(), NULL, 4, &list), STREW_CODE_INVALID_ARGUMENT, "bytes: null");
  FAILS(strew_runtime_load_memory(strew_runtime_process(), "text", 4, &list), STREW_CODE_INVALID_ARGUMENT,
        "expected an ELF object");
  CHECK(strew_kernel_list_count(NULL) == 0 && strew_kernel_list_at(NULL, 0) == NULL);
  strew_kernel_list_free(NULL);
  if (kernel == NULL) return;
  descriptor = strew_kernel_descriptor(kernel);
  FAILS(strew_kernel_open(NULL, 0, NULL, &opened), STREW_CODE_INVALID_ARGUMENT, "kernel: null");
  FAILS(strew_kernel_open(descriptor, 0, NULL, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_kernel_open(descriptor, 5000, NULL, &opened), STREW_CODE_INVALID_ARGUMENT, "threads");
  memcpy(&other, descriptor, sizeof other);
  other.abi = 1;
  FAILS(strew_kernel_open(&other, 0, NULL, &opened), STREW_CODE_INVALID_ARGUMENT, "abi is 1");
  if (OK(strew_kernel_open(descriptor, 1, NULL, &opened))) {
    Rows rows;
    fill(&rows);
    OK(strew_kernel_run(opened, rows.tensors, 3, NULL));
    CHECK(holds(&rows, 1) && strew_kernel_threads(opened) == 1);
  }
  strew_kernel_release(opened);
  strew_kernel_release(kernel);
}

/* An object that the command line compiled: its path is the second argument, if there is one. */
static void test_object(const char* path) {
  strew_kernel_list* list = NULL;
  strew_runtime* runtime = NULL;
  strew_stats stats = {.size = sizeof(strew_stats)};
  strew_prepared* const prepared = prepare(kRows, NULL);
  strew_kernel_ref* kernel = NULL;
  Rows rows;
  fill(&rows);
  OK(strew_runtime_create(NULL, NULL, &runtime));
  if (OK(strew_runtime_load_file(runtime, path, &list))) {
    CHECK(strew_kernel_list_count(list) == 1 && strew_kernel_list_at(list, 1) == NULL);
    OK(strew_kernel_run(strew_kernel_list_at(list, 0), rows.tensors, 3, NULL));
    OK(strew_get(runtime, prepared, STREW_NO_TIMEOUT, &kernel));
    OK(strew_kernel_run(kernel, rows.tensors, 3, NULL));
    CHECK(holds(&rows, 2));
    OK(strew_runtime_stats(runtime, &stats));
    CHECK(stats.built == 0);
  }
  strew_kernel_list_free(list);
  strew_kernel_release(kernel);
  strew_prepared_free(prepared);
  strew_runtime_free(runtime);
}

int main(int argc, char** argv) {
  if (argc < 2) {
    printf("usage: %s EXAMPLES [OBJECT]\n", argv[0]);
    return 2;
  }
  test_status_and_dtypes();
  test_ops();
  test_result_dims();
  test_forms();
  test_op_builder();
  test_look_up();
  test_struct_versions();
  test_calls("llvm");
  test_calls("reference");
  test_batches("llvm");
  test_batches("reference");
  test_executors();
  test_runtimes();
  test_sites();
  test_log();
  test_dlpack();
  test_programs(argv[1]);
  test_loading();
  test_bad_index();
  test_csr();
  test_segments();
  test_texts();
  test_programs_into(argv[1]);
  test_find_and_drain();
  test_splice();
  test_tuning(argv[1]);
  test_library(argv[1]);
  if (argc > 2) test_object(argv[2]);
  if (failures != 0) printf("%d checks failed\n", failures);
  return failures == 0 ? 0 : 1;
}
