/* The C interface of libstrew_rt: kernels that were compiled before, tensors, threads and the log. strew.h adds the compiler. It is C99
 * without dependencies, for C programs and for the foreign function interfaces of other languages.
 *
 *   extern const strew_kernel kv_update;                                   // from an object that `strew compile` wrote
 *   strew_kernel_ref* kernel = NULL;
 *   strew_status status = strew_kernel_open(&kv_update, 0, NULL, &kernel);  // once
 *   ...
 *   status = strew_kernel_run(kernel, tensors, 3, NULL);                    // from any thread
 *   if (status != NULL) {
 *     fprintf(stderr, "%s\n", strew_status_message(status));
 *     strew_status_free(status);
 *   }
 *
 * Conventions of both headers:
 * - A function that can fail returns a strew_status. It writes its results, the last arguments, only if it succeeds.
 * - Handles are pointers to incomplete types. Whoever receives one through a result owns it and gives it back with the function that
 *   ends in _free or _release. These accept null. A handle may be used by several threads at once, but not while it is given back.
 * - Structs that may grow begin with `size`, which the caller sets to sizeof the struct (the _INIT macros do). A struct from an older
 *   header has defaults for the fields it lacks. One from a newer header is refused if a field that this library does not know is
 *   not zero. Of a struct that a function fills in, such fields become zero.
 * - A null pointer where a value is required is an error that names the argument. No C++ exception leaves a function.
 * - Texts are UTF-8 and end with a zero byte. Sizes of arrays are numbers of elements; strides are in elements.
 *
 * Tested by tests/c_api. docs/versioning.md says what may change when. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "strew/abi.h"
#include "strew/export.h"
#include "strew/version.h"

#if defined(__GNUC__)
#define STREW_CHECK_RESULT __attribute__((warn_unused_result))
#else
#define STREW_CHECK_RESULT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ----------------------------------------------------------------------------------------------------------------------- */

/* Null is success. Otherwise it is a failure, which the receiver frees with strew_status_free(). */
typedef struct strew_failure* strew_status;

/* The codes of status.h, with the same numbers. */
typedef enum strew_code {
  STREW_CODE_OK = 0,
  STREW_CODE_INVALID_ARGUMENT,  /* the caller's input is wrong */
  STREW_CODE_UNSUPPORTED,       /* legal, but this backend, dtype or build cannot do it */
  STREW_CODE_OUT_OF_BOUNDS,     /* an index failed under policy `error`; nothing was written */
  STREW_CODE_IO,                /* a file could not be read or written */
  STREW_CODE_INTERNAL,          /* a bug in strew */
  STREW_CODE_CANCELLED,         /* the caller gave up what it had asked for */
  STREW_CODE_DEADLINE_EXCEEDED, /* there was no answer in the time that the caller allowed */
  STREW_CODE_RESOURCE_EXHAUSTED, /* the system refused memory; nothing of it is remembered, so the same request may succeed later */
} strew_code;

STREW_API strew_code strew_status_code(strew_status status);
/* One sentence that names the field, its value and what was expected; "" for success. Valid until the status is freed. */
STREW_API const char* strew_status_message(strew_status status);
STREW_API void strew_status_free(strew_status status);

/* ---- Texts ------------------------------------------------------------------------------------------------------------------------ */

/* A text that a function made for its caller. */
typedef struct strew_text strew_text;
/* Valid until the text is freed; "" for null. */
STREW_API const char* strew_text_chars(const strew_text* text);
/* The number of bytes before the zero byte at the end. */
STREW_API size_t strew_text_length(const strew_text* text);
STREW_API void strew_text_free(strew_text* text);

/* ---- Tensors ---------------------------------------------------------------------------------------------------------------------- */

/* Element types, with the numbers of DType (dtype.h). Elements of less than a byte are packed, the first in the low bits. */
typedef enum strew_dtype {
  STREW_BOOL,
  STREW_I2,
  STREW_U2,
  STREW_I4,
  STREW_U4,
  STREW_I8,
  STREW_U8,
  STREW_I16,
  STREW_U16,
  STREW_I32,
  STREW_U32,
  STREW_I64,
  STREW_U64,
  STREW_F4E2M1,
  STREW_F6E2M3,
  STREW_F6E3M2,
  STREW_F8E3M4,
  STREW_F8E4M3,
  STREW_F8E4M3FN,
  STREW_F8E4M3FNUZ,
  STREW_F8E4M3B11FNUZ,
  STREW_F8E5M2,
  STREW_F8E5M2FNUZ,
  STREW_F8E8M0,
  STREW_HIF8,
  STREW_F16,
  STREW_BF16,
  STREW_F32,
  STREW_F64,
  STREW_COMPLEX64,
  STREW_COMPLEX128,
  STREW_STRING, /* 16-byte {pointer, length} pairs */
  STREW_DTYPE_COUNT
} strew_dtype;

