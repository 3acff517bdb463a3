/* What kernels and ops say of themselves. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "areas.h"

static int begins(const char* text, const char* with) { return strncmp(text, with, strlen(with)) == 0; }
static int ends(const char* text, const char* with) {
  return strlen(text) >= strlen(with) && strcmp(text + strlen(text) - strlen(with), with) == 0;
}

static void test_kernel_texts(void) {
  strew_request request = STREW_REQUEST_INIT;
  strew_slot slot = STREW_SLOT_INIT;
  strew_text* text = NULL;
  strew_kernel_ref *kernel, *opened = NULL;
  request.schedule = "unroll=2";
  kernel = get(kRows, &request);
  if (kernel == NULL) return;
  CHECK(strew_kernel_slot_count(kernel) == 3 && strew_kernel_slot_count(NULL) == 0);
  OK(strew_kernel_slot(kernel, 2, &slot));
  CHECK(strcmp(slot.name, "updates 0") == 0 && slot.role == STREW_UPDATES && slot.dtype == STREW_F32 && slot.rank == 2);
  CHECK(slot.dims[0] == STREW_OPEN && slot.dims[1] == 4 && slot.strides == NULL);
  FAILS(strew_kernel_slot(kernel, 3, &slot), STREW_CODE_INVALID_ARGUMENT, "number: 3, expected less than 3");
  FAILS(strew_kernel_slot(NULL, 0, &slot), STREW_CODE_INVALID_ARGUMENT, "kernel: null");
  FAILS(strew_kernel_slot(kernel, 0, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  slot.size = 1;
  FAILS(strew_kernel_slot(kernel, 0, &slot), STREW_CODE_INVALID_ARGUMENT, "out.size: 1");

  CHECK(begins(strew_kernel_symbol(kernel), "strew_") && strlen(strew_kernel_symbol(kernel)) == 38);
  CHECK(begins(strew_kernel_identity(kernel), "strew1.scatter("));
  CHECK(strstr(strew_kernel_schedule(kernel), "unroll=2") != NULL);
  CHECK(strstr(strew_kernel_target(kernel), "x86_64") != NULL || strstr(strew_kernel_target(kernel), "aarch64") != NULL);
  CHECK(strcmp(strew_kernel_backend(kernel), "llvm") == 0 && strew_kernel_features(kernel) != NULL);
  CHECK(strew_kernel_symbol(NULL) == NULL && strew_kernel_identity(NULL) == NULL && strew_kernel_schedule(NULL) == NULL);
  CHECK(strew_kernel_target(NULL) == NULL && strew_kernel_features(NULL) == NULL && strew_kernel_backend(NULL) == NULL);
  CHECK(strew_kernel_is_stand_in(kernel) == 0 && strew_kernel_is_stand_in(NULL) == 0);

  if (OK(strew_kernel_op_text(kernel, &text))) {
    CHECK(strcmp(strew_text_chars(text), kRows) == 0 && strew_text_length(text) == strlen(kRows));
    strew_text_free(text);
  }
  if (OK(strew_kernel_plan_text(kernel, &text))) {
    CHECK(strstr(strew_text_chars(text), "window") != NULL);
    strew_text_free(text);
  }
  text = NULL;
  FAILS(strew_kernel_op_text(NULL, &text), STREW_CODE_INVALID_ARGUMENT, "kernel: null");
  FAILS(strew_kernel_op_text(kernel, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_kernel_plan_text(NULL, &text), STREW_CODE_INVALID_ARGUMENT, "kernel: null");
  FAILS(strew_kernel_plan_text(kernel, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");

  /* One from an object says the same of itself, and has no plan. */
  if (OK(strew_kernel_open(strew_kernel_descriptor(kernel), 1, NULL, &opened))) {
    CHECK(strew_kernel_slot_count(opened) == 3 && strcmp(strew_kernel_symbol(opened), strew_kernel_symbol(kernel)) == 0);
    OK(strew_kernel_op_text(opened, &text));
    CHECK(strcmp(strew_text_chars(text), strew_kernel_identity(kernel)) == 0);
    strew_text_free(text);
    text = NULL;
    FAILS(strew_kernel_plan_text(opened, &text), STREW_CODE_UNSUPPORTED, "has no plan");
    CHECK(text == NULL);
  }
  CHECK(strcmp(strew_text_chars(NULL), "") == 0 && strew_text_length(NULL) == 0);
  strew_text_free(NULL);
  strew_kernel_release(opened);
  strew_kernel_release(kernel);
}

