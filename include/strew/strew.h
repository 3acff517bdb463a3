/* The C interface of libstrew: ops from texts and files, a runtime that compiles them to kernels and remembers them, sites, whole
 * programs. It includes strew_rt.h, which has the conventions, tensors, threads and calls. What it does is described in the C++
 * headers; each section names its own. examples/c is a whole program.
 *
 *   strew_op* op = NULL;
 *   strew_prepared* append = NULL;
 *   strew_kernel_ref* kernel = NULL;
 *   strew_status status = strew_op_parse("strew1.scatter(operand=f32[?,64] ...)", &op);
 *   if (status == NULL) status = strew_prepare(op, NULL, &append);
 *   if (status == NULL) status = strew_get(strew_runtime_process(), append, STREW_NO_TIMEOUT, &kernel);
 *   if (status == NULL) status = strew_kernel_run(kernel, tensors, 3, NULL);
 *
 * Tested by tests/c_api. */
#pragma once

#include "strew/strew_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Ops (op.h, text.h) ----------------------------------------------------------------------------------------------------------- */

typedef struct strew_op strew_op;

/* Parses the canonical text of an op (docs/op_text.md), and verifies the op. */
STREW_API strew_status strew_op_parse(const char* text, strew_op** out) STREW_CHECK_RESULT;
STREW_API void strew_op_free(strew_op* op);
/* The canonical text. Valid as long as the op. */
STREW_API const char* strew_op_text(const strew_op* op);

/* The tensors that calls of the op bind, in the order of the arguments. */
STREW_API size_t strew_op_slot_count(const strew_op* op);
STREW_API strew_status strew_op_slot(const strew_op* op, size_t number, strew_slot* out) STREW_CHECK_RESULT;
/* The dims of result `result` of a call with these inputs: the tensors after the results, in binding order, of which only ranks and dims
 * are read. `dims` has room for `rank` extents, as many as the slot of the result. Fails if an extent follows from no input. Whether the inputs suit the op
 * is for the call to say. */
STREW_API strew_status strew_op_result_dims(const strew_op* op, size_t result, const strew_tensor* inputs, size_t input_count,
                                            int64_t* dims, int32_t rank) STREW_CHECK_RESULT;

/* ---- Op builders (builder.h, forms.h) ---------------------------------------------------------------------------------------------- */

/* Builds an op by calls instead of text. Tensors stand for their types here: their data is neither read nor kept, and an extent or a
 * stride may be STREW_OPEN, which leaves it to the calls of the kernel. Hosts pass the tensors that they have. Builders are not thread-safe. */
typedef struct strew_op_builder strew_op_builder;

/* From a form, which fills in the dimension numbers and the policy of a common operation (forms.h has their meanings). */
STREW_API strew_status strew_op_builder_scatter_rows(const strew_tensor* operand, const strew_tensor* indices,
                                                     const strew_tensor* updates, strew_op_builder** out) STREW_CHECK_RESULT;
STREW_API strew_status strew_op_builder_gather_rows(const strew_tensor* operand, const strew_tensor* indices,
                                                    strew_op_builder** out) STREW_CHECK_RESULT;
/* A negative axis counts from the end. */
STREW_API strew_status strew_op_builder_scatter_elements(const strew_tensor* operand, const strew_tensor* indices,
                                                         const strew_tensor* updates, int64_t axis,
                                                         strew_op_builder** out) STREW_CHECK_RESULT;
STREW_API strew_status strew_op_builder_gather_elements(const strew_tensor* operand, const strew_tensor* indices, int64_t axis,
                                                        strew_op_builder** out) STREW_CHECK_RESULT;
STREW_API strew_status strew_op_builder_scatter_nd(const strew_tensor* operand, const strew_tensor* indices,
                                                   const strew_tensor* updates, strew_op_builder** out) STREW_CHECK_RESULT;
STREW_API strew_status strew_op_builder_gather_nd(const strew_tensor* operand, const strew_tensor* indices, int64_t batch_dims,
                                                  strew_op_builder** out) STREW_CHECK_RESULT;
/* NumPy's a[i, j]: index tensor k of `count`, which all have the same dims, indexes dim k of the operand. */
STREW_API strew_status strew_op_builder_scatter_at(const strew_tensor* operand, const strew_tensor* indices, size_t count,
                                                   const strew_tensor* updates, strew_op_builder** out) STREW_CHECK_RESULT;
STREW_API strew_status strew_op_builder_gather_at(const strew_tensor* operand, const strew_tensor* indices, size_t count,
                                                  strew_op_builder** out) STREW_CHECK_RESULT;
/* result[e] = dot(lhs[lhs_ids[e]], rhs[rhs_ids[e]]), added in so many lanes (sddmm in forms.h, which says what a call binds). */
STREW_API strew_status strew_op_builder_sddmm(const strew_tensor* lhs, const strew_tensor* lhs_ids, const strew_tensor* rhs,
                                              const strew_tensor* rhs_ids, int32_t lanes,
                                              strew_op_builder** out) STREW_CHECK_RESULT;
/* circular not 0: mode `circular` of ONNX TensorScatter. */
STREW_API strew_status strew_op_builder_tensor_scatter(const strew_tensor* operand, const strew_tensor* indices,
                                                       const strew_tensor* updates, int64_t axis, int32_t circular,
                                                       strew_op_builder** out) STREW_CHECK_RESULT;
