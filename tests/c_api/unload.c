/* A program that opens libstrew, uses it on several threads, and closes it again while threads of strew are still there: compile threads,
 * workers that wait for the next call, a thread of its own that has called kernels and ends later. Then it opens libstrew once more. The
 * library stays in memory (-z nodelete), so nothing of this may end the process. Exit: 0 right. Its argument is the library. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "strew/strew.h"

static const char* const kRows =
    "strew1.scatter(operand=f32[65536] indices=i32[262144] updates=f32[262144] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add oob=error init=in_place)";
enum { kTable = 65536, kUpdates = 262144 };

static void* library;
static pthread_barrier_t called, closed;

/* The function of the library; ends the process if there is none. */
#define FUNCTION(name) ((__typeof__(&name))find(#name))
static void* find(const char* name) {
  void* const address = dlsym(library, name);
  if (address == NULL) {
    printf("%s\n", dlerror());
    exit(1);
  }
  return address;
}

static void check(strew_status status) {
  if (status == NULL) return;
  printf("%s\n", FUNCTION(strew_status_message)(status));
  exit(1);
}

/* Compiles, calls on all threads, and leaves a build running. */
static void use(void) {
  strew_op* op = NULL;
  strew_prepared *prepared = NULL, *other = NULL;
  strew_kernel_ref* kernel = NULL;
  strew_executor* pool = NULL;
  strew_pending* pending = NULL;
  strew_request request = STREW_REQUEST_INIT;
  strew_call_options options = STREW_CALL_OPTIONS_INIT;
  const int64_t table_dims[] = {kTable}, update_dims[] = {kUpdates};
  float* const table = calloc(kTable, sizeof *table);
  float* const updates = calloc(kUpdates, sizeof *updates);
  int32_t* const indices = calloc(kUpdates, sizeof *indices);
  const strew_tensor tensors[3] = {{table, table_dims, NULL, 1, STREW_F32, 0, {0}},
                                   {indices, update_dims, NULL, 1, STREW_I32, 1, {0}},
                                   {updates, update_dims, NULL, 1, STREW_F32, 1, {0}}};
  int i;
  for (i = 0; i < kUpdates; ++i) {
    indices[i] = (i * 31) % kTable;
    updates[i] = 1;
  }
  check(FUNCTION(strew_op_parse)(kRows, &op));
  check(FUNCTION(strew_prepare)(op, NULL, &prepared));
  request.schedule = "unroll=2";
  check(FUNCTION(strew_prepare)(op, &request, &other));
  check(FUNCTION(strew_executor_create_pool)(4, 0, &pool));
  check(FUNCTION(strew_get)(FUNCTION(strew_runtime_process)(), prepared, STREW_NO_TIMEOUT, &kernel));
  check(FUNCTION(strew_kernel_run)(kernel, tensors, 3, NULL));
  options.executor = pool;
  check(FUNCTION(strew_kernel_run)(kernel, tensors, 3, &options));
  for (i = 0; i < kTable; ++i)
    if (table[i] != 8) exit(1);
  check(FUNCTION(strew_get_async)(FUNCTION(strew_runtime_process)(), other, NULL, NULL, STREW_NO_TIMEOUT, &pending));
  FUNCTION(strew_pending_free)(pending);
  FUNCTION(strew_executor_free)(pool);
  FUNCTION(strew_kernel_release)(kernel);
  FUNCTION(strew_prepared_free)(prepared);
  FUNCTION(strew_prepared_free)(other);
  FUNCTION(strew_op_free)(op);
  free(table);
  free(updates);
  free(indices);
}

/* A thread that ends after the library was closed. */
static void* thread(void* unused) {
  use();
  pthread_barrier_wait(&called);
  pthread_barrier_wait(&closed);
  return unused;
}

static void open_library(const char* path) {
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    printf("%s\n", dlerror());
    exit(1);
  }
}

int main(int argc, char** argv) {
  pthread_t other;
  if (argc != 2) return 2;
  pthread_barrier_init(&called, NULL, 2);
  pthread_barrier_init(&closed, NULL, 2);
  open_library(argv[1]);
  pthread_create(&other, NULL, thread, NULL);
  use();
  pthread_barrier_wait(&called);
  dlclose(library);
  pthread_barrier_wait(&closed);
  pthread_join(other, NULL);
  open_library(argv[1]);
  use();
  dlclose(library);
  return 0;
}
