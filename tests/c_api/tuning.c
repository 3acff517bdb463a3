/* Wisdom and tuning. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "areas.h"

static const char kWisdom[] = "c_api_tuning.wisdom";

static int text_has(strew_text* text, const char* part) {
  const int has = strstr(strew_text_chars(text), part) != NULL;
  if (!has) printf("the text lacks '%s': %s\n", part, strew_text_chars(text));
  strew_text_free(text);
  return has;
}

typedef struct {
  int calls, measured;
  int stop_after; /* measured ones */
  double budget;
} Watcher;
static int32_t watch(void* context, const strew_tuning_progress* progress) {
  Watcher* const watcher = context;
  ++watcher->calls;
  CHECK(progress->size == sizeof *progress && progress->seconds >= 0);
  if (progress->kernel != NULL) {
    CHECK(strcmp(progress->kernel, "op") == 0 && progress->number == 0 && progress->count == 1 && progress->candidates > 0);
    CHECK(progress->best_nanoseconds > 0 && progress->best_ratio > 0);
    ++watcher->measured;
    watcher->budget = progress->budget_seconds;
  }
  return watcher->stop_after != 0 && watcher->measured >= watcher->stop_after;
}
static int32_t stop_at_once(void* context, const strew_tuning_progress* progress) {
  (void)context;
  (void)progress;
  return 1;
}

/* Every line is a record from its first to its last byte. */
static int lines_of_wisdom(void) {
  char line[8192];
  int count = 0;
  FILE* const file = fopen(kWisdom, "r");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL) {
    CHECK(line[0] == '{' && strcmp(line + strlen(line) - 2, "}\n") == 0);
    ++count;
  }
  fclose(file);
  return count;
}