/* The name in texts, "bf16"; null for a number that is no dtype. Static. */
STREW_API const char* strew_dtype_name(strew_dtype dtype);
/* The size of an element, 1 to 128 bits (a bool takes 8); 0 for a number that is no dtype. */
STREW_API int32_t strew_dtype_bits(strew_dtype dtype);

/* A buffer of the caller's. Nothing of it is copied: buffer, dims and strides must live until the call that takes it returns. */
typedef struct strew_tensor {
  void* data;             /* address of element [0, ..., 0]; inputs are never written */
  const int64_t* dims;    /* rank extents */
  const int64_t* strides; /* rank strides in elements; null: contiguous, row-major */
  int32_t rank;
  uint8_t dtype;       /* strew_dtype */
  uint8_t read_only;   /* not 0: the tensor can only be an input */
  uint8_t reserved[2]; /* 0 */
} strew_tensor;

/* A tensor and the name of the slot it is for: "result 0", "operand 0", "indices", "updates 0", "extra 0" (strew_kernel_run_named). */
typedef struct strew_named_tensor {
  const char* name;
  strew_tensor tensor;
} strew_named_tensor;

/* A tensor that the calls of an op or of a kernel bind. */
typedef struct strew_slot {
  uint32_t size;
  char name[16]; /* "updates 0" */
  uint8_t role;  /* STREW_RESULT to STREW_EXTRA */
  uint8_t dtype; /* strew_dtype */
  int32_t rank;
  const int64_t* dims;    /* rank extents, or STREW_OPEN; valid as long as the op or the kernel */
  const int64_t* strides; /* rank strides in elements, or STREW_OPEN; null: row-major */
} strew_slot;
#define STREW_SLOT_INIT \
  { sizeof(strew_slot), "", 0, 0, 0, NULL, NULL }

/* ---- DLPack 1.x -------------------------------------------------------------------------------------------------------------------
 * Tensors of NumPy, PyTorch, JAX, CuPy and others, without a copy. dlpack.h is not needed here: a DLTensor is passed as const void*. */

struct DLManagedTensorVersioned;

/* A view of a DLTensor (also of the one in a DLManagedTensor), which must live as long as `out` is used. Fails if it is not in memory
 * of the CPU, or if strew has no such dtype. */
STREW_API strew_status strew_tensor_from_dltensor(const void* dl_tensor, strew_tensor* out) STREW_CHECK_RESULT;
/* The same of a DLManagedTensorVersioned, with its flags. It fails for another major version than 1, and for elements of less than a
 * byte that are padded to bytes. The caller still calls its deleter. */
STREW_API strew_status strew_tensor_from_dlpack(const struct DLManagedTensorVersioned* managed,
                                                strew_tensor* out) STREW_CHECK_RESULT;
/* Passes a tensor on. Whoever receives `*out` calls its deleter, which calls release(context), if `release` is not null, at a time
 * when the buffer is no longer used. dims and strides are copied. Fails for dtypes that DLPack does not have. */
STREW_API strew_status strew_tensor_to_dlpack(const strew_tensor* tensor, void (*release)(void* context), void* context,
                                              struct DLManagedTensorVersioned** out) STREW_CHECK_RESULT;

/* ---- Threads ---------------------------------------------------------------------------------------------------------------------- */

/* Runs the parts of large calls on several threads (executor.h). */
typedef struct strew_executor strew_executor;
typedef void (*strew_task)(void* task_context, int32_t index);

/* A thread pool of the host. docs/service.md, "Threads", has the rules. */
typedef struct strew_executor_callbacks {
  uint32_t size;
  void* context; /* is passed to the functions */
  /* The most threads that work at a time, the calling thread included. 1: the calling thread alone. */
  int32_t (*threads)(void* context);
  /* Calls task(task_context, i) once for each i in [0, count), on any threads, and returns when all calls have returned. */
  void (*parallel_for)(void* context, int32_t count, strew_task task, void* task_context);
  void (*release)(void* context); /* is called when nobody uses the executor any more; may be null */
  int64_t dispatch_ns; /* what a parallel_for costs beside the tasks, in nanoseconds (Executor::dispatch_ns); 0: not known */
} strew_executor_callbacks;
#define STREW_EXECUTOR_CALLBACKS_INIT \
  { sizeof(strew_executor_callbacks), NULL, NULL, NULL, NULL, 0 }

