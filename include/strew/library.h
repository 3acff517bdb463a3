/* Kernel libraries: what `strew library` writes, and how a program uses one. C99, a part of libstrew_rt.
 *
 * A library consists of objects, one per kernel and CPU, and of one constant, the registry. It exports one function, NAME_query(version), which
 * returns the registry. The header that `strew library` writes has a function for each kernel; these functions call the ones below.
 *
 *   strew_context* context = NULL;
 *   strew_status status = decoder_open(NULL, &context);              // from the library's header; once
 *   status = kv_append(context, &cache, &places, &rows);             // from any thread
 *
 * docs/libraries.md is the manual. Tested by tests/library. */
#pragma once

#include "strew/strew_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The registry. It lists the kernels of a library and, for each of them, the variants that were compiled for several CPUs;
 * strew_library_variant() tells about them. It refers to what lies around it, so it cannot be copied. Beyond these members its layout is strew's
 * own. */
#define STREW_LIBRARY_MAGIC 0x57525453u /* "STRW" */
#define STREW_LIBRARY_VERSION 5u        /* is raised with every change of the layout */
typedef struct strew_library {
  uint32_t magic;   /* STREW_LIBRARY_MAGIC */
  uint32_t version; /* STREW_LIBRARY_VERSION */
  uint32_t abi;     /* STREW_ABI_VERSION of the kernels */
  uint32_t kernel_count;
  int32_t name; /* offset of the library's name from this struct, bytes */
  int32_t kernels;
  uint32_t program_count; /* whole programs, which are made of its kernels */
  int32_t programs;
} strew_library;

/* What a library says of a variant of a kernel. The texts live as long as the library. */
typedef struct strew_variant {
  uint32_t size; /* of this struct, set by the caller */
  uint32_t
      variant_count;  /* of the kernel: the first one runs on every CPU of its architecture, each later one needs more features */
  const char* kernel; /* its name in the library */
  const char* symbol; /* as strew_kernel.name (abi.h), and so are the following */
  const char* identity;
  const char* features;
  const char* target;
  const char* schedule;
  const char* backend;
} strew_variant;
#define STREW_VARIANT_INIT \
  { sizeof(strew_variant), 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/* A library in use: the variants for this CPU, and the threads of its calls. May be used by several threads at once. */
typedef struct strew_context strew_context;

/* How a library is used. A null pointer stands for the defaults. */
typedef struct strew_context_options {
  uint32_t size;
  int32_t threads;                /* the most threads that a call may use, 1..1024; 0: all of the executor's */
  const strew_executor* executor; /* null stands for strew's own pool; it is kept alive */
  /* Variants that need more than this CPU has are not taken: a name as STREW_TARGET takes it ("x86-64-v2", "znver3-avx2"), for tests of
   * a library on a machine that has more. Null: what the variable STREW_TARGET says (docs/options.md), by default all that this machine
   * has. */
  const char* cpu;
} strew_context_options;
#define STREW_CONTEXT_OPTIONS_INIT \
  { sizeof(strew_context_options), 0, NULL, NULL }

/* Fails if the library belongs to another version of strew, or if options are wrong. Takes no time per kernel: a kernel is prepared by its
 * first call, which fails if this machine can run none of its variants. The registry must outlive the context. */
STREW_API strew_status strew_context_open(const strew_library* library, const strew_context_options* options,
                                          strew_context** out) STREW_CHECK_RESULT;
STREW_API void strew_context_free(strew_context* context);

/* Runs kernel number `kernel` of the registry on tensors, as strew_kernel_run() does. */
STREW_API strew_status strew_context_run(const strew_context* context, uint32_t kernel, const strew_tensor* tensors,
                                         size_t tensor_count, const strew_call_options* options) STREW_CHECK_RESULT;
/* For the functions of generated headers that take pointers: runs a kernel whose variants all have the same data_count and symbols (abi.h), and
 * no constraints but STREW_EQUAL. data: the addresses as strew_args has them, null where a place is unbound; numbers: of the symbols. Shapes are
 * not checked, nor whether buffers overlap. Returns 1 if the call was made and succeeded. Returns 0, with nothing done, if strew_context_run()
 * has to be called instead: for a kernel's first call, a large one, and one that fails. */
STREW_API int strew_context_run_at(const strew_context* context, uint32_t kernel, void* const* data, const int64_t* numbers);
/* Runs program number `program` of the registry: a whole file, or a part of one, with its kernels and the operations around them. tensors: its
 * inputs in the order of the file, then the outputs that are not written over an input; all row-major, with the program's dtypes and dims, and
 * those that are written apart from all others. Checks that before it writes. If it fails later, at an index out of bounds for example,
 * what the tensors that it writes hold is not specified. Several threads may run one program; the context keeps the memory for what
 * lies between kernels, once per program. Of `options`, bad_index tells the index of the kernel that failed. */
STREW_API strew_status strew_context_run_program(const strew_context* context, uint32_t program, const strew_tensor* tensors,
                                                 size_t tensor_count, const strew_call_options* options) STREW_CHECK_RESULT;
/* The kernel of that number, for strew_kernel_run_many() and the others. It belongs to the caller, and does not need the context any more. */
STREW_API strew_status strew_context_kernel(const strew_context* context, uint32_t kernel,
                                            strew_kernel_ref** out) STREW_CHECK_RESULT;
/* The name of a library; "" if it belongs to another version of strew. */
STREW_API const char* strew_library_name(const strew_library* library);
/* The number of the kernel of that name; STREW_NO_KERNEL if there is none. */
#define STREW_NO_KERNEL UINT32_MAX
STREW_API uint32_t strew_library_find(const strew_library* library, const char* name);
/* The number of the program of that name; STREW_NO_PROGRAM if there is none. */
#define STREW_NO_PROGRAM UINT32_MAX
STREW_API uint32_t strew_library_find_program(const strew_library* library, const char* name);
/* Fills the members that the caller's struct has room for. Fails if there is no such kernel or variant, or if the library belongs to another
 * version of strew. */
STREW_API strew_status strew_library_variant(const strew_library* library, uint32_t kernel, uint32_t variant,
                                             strew_variant* out) STREW_CHECK_RESULT;

/* What the functions __tvm_ffi_NAME call, which a library with "tvm_ffi" in its manifest exports (docs/libraries.md, "From Python, by TVM-FFI").
 * Their convention is TVM-FFI's TVMFFISafeCallType. args: `count` structs TVMFFIAny, one for each of the kernel's tensors in the order of its
 * descriptor, either a DLTensor* or a tensor object. *context: null until the first call, which opens the library with the default options;
 * several threads may call at once. Returns 0 and sets *result, a TVMFFIAny, to None. Or returns -1, when the kernel has written nothing,
 * after it has raised an error by the function TVMFFIErrorSetRaisedFromCStr() of the process's TVM-FFI:
 *   IndexError    STREW_CODE_OUT_OF_BOUNDS
 *   ValueError    STREW_CODE_INVALID_ARGUMENT, and tensors that strew cannot read
 *   TypeError     another number of arguments, or one that is no tensor
 *   MemoryError   STREW_CODE_RESOURCE_EXHAUSTED
 *   RuntimeError  all else */
STREW_API int strew_tvm_ffi_call(strew_context** context, const strew_library* library, uint32_t kernel, const void* args,
                                 int32_t count, void* result);
/* Called when such a library is unloaded: frees the context and sets it to null. Does nothing once exit() has begun, because other threads may
 * then still be in calls. */
STREW_API void strew_tvm_ffi_close(strew_context** context);

#ifdef __cplusplus
}
#endif
