/* The numbers of segments, strew_segment_ids; and the positions that won, strew_op_builder_return_arg: a segment's maxima and where they are. */
#include "areas.h"
#include "check.h"

static void test_ids(void) {
  static const int64_t expected[6] = {0, 0, 1, 3, 3, 3};
  uint8_t lengths[4] = {2, 1, 0, 3};
  int32_t starts[4] = {0, 2, 3, 3};
  uint64_t offsets[5] = {0, 2, 3, 3, 6};
  int64_t ids[6], untouched[6], four = 4, five = 5, six = 6;
  const strew_tensor bounds[3] = {{lengths, &four, NULL, 1, STREW_U8, 1, {0}},
                                  {starts, &four, NULL, 1, STREW_I32, 1, {0}},
                                  {offsets, &five, NULL, 1, STREW_U64, 1, {0}}};
  const strew_tensor result = {ids, &six, NULL, 1, STREW_I64, 0, {0}};
  strew_tensor wrong = result;
  int32_t kind;
  for (kind = STREW_SEGMENT_LENGTHS; kind <= STREW_SEGMENT_OFFSETS; ++kind) {
    memset(ids, 0x55, sizeof ids);
    OK(strew_segment_ids(&bounds[kind], kind, &result));
    CHECK(memcmp(ids, expected, sizeof ids) == 0);
  }
  memset(ids, 0x55, sizeof ids);
  memset(untouched, 0x55, sizeof untouched);
  FAILS(strew_segment_ids(NULL, STREW_SEGMENT_LENGTHS, &result), STREW_CODE_INVALID_ARGUMENT, "bounds: null");
  FAILS(strew_segment_ids(&bounds[0], STREW_SEGMENT_LENGTHS, NULL), STREW_CODE_INVALID_ARGUMENT, "ids: null");
  FAILS(strew_segment_ids(&bounds[0], 3, &result), STREW_CODE_INVALID_ARGUMENT, "kind: number 3, expected STREW_SEGMENT_LENGTHS");
  FAILS(strew_segment_ids(&bounds[0], -1, &result), STREW_CODE_INVALID_ARGUMENT, "kind: number -1");
  wrong.dtype = STREW_F32;
  FAILS(strew_segment_ids(&bounds[0], STREW_SEGMENT_LENGTHS, &wrong), STREW_CODE_INVALID_ARGUMENT,
        "ids: dtype f32, expected i32 or i64");
  lengths[1] = 9;
  FAILS(strew_segment_ids(&bounds[0], STREW_SEGMENT_LENGTHS, &result), STREW_CODE_INVALID_ARGUMENT,
        "lengths[1]: 9, expected 0 to 6, the rows that there are");
  starts[2] = 1;
  FAILS(strew_segment_ids(&bounds[1], STREW_SEGMENT_STARTS, &result), STREW_CODE_INVALID_ARGUMENT,
        "offsets[2]: 1, expected at least the one before, 2");
  offsets[4] = 5;
  FAILS(strew_segment_ids(&bounds[2], STREW_SEGMENT_OFFSETS, &result), STREW_CODE_INVALID_ARGUMENT,
        "offsets[4]: 5, expected 6, the rows that there are");
  CHECK(memcmp(ids, untouched, sizeof ids) == 0);
}

static void test_return_arg(void) {
  const int64_t open[] = {STREW_OPEN, 2}, edges[] = {STREW_OPEN}, two[] = {2, 2}, three[] = {3, 2}, per_row[] = {1, 0},
                rows[] = {3};
  const strew_tensor table = {NULL, open, NULL, 2, STREW_F32, 0, {0}}, indices = {NULL, edges, NULL, 1, STREW_I32, 0, {0}};
  float values[4] = {9, 9, 9, 9}, updates[6] = {1, 6, 5, 6, 3, 4};
  int64_t positions[4] = {9, 9, 9, 9}, numbers[3] = {0, 1, 2};
  int32_t ids[3] = {0, 0, 7};
  const strew_tensor tensors[5] = {{values, two, NULL, 2, STREW_F32, 0, {0}},
                                   {positions, two, NULL, 2, STREW_I64, 0, {0}},
                                   {ids, rows, NULL, 1, STREW_I32, 1, {0}},
                                   {updates, three, NULL, 2, STREW_F32, 1, {0}},
                                   {numbers, three, per_row, 2, STREW_I64, 1, {0}}};
  strew_op_builder *builder = NULL, *gather = NULL;
  strew_op* op = NULL;
  strew_kernel_ref* kernel = NULL;
  FAILS(strew_op_builder_return_arg(NULL), STREW_CODE_INVALID_ARGUMENT, "builder: null");
  OK(strew_op_builder_gather_rows(&table, &indices, &gather));
  FAILS(strew_op_builder_return_arg(gather), STREW_CODE_INVALID_ARGUMENT, "expected that of a scatter");
  strew_op_builder_free(gather);
  OK(strew_op_builder_scatter_rows(&table, &indices, &table, &builder));
  OK(strew_op_builder_set(builder, "combiner", "max"));
  OK(strew_op_builder_set(builder, "init", "fill"));
  OK(strew_op_builder_set(builder, "oob", "skip_window"));
  OK(strew_op_builder_return_arg(builder));
  if (OK(strew_op_builder_build(builder, &op))) kernel = get(strew_op_text(op), NULL);
  if (kernel != NULL && OK(strew_kernel_run(kernel, tensors, 5, NULL))) {
    CHECK(values[0] == 5 && values[1] == 6 && positions[0] == 1 && positions[1] == 0);
    CHECK(positions[2] == -1 && positions[3] == -1);
  }
  strew_kernel_release(kernel);
  strew_op_free(op);
  strew_op_builder_free(builder);
  OK(strew_op_builder_scatter_rows(&table, &indices, &table, &builder));
  OK(strew_op_builder_set(builder, "combiner", "add"));
  OK(strew_op_builder_return_arg(builder));
  op = NULL;
  FAILS(strew_op_builder_build(builder, &op), STREW_CODE_INVALID_ARGUMENT, "return_arg: combiner is add; expected max or min");
  CHECK(op == NULL);
  strew_op_builder_free(builder);
}

void test_segments(void) {
  test_ids();
  test_return_arg();
}