/* ONNX Gather and numpy.take. */
STREW_API strew_status strew_op_builder_gather(const strew_tensor* operand, const strew_tensor* indices, int64_t axis,
                                               int64_t batch_dims, strew_op_builder** out) STREW_CHECK_RESULT;
STREW_API strew_status strew_op_builder_dynamic_update_slice(const strew_tensor* operand, const strew_tensor* indices,
                                                             const strew_tensor* updates,
                                                             strew_op_builder** out) STREW_CHECK_RESULT;
STREW_API strew_status strew_op_builder_dynamic_slice(const strew_tensor* operand, const strew_tensor* indices,
                                                      const int64_t* slice_sizes, size_t count,
                                                      strew_op_builder** out) STREW_CHECK_RESULT;
/* From nothing, with StableHLO's dimension numbers. */
STREW_API strew_status strew_op_builder_create_scatter(strew_op_builder** out) STREW_CHECK_RESULT;
STREW_API strew_status strew_op_builder_create_gather(strew_op_builder** out) STREW_CHECK_RESULT;
STREW_API void strew_op_builder_free(strew_op_builder* builder);

/* Sets a field from text: its key and its value in canonical text (docs/op_text.md): "combiner" and "add", "oob" and "error", "init"
 * and "in_place", "update_window_dims" and "[1]", "expr" and a graph. A failure leaves the builder as it was. */
STREW_API strew_status strew_op_builder_set(strew_op_builder* builder, const char* field, const char* value) STREW_CHECK_RESULT;
/* Gives the type of one more tensor: STREW_RESULT, STREW_OPERAND, STREW_INDICES or, of a scatter, STREW_UPDATES. A scatter of N pairs has
 * N operands, N updates and N results; other indices, or of a gather another operand or result, replace those before. Results that
 * are not given follow from the other tensors; of a builder that came from a form, only they need to be given. */
STREW_API strew_status strew_op_builder_tensor(strew_op_builder* builder, int32_t role,
                                               const strew_tensor* type) STREW_CHECK_RESULT;
/* One more extra input; `kind`: "per_element", "per_position", "per_window" or "scalar" (ExtraKind in op.h). */
STREW_API strew_status strew_op_builder_extra(strew_op_builder* builder, const char* kind,
                                              const strew_tensor* type) STREW_CHECK_RESULT;
/* Tensor `index` of the role (STREW_UPDATES, STREW_EXTRA) of a scatter, whose type is given as ever, is what `gather` makes, the builder of a gather, whose
 * result need not be given (Lookup in op.h). That builder stays as it is. */
STREW_API strew_status strew_op_builder_look_up(strew_op_builder* builder, int32_t role, int32_t index,
                                                const strew_op_builder* gather) STREW_CHECK_RESULT;
/* Adds a second pair to a scatter of one pair that takes maxima or minima: result 1, i64, says which position won each element, -1 where none did
 * (ScatterBuilder::return_arg in builder.h). Calls bind the numbers of the positions as updates 1, with strides of 0 along windows. It comes after whatever else
 * is set; with "init" set to "fill", "fill" may be left out. */
STREW_API strew_status strew_op_builder_return_arg(strew_op_builder* builder) STREW_CHECK_RESULT;
/* The op, complete and verified. Its slots say the dtypes and dims of the results (strew_op_slot). The builder stays as it is. */
STREW_API strew_status strew_op_builder_build(const strew_op_builder* builder, strew_op** out) STREW_CHECK_RESULT;

/* ---- Requests (kernel_options.h, prepared_op.h) ----------------------------------------------------------------------------------- */

/* How a kernel is compiled. A null pointer to a request stands for the defaults, as do null texts in it. */
typedef struct strew_request {
  uint32_t size;
  int32_t threads;      /* the most threads that a call may use, 1..1024; 0: as many as the runtime's executor has */
  const char* backend;  /* "auto", "llvm", "halide", "portable", "reference" */
  const char* schedule; /* knobs that replace the heuristic's choice, "strategy=owner,unroll=8" (schedules/README.md) */
  const char* target;   /* "native", "x86-64-v3", "znver3-avx2" */
  const char*
      compile; /* what the request does if there is no compiled kernel: "blocking", "background", "must_hit" (compile_mode.h) */
  /* Measured schedules, of which the request takes the one that fits it best. Null: those of the process's file if `target` is null, else
   * none. The request keeps it alive. */
  const struct strew_wisdom* wisdom;
} strew_request;
#define STREW_REQUEST_INIT \
  { sizeof(strew_request), 0, NULL, NULL, NULL, NULL, NULL }

/* An op that is ready to be asked for: asking for a known one is a look-up. */
typedef struct strew_prepared strew_prepared;
STREW_API strew_status strew_prepare(const strew_op* op, const strew_request* request, strew_prepared** out) STREW_CHECK_RESULT;
STREW_API void strew_prepared_free(strew_prepared* prepared);

/* ---- Runtime (runtime.h, options.h) ----------------------------------------------------------------------------------------------- */

/* Compiles ops to kernels and remembers what it compiled. */
typedef struct strew_runtime strew_runtime;

