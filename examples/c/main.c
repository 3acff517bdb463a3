/* A program in C that keeps the K and V cache of a decoder up to date: every step appends one token per sequence, at a place of its own. The
 * number of sequences varies from step to step, so the op leaves that extent open, and one kernel serves all steps. K and V are written by one
 * call.
 *
 *   cc -std=c99 main.c $(pkg-config --cflags --libs strew)
 *
 * Exit: 0 if the caches hold what they must. */
#include <stdio.h>
#include <stdlib.h>

#include "strew/strew.h"

enum { kSequences = 8, kLength = 64, kHeads = 4, kWidth = 32, kSteps = 12 };

/* The cache is [sequence, position, head, width]. An index is a pair: a sequence and a position. An index outside is an error, and then
 * nothing is written. */
static const char* const kAppend =
    "strew1.scatter(operand=f32[8,64,4,32] indices=i32[?,2] updates=f32[?,4,32] update_window_dims=[1,2] inserted_window_dims=[0,1] "
    "scatter_dims_to_operand_dims=[0,1] index_vector_dim=1 oob=error init=in_place)";

static void fail(strew_status status) {
  fprintf(stderr, "%s\n", strew_status_message(status));
  strew_status_free(status);
  exit(1);
}

int main(void) {
  const int64_t cache_dims[] = {kSequences, kLength, kHeads, kWidth};
  float* const caches[2] = {calloc(kSequences * kLength * kHeads * kWidth, sizeof(float)),
                            calloc(kSequences * kLength * kHeads * kWidth, sizeof(float))};
  static float rows[2][kSequences * kHeads * kWidth];
  int32_t places[kSequences][2], lengths[kSequences] = {0};
  strew_op* op = NULL;
  strew_prepared* append = NULL;
  strew_kernel_ref* kernel = NULL;
  strew_status status = strew_op_parse(kAppend, &op);
  if (status == NULL) status = strew_prepare(op, NULL, &append);
  if (status == NULL) status = strew_get(strew_runtime_process(), append, STREW_NO_TIMEOUT, &kernel);
  if (status != NULL) fail(status);

  for (int step = 0; step < kSteps; ++step) {
    const int64_t batch = 1 + step % kSequences; /* so many sequences take part */
    const int64_t index_dims[] = {batch, 2}, row_dims[] = {batch, kHeads, kWidth};
    for (int s = 0; s < batch; ++s) {
      places[s][0] = s;
      places[s][1] = lengths[s]++;
      for (int i = 0; i < kHeads * kWidth; ++i) rows[0][s * kHeads * kWidth + i] = rows[1][s * kHeads * kWidth + i] = (float)(step + 1);
    }
    /* K and V in one call: the tensors differ in their addresses only. */
    const strew_tensor shapes[3] = {{NULL, cache_dims, NULL, 4, STREW_F32, 0, {0}},
                                    {NULL, index_dims, NULL, 2, STREW_I32, 1, {0}},
                                    {NULL, row_dims, NULL, 3, STREW_F32, 1, {0}}};
    void* const data[6] = {caches[0], places, rows[0], caches[1], places, rows[1]};
    status = strew_kernel_run_many(kernel, shapes, 3, data, 2, NULL);
    if (status != NULL) fail(status);
  }

  /* Sequence s took part in the steps whose batch is larger than s. */
  int wrong = 0;
  for (int s = 0; s < kSequences; ++s) {
    int at = 0;
    for (int step = 0; step < kSteps; ++step) {
      if (1 + step % kSequences <= s) continue;
      const float* const row = caches[1] + (s * kLength + at++) * kHeads * kWidth;
      wrong += row[0] != (float)(step + 1) || row[kHeads * kWidth - 1] != (float)(step + 1);
    }
    wrong += at != lengths[s];
  }

  /* A place outside of the cache is refused, and says which. */
  const int64_t index_dims[] = {1, 2}, row_dims[] = {1, kHeads, kWidth};
  const strew_tensor outside[3] = {{caches[0], cache_dims, NULL, 4, STREW_F32, 0, {0}},
                                   {places, index_dims, NULL, 2, STREW_I32, 1, {0}},
                                   {rows[0], row_dims, NULL, 3, STREW_F32, 1, {0}}};
  places[0][1] = kLength;
  status = strew_kernel_run(kernel, outside, 3, NULL);
  printf("%s\n", strew_status_message(status));
  wrong += strew_status_code(status) != STREW_CODE_OUT_OF_BOUNDS;
  strew_status_free(status);

  printf("%d steps, %s\n", kSteps, wrong == 0 ? "both caches hold every token" : "WRONG");
  strew_kernel_release(kernel);
  strew_prepared_free(append);
  strew_op_free(op);
  free(caches[0]);
  free(caches[1]);
  return wrong == 0 ? 0 : 1;
}
