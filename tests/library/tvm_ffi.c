/* Calls the functions of tvm_ffi.json's library as TVM-FFI does. This program stands in for TVM-FFI: it exports the function that takes errors, and
 * its structs are written down once more, from include/tvm/ffi/c_api.h and include/dlpack/dlpack.h of apache-tvm-ffi 0.1.15.
 *
 *   tvm_ffi           results, refusals, and threads that still call while the program ends
 *   tvm_ffi LIBRARY   loads and unloads the library, which must leave no memory behind
 *
 * Exit: 0 right, 1 wrong. */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/c_api/check.h"
#include "tvm_kernels.h"

int failures = 0;

typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  int32_t device_type, device_id;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} DLTensor;
typedef struct {
  int32_t type_index;
  uint32_t zero_padding;
  union {
    int64_t v_int64;
    void* v_ptr;
  } value;
} TVMFFIAny;
typedef struct {
  uint64_t combined_ref_count;
  int32_t type_index;
  uint32_t padding;
  void (*deleter)(void* self, int flags);
  DLTensor tensor;
} TensorObject;
enum { kNone = 0, kInt = 1, kDLTensorPtr = 7, kTensor = 70 };
typedef int (*SafeCall)(void* handle, const TVMFFIAny* args, int32_t count, TVMFFIAny* result);
int __tvm_ffi_add_rows_f32(void* handle, const TVMFFIAny* args, int32_t count, TVMFFIAny* result);
int __tvm_ffi_set_five(void* handle, const TVMFFIAny* args, int32_t count, TVMFFIAny* result);

static _Thread_local char kind[32], message[256];
__attribute__((visibility("default"))) void TVMFFIErrorSetRaisedFromCStr(const char* of_kind, const char* text) {
  snprintf(kind, sizeof kind, "%s", of_kind);
  snprintf(message, sizeof message, "%s", text);
}

/* The tensors of a scatter-add into six rows of four. */
typedef struct {
  float table[24], updates[12];
  int32_t indices[3];
  int64_t dims[3][2], strides[3][2];
  DLTensor tensors[3];
  TVMFFIAny args[3], result;
} Call;
static void fill(Call* call) {
  const DLTensor tensors[3] = {{call->table, 1, 0, 2, {2, 32, 1}, call->dims[0], call->strides[0], 0},
                               {call->indices, 1, 0, 1, {0, 32, 1}, call->dims[1], call->strides[1], 0},
                               {call->updates, 1, 0, 2, {2, 32, 1}, call->dims[2], call->strides[2], 0}};
  const int64_t dims[3][2] = {{6, 4}, {3, 0}, {3, 4}}, strides[3][2] = {{4, 1}, {1, 0}, {4, 1}};
  const int32_t indices[3] = {5, 0, 5};
  int i;
  memset(call, 0, sizeof *call);
  memcpy(call->tensors, tensors, sizeof tensors);
  memcpy(call->dims, dims, sizeof dims);
  memcpy(call->strides, strides, sizeof strides);
  memcpy(call->indices, indices, sizeof indices);
  for (i = 0; i < 12; ++i) call->updates[i] = 1;
  for (i = 0; i < 3; ++i) {
    call->args[i].type_index = kDLTensorPtr;
    call->args[i].value.v_ptr = &call->tensors[i];
  }
  call->result.type_index = kInt;
}

#define RUNS(call) CHECK(__tvm_ffi_add_rows_f32(NULL, (call)->args, 3, &(call)->result) == 0)
/* The call must raise this error and write nothing. */
#define RAISES(expression, of_kind, text, call)                                                           \
  do {                                                                                                    \
    const Call before = *(call);                                                                          \
    kind[0] = message[0] = 0;                                                                             \
    CHECK((expression) == -1);                                                                            \
    if (strcmp(kind, of_kind) != 0 || strstr(message, text) == NULL) {                                    \
      printf("%s:%d: %s: %s, expected %s: %s\n", __FILE__, __LINE__, kind, message, of_kind, text);       \
      ++failures;                                                                                         \
    }                                                                                                     \
    CHECK(memcmp(before.table, (call)->table, sizeof before.table) == 0 && (call)->result.type_index == kInt); \
  } while (0)
#define REFUSES(call, of_kind, text) RAISES(__tvm_ffi_add_rows_f32(NULL, (call)->args, 3, &(call)->result), of_kind, text, call)

static void results(void) {
  Call call;
  TensorObject object;
  fill(&call);
  RUNS(&call);
  CHECK(call.table[0] == 1 && call.table[20] == 2 && call.table[4] == 0);
  CHECK(call.result.type_index == kNone && call.result.value.v_int64 == 0);
  memset(&object, 0, sizeof object);
  object.tensor = call.tensors[2]; /* beginning one row further, by the offset in bytes */
  object.tensor.byte_offset = 16;
  call.dims[2][0] = call.dims[1][0] = 2;
  call.args[2].type_index = kTensor;
  call.args[2].value.v_ptr = &object;
  call.updates[0] = 100;
  RUNS(&call);
  CHECK(call.table[0] == 2 && call.table[20] == 3);
  call.tensors[0].strides = NULL; /* row-major */
  RUNS(&call);
  CHECK(call.table[0] == 3 && call.table[20] == 4);
}