/* The fields of Options that belong to a runtime. The texts are copied. */
typedef struct strew_options {
  uint32_t size;
  int32_t threads;             /* the most threads that a call uses; 0: as many as this process may use cores */
  int32_t compile_threads;     /* the most kernels that are compiled at a time; 0: the number of cores, at most 4 */
  int64_t cache_bytes;         /* how much of kernels the runtime remembers; 0: none */
  int64_t compile_stack_bytes; /* the stack of a thread that compiles */
  const char* target;          /* what `native` stands for */
  const char* compile;         /* "blocking", "background" or "must_hit" (compile_mode.h) */
  int32_t exact_shapes;        /* how many kernels that differ only in extents are compiled for exactly these; 0: all */
  const char* cache_dir;       /* the folder of the disk cache; "" or "off": there is none */
  const char* cache_mode;      /* "off", "read_only", "read_write" or "must_hit" */
  int64_t cache_limit_bytes;   /* the most that the files in that folder may take */
  int32_t compile_nice;        /* 0 to 19: how far the threads that compile for mode "background" step back (nice) */
  int32_t learn; /* 1: kernels that are called often find out which of their strategies and stores is the fastest; 0: none does */
  const char* learned_wisdom_file; /* a file of wisdom to which such kernels append what they found; "" or "off": none */
} strew_options;
/* Fills in what the environment says (docs/options.md), or else the defaults. The texts are static. */
STREW_API strew_options strew_options_from_environment(void);

/* The runtime of the process, which is never destroyed. Never null. */
STREW_API strew_runtime* strew_runtime_process(void);
/* `options` null: those of the environment. `executor` null: strew's own pool. Fails if an option is out of range. */
STREW_API strew_status strew_runtime_create(const strew_options* options, const strew_executor* executor,
                                            strew_runtime** out) STREW_CHECK_RESULT;
/* Waits for the builds that run. Kernels may outlive the runtime; sites must not. The process's runtime stays as it is. */
STREW_API void strew_runtime_free(strew_runtime* runtime);

/* Times are in nanoseconds from now. */
#define STREW_NO_TIMEOUT INT64_MAX

/* The kernel of the op: compiled by the first request, found by later ones. Threads that ask for one kernel at the same time wait for
 * one build. A failure is not remembered. If the time passes first, the answer is STREW_CODE_DEADLINE_EXCEEDED. */
STREW_API strew_status strew_get(strew_runtime* runtime, const strew_prepared* op, int64_t timeout,
                                 strew_kernel_ref** out) STREW_CHECK_RESULT;

/* The compiled kernel of the op if the runtime has it, else null: a kernel that only answers until the compiled one is there does not count. It
 * compiles nothing, takes no lock, and allocates only when it finds a kernel for the first time. The kernel is lent: it is valid as long as
 * `op`, which keeps it alive from then on, also beyond the runtime and its cache. strew_kernel_retain() keeps it longer. */
STREW_API strew_status strew_find(strew_runtime* runtime, const strew_prepared* op, strew_kernel_ref** out) STREW_CHECK_RESULT;

/* A kernel that is being built (pending_kernel.h). */
typedef struct strew_pending strew_pending;
/* Is called once with the kernel, or with the failure and a null kernel: by a compile thread, or by the thread that asks or cancels.
 * Both belong to strew: strew_kernel_retain() keeps the kernel. */
typedef void (*strew_kernel_callback)(void* context, strew_status status, strew_kernel_ref* kernel);
/* Asks for the kernel and returns at once. `done` may be null. `out` may be null if `done` is not. Freeing the pending kernel does not
 * cancel. */
STREW_API strew_status strew_get_async(strew_runtime* runtime, const strew_prepared* op, strew_kernel_callback done,
                                       void* context, int64_t timeout, strew_pending** out) STREW_CHECK_RESULT;
/* 1 if there is an answer, so that strew_pending_wait() returns at once; else 0. */
STREW_API int32_t strew_pending_ready(const strew_pending* pending);
/* The kernel, or why there is none. If the time passes, STREW_CODE_DEADLINE_EXCEEDED, and the build goes on. */
STREW_API strew_status strew_pending_wait(const strew_pending* pending, int64_t timeout,
                                          strew_kernel_ref** out) STREW_CHECK_RESULT;
/* Gives the request up. The build stops before its next stage if nobody else waits for it. */
STREW_API void strew_pending_cancel(strew_pending* pending);
STREW_API void strew_pending_free(strew_pending* pending);

/* Kernels that were compiled before (Runtime::load): objects that `strew compile --emit obj` wrote, and archives of them. */
typedef struct strew_kernel_list strew_kernel_list;
STREW_API strew_status strew_runtime_load_file(strew_runtime* runtime, const char* path,
                                               strew_kernel_list** out) STREW_CHECK_RESULT;
STREW_API strew_status strew_runtime_load_memory(strew_runtime* runtime, const void* bytes, size_t size,
                                                 strew_kernel_list** out) STREW_CHECK_RESULT;
STREW_API size_t strew_kernel_list_count(const strew_kernel_list* list);
/* Belongs to the list: strew_kernel_retain() keeps it. Null if there is no such number. */
STREW_API strew_kernel_ref* strew_kernel_list_at(const strew_kernel_list* list, size_t number);
STREW_API void strew_kernel_list_free(strew_kernel_list* list);