/* A kernel that another one replaces says so, and its slots stay those of the calls. */
static void test_stand_in(void) {
  strew_request request = STREW_REQUEST_INIT;
  strew_runtime* runtime = NULL;
  strew_prepared* prepared;
  strew_kernel_ref *first = NULL, *compiled = NULL;
  strew_pending* pending = NULL;
  const struct timespec moment = {0, 1000000};
  int wait;
  request.compile = "background";
  if (!OK(strew_runtime_create(NULL, NULL, &runtime))) return;
  prepared = prepare(kRows, &request);
  if (OK(strew_get(runtime, prepared, STREW_NO_TIMEOUT, &first)) &&
      OK(strew_get_async(runtime, prepared, NULL, NULL, STREW_NO_TIMEOUT, &pending)) &&
      OK(strew_pending_wait(pending, STREW_NO_TIMEOUT, &compiled))) {
    for (wait = 0; wait < 10000 && strew_kernel_is_stand_in(first); ++wait) nanosleep(&moment, NULL);
    CHECK(strew_kernel_is_stand_in(first) == 0 && strcmp(strew_kernel_backend(first), "llvm") == 0);
    CHECK(strcmp(strew_kernel_symbol(first), strew_kernel_symbol(compiled)) == 0 && strew_kernel_slot_count(first) == 3);
  }
  strew_kernel_release(first);
  strew_kernel_release(compiled);
  strew_pending_free(pending);
  strew_prepared_free(prepared);
  strew_runtime_free(runtime);
}

static void test_explain(void) {
  strew_request request = STREW_REQUEST_INIT;
  strew_text* text = NULL;
  strew_op* op = NULL;
  if (!OK(strew_op_parse(kRows, &op))) return;
  if (OK(strew_explain(op, NULL, &text))) {
    const char* const chars = strew_text_chars(text);
    CHECK(begins(chars, "does  ") && ends(chars, "\n") && strstr(chars, "\nop          strew1.scatter(") != NULL);
    CHECK(strstr(chars, "\nruns on     llvm\n") != NULL && strstr(chars, "chosen by the cost model") != NULL);
    CHECK(strstr(chars, "\npredicted   ") != NULL && strstr(chars, "\nbackend     portable: yes\n") != NULL);
    CHECK(strstr(chars, "\nplan\n  ") != NULL && strew_text_length(text) == strlen(chars));
    strew_text_free(text);
  }
  request.schedule = "strategy=sequential,unroll=8";
  if (OK(strew_explain(op, &request, &text))) {
    CHECK(strstr(strew_text_chars(text), "strategy=sequential") != NULL && strstr(strew_text_chars(text), "from the request") != NULL);
    strew_text_free(text);
  }
  request.schedule = "strategy=window"; /* no window loop of this op is worth it, or it is legal: either way it is told */
  if (OK(strew_explain(op, &request, &text))) {
    CHECK(strstr(strew_text_chars(text), "\nschedule    ") != NULL);
    strew_text_free(text);
  }
  text = NULL;
  FAILS(strew_explain(NULL, NULL, &text), STREW_CODE_INVALID_ARGUMENT, "op: null");
  FAILS(strew_explain(op, NULL, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  request.schedule = "unrol=2";
  FAILS(strew_explain(op, &request, &text), STREW_CODE_INVALID_ARGUMENT, "unrol");
  request.schedule = NULL;
  request.size = 1;
  FAILS(strew_explain(op, &request, &text), STREW_CODE_INVALID_ARGUMENT, "request.size: 1");
  CHECK(text == NULL);
  strew_op_free(op);
}

void test_texts(void) {
  test_kernel_texts();
  test_stand_in();
  test_explain();
}
