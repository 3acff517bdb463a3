/* Sorting by index, strew_csr: its results, on a pool and with few threads, and what it refuses. */
#include "areas.h"
#include "check.h"

typedef struct {
  int64_t positions, ends;
  uint8_t indices[5];
  int32_t offsets[5];
  int64_t permutation[5];
  strew_tensor tensors[3];
} Edges;

static void make(Edges* edges) {
  const uint8_t indices[5] = {2, 0, 2, 1, 0};
  const strew_tensor tensors[3] = {{edges->indices, &edges->positions, NULL, 1, STREW_U8, 1, {0}},
                                   {edges->offsets, &edges->ends, NULL, 1, STREW_I32, 0, {0}},
                                   {edges->permutation, &edges->positions, NULL, 1, STREW_I64, 0, {0}}};
  edges->positions = 5;
  edges->ends = 5;
  memcpy(edges->indices, indices, sizeof indices);
  memcpy(edges->tensors, tensors, sizeof tensors);
  memset(edges->offsets, 0x55, sizeof edges->offsets);
  memset(edges->permutation, 0x55, sizeof edges->permutation);
}

static strew_status sort(const Edges* edges, const strew_call_options* options) {
  return strew_csr(&edges->tensors[0], &edges->tensors[1], &edges->tensors[2], options);
}

static int is_sorted(const Edges* edges) {
  static const int32_t offsets[5] = {0, 2, 3, 5, 5};
  static const int64_t permutation[5] = {1, 4, 3, 0, 2};
  return memcmp(edges->offsets, offsets, sizeof offsets) == 0 && memcmp(edges->permutation, permutation, sizeof permutation) == 0;
}

static int is_untouched(const Edges* edges) {
  Edges fresh;
  make(&fresh);
  return memcmp(edges->offsets, fresh.offsets, sizeof fresh.offsets) == 0 &&
         memcmp(edges->permutation, fresh.permutation, sizeof fresh.permutation) == 0;
}

static void test_results(void) {
  strew_call_options options = STREW_CALL_OPTIONS_INIT;
  strew_executor* pool = NULL;
  Edges edges;
  make(&edges);
  OK(sort(&edges, NULL));
  CHECK(is_sorted(&edges));
  OK(strew_executor_create_pool(2, 0, &pool));
  options.executor = pool;
  options.threads = 2;
  make(&edges);
  OK(sort(&edges, &options));
  CHECK(is_sorted(&edges));
  strew_executor_free(pool);
}

static void test_refusals(void) {
  strew_call_options options = STREW_CALL_OPTIONS_INIT;
  strew_bad_index bad = STREW_BAD_INDEX_INIT;
  Edges edges;
  make(&edges);
  FAILS(strew_csr(NULL, &edges.tensors[1], &edges.tensors[2], NULL), STREW_CODE_INVALID_ARGUMENT, "indices: null");
  FAILS(strew_csr(&edges.tensors[0], NULL, &edges.tensors[2], NULL), STREW_CODE_INVALID_ARGUMENT, "offsets: null");
  FAILS(strew_csr(&edges.tensors[0], &edges.tensors[1], NULL, NULL), STREW_CODE_INVALID_ARGUMENT, "permutation: null");
  edges.tensors[2].dtype = STREW_F32;
  FAILS(sort(&edges, NULL), STREW_CODE_INVALID_ARGUMENT, "permutation: dtype f32, expected i32 or i64");
  edges.tensors[2].dtype = STREW_DTYPE_COUNT;
  FAILS(sort(&edges, NULL), STREW_CODE_INVALID_ARGUMENT, "permutation: dtype");
  edges.tensors[2].dtype = STREW_I64;
  options.threads = 1025;
  FAILS(sort(&edges, &options), STREW_CODE_INVALID_ARGUMENT, "threads: 1025");
  options.threads = 0;
  options.bad_index = &bad;
  edges.indices[3] = 9;
  edges.indices[4] = 200;
  FAILS(sort(&edges, &options), STREW_CODE_OUT_OF_BOUNDS,
        "index position [3] (linear 3), component 0: value 9, expected 0 <= v <= 3");
  CHECK(bad.source == 0 && bad.position == 3 && bad.component == 0 && bad.value == 9 && bad.bound == 3);
  CHECK(is_untouched(&edges));
}

void test_csr(void) {
  test_results();
  test_refusals();
}