/* From now on, answers requests with the kernels of a library that is linked into the program (library.h), as with loaded ones. The library must
 * outlive the runtime and its kernels. Fails if it belongs to another version of strew. */
struct strew_library;
STREW_API strew_status strew_runtime_register_library(strew_runtime* runtime,
                                                      const struct strew_library* library) STREW_CHECK_RESULT;

/* Counts since the runtime was made, and what it holds now (Runtime::Stats). */
typedef struct strew_stats {
  uint32_t size;
  uint64_t hits, misses, built, failed, cancelled, evicted, build_nanoseconds, kernels;
  int64_t bytes;
  uint64_t stand_ins, generalised;
  uint64_t disk_hits, disk_misses, disk_rejected, disk_published, disk_errors;
  uint64_t learn_trials, learn_changes, learn_nanoseconds, learn_regret_nanoseconds;
} strew_stats;
/* stats->size must be set. */
STREW_API strew_status strew_runtime_stats(const strew_runtime* runtime, strew_stats* stats) STREW_CHECK_RESULT;
STREW_API void strew_runtime_set_capacity(strew_runtime* runtime, int64_t bytes);
/* Empties the cache. Kernels that somebody owns stay. */
STREW_API void strew_runtime_clear(strew_runtime* runtime);

/* Ends the threads that compile, so that the process may fork, exit, or unload the code of callbacks. Builds that have not begun are given up with
 * STREW_CODE_CANCELLED; those that run come to their end; then the threads are joined. From then on the runtime starts none: a request that
 * needs a build still works, but builds on the thread that asks, also in mode "background" and for strew_get_async(). A forked child goes
 * on that way. If the time passes before the builds have ended, the answer is STREW_CODE_DEADLINE_EXCEEDED, and it may be called again. The
 * threads of calls belong to the executor, and stay. */
STREW_API strew_status strew_runtime_drain(strew_runtime* runtime, int64_t timeout) STREW_CHECK_RESULT;

/* How long a kernel took to build; 0 for one that was not built by a runtime. */
STREW_API int64_t strew_kernel_build_nanoseconds(const strew_kernel_ref* kernel);

/* ---- Texts about kernels and ops (kernel.h) --------------------------------------------------------------------------------------- */

/* The op as the runtime was asked for it. Of a kernel that was compiled before: its identity. */
STREW_API strew_status strew_kernel_op_text(const strew_kernel_ref* kernel, strew_text** out) STREW_CHECK_RESULT;
/* What the op does to addresses: loops, strides and index components. For people; the format may change. STREW_CODE_UNSUPPORTED of a
 * kernel that was compiled before: its object has no plan. */
STREW_API strew_status strew_kernel_plan_text(const strew_kernel_ref* kernel, strew_text** out) STREW_CHECK_RESULT;
/* 1 if the kernel answers only until the compiled one takes its place (compile mode "background"); else 0. */
STREW_API int32_t strew_kernel_is_stand_in(const strew_kernel_ref* kernel);
/* What a request for the op would get, without compiling it: what it does, the schedule and where that comes from, the predicted time, the
 * backends with the reasons of those that cannot build it, the plan. For people; the format may change. */
STREW_API strew_status strew_explain(const strew_op* op, const strew_request* request, strew_text** out) STREW_CHECK_RESULT;

/* ---- Sites (site.h) --------------------------------------------------------------------------------------------------------------- */

/* A place in a program that calls kernels. It remembers them, so that a call costs little more than strew_kernel_run. */
typedef struct strew_site strew_site;
STREW_API strew_status strew_site_create(strew_runtime* runtime, strew_site** out) STREW_CHECK_RESULT;
STREW_API void strew_site_free(strew_site* site);
/* Runs the kernel of `op`; the first call gets it from the runtime. `options` may be null. */
STREW_API strew_status strew_site_run(strew_site* site, const strew_prepared* op, const strew_tensor* tensors,
                                      size_t tensor_count, const strew_call_options* options) STREW_CHECK_RESULT;
/* Makes an op, or says why there is none; the status is passed on. */
typedef strew_status (*strew_make_op)(void* context, strew_op** out);
/* Runs the op that make_op returns, but calls make_op only if no remembered kernel takes tensors of these dtypes, dims and strides. A site
 * remembers thousands of them, so that a host needs one for all shapes. The op must follow from these and from `variant`. The request of
 * the first call with a variant counts. */
STREW_API strew_status strew_site_run_tensors(strew_site* site, const strew_tensor* tensors, size_t tensor_count,
                                              strew_make_op make_op, void* context, uint64_t variant,
                                              const strew_request* request, const strew_call_options* options) STREW_CHECK_RESULT;

/* ---- Programs (import.h, program.h) ----------------------------------------------------------------------------------------------- */

/* A file with scatters and gathers: .onnx, .tflite, .mlir, .pto or .strew. */
typedef struct strew_program strew_program;

/* Texts are as on the command line (docs/cli.md); null: as the file says. */
typedef struct strew_import_options {
  uint32_t size;
  int32_t check_undefined; /* not 0: policy `undefined` becomes `error`: for files that are not trusted */
  int64_t max_file_bytes;  /* the largest file that is accepted; 0: the format's default */
  const char* oob;         /* "clamp", "error", "fill_element:0", ... */
  const char* order;       /* "in_order", "relaxed" */
  const char* accumulate;  /* "native", "wide" */
} strew_import_options;
#define STREW_IMPORT_OPTIONS_INIT \
  { sizeof(strew_import_options), 0, 0, NULL, NULL, NULL }