STREW_API strew_status strew_executor_create(const strew_executor_callbacks* callbacks, strew_executor** out) STREW_CHECK_RESULT;
/* A pool of strew's own of at most `threads` threads, the calling thread included, 1..1024, or 0 for as many as this process may use
 * cores. pins not 0: each worker is pinned to a core of its own. */
STREW_API strew_status strew_executor_create_pool(int32_t threads, int32_t pins, strew_executor** out) STREW_CHECK_RESULT;
/* Kernels and runtimes that use the executor keep it alive. */
STREW_API void strew_executor_free(strew_executor* executor);

/* ---- Kernels ---------------------------------------------------------------------------------------------------------------------- */

/* The index that made a call fail with STREW_CODE_OUT_OF_BOUNDS (bad_index.h): the first one by position, and there by component. */
typedef struct strew_bad_index {
  uint32_t size;
  int32_t source;    /* which tensor of the call, counted as strew_kernel_run() takes them, held the index */
  int64_t position;  /* row-major number of the index position */
  int64_t component; /* which entry of the index vector */
  int64_t value;     /* the index as the caller gave it, before negatives are normalised; of u64 indices: its bits */
  int64_t bound;     /* the largest legal value; -1: there is none, because the dim is empty */
} strew_bad_index;
#define STREW_BAD_INDEX_INIT \
  { sizeof(strew_bad_index), -1, 0, 0, 0, 0 }

/* How one call runs. A null pointer to options stands for the defaults. */
typedef struct strew_call_options {
  uint32_t size;
  int32_t threads;            /* the most threads, the calling thread included, 1..1024; 0: as many as the kernel may use */
  strew_executor* executor;   /* null: the kernel's */
  strew_bad_index* bad_index; /* if not null, is filled if the call fails with STREW_CODE_OUT_OF_BOUNDS */
  /* If not null, is passed to the callbacks of `executor` in this call, in place of their own context: for hosts whose pools are
   * reached through something that each call is given. Only for an executor that strew_executor_create() made. */
  void* executor_context;
} strew_call_options;
#define STREW_CALL_OPTIONS_INIT \
  { sizeof(strew_call_options), 0, NULL, NULL, NULL }

/* A kernel that can be called: one of an object (strew_kernel_open), or one that a runtime compiled or loaded (strew.h). */
typedef struct strew_kernel_ref strew_kernel_ref;

/* Prepares calls of a kernel that is linked into the program, and that must outlive the result. `threads`: the most threads that a call
 * may use, 1..1024; 0: all of the executor's. `executor`: null stands for strew's own pool. Fails if the object has another version of
 * the binary interface, or if this machine lacks a CPU feature that the code uses. */
STREW_API strew_status strew_kernel_open(const strew_kernel* kernel, int32_t threads, const strew_executor* executor,
                                         strew_kernel_ref** out) STREW_CHECK_RESULT;
/* Another owner of the kernel. */
STREW_API strew_kernel_ref* strew_kernel_retain(strew_kernel_ref* kernel);
STREW_API void strew_kernel_release(strew_kernel_ref* kernel);

/* The tensors that a call binds, in the order of the arguments. Of a null pointer the count is 0. */
STREW_API size_t strew_kernel_slot_count(const strew_kernel_ref* kernel);
STREW_API strew_status strew_kernel_slot(const strew_kernel_ref* kernel, size_t number, strew_slot* out) STREW_CHECK_RESULT;
/* What the kernel says of itself. The texts are valid as long as the kernel; of a null pointer they are null. A kernel that answers until
 * the compiled one takes its place (strew_kernel_is_stand_in) has others afterwards. */
STREW_API const char* strew_kernel_symbol(const strew_kernel_ref* kernel);
STREW_API const char* strew_kernel_identity(
    const strew_kernel_ref* kernel); /* the op in canonical text, the same for all its spellings */
STREW_API const char* strew_kernel_schedule(const strew_kernel_ref* kernel); /* "strategy=owner vector_bytes=32 ..." */
STREW_API const char* strew_kernel_target(const strew_kernel_ref* kernel);   /* "x86_64-x86-64-v3" */
STREW_API const char* strew_kernel_features(const strew_kernel_ref* kernel); /* of the CPU that it uses, "avx2,fma" */
STREW_API const char* strew_kernel_backend(const strew_kernel_ref* kernel);  /* "llvm" */
/* The kernel's descriptor (abi.h), for programs that call entries themselves. Valid as long as the kernel. */
STREW_API const strew_kernel* strew_kernel_descriptor(const strew_kernel_ref* kernel);
/* The most threads that a call uses. */
STREW_API int32_t strew_kernel_threads(const strew_kernel_ref* kernel);