static void test_tune_op(strew_op* op) {
  strew_tuning_options options = STREW_TUNING_OPTIONS_INIT;
  strew_tuning* tuning = NULL;
  strew_text* text = NULL;
  Watcher watcher = {0, 0, 0, 0};
  int lines;
  remove(kWisdom);
  options.budget_seconds = 20; /* it ends earlier, unless the machine is busy */
  options.threads = 1;
  options.indices = "zipf(1)";
  options.temperature = "hot";
  options.wisdom_file = kWisdom;
  options.progress = watch;
  options.context = &watcher;
  if (!OK(strew_tune_op(op, &options, &tuning))) return;
  CHECK(watcher.calls > 0 && watcher.measured > 0 && watcher.budget == 20);
  if (OK(strew_tuning_text(tuning, &text))) CHECK(text_has(text, "winner: op: "));
  if (OK(strew_tuning_json(tuning, &text))) CHECK(text_has(text, "\"kernels\": ["));
  if (OK(strew_tuning_html(tuning, &text))) CHECK(text_has(text, "<svg"));
  text = NULL;
  FAILS(strew_tuning_text(NULL, &text), STREW_CODE_INVALID_ARGUMENT, "tuning: null");
  FAILS(strew_tuning_json(tuning, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_tuning_html(NULL, &text), STREW_CODE_INVALID_ARGUMENT, "tuning: null");
  strew_tuning_free(tuning);
  tuning = NULL;
  lines = lines_of_wisdom();
  CHECK(lines > 0);

  /* A callback that ends the run: what was measured is kept, in lines that are whole. */
  watcher = (Watcher){0, 0, 1, 0};
  options.seed = 2;
  options.budget_seconds = 600;
  options.mode = "exhaustive";
  options.indices = "uniform";
  if (OK(strew_tune_op(op, &options, &tuning))) {
    if (OK(strew_tuning_json(tuning, &text))) CHECK(text_has(text, "\"stopped\": true"));
    strew_tuning_free(tuning);
    CHECK(lines_of_wisdom() > lines);
  }
  strew_tuning_free(NULL);
}

/* Requests take the wisdom that they name. */
static void test_wisdom(strew_op* op) {
  strew_request request = STREW_REQUEST_INIT;
  strew_wisdom *wisdom = NULL, *none = NULL;
  strew_prepared* prepared = NULL;
  strew_kernel_ref* kernel = NULL;
  strew_text* text = NULL;
  FILE* file;
  OK(strew_wisdom_none(&none));
  request.wisdom = none;
  OK(strew_prepare(op, &request, &prepared));
  strew_prepared_free(prepared);
  prepared = NULL;
  request.wisdom = NULL;
  if (OK(strew_wisdom_load(kWisdom, &wisdom))) {
    request.wisdom = wisdom;
    OK(strew_prepare(op, &request, &prepared));
    strew_wisdom_free(wisdom); /* the request keeps it */
    OK(strew_get(strew_runtime_process(), prepared, STREW_NO_TIMEOUT, &kernel));
    CHECK(kernel != NULL);
  }
  strew_kernel_release(kernel);
  strew_prepared_free(prepared);
  OK(strew_wisdom_path(&text));
  CHECK(strcmp(strew_text_chars(text), "") == 0 || strstr(strew_text_chars(text), "wisdom") != NULL);
  strew_text_free(text);
  text = NULL;
  wisdom = NULL;
  FAILS(strew_wisdom_load(NULL, &wisdom), STREW_CODE_INVALID_ARGUMENT, "path: null");
  FAILS(strew_wisdom_load(kWisdom, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_wisdom_load("no_such.wisdom", &wisdom), STREW_CODE_IO, "no_such.wisdom");
  FAILS(strew_wisdom_none(NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_wisdom_path(NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  file = fopen(kWisdom, "w"); /* a line that is no record is left out */
  if (file != NULL) {
    fprintf(file, "nonsense\n");
    fclose(file);
    OK(strew_wisdom_load(kWisdom, &wisdom));
  }
  strew_wisdom_free(wisdom);
  strew_wisdom_free(none);
  strew_wisdom_free(NULL);
  remove(kWisdom);
}

static void test_bad_tuning(strew_op* op) {
  strew_tuning_options options = STREW_TUNING_OPTIONS_INIT;
  const strew_tuning_options good = STREW_TUNING_OPTIONS_INIT;
  strew_tuning* tuning = NULL;
  struct timespec begin, end;
  strew_status status;
  FAILS(strew_tune_op(NULL, NULL, &tuning), STREW_CODE_INVALID_ARGUMENT, "op: null");
  FAILS(strew_tune_op(op, NULL, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  options.size = 2;
  FAILS(strew_tune_op(op, &options, &tuning), STREW_CODE_INVALID_ARGUMENT, "options.size: 2");
  options = good;
  options.threads = -1;
  FAILS(strew_tune_op(op, &options, &tuning), STREW_CODE_INVALID_ARGUMENT, "threads");
  options = good;
  options.budget_seconds = -1;
  FAILS(strew_tune_op(op, &options, &tuning), STREW_CODE_INVALID_ARGUMENT, "budget_seconds: it is -1");
  options.budget_seconds = NAN;
  FAILS(strew_tune_op(op, &options, &tuning), STREW_CODE_INVALID_ARGUMENT, "budget_seconds");
  options = good;
  options.mode = "guess";
  FAILS(strew_tune_op(op, &options, &tuning), STREW_CODE_INVALID_ARGUMENT, "mode: 'guess', expected one of estimate, measure, exhaustive");
  options = good;
  options.dims = "s0";
  FAILS(strew_tune_op(op, &options, &tuning), STREW_CODE_INVALID_ARGUMENT, "s0");
  options.dims = "nothing=4";
  FAILS(strew_tune_op(op, &options, &tuning), STREW_CODE_INVALID_ARGUMENT, "nothing");
  options = good;
  options.indices = "dense";
  FAILS(strew_tune_op(op, &options, &tuning), STREW_CODE_INVALID_ARGUMENT, "dense");
  options.indices = "indices.npy";
  FAILS(strew_tune_op(op, &options, &tuning), STREW_CODE_UNSUPPORTED, "'indices.npy' is a file");
  options = good;
  options.temperature = "warm";
  FAILS(strew_tune_op(op, &options, &tuning), STREW_CODE_INVALID_ARGUMENT, "warm");

  options = good; /* ends long before the budget does */
  options.wisdom_file = "off";
  options.budget_seconds = 600;
  options.progress = stop_at_once;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  status = strew_tune_op(op, &options, &tuning);
  clock_gettime(CLOCK_MONOTONIC, &end);
  CHECK(end.tv_sec - begin.tv_sec < 120);
  CHECK(status == NULL || strew_status_code(status) == STREW_CODE_CANCELLED);
  strew_status_free(status);
  strew_tuning_free(tuning);
}

static void test_tune_program(const char* examples) {
  strew_tuning_options options = STREW_TUNING_OPTIONS_INIT;
  strew_program* program = NULL;
  strew_tuning* tuning = NULL;
  strew_text* text = NULL;
  char path[4096];
  snprintf(path, sizeof path, "%s/tflite_cache/append.tflite", examples);
  if (!OK(strew_program_open(path, NULL, &program))) return;
  options.mode = "estimate";
  options.wisdom_file = "off";
  if (OK(strew_tune_program(program, NULL, &options, &tuning))) {
    if (OK(strew_tuning_text(tuning, &text))) CHECK(text_has(text, strew_program_kernel_name(program, 0)));
    strew_tuning_free(tuning);
    tuning = NULL;
  }
  if (OK(strew_tune_program(program, strew_program_kernel_name(program, 0), &options, &tuning))) strew_tuning_free(tuning);
  FAILS(strew_tune_program(program, "no_such_kernel", &options, &tuning), STREW_CODE_INVALID_ARGUMENT, "'no_such_kernel' is not in the file");
  FAILS(strew_tune_program(NULL, NULL, &options, &tuning), STREW_CODE_INVALID_ARGUMENT, "program: null");
  FAILS(strew_tune_program(program, NULL, &options, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  strew_program_free(program);
}

static void test_tuned_kernel(strew_op* op) {
  strew_request request = STREW_REQUEST_INIT;
  strew_online_tuning options = STREW_ONLINE_TUNING_INIT;
  strew_tuned_stats stats = STREW_TUNED_STATS_INIT;
  strew_call_options call = STREW_CALL_OPTIONS_INIT;
  strew_bad_index bad = STREW_BAD_INDEX_INIT;
  strew_tuned_kernel* kernel = NULL;
  strew_kernel_ref* in_use = NULL;
  strew_runtime* const runtime = strew_runtime_process();
  Rows rows;
  int i;
  fill(&rows);
  FAILS(strew_tuned_kernel_create(NULL, op, NULL, NULL, &kernel), STREW_CODE_INVALID_ARGUMENT, "runtime: null");
  FAILS(strew_tuned_kernel_create(runtime, NULL, NULL, NULL, &kernel), STREW_CODE_INVALID_ARGUMENT, "op: null");
  FAILS(strew_tuned_kernel_create(runtime, op, NULL, NULL, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  options.regret = 2;
  FAILS(strew_tuned_kernel_create(runtime, op, NULL, &options, &kernel), STREW_CODE_INVALID_ARGUMENT, "regret");
  options.regret = 0.01;
  options.candidates = 5000;
  FAILS(strew_tuned_kernel_create(runtime, op, NULL, &options, &kernel), STREW_CODE_INVALID_ARGUMENT, "candidates");
  options.candidates = 2;
  request.backend = "portable";
  FAILS(strew_tuned_kernel_create(runtime, op, &request, &options, &kernel), STREW_CODE_INVALID_ARGUMENT, "backend");
  if (!OK(strew_tuned_kernel_create(runtime, op, NULL, &options, &kernel))) return;
  for (i = 0; i < 100; ++i) OK(strew_tuned_kernel_run(kernel, rows.tensors, 3, NULL));
  CHECK(holds(&rows, 100));
  OK(strew_tuned_kernel_stats(kernel, &stats));
  CHECK(stats.ratio > 0 && stats.total_nanoseconds >= 0 && (stats.is_settled == 0 || stats.is_settled == 1));
  OK(strew_tuned_kernel_in_use(kernel, &in_use));
  CHECK(in_use != NULL && strew_kernel_slot_count(in_use) == 3);
  rows.indices[2] = -1;
  call.bad_index = &bad;
  FAILS(strew_tuned_kernel_run(kernel, rows.tensors, 3, &call), STREW_CODE_OUT_OF_BOUNDS, "value -1");
  CHECK(bad.source == 1 && bad.position == 2 && bad.value == -1);
  call.threads = 2;
  FAILS(strew_tuned_kernel_run(kernel, rows.tensors, 3, &call), STREW_CODE_INVALID_ARGUMENT, "threads or executor is set");
  FAILS(strew_tuned_kernel_run(NULL, rows.tensors, 3, NULL), STREW_CODE_INVALID_ARGUMENT, "kernel: null");
  FAILS(strew_tuned_kernel_run(kernel, NULL, 3, NULL), STREW_CODE_INVALID_ARGUMENT, "tensors: null");
  FAILS(strew_tuned_kernel_stats(NULL, &stats), STREW_CODE_INVALID_ARGUMENT, "kernel: null");
  FAILS(strew_tuned_kernel_stats(kernel, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_tuned_kernel_in_use(NULL, &in_use), STREW_CODE_INVALID_ARGUMENT, "kernel: null");
  FAILS(strew_tuned_kernel_in_use(kernel, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  strew_kernel_release(in_use);
  strew_tuned_kernel_free(kernel);
  strew_tuned_kernel_free(NULL);
}

void test_tuning(const char* examples) {
  strew_op* op = NULL;
  if (!OK(strew_op_parse(kRows, &op))) return;
  test_tune_op(op);
  test_wisdom(op);
  test_bad_tuning(op);
  test_tune_program(examples);
  test_tuned_kernel(op);
  strew_op_free(op);
}