STREW_API strew_status strew_program_open(const char* path, const strew_import_options* options,
                                          strew_program** out) STREW_CHECK_RESULT;
/* The same of a file whose `size` bytes are in memory; they are copied. `name`, such as "model.onnx", says the format by its ending and starts messages, and external
 * data lies in the folder that it names. max_file_bytes is not applied. */
STREW_API strew_status strew_program_read(const void* bytes, size_t size, const char* name, const strew_import_options* options,
                                          strew_program** out) STREW_CHECK_RESULT;
STREW_API void strew_program_free(strew_program* program);

STREW_API size_t strew_program_kernel_count(const strew_program* program);
/* The name in the file, "decoder.k_cache"; null if there is no such number. */
STREW_API const char* strew_program_kernel_name(const strew_program* program, size_t number);
STREW_API strew_status strew_program_kernel_op(const strew_program* program, size_t number, strew_op** out) STREW_CHECK_RESULT;

/* A program of one kernel alone: its inputs are what the kernel needs of the file, of other kernels and of operations that strew does not run;
 * its outputs are the kernel's results. Constants are copied. */
STREW_API strew_status strew_program_cut(const strew_program* program, size_t number, strew_program** out) STREW_CHECK_RESULT;

/* An input or output of a program. */
typedef struct strew_port {
  uint32_t size;
  uint8_t dtype;       /* strew_dtype */
  uint8_t is_optional; /* an input that may be left out */
  int32_t rank;
  const char* name;
  const int64_t* dims; /* rank extents, or STREW_OPEN */
} strew_port;
#define STREW_PORT_INIT \
  { sizeof(strew_port), 0, 0, 0, NULL, NULL }
STREW_API size_t strew_program_input_count(const strew_program* program);
STREW_API size_t strew_program_output_count(const strew_program* program);
/* What they point to is valid as long as the program. */
STREW_API strew_status strew_program_input(const strew_program* program, size_t number, strew_port* out) STREW_CHECK_RESULT;
STREW_API strew_status strew_program_output(const strew_program* program, size_t number, strew_port* out) STREW_CHECK_RESULT;

/* Runs the program: its kernels and the operations around them. `inputs`: one per input of the program, row-major; a null pointer for
 * an optional one that is left out. `outputs`: receives one tensor per output of the program, each to be given back by its deleter. Tensors
 * of strings are not supported. */
STREW_API strew_status strew_program_run(const strew_program* program, strew_runtime* runtime, const strew_request* request,
                                         const strew_tensor* const* inputs, size_t input_count,
                                         struct DLManagedTensorVersioned** outputs, size_t output_count) STREW_CHECK_RESULT;

/* The same into buffers of the caller's: `outputs` has one tensor per output of the program, row-major, with the dtype and the dims of the
 * result; others are refused, and so are outputs that overlap. Where a kernel makes an output, it writes to that buffer. `may_overwrite`: null,
 * or one byte per input; where it is not 0, a kernel that updates the input may write to its buffer instead of copying it first, so what the
 * buffer holds afterwards is not specified. An output may have the buffer of such an input: then it is updated in place, if nothing else
 * reads the input. After a failure, what the outputs hold is not specified. */
STREW_API strew_status strew_program_run_into(const strew_program* program, strew_runtime* runtime, const strew_request* request,
                                              const strew_tensor* const* inputs, const uint8_t* may_overwrite, size_t input_count,
                                              const strew_tensor* outputs, size_t output_count) STREW_CHECK_RESULT;

/* Memory for output number `output` of a run: called once for each, on the calling thread, when its dims are known, and before it is written. The address of a
 * row-major tensor of the caller's, with the dtype of the output, that overlaps no other output; null ends the run, unless the tensor has no elements. */
typedef void* (*strew_make_output)(void* context, size_t output, const int64_t* dims, int32_t rank);
/* strew_program_run_into into buffers that the caller gives when it is told their dims. */
STREW_API strew_status strew_program_run_with(const strew_program* program, strew_runtime* runtime, const strew_request* request,
                                              const strew_tensor* const* inputs, const uint8_t* may_overwrite, size_t input_count,
                                              strew_make_output make_output, void* context) STREW_CHECK_RESULT;

/* A program for calls that differ in their buffers only: what strew_program_run_into finds out at each call is found out once. */
typedef struct strew_bound_program strew_bound_program;
/* Compiles the kernels. All dims of the inputs must be known. `in_place`: null, or per output the number of the input in whose buffer it lies in every call, or
 * -1. STREW_CODE_UNSUPPORTED where only strew_program_run_into does what the program needs. The program may be freed; the runtime must outlive the result. */
STREW_API strew_status strew_program_bind(const strew_program* program, strew_runtime* runtime, const strew_request* request,
                                          const int32_t* in_place, size_t output_count,
                                          strew_bound_program** out) STREW_CHECK_RESULT;
/* `data`: the addresses of the inputs, then of the outputs: row-major tensors with the dtypes and dims of the program, which the caller answers for. An output that
 * lies in an input's buffer has its address; other outputs overlap nothing. After a failure, what the outputs hold is not specified. */