/* Runs the kernel on the tensors of the descriptor, in that order: results, operands, indices, updates, extras. First checks rank,
 * dtype, dims, null pointers and overlap (docs/semantics.md section 6) and, under policy `error`, the indices; if a check fails, nothing
 * is written. The calling thread takes part in the work. */
STREW_API strew_status strew_kernel_run(const strew_kernel_ref* kernel, const strew_tensor* tensors, size_t tensor_count,
                                        const strew_call_options* options) STREW_CHECK_RESULT;
/* The same with the tensors in any order. A name that is unknown, missing or given twice is an error. */
STREW_API strew_status strew_kernel_run_named(const strew_kernel_ref* kernel, const strew_named_tensor* tensors,
                                              size_t tensor_count, const strew_call_options* options) STREW_CHECK_RESULT;
/* Many calls at once that differ in their buffers only: call c has the tensors `shapes`, with the addresses data[c * tensor_count + i];
 * the addresses in `shapes` are not used. One dispatch to threads, and one check of an index tensor that calls in a row share. All calls
 * are checked before anything is written; what one call writes must not be read or written by another. */
STREW_API strew_status strew_kernel_run_many(const strew_kernel_ref* kernel, const strew_tensor* shapes, size_t tensor_count,
                                             void* const* data, size_t call_count,
                                             const strew_call_options* options) STREW_CHECK_RESULT;

typedef struct strew_kernel_call {
  const strew_kernel_ref* kernel;
  const strew_tensor* tensors;
  size_t tensor_count;
} strew_kernel_call;
/* Calls of different kernels as one job, with the rules of strew_kernel_run_many. */
STREW_API strew_status strew_run_batch(const strew_kernel_call* calls, size_t call_count,
                                       const strew_call_options* options) STREW_CHECK_RESULT;

/* ---- Sorting ---------------------------------------------------------------------------------------------------------------------- */

/* Sorts the positions of `indices` by their index, stably, and counts how many there are of each (csr.h): compressed sparse rows. Of indices [E] in
 * [0, S), any integers of 8 to 64 bits, `offsets` [S + 1] becomes how many are less than 0, 1, ..., S, and `permutation` [E] the positions in order of their
 * index; both are i32 or i64. An index out of bounds is STREW_CODE_OUT_OF_BOUNDS, with source 0. If the call fails, nothing is written.
 * `options`: threads 0 stands for all of the executor's, and a null executor for strew's own pool. */
STREW_API strew_status strew_csr(const strew_tensor* indices, const strew_tensor* offsets, const strew_tensor* permutation,
                                 const strew_call_options* options) STREW_CHECK_RESULT;

/* ---- Segments --------------------------------------------------------------------------------------------------------------------- */

/* What says where segments are (segments.h): how many rows each has, where each begins, or that and where the last one ends. */
typedef enum strew_segment_bounds { STREW_SEGMENT_LENGTHS, STREW_SEGMENT_STARTS, STREW_SEGMENT_OFFSETS } strew_segment_bounds;

/* Checks the bounds of segments of E rows and writes the number of each row's segment, in order: lengths {2, 1, 0, 3} give ids {0, 0, 1, 3, 3, 3}, as starts
 * {0, 2, 3, 3} and offsets {0, 2, 3, 3, 6} do. `kind`: a strew_segment_bounds. `bounds`: [S], or [S + 1] of offsets, any integers of 8 to 64 bits; `ids` [E]:
 * i32 or i64. Both may have the same leading dims, each with segments of its own. If the call fails, nothing is written. */
STREW_API strew_status strew_segment_ids(const strew_tensor* bounds, int32_t kind, const strew_tensor* ids) STREW_CHECK_RESULT;

/* ---- Log -------------------------------------------------------------------------------------------------------------------------- */

/* The levels of log.h, with the same numbers; each has the lines of those before it. */
typedef enum strew_log_level {
  STREW_LOG_OFF,
  STREW_LOG_ERROR,
  STREW_LOG_WARN,
  STREW_LOG_CACHE,
  STREW_LOG_DISPATCH,
  STREW_LOG_COMPILE,
  STREW_LOG_DUMP,
} strew_log_level;

/* Receives each line, without a newline, on the thread whose work the line reports; several threads may call it at once. It must not
 * call strew. The text is valid only during the call. */
typedef void (*strew_log_sink)(void* context, strew_log_level level, const char* line, size_t length);

/* Sets the sink of the process; null removes it. A line that another thread is writing may still reach the previous sink, so its
 * context must live on. */
STREW_API strew_status strew_set_log(strew_log_sink sink, void* context, strew_log_level level) STREW_CHECK_RESULT;

#ifdef __cplusplus
}
#endif