static void refusals(void) {
  Call call;
  fill(&call);
  RAISES(__tvm_ffi_add_rows_f32(NULL, call.args, 2, &call.result), "TypeError", "args: there are 2, expected 3: result 0, indices, updates 0", &call);
  RAISES(__tvm_ffi_add_rows_f32(NULL, call.args, -1, &call.result), "TypeError", "args: there are -1", &call);
  RAISES(__tvm_ffi_add_rows_f32(NULL, NULL, 3, &call.result), "ValueError", "args: null", &call);
  RAISES(__tvm_ffi_add_rows_f32(NULL, call.args, 3, NULL), "ValueError", "result: null", &call);
  call.args[1].type_index = kInt;
  REFUSES(&call, "TypeError", "args[1], indices: its type index is 1, expected a tensor");
  call.args[1].type_index = kDLTensorPtr;
  call.args[1].value.v_ptr = NULL;
  REFUSES(&call, "ValueError", "args[1], indices: pointer: null");
  call.args[1].value.v_ptr = &call.tensors[1];
  call.tensors[1].device_type = 2;
  REFUSES(&call, "ValueError", "args[1], indices: DLPack: device type is 2, expected memory of the CPU");
  call.tensors[1].device_type = 1;
  call.tensors[1].dtype.bits = 7;
  REFUSES(&call, "ValueError", "DLPack: dtype code 0 with 7 bits");
  call.tensors[1].dtype.bits = 64;
  REFUSES(&call, "ValueError", "indices: dtype i64, expected i32");
  call.tensors[1].dtype.bits = 32;
  call.tensors[1].shape = NULL;
  REFUSES(&call, "ValueError", "DLPack: shape: null");
  call.tensors[1].shape = call.dims[1];
  call.indices[2] = 6;
  REFUSES(&call, "IndexError", "value 6, expected 0 <= v <= 5");
}

/* What a damaged library would pass. */
static void damaged(void) {
  strew_context* context = NULL;
  Call call;
  fill(&call);
  RAISES(strew_tvm_ffi_call(NULL, tvm_kernels(), 0, call.args, 3, &call.result), "ValueError", "context: null", &call);
  RAISES(strew_tvm_ffi_call(&context, NULL, 0, call.args, 3, &call.result), "ValueError", "library: null", &call);
  CHECK(context == NULL);
  RAISES(strew_tvm_ffi_call(&context, tvm_kernels(), 99, call.args, 3, &call.result), "ValueError", "kernel: number 99", &call);
  CHECK(context != NULL);
  strew_tvm_ffi_close(&context);
  CHECK(context == NULL);
  strew_tvm_ffi_close(&context);
  strew_tvm_ffi_close(NULL);
}

/* A kernel of 11 tensors. */
static void many(void) {
  float tables[5][4] = {{0}}, updates[5][2];
  int32_t indices[2] = {3, 1};
  int64_t four = 4, two = 2, one = 1;
  DLTensor tensors[11];
  TVMFFIAny args[11], result;
  int i;
  for (i = 0; i < 5; ++i) {
    const DLTensor table = {tables[i], 1, 0, 1, {2, 32, 1}, &four, &one, 0}, update = {updates[i], 1, 0, 1, {2, 32, 1}, &two, &one, 0};
    updates[i][0] = (float)i + 1;
    updates[i][1] = -(float)i - 1;
    tensors[i] = table;
    tensors[6 + i] = update;
  }
  {
    const DLTensor places = {indices, 1, 0, 1, {0, 32, 1}, &two, &one, 0};
    tensors[5] = places;
  }
  for (i = 0; i < 11; ++i) {
    args[i].type_index = kDLTensorPtr;
    args[i].value.v_ptr = &tensors[i];
  }
  CHECK(__tvm_ffi_set_five(NULL, args, 11, &result) == 0);
  for (i = 0; i < 5; ++i) CHECK(tables[i][3] == (float)i + 1 && tables[i][1] == -(float)i - 1 && tables[i][0] == 0);
}

/* Calls until the process is gone. */
static void* call_for_ever(void* nothing) {
  Call call;
  fill(&call);
  while (__tvm_ffi_add_rows_f32(NULL, call.args, 3, &call.result) == 0) {
  }
  return nothing;
}
/* Runs after the destructor of the library, which is linked behind this file: the threads still call, and contexts stay. */
static strew_context* at_exit = NULL;
__attribute__((destructor)) static void check_exit(void) {
  const struct timespec pause = {0, 20 * 1000 * 1000};
  const strew_context* const before = at_exit;
  nanosleep(&pause, NULL);
  strew_tvm_ffi_close(&at_exit);
  if (at_exit != before) {
    printf("a context was freed while the process ended\n");
    fflush(stdout);
    _exit(1);
  }
}

/* Loads the library, calls it, and unloads it. */
static void load(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  Call call;
  SafeCall function = NULL;
  if (library == NULL) printf("%s\n", dlerror());
  CHECK(library != NULL);
  if (library == NULL) return;
  *(void**)&function = dlsym(library, "__tvm_ffi_add_rows_f32");
  fill(&call);
  CHECK(function != NULL && function(NULL, call.args, 3, &call.result) == 0 && call.table[20] == 2);
  CHECK(dlclose(library) == 0 && dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL);
}

int main(int argc, char** argv) {
  pthread_t thread;
  Call call;
  int i;
  if (argc == 2) {
    size_t before;
    for (i = 0; i < 10; ++i) load(argv[1]);
    before = mallinfo2().uordblks;
    for (i = 0; i < 100; ++i) load(argv[1]);
    if (mallinfo2().uordblks > before + 10000) {
      printf("100 loads left %zu bytes\n", mallinfo2().uordblks - before);
      ++failures;
    }
    return failures == 0 ? 0 : 1;
  }
  results();
  refusals();
  damaged();
  many();
  fill(&call);
  CHECK(strew_tvm_ffi_call(&at_exit, tvm_kernels(), TVM_KERNELS_add_rows_f32, call.args, 3, &call.result) == 0 && at_exit != NULL);
  for (i = 0; i < 2; ++i) CHECK(pthread_create(&thread, NULL, call_for_ever, NULL) == 0);
  return failures == 0 ? 0 : 1;
}