STREW_API strew_status strew_bound_program_run(const strew_bound_program* program, void* const* data,
                                               size_t count) STREW_CHECK_RESULT;
STREW_API void strew_bound_program_free(strew_bound_program* program);

/* ---- Parts of programs (partition.h) ------------------------------------------------------------------------------------------------ */

/* A node of the file's graph: of ONNX a node, of TensorFlow Lite an operator, of MLIR an operation. Values have numbers, which parts use, too. */
typedef struct strew_node {
  uint32_t size;
  int32_t
      number; /* its place among the nodes of its graph, from 0 on; of a node in a function that the graph calls, the place of the call */
  int32_t region;           /* the opaque operation in whose region (the body of a loop) it stands; -1: in none */
  int32_t opaque;           /* the opaque operation that it is, which strew does not run; -1: it runs it, or it has no results */
  const char* location;     /* "FILE: node NAME (Gather)", "FILE:LINE: stablehlo.gather" */
  const int32_t* arguments; /* the value of each input; -1: it is left out, or was not read */
  size_t argument_count;
  const int32_t* results; /* the value of each output; -1: it is left out */
  size_t result_count;
} strew_node;
#define STREW_NODE_INIT \
  { sizeof(strew_node), 0, 0, 0, NULL, NULL, 0, NULL, 0 }
/* The nodes of the file in its order; none of a .strew or .pto file, and of a program that was cut out of another one. */
STREW_API size_t strew_program_node_count(const strew_program* program);
/* What it points to is valid as long as the program. */
STREW_API strew_status strew_program_node(const strew_program* program, size_t number, strew_node* out) STREW_CHECK_RESULT;

/* The file's name for a value, "" if it has none; null if there is no such value. Valid as long as the program. */
STREW_API const char* strew_program_value_name(const strew_program* program, int32_t value);

/* Is what makes the value left to strew? Not 0: yes. `name`: the file's for it, "" if it has none. */
typedef int32_t (*strew_runnable_callback)(void* context, int32_t value, const char* name);
typedef struct strew_partition_options {
  uint32_t size;
  uint8_t needs_kernel; /* not 0: only parts with a scatter or gather */
  uint8_t join;         /* not 0: parts that could run at the same time become one */
  uint8_t strings;      /* not 0: operations on tensors of strings are in parts, too; strew_program_run does not pass strings */
  uint8_t
      kernels_only; /* not 0: parts hold scatters and gathers, with what became part of them, and no other operations, but for values without a name */
  int64_t least_operations;         /* only parts of so many operations */
  strew_runnable_callback runnable; /* may be null: all that strew runs is left to it */
  void* context;
} strew_partition_options;
#define STREW_PARTITION_OPTIONS_INIT \
  { sizeof(strew_partition_options), 0, 0, 0, 0, 1, NULL, NULL }

/* The largest parts of a program that strew runs, ordered so that each follows those that it reads. */
typedef struct strew_parts strew_parts;
/* `options` may be null. The program must outlive the parts. */
STREW_API strew_status strew_program_parts(const strew_program* program, const strew_partition_options* options,
                                           strew_parts** out) STREW_CHECK_RESULT;
STREW_API void strew_parts_free(strew_parts* parts);
STREW_API size_t strew_parts_count(const strew_parts* parts);

typedef struct strew_part {
  uint32_t size;
  int32_t region;        /* the opaque operation in whose region the part is; -1: in none */
  const int32_t* inputs; /* value numbers, ascending */
  size_t input_count;
  const int32_t* outputs; /* what others read, ascending */
  size_t output_count;
  const int32_t* nodes; /* the nodes of the file that the part stands for, as numbers of strew_program_node, ascending */
  size_t node_count;
  size_t kernel_count;  /* scatters and gathers */
  size_t compute_count; /* operations around them */
} strew_part;
#define STREW_PART_INIT \
  { sizeof(strew_part), 0, NULL, 0, NULL, 0, NULL, 0, 0, 0 }
/* What it points to is valid as long as the parts. */
STREW_API strew_status strew_parts_get(const strew_parts* parts, size_t number, strew_part* out) STREW_CHECK_RESULT;
/* A part as a program of its own, with the part's inputs and outputs in their order, by the file's names. Constants are copied. */
STREW_API strew_status strew_parts_program(const strew_parts* parts, size_t number, strew_program** out) STREW_CHECK_RESULT;

/* The program that computes the values called `to` from those called `from`, and from what else they need of the file's inputs. No `to`: the
 * program's outputs. */
STREW_API strew_status strew_program_cut_between(const strew_program* program, const char* const* from, size_t from_count,
                                                 const char* const* to, size_t to_count, strew_program** out) STREW_CHECK_RESULT;

/* ---- Splicing (splice.h) ------------------------------------------------------------------------------------------------------------ */

/* The text of a StableHLO module in which calls of strew stand in the place of what strew runs. */
typedef struct strew_spliced strew_spliced;
typedef struct strew_splice_options {
  uint32_t size;
  uint8_t fused;        /* not 0: also elementwise work, look-ups and segments around scatters and gathers */
  uint8_t own_numerics; /* not 0: also what strew computes with other bits than XLA */
  uint8_t any_size;     /* not 0: also what is so small that XLA is done before a call is: for tests */
} strew_splice_options;
#define STREW_SPLICE_OPTIONS_INIT \
  { sizeof(strew_splice_options), 0, 0, 0 }
