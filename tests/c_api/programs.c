/* Programs that run into the caller's buffers. */
#include <stdlib.h>

#include "areas.h"
#include "dlpack_types.h"

static strew_program* open_text(const char* text) {
  strew_program* program = NULL;
  OK(strew_program_read(text, strlen(text), "c_api_program.strew", NULL, &program));
  return program;
}

static void test_read(void) {
  strew_program* program = NULL;
  strew_import_options options = STREW_IMPORT_OPTIONS_INIT;
  FAILS(strew_program_read(NULL, 1, "a.strew", NULL, &program), STREW_CODE_INVALID_ARGUMENT, "bytes: null");
  FAILS(strew_program_read(kRows, strlen(kRows), NULL, NULL, &program), STREW_CODE_INVALID_ARGUMENT, "name: null");
  FAILS(strew_program_read(kRows, strlen(kRows), "a.strew", NULL, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_program_read(kRows, strlen(kRows), "a.text", NULL, &program), STREW_CODE_INVALID_ARGUMENT, "a.text: the ending");
  FAILS(strew_program_read(kRows, strlen(kRows) / 2, "a.strew", NULL, &program), STREW_CODE_INVALID_ARGUMENT, "a.strew");
  FAILS(strew_program_read(NULL, 0, "a.onnx", NULL, &program), STREW_CODE_INVALID_ARGUMENT, "a.onnx");
  options.order = "any";
  FAILS(strew_program_read(kRows, strlen(kRows), "a.strew", &options, &program), STREW_CODE_INVALID_ARGUMENT,
        "order: it is 'any'");
}

typedef struct {
  float* data;
  int64_t dims[2];
  size_t output;
  int calls;
} Given;
static void* give(void* context, size_t output, const int64_t* dims, int32_t rank) {
  Given* const given = (Given*)context;
  ++given->calls;
  given->output = output;
  if (rank == 2) memcpy(given->dims, dims, sizeof given->dims);
  return given->data;
}

/* The caller gives the output's memory when it is told its dims. */
static void test_given_when_known(void) {
  strew_program* const program = open_text(kRows);
  strew_runtime* const runtime = strew_runtime_process();
  const strew_tensor* inputs[3];
  float result[40];
  Given given = {result, {0, 0}, 7, 0};
  Rows rows;
  int i;
  if (program == NULL) return;
  fill(&rows);
  for (i = 0; i < 40; ++i) rows.table[i] = 100;
  for (i = 0; i < 3; ++i) inputs[i] = &rows.tensors[i];
  for (i = 1; i <= 40; ++i) { /* the later ones are steps that are known */
    memset(result, 0, sizeof result);
    OK(strew_program_run_with(program, runtime, NULL, inputs, NULL, 3, give, &given));
    CHECK(given.calls == i && given.output == 0 && given.dims[0] == 10 && given.dims[1] == 4);
    CHECK(rows.table[0] == 100 && result[0] == 101 && result[4] == 100 && result[8] == 102);
  }
  given.data = NULL;
  FAILS(strew_program_run_with(program, runtime, NULL, inputs, NULL, 3, give, &given), STREW_CODE_INVALID_ARGUMENT, "data: null");
  FAILS(strew_program_run_with(program, runtime, NULL, inputs, NULL, 3, NULL, NULL), STREW_CODE_INVALID_ARGUMENT,
        "make_output: null");
  FAILS(strew_program_run_with(program, runtime, NULL, inputs, NULL, 2, give, &given), STREW_CODE_INVALID_ARGUMENT,
        "input_count: 2");
  FAILS(strew_program_run_with(program, runtime, NULL, NULL, NULL, 3, give, &given), STREW_CODE_INVALID_ARGUMENT, "inputs: null");
  FAILS(strew_program_run_with(program, NULL, NULL, inputs, NULL, 3, give, &given), STREW_CODE_INVALID_ARGUMENT, "runtime: null");
  FAILS(strew_program_run_with(NULL, runtime, NULL, inputs, NULL, 3, give, &given), STREW_CODE_INVALID_ARGUMENT, "program: null");
  strew_program_free(program);
}

/* An op that updates its operand: its program has the operand, the indices and the updates as inputs, and the result as output. */
static void test_in_place(void) {
  strew_program* const program = open_text(kRows);
  strew_runtime* const runtime = strew_runtime_process();
  const strew_tensor* inputs[3];
  uint8_t may_overwrite[3] = {1, 0, 0};
  float result[40], shared[80];
  int64_t other_dims[2] = {9, 4}, columns[2] = {1, 10}, far_stride[2] = {5, 1};
  strew_tensor output;
  Rows rows;
  int i;
  if (program == NULL) return;
  fill(&rows);
  for (i = 0; i < 40; ++i) rows.table[i] = 100;
  inputs[0] = &rows.tensors[0];
  inputs[1] = &rows.tensors[1];
  inputs[2] = &rows.tensors[2];
  output = rows.tensors[0];
  output.data = result;
  OK(strew_program_run_into(program, runtime, NULL, inputs, NULL, 3, &output, 1));
  CHECK(rows.table[0] == 100 && result[0] == 101 && result[4] == 100 && result[8] == 102);
  OK(strew_program_run_into(program, runtime, NULL, inputs, may_overwrite, 3, &output, 1)); /* the output has memory of its own */
  CHECK(rows.table[0] == 100 && result[0] == 101 && result[8] == 102);
  output.data = rows.table;
  OK(strew_program_run_into(program, runtime, NULL, inputs, may_overwrite, 3, &output, 1));
  CHECK(rows.table[0] == 101 && rows.table[4] == 100 && rows.table[8] == 102);
  OK(strew_program_run_into(program, runtime, NULL, inputs, NULL, 3, &output, 1)); /* copied first, and back at the end */
  CHECK(rows.table[0] == 102 && rows.table[8] == 104);
  rows.indices[1] = 10;
  FAILS(strew_program_run_into(program, runtime, NULL, inputs, may_overwrite, 3, &output, 1), STREW_CODE_OUT_OF_BOUNDS,
        "value 10");
  CHECK(rows.table[0] == 102);
  rows.indices[1] = 0;

  output.dims = other_dims;
  FAILS(strew_program_run_into(program, runtime, NULL, inputs, NULL, 3, &output, 1), STREW_CODE_INVALID_ARGUMENT,
        "dims are [9,4], expected [10,4]");
  output.dims = columns;
  FAILS(strew_program_run_into(program, runtime, NULL, inputs, NULL, 3, &output, 1), STREW_CODE_INVALID_ARGUMENT,
        "dim 1 is 10, expected 4");
  output = rows.tensors[0];
  output.data = NULL;
  FAILS(strew_program_run_into(program, runtime, NULL, inputs, NULL, 3, &output, 1), STREW_CODE_INVALID_ARGUMENT, "data: null");
  output.data = shared;
  output.strides = far_stride;
  FAILS(strew_program_run_into(program, runtime, NULL, inputs, NULL, 3, &output, 1), STREW_CODE_INVALID_ARGUMENT, "row-major");
  output.strides = NULL;
  output.read_only = 1;
  FAILS(strew_program_run_into(program, runtime, NULL, inputs, NULL, 3, &output, 1), STREW_CODE_INVALID_ARGUMENT, "read-only");
  output.read_only = 0;
  output.dtype = STREW_I32;
  FAILS(strew_program_run_into(program, runtime, NULL, inputs, NULL, 3, &output, 1), STREW_CODE_INVALID_ARGUMENT,
        "dtype is i32, expected f32");
  output.dtype = STREW_DTYPE_COUNT;
  FAILS(strew_program_run_into(program, runtime, NULL, inputs, NULL, 3, &output, 1), STREW_CODE_INVALID_ARGUMENT,
        "expected a strew_dtype");
  output.dtype = STREW_F32;
  output.rank = 1;
  FAILS(strew_program_run_into(program, runtime, NULL, inputs, NULL, 3, &output, 1), STREW_CODE_INVALID_ARGUMENT,
        "rank is 1, expected 2");
  output.rank = 2;
  may_overwrite[2] = 1; /* the updates are read-only */
  FAILS(strew_program_run_into(program, runtime, NULL, inputs, may_overwrite, 3, &output, 1), STREW_CODE_INVALID_ARGUMENT,
        "expected may_overwrite 0");
  FAILS(strew_program_run_into(program, runtime, NULL, inputs, NULL, 2, &output, 1), STREW_CODE_INVALID_ARGUMENT,
        "input_count: 2");
  FAILS(strew_program_run_into(program, runtime, NULL, inputs, NULL, 3, &output, 2), STREW_CODE_INVALID_ARGUMENT,
        "output_count: 2");
  FAILS(strew_program_run_into(program, runtime, NULL, inputs, NULL, 3, NULL, 1), STREW_CODE_INVALID_ARGUMENT, "outputs: null");
  FAILS(strew_program_run_into(program, runtime, NULL, NULL, NULL, 3, &output, 1), STREW_CODE_INVALID_ARGUMENT, "inputs: null");
  FAILS(strew_program_run_into(program, NULL, NULL, inputs, NULL, 3, &output, 1), STREW_CODE_INVALID_ARGUMENT, "runtime: null");
  FAILS(strew_program_run_into(NULL, runtime, NULL, inputs, NULL, 3, &output, 1), STREW_CODE_INVALID_ARGUMENT, "program: null");
  strew_program_free(program);
}

/* A program that is bound once, and then called with addresses alone. */
static void test_bound(void) {
  strew_program *const
      program = open_text(
          "strew1.scatter(operand=f32[10,4] indices=i32[3] updates=f32[3,4] update_window_dims=[1] inserted_window_dims=[0] "
          "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place oob=error)"),
      *const open = open_text(kRows);
  strew_runtime* const runtime = strew_runtime_process();
  strew_bound_program *apart = NULL, *within = NULL;
  const int32_t in_place[1] = {0}, beyond[1] = {3};
  float result[40];
  void* data[4];
  Rows rows;
  int i;
  if (program == NULL) return;
  fill(&rows);
  for (i = 0; i < 40; ++i) rows.table[i] = 100;
  for (i = 0; i < 3; ++i) data[i] = rows.tensors[i].data;
  data[3] = result;
  FAILS(strew_program_bind(open, runtime, NULL, NULL, 1, &apart), STREW_CODE_INVALID_ARGUMENT,
        "dim 0 of input 'operand' is open");
  strew_program_free(open);
  OK(strew_program_bind(program, runtime, NULL, NULL, 1, &apart));
  OK(strew_program_bind(program, runtime, NULL, in_place, 1, &within));
  FAILS(strew_program_bind(NULL, runtime, NULL, NULL, 1, &apart), STREW_CODE_INVALID_ARGUMENT, "program: null");
  FAILS(strew_program_bind(program, NULL, NULL, NULL, 1, &apart), STREW_CODE_INVALID_ARGUMENT, "runtime: null");
  FAILS(strew_program_bind(program, runtime, NULL, NULL, 1, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_program_bind(program, runtime, NULL, NULL, 2, &apart), STREW_CODE_INVALID_ARGUMENT, "output_count: 2");
  FAILS(strew_program_bind(program, runtime, NULL, beyond, 1, &apart), STREW_CODE_INVALID_ARGUMENT, "output 0 has input 3");
  strew_program_free(program);
  OK(strew_bound_program_run(apart, data, 4));
  CHECK(rows.table[0] == 100 && result[0] == 101 && result[4] == 100 && result[8] == 102);
  FAILS(strew_bound_program_run(within, data, 4), STREW_CODE_INVALID_ARGUMENT, "has an address of its own");
  data[3] = rows.table;
  FAILS(strew_bound_program_run(apart, data, 4), STREW_CODE_INVALID_ARGUMENT, "overlaps");
  OK(strew_bound_program_run(within, data, 4));
  CHECK(rows.table[0] == 101 && rows.table[8] == 102);
  rows.indices[1] = 10;
  FAILS(strew_bound_program_run(within, data, 4), STREW_CODE_OUT_OF_BOUNDS, "value 10");
  CHECK(rows.table[0] == 101);
  FAILS(strew_bound_program_run(within, data, 3), STREW_CODE_INVALID_ARGUMENT, "data: 3 addresses");
  FAILS(strew_bound_program_run(within, NULL, 4), STREW_CODE_INVALID_ARGUMENT, "data: null");
  FAILS(strew_bound_program_run(NULL, data, 4), STREW_CODE_INVALID_ARGUMENT, "program: null");
  strew_bound_program_free(apart);
  strew_bound_program_free(within);
  strew_bound_program_free(NULL);
}

/* An input that lies where the operand lies is read, too, so the operand is not written before that. */
static void test_shared_memory(void) {
  strew_program* const program = open_text(
      "strew1.scatter(operand=f32[4] indices=i32[4] updates=f32[4] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
      "index_vector_dim=1 combiner=add init=in_place oob=error)");
  const int64_t dims[1] = {4};
  const uint8_t may_overwrite[3] = {1, 0, 0};
  int32_t indices[4] = {1, 2, 3, 0};
  float table[4] = {1, 10, 100, 1000}, result[4];
  const strew_tensor operand = {table, dims, NULL, 1, STREW_F32, 0, {0}}, places = {indices, dims, NULL, 1, STREW_I32, 1, {0}};
  const strew_tensor output = {table, dims, NULL, 1, STREW_F32, 0, {0}};
  const strew_tensor apart = {result, dims, NULL, 1, STREW_F32, 0, {0}};
  const strew_tensor* const inputs[3] = {&operand, &places, &operand};
  if (program == NULL) return;
  OK(strew_program_run_into(program, strew_runtime_process(), NULL, inputs, may_overwrite, 3, &apart, 1));
  CHECK(result[0] == 1001 && result[1] == 11 && result[2] == 110 && result[3] == 1100);
  OK(strew_program_run_into(program, strew_runtime_process(), NULL, inputs, may_overwrite, 3, &output, 1));
  CHECK(memcmp(table, result, sizeof table) == 0);
  strew_program_free(program);
}

/* A model with operations around its kernels gives the same into buffers as in tensors of its own. */
static void test_model(const char* examples) {
  strew_program* program = NULL;
  strew_port port = STREW_PORT_INIT;
  const strew_tensor* inputs[16] = {0};
  strew_tensor tensors[16], outputs[16];
  struct DLManagedTensorVersioned* made[16] = {0};
  strew_tensor expected;
  size_t n, m, i, d;
  char path[4096];
  snprintf(path, sizeof path, "%s/tflite_cache/append.tflite", examples);
  if (!OK(strew_program_open(path, NULL, &program))) return;
  n = strew_program_input_count(program);
  m = strew_program_output_count(program);
  for (i = 0; i < n + m; ++i) {
    strew_tensor* const tensor = i < n ? &tensors[i] : &outputs[i - n];
    size_t elements = 1;
    OK(i < n ? strew_program_input(program, i, &port) : strew_program_output(program, i - n, &port));
    for (d = 0; d < (size_t)port.rank; ++d) elements *= (size_t)port.dims[d];
    *tensor = (strew_tensor){calloc(elements, 16), port.dims, NULL, port.rank, port.dtype, 0, {0}};
    if (i < n && port.dtype == STREW_F32)
      for (d = 0; d < elements; ++d) ((float*)tensor->data)[d] = (float)(i + 1) + (float)(d % 7);
    if (i < n) inputs[i] = tensor;
  }
  if (OK(strew_program_run(program, strew_runtime_process(), NULL, inputs, n, made, m)) &&
      OK(strew_program_run_into(program, strew_runtime_process(), NULL, inputs, NULL, n, outputs, m))) {
    for (i = 0; i < m; ++i) {
      size_t elements = 1;
      OK(strew_tensor_from_dlpack(made[i], &expected));
      for (d = 0; d < (size_t)expected.rank; ++d) elements *= (size_t)expected.dims[d];
      CHECK(memcmp(expected.data, outputs[i].data, elements * (size_t)strew_dtype_bits((strew_dtype)expected.dtype) / 8) == 0);
      if (i > 0) {
        strew_tensor both[16];
        memcpy(both, outputs, sizeof both);
        both[i].data = outputs[0].data;
        FAILS(strew_program_run_into(program, strew_runtime_process(), NULL, inputs, NULL, n, both, m),
              STREW_CODE_INVALID_ARGUMENT, "overlaps that of output");
      }
    }
  }
  for (i = 0; i < m; ++i)
    if (made[i] != NULL) made[i]->deleter(made[i]);
  for (i = 0; i < n; ++i) free(tensors[i].data);
  for (i = 0; i < m; ++i) free(outputs[i].data);
  strew_program_free(program);
}

/* One kernel of a model as a program of its own. */
static void test_cut(const char* examples) {
  strew_program *program = NULL, *cut = NULL;
  char path[4096];
  snprintf(path, sizeof path, "%s/tflite_cache/append.tflite", examples);
  if (!OK(strew_program_open(path, NULL, &program))) return;
  if (OK(strew_program_cut(program, 0, &cut))) {
    CHECK(strew_program_kernel_count(cut) == 1 && strew_program_output_count(cut) == 1 && strew_program_input_count(cut) >= 2);
    CHECK(strcmp(strew_program_kernel_name(cut, 0), strew_program_kernel_name(program, 0)) == 0);
    strew_program_free(cut);
    cut = NULL;
  }
  FAILS(strew_program_cut(program, 1000, &cut), STREW_CODE_INVALID_ARGUMENT, "number: 1000");
  FAILS(strew_program_cut(NULL, 0, &cut), STREW_CODE_INVALID_ARGUMENT, "program: null");
  FAILS(strew_program_cut(program, 0, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  strew_program_free(program);
}

/* Says no to one value. */
static int32_t is_not_named(void* context, int32_t value, const char* name) {
  (void)value;
  return strcmp(name, (const char*)context) != 0;
}

/* The parts of a model that strew runs whole, and of the same model with an operation that the host keeps. */
static void test_parts(const char* examples) {
  strew_program *program = NULL, *part_program = NULL;
  strew_parts* parts = NULL;
  strew_part part = STREW_PART_INIT;
  strew_node node = STREW_NODE_INIT;
  strew_port port = STREW_PORT_INIT;
  strew_partition_options options = STREW_PARTITION_OPTIONS_INIT;
  const char *names[2] = {"no such value", NULL}, *kept_name = "";
  int32_t kept = -1;
  char path[4096];
  size_t i, n, all_computes = 0;
  snprintf(path, sizeof path, "%s/kernel_library/decoder.mlir", examples);
  if (!OK(strew_program_open(path, NULL, &program))) return;
  n = strew_program_node_count(program);
  CHECK(n > 1);
  for (i = 0; i < n; ++i) {
    OK(strew_program_node(program, i, &node));
    CHECK(node.region == -1 && node.opaque == -1 && node.result_count > 0 && node.results[0] >= 0);
    CHECK(strstr(node.location, "decoder.mlir:") != NULL);
  }
  options.join = 1;
  if (OK(strew_program_parts(program, &options, &parts))) {
    CHECK(strew_parts_count(parts) == 1);
    OK(strew_parts_get(parts, 0, &part));
    CHECK(part.region == -1 && part.kernel_count == strew_program_kernel_count(program));
    all_computes = part.compute_count;
    CHECK(part.output_count == strew_program_output_count(program) && part.input_count <= strew_program_input_count(program));
    CHECK(part.node_count > 0 && part.node_count <= n);
    kept = part.outputs[0];
    kept_name = strew_program_value_name(program, kept);
    CHECK(kept_name != NULL && kept_name[0] != 0);
    if (OK(strew_parts_program(parts, 0, &part_program))) {
      CHECK(strew_program_input_count(part_program) == part.input_count &&
            strew_program_output_count(part_program) == part.output_count);
      CHECK(strew_program_node_count(part_program) == 0);
      for (i = 0; i < part.input_count; ++i) {
        OK(strew_program_input(part_program, i, &port));
        CHECK(strcmp(port.name, strew_program_value_name(program, part.inputs[i])) == 0);
      }
      strew_program_free(part_program);
      part_program = NULL;
    }
    FAILS(strew_parts_get(parts, 1, &part), STREW_CODE_INVALID_ARGUMENT, "number: 1");
    FAILS(strew_parts_get(NULL, 0, &part), STREW_CODE_INVALID_ARGUMENT, "parts: null");
    FAILS(strew_parts_get(parts, 0, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
    FAILS(strew_parts_program(parts, 1, &part_program), STREW_CODE_INVALID_ARGUMENT, "number: 1");
    FAILS(strew_parts_program(NULL, 0, &part_program), STREW_CODE_INVALID_ARGUMENT, "parts: null");
    FAILS(strew_parts_program(parts, 0, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
    strew_parts_free(parts);
  }
  options.needs_kernel = 1;
  options.runnable = is_not_named;
  options.context = (void*)kept_name;
  if (OK(strew_program_parts(program, &options, &parts))) {
    for (i = 0; i < strew_parts_count(parts); ++i) {
      OK(strew_parts_get(parts, i, &part));
      CHECK(part.kernel_count > 0 && part.kernel_count < strew_program_kernel_count(program));
      for (n = 0; n < part.output_count; ++n) CHECK(part.outputs[n] != kept);
    }
    strew_parts_free(parts);
  }
  options.runnable = NULL;
  options.needs_kernel = 0;
  options.kernels_only = 1;
  if (OK(strew_program_parts(program, &options, &parts))) {
    size_t computes = 0;
    CHECK(strew_parts_count(parts) > 0);
    for (i = 0; i < strew_parts_count(parts); ++i) {
      OK(strew_parts_get(parts, i, &part));
      CHECK(part.kernel_count > 0);
      computes += part.compute_count;
    }
    CHECK(computes < all_computes);
    strew_parts_free(parts);
  }
  options.least_operations = -1;
  FAILS(strew_program_parts(program, &options, &parts), STREW_CODE_INVALID_ARGUMENT, "least_operations: -1");
  options.size = 1;
  FAILS(strew_program_parts(program, &options, &parts), STREW_CODE_INVALID_ARGUMENT, "options.size");
  FAILS(strew_program_parts(NULL, NULL, &parts), STREW_CODE_INVALID_ARGUMENT, "program: null");
  FAILS(strew_program_parts(program, NULL, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_program_node(program, strew_program_node_count(program), &node), STREW_CODE_INVALID_ARGUMENT, "number: ");
  FAILS(strew_program_node(NULL, 0, &node), STREW_CODE_INVALID_ARGUMENT, "program: null");
  CHECK(strew_parts_count(NULL) == 0 && strew_program_node_count(NULL) == 0 && strew_program_value_name(NULL, 0) == NULL);
  CHECK(strew_program_value_name(program, -1) == NULL && strew_program_value_name(program, 1 << 30) == NULL);
  strew_parts_free(NULL);

  names[0] = kept_name;
  if (OK(strew_program_cut_between(program, NULL, 0, names, 1, &part_program))) {
    CHECK(strew_program_output_count(part_program) == 1);
    strew_program_free(part_program);
  }
  names[0] = "no such value";
  FAILS(strew_program_cut_between(program, names, 1, NULL, 0, &part_program), STREW_CODE_INVALID_ARGUMENT, "from: no value");
  FAILS(strew_program_cut_between(program, NULL, 0, names, 2, &part_program), STREW_CODE_INVALID_ARGUMENT, "to[1]: null");
  FAILS(strew_program_cut_between(program, NULL, 1, NULL, 0, &part_program), STREW_CODE_INVALID_ARGUMENT, "from: null");
  FAILS(strew_program_cut_between(NULL, NULL, 0, NULL, 0, &part_program), STREW_CODE_INVALID_ARGUMENT, "program: null");
  FAILS(strew_program_cut_between(program, NULL, 0, NULL, 0, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  strew_program_free(program);

  /* A file with a matrix product, and a loop around a scatter. */
  snprintf(path, sizeof path, "%s/tensor_gather/layer.mlir", examples);
  if (!OK(strew_program_open(path, NULL, &program))) return;
  for (i = n = 0; i < strew_program_node_count(program); ++i) {
    OK(strew_program_node(program, i, &node));
    n += node.opaque >= 0 && node.region == -1;
  }
  CHECK(n >= 2);
  if (OK(strew_program_parts(program, NULL, &parts))) {
    for (i = n = 0; i < strew_parts_count(parts); ++i) {
      OK(strew_parts_get(parts, i, &part));
      n += part.region >= 0;
    }
    CHECK(n == 1 && i >= 2);
    strew_parts_free(parts);
  }
  strew_program_free(program);
}

void test_programs_into(const char* examples) {
  test_read();
  test_given_when_known();
  test_in_place();
  test_bound();
  test_shared_memory();
  test_model(examples);
  test_cut(examples);
  test_parts(examples);
}
