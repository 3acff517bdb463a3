/* Kernels that a runtime lends, and the end of the threads that compile. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "areas.h"
#include "strew/library.h"

static void test_find(void) {
  strew_runtime *runtime = NULL, *other = NULL;
  strew_prepared* const prepared = prepare(kRows, NULL);
  strew_kernel_ref *kernel = NULL, *lent = NULL, *again = NULL;
  strew_stats stats = {.size = sizeof(strew_stats)};
  Rows rows;
  fill(&rows);
  if (!OK(strew_runtime_create(NULL, NULL, &runtime)) || !OK(strew_runtime_create(NULL, NULL, &other))) return;
  lent = (strew_kernel_ref*)&rows; /* is overwritten */
  OK(strew_find(runtime, prepared, &lent));
  CHECK(lent == NULL);
  OK(strew_get(runtime, prepared, STREW_NO_TIMEOUT, &kernel));
  OK(strew_find(runtime, prepared, &lent));
  OK(strew_find(runtime, prepared, &again));
  CHECK(lent != NULL && lent == again && strcmp(strew_kernel_symbol(lent), strew_kernel_symbol(kernel)) == 0);
  OK(strew_find(other, prepared, &again));
  CHECK(again == NULL);
  OK(strew_runtime_stats(other, &stats));
  CHECK(stats.misses == 0 && stats.built == 0); /* it only looks */
  strew_kernel_release(kernel);
  strew_runtime_clear(runtime);
  strew_runtime_free(runtime);
  OK(strew_kernel_run(lent, rows.tensors, 3, NULL)); /* `prepared` keeps it */
  CHECK(holds(&rows, 1));
  kernel = strew_kernel_retain(lent);
  FAILS(strew_find(NULL, prepared, &lent), STREW_CODE_INVALID_ARGUMENT, "runtime: null");
  FAILS(strew_find(other, NULL, &lent), STREW_CODE_INVALID_ARGUMENT, "op: null");
  FAILS(strew_find(other, prepared, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  strew_prepared_free(prepared);
  OK(strew_kernel_run(kernel, rows.tensors, 3, NULL));
  CHECK(holds(&rows, 2));
  strew_kernel_release(kernel);
  strew_runtime_free(other);
}

/* A kernel that answers until the compiled one is there is not found. */
static void test_find_in_background(void) {
  strew_request request = STREW_REQUEST_INIT;
  strew_runtime* runtime = NULL;
  strew_prepared* prepared;
  strew_kernel_ref *first = NULL, *compiled = NULL, *lent = NULL;
  strew_pending* pending = NULL;
  request.compile = "background";
  prepared = prepare(kRows, &request);
  if (!OK(strew_runtime_create(NULL, NULL, &runtime))) return;
  OK(strew_get(runtime, prepared, STREW_NO_TIMEOUT, &first));
  OK(strew_find(runtime, prepared, &lent));
  CHECK(lent == NULL || strew_kernel_is_stand_in(lent) == 0);
  OK(strew_get_async(runtime, prepared, NULL, NULL, STREW_NO_TIMEOUT, &pending));
  OK(strew_pending_wait(pending, STREW_NO_TIMEOUT, &compiled));
  OK(strew_find(runtime, prepared, &lent));
  CHECK(lent != NULL && strcmp(strew_kernel_backend(lent), "llvm") == 0);
  strew_pending_free(pending);
  strew_kernel_release(compiled);
  strew_kernel_release(first);
  strew_prepared_free(prepared);
  strew_runtime_free(runtime);
}

typedef struct {
  strew_prepared* prepared;
  strew_kernel_ref* found;
} Finder;
static void* find_often(void* context) {
  Finder* const finder = context;
  int i;
  for (i = 0; i < 1000; ++i)
    if (!OK(strew_find(strew_runtime_process(), finder->prepared, &finder->found))) break;
  return NULL;
}
static void test_threads_find(void) {
  enum { kThreads = 4 };
  pthread_t threads[kThreads];
  Finder finders[kThreads];
  strew_prepared* const prepared = prepare(kRows, NULL);
  strew_kernel_ref* kernel = NULL;
  int i;
  OK(strew_get(strew_runtime_process(), prepared, STREW_NO_TIMEOUT, &kernel));
  for (i = 0; i < kThreads; ++i) {
    finders[i] = (Finder){prepared, NULL};
    CHECK(pthread_create(&threads[i], NULL, find_often, &finders[i]) == 0);
  }
  for (i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    CHECK(finders[i].found != NULL && finders[i].found == finders[0].found);
  }
  strew_kernel_release(kernel);
  strew_prepared_free(prepared);
}

/* An op of its own for each width. */
static strew_prepared* prepare_width(int width, const char* compile) {
  strew_request request = STREW_REQUEST_INIT;
  char text[600];
  request.compile = compile;
  snprintf(text, sizeof text,
           "strew1.scatter(operand=f32[?,%d] indices=i32[?] updates=f32[?,%d] update_window_dims=[1] inserted_window_dims=[0] "
           "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place oob=error)",
           width, width);
  return prepare(text, &request);
}

static int threads_of_process(void) {
  DIR* const tasks = opendir("/proc/self/task");
  int count = 0;
  if (tasks == NULL) return -1;
  while (readdir(tasks) != NULL) ++count;
  closedir(tasks);
  return count;
}

static int answers;
static void count_answer(void* context, strew_status status, strew_kernel_ref* kernel) {
  (void)context;
  CHECK((status == NULL) == (kernel != NULL) && (status == NULL || strew_status_code(status) == STREW_CODE_CANCELLED));
  ++answers; /* after drain() the callbacks are called by this thread */
}

static int gets_compiled(strew_runtime* runtime, int width, const char* compile) {
  strew_prepared* const prepared = prepare_width(width, compile);
  strew_kernel_ref* kernel = NULL;
  const int compiled = OK(strew_get(runtime, prepared, STREW_NO_TIMEOUT, &kernel)) && strew_kernel_is_stand_in(kernel) == 0 &&
                       strcmp(strew_kernel_backend(kernel), "llvm") == 0;
  strew_kernel_release(kernel);
  strew_prepared_free(prepared);
  return compiled;
}

static void test_drain(void) {
  enum { kPending = 6 };
  strew_options options = strew_options_from_environment();
  strew_runtime* runtime = NULL;
  strew_prepared* prepared;
  strew_pending* pending[kPending] = {NULL};
  const int before = threads_of_process();
  int i, built = 0, given_up = 0;
  options.compile_threads = 1;
  options.exact_shapes = 0;
  if (!OK(strew_runtime_create(&options, NULL, &runtime))) return;
  for (i = 0; i < kPending; ++i) {
    prepared = prepare_width(101 + i, NULL);
    OK(strew_get_async(runtime, prepared, NULL, NULL, STREW_NO_TIMEOUT, &pending[i]));
    strew_prepared_free(prepared);
  }
  OK(strew_runtime_drain(runtime, STREW_NO_TIMEOUT));
  CHECK(threads_of_process() <= before);
  for (i = 0; i < kPending; ++i) {
    strew_kernel_ref* kernel = NULL;
    strew_status status;
    CHECK(strew_pending_ready(pending[i]) == 1);
    status = strew_pending_wait(pending[i], 0, &kernel);
    if (status == NULL)
      ++built;
    else if (strew_status_code(status) == STREW_CODE_CANCELLED)
      ++given_up;
    strew_status_free(status);
    strew_kernel_release(kernel);
    strew_pending_free(pending[i]);
  }
  CHECK(built + given_up == kPending);

  /* Later requests are built by the threads that ask. */
  CHECK(gets_compiled(runtime, 101 + kPending - 1, NULL) && gets_compiled(runtime, 120, NULL) && gets_compiled(runtime, 121, "background"));
  prepared = prepare_width(122, NULL);
  OK(strew_get_async(runtime, prepared, count_answer, NULL, STREW_NO_TIMEOUT, &pending[0]));
  CHECK(answers == 1 && strew_pending_ready(pending[0]) == 1);
  strew_pending_free(pending[0]);
  strew_prepared_free(prepared);
  CHECK(threads_of_process() <= before);
  OK(strew_runtime_drain(runtime, 0)); /* nothing runs */
  FAILS(strew_runtime_drain(NULL, 0), STREW_CODE_INVALID_ARGUMENT, "runtime: null");
  strew_runtime_free(runtime);
}

/* What was to replace a stand-in and was given up is built by the next request. */
static void test_drain_in_background(void) {
  enum { kOps = 5 };
  strew_options options = strew_options_from_environment();
  strew_runtime* runtime = NULL;
  strew_kernel_ref* kernels[kOps] = {NULL};
  int i;
  options.compile_threads = 1;
  options.exact_shapes = 0;
  if (!OK(strew_runtime_create(&options, NULL, &runtime))) return;
  for (i = 0; i < kOps; ++i) {
    strew_prepared* const prepared = prepare_width(201 + i, "background");
    OK(strew_get(runtime, prepared, STREW_NO_TIMEOUT, &kernels[i]));
    strew_prepared_free(prepared);
  }
  OK(strew_runtime_drain(runtime, STREW_NO_TIMEOUT));
  for (i = 0; i < kOps; ++i) {
    CHECK(gets_compiled(runtime, 201 + i, "background"));
    strew_kernel_release(kernels[i]);
  }
  strew_runtime_free(runtime);
}

/* A child of fork() compiles after drain() as before. */
static void test_fork(void) {
#if !defined(__SANITIZE_THREAD__)
  strew_runtime* runtime = NULL;
  pid_t child;
  int status = 1;
  if (!OK(strew_runtime_create(NULL, NULL, &runtime))) return;
  CHECK(gets_compiled(runtime, 301, NULL));
  OK(strew_runtime_drain(runtime, STREW_NO_TIMEOUT));
  fflush(stdout);
  child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    const int right = gets_compiled(runtime, 301, NULL) && gets_compiled(runtime, 302, "background");
    fflush(stdout);
    _exit(right ? 0 : 1);
  }
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  strew_runtime_free(runtime);
#endif
}

/* tests/library registers one that is right. */
static void test_register_library(void) {
  const strew_library other = {STREW_LIBRARY_MAGIC, STREW_LIBRARY_VERSION + 1, STREW_ABI_VERSION, 0, 0, 0};
  FAILS(strew_runtime_register_library(NULL, &other), STREW_CODE_INVALID_ARGUMENT, "runtime: null");
  FAILS(strew_runtime_register_library(strew_runtime_process(), NULL), STREW_CODE_INVALID_ARGUMENT, "library: null");
  FAILS(strew_runtime_register_library(strew_runtime_process(), &other), STREW_CODE_INVALID_ARGUMENT, "version");
}

void test_find_and_drain(void) {
  test_find();
  test_find_in_background();
  test_threads_find();
  test_drain();
  test_drain_in_background();
  test_fork();
  test_register_library();
}