/* `text` of `size` bytes is a module; `name` stands for it in locations and messages. `options` may be null. */
STREW_API strew_status strew_splice(const char* text, size_t size, const char* name, const strew_splice_options* options,
                                    strew_spliced** out) STREW_CHECK_RESULT;
STREW_API void strew_spliced_free(strew_spliced* spliced);
/* The text, which ends with a zero, and its length. If there is no call in it, it is the given text. Valid as long as the handle. */
STREW_API const char* strew_spliced_text(const strew_spliced* spliced);
STREW_API size_t strew_spliced_length(const strew_spliced* spliced);

/* A call that was put into the text. */
typedef struct strew_call_of_part {
  uint32_t size;
  const char* name;              /* of its first kernel */
  const char* location;          /* where that stood: "NAME:LINE: stablehlo.scatter" */
  const char* const* operations; /* the scatters and gathers that it stands for */
  size_t operation_count;
} strew_call_of_part;
#define STREW_CALL_OF_PART_INIT \
  { sizeof(strew_call_of_part), NULL, NULL, NULL, 0 }
STREW_API size_t strew_spliced_call_count(const strew_spliced* spliced);
/* What it points to is valid as long as the handle. */
STREW_API strew_status strew_spliced_call(const strew_spliced* spliced, size_t number,
                                          strew_call_of_part* out) STREW_CHECK_RESULT;

/* A scatter or gather that stays XLA's. */
typedef struct strew_kept_operation {
  uint32_t size;
  const char* operation; /* "stablehlo.gather"; "module": the whole text is left alone */
  const char* location;
  const char* reason; /* a sentence */
} strew_kept_operation;
#define STREW_KEPT_OPERATION_INIT \
  { sizeof(strew_kept_operation), NULL, NULL, NULL }
STREW_API size_t strew_spliced_kept_count(const strew_spliced* spliced);
/* What it points to is valid as long as the handle. */
STREW_API strew_status strew_spliced_kept(const strew_spliced* spliced, size_t number,
                                          strew_kept_operation* out) STREW_CHECK_RESULT;

/* ---- Wisdom (wisdom.h) ------------------------------------------------------------------------------------------------------------ */

/* Schedules that were measured (docs/tuning.md), for requests (strew_request.wisdom). */
typedef struct strew_wisdom strew_wisdom;
/* Reads a file of records. A line that is no record is left out. Fails if the file cannot be read or is larger than 1 GiB. */
STREW_API strew_status strew_wisdom_load(const char* path, strew_wisdom** out) STREW_CHECK_RESULT;
/* No records: the cost model chooses. */
STREW_API strew_status strew_wisdom_none(strew_wisdom** out) STREW_CHECK_RESULT;
/* The process's file, which requests take that name neither wisdom nor a target; "" if there is none. */
STREW_API strew_status strew_wisdom_path(strew_text** out) STREW_CHECK_RESULT;
STREW_API void strew_wisdom_free(strew_wisdom* wisdom);

/* ---- Tuning (docs/tuning.md) ------------------------------------------------------------------------------------------------------ */

/* Where a run of the tuner is. Valid during the callback. */
typedef struct strew_tuning_progress {
  uint32_t size;
  uint32_t reserved;
  const char* kernel;             /* its name in the file; null as long as nothing has been measured */
  size_t number, count;           /* which kernel of how many */
  size_t candidates;              /* schedules of this kernel that were tried so far */
  double best_ratio;              /* the time of its fastest one over that of the default */
  double best_nanoseconds;        /* of a call */
  double seconds, budget_seconds; /* of the run so far, and of all; no budget is infinity */
} strew_tuning_progress;
/* Is called by the thread that tunes, about ten times a second. It returns 0 to go on. Another number ends the run, and what was
 * measured is kept. */
typedef int32_t (*strew_tuning_callback)(void* context, const strew_tuning_progress* progress);

/* How kernels are tuned. A null pointer stands for the defaults. Texts are as on the command line (`strew tune`). */
typedef struct strew_tuning_options {
  uint32_t size;
  int32_t threads;         /* of a call, 1..1024; 0: as many as this process may use cores */
  double budget_seconds;   /* for all kernels; 0: 4 for each, and no limit in mode "exhaustive" */
  uint64_t seed;           /* of the data that calls are measured with */
  const char* mode;        /* "measure" (null), "estimate" or "exhaustive" */
  const char* dims;        /* extents that ops leave open, "s0=1024,s1=8"; null: they are invented */
  const char* indices;     /* how indices are spread, "uniform", "zipf(1)", ...; null: invented */
  const char* temperature; /* "hot" or "cold": whether calls find their data in the caches; null: invented */
  /* What is measured is appended to this file, whole lines at a time, so that nothing is lost when the run is ended; and what it has
   * is not measured again. Null: the process's file (strew_wisdom_path); "off": nothing is kept. */
  const char* wisdom_file;
  strew_tuning_callback progress; /* may be null */
  void* context;
} strew_tuning_options;
#define STREW_TUNING_OPTIONS_INIT \
  { sizeof(strew_tuning_options), 0, 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/* What a run found. */
typedef struct strew_tuning strew_tuning;
/* Measures schedules of the op, or of the kernels of a program (`kernel`: the name of one; null: all), on the calling thread. Fails if none
 * could be tuned: with STREW_CODE_CANCELLED if the callback ended the run before anything was measured. */
STREW_API strew_status strew_tune_op(const strew_op* op, const strew_tuning_options* options,
                                     strew_tuning** out) STREW_CHECK_RESULT;
STREW_API strew_status strew_tune_program(const strew_program* program, const char* kernel, const strew_tuning_options* options,
                                          strew_tuning** out) STREW_CHECK_RESULT;
/* What `strew tune` prints, what it prints with --json (docs/cli.md), and the report with pictures. */
STREW_API strew_status strew_tuning_text(const strew_tuning* tuning, strew_text** out) STREW_CHECK_RESULT;
STREW_API strew_status strew_tuning_json(const strew_tuning* tuning, strew_text** out) STREW_CHECK_RESULT;
STREW_API strew_status strew_tuning_html(const strew_tuning* tuning, strew_text** out) STREW_CHECK_RESULT;
STREW_API void strew_tuning_free(strew_tuning* tuning);

/* A kernel that looks for a faster schedule while it serves (tuned_kernel.h). */
typedef struct strew_tuned_kernel strew_tuned_kernel;
typedef struct strew_online_tuning {
  uint32_t size;
  int32_t candidates;      /* the most to try, 0..1000 */
  double regret;           /* the part of all calls' time that trials may cost, 0..1 */
  const char* wisdom_file; /* append the outcome to this file when the search is over; null: do not */
} strew_online_tuning;
#define STREW_ONLINE_TUNING_INIT \
  { sizeof(strew_online_tuning), 16, 0.01, NULL }
/* `request` must name neither a schedule nor a backend. The runtime must outlive the kernel. */
STREW_API strew_status strew_tuned_kernel_create(strew_runtime* runtime, const strew_op* op, const strew_request* request,
                                                 const strew_online_tuning* options, strew_tuned_kernel** out) STREW_CHECK_RESULT;
/* As strew_kernel_run() with these options, of which only bad_index is heeded: others must have their defaults. */
STREW_API strew_status strew_tuned_kernel_run(const strew_tuned_kernel* kernel, const strew_tensor* tensors, size_t tensor_count,
                                              const strew_call_options* options) STREW_CHECK_RESULT;
/* The kernel in use: the default or the fastest candidate so far. It belongs to the caller. */
STREW_API strew_status strew_tuned_kernel_in_use(const strew_tuned_kernel* kernel, strew_kernel_ref** out) STREW_CHECK_RESULT;
typedef struct strew_tuned_stats {
  uint32_t size;
  int32_t is_settled;        /* 1: the search is over */
  uint64_t trials;           /* calls that were run by another candidate */
  double total_nanoseconds;  /* of all calls so far */
  double regret_nanoseconds; /* that trials took longer than the kernel in use */
  double ratio;              /* the kernel in use over the default */
} strew_tuned_stats;
#define STREW_TUNED_STATS_INIT \
  { sizeof(strew_tuned_stats), 0, 0, 0, 0, 1 }
STREW_API strew_status strew_tuned_kernel_stats(const strew_tuned_kernel* kernel, strew_tuned_stats* out) STREW_CHECK_RESULT;
STREW_API void strew_tuned_kernel_free(strew_tuned_kernel* kernel);

/* ---- Kernel libraries (docs/libraries.md) ----------------------------------------------------------------------------------------- */

/* Is called by one of the threads that compile, one at a time, when `done` of `all` variants are compiled. It returns 0 to go on; another
 * number ends the run. */
typedef int32_t (*strew_library_callback)(void* context, size_t done, size_t all);
typedef struct strew_library_options {
  uint32_t size;
  int32_t jobs;         /* the most kernels that are compiled at a time, 1..1024; 0: as many as this process may use cores */
  int32_t freestanding; /* not 0: refuse kernels that need libstrew_rt or libm */
  const char* arch;     /* "x86_64", "aarch64"; null: that of the targets, else this machine's */
  const char* const* targets; /* target_count of them, in place of the manifest's; null: the manifest's */
  size_t target_count;
  strew_library_callback progress; /* may be null */
  void* context;
} strew_library_options;
#define STREW_LIBRARY_OPTIONS_INIT \
  { sizeof(strew_library_options), 0, 0, NULL, NULL, 0, NULL, NULL }
/* Makes a kernel library of a manifest, as `strew library MANIFEST -o FOLDER` does. A folder of an earlier run is replaced when everything has
 * been made, and any other folder that is not empty is refused. A failure leaves the folder as it was; of one in the manifest, the message
 * begins with "PATH:LINE: ". `report`: what was made, as `strew library --json` prints it; may be null. If the callback ends the run, the
 * answer is STREW_CODE_CANCELLED. */
STREW_API strew_status strew_library_build(const char* manifest, const char* folder, const strew_library_options* options,
                                           strew_text** report) STREW_CHECK_RESULT;
/* A manifest with the kernels of a model file. `manifest`: the file that it shall be written to; the text names the model relative to its
 * folder. Null: by its absolute path. */
STREW_API strew_status strew_library_manifest(const char* model, const char* manifest, strew_text** out) STREW_CHECK_RESULT;

#ifdef __cplusplus
}
#endif
