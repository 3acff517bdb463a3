// Programs of the C interface: files with scatters and gathers, whole or kernel by kernel. Tested by tests/c_api.
#include "bindings/c/compiler/handles.h"
#include "bindings/c/runtime/dlpack.h"
#include "compiler/import/import_bytes.h"
#include "compiler/import/option_text.h"
#include "strew/run_program.h"
#include "strew/tensor.h"

namespace strew::inline v0::c_api {
namespace {

strew_port port_of(const std::string& name, const TensorType& type, bool is_optional) {
  return {sizeof(strew_port), static_cast<uint8_t>(type.dtype), is_optional, type.rank(), name.c_str(), type.dims.data()};
}

const TensorType& output_type(const Program& imported, size_t number) {
  return imported.value(imported.outputs()[number].value).type;
}

/// A Tensor on the caller's buffer. The program reads the dims, so they are checked here.
Expected<std::unique_ptr<Tensor>> input_tensor(const strew_tensor& given, const std::string& name, bool may_overwrite) {
  const auto bad = [&](const std::string& what) { return invalid_argument("input '" + name + "': " + what); };
  if (given.dtype >= STREW_DTYPE_COUNT) return bad("dtype: number " + std::to_string(given.dtype) + ", expected a strew_dtype");
  if (given.dtype == STREW_STRING)
    return unsupported("input '" + name + "': dtype is string, which the C interface does not pass to programs");
  if (given.rank < 0 || (given.rank > 0 && given.dims == nullptr))
    return bad("rank is " + std::to_string(given.rank) + ", and dims must have as many extents");
  auto tensor = std::make_unique<Tensor>();
  tensor->dtype = static_cast<DType>(given.dtype);
  tensor->dims.assign(given.dims, given.dims + given.rank);
  const Expected<int64_t> elements = element_count(tensor->dims);
  if (!elements.ok()) return bad(elements.status().message());
  if (*elements != 0 && given.data == nullptr) return bad("data: null, expected a pointer");
  int64_t stride = 1;
  for (int32_t d = given.rank - 1; *elements > 1 && given.strides != nullptr && d >= 0; --d) {
    if (given.dims[d] != 1 && given.strides[d] != stride)
      return bad("stride " + std::to_string(d) + " is " + std::to_string(given.strides[d]) + ", expected " +
                 std::to_string(stride) + ": inputs of programs are row-major");
    stride *= given.dims[d];
  }
  if (may_overwrite && given.read_only != 0) return bad("it is read-only, expected may_overwrite 0 for it");
  const std::span<std::byte> bytes(static_cast<std::byte*>(given.data),
                                   static_cast<size_t>(storage_bytes(tensor->dtype, *elements)));
  tensor->data = may_overwrite ? Buffer::borrow(bytes) : Buffer::share(bytes, nullptr);
  return tensor;
}

Status check_count(const char* what, size_t given, size_t expected) {
  if (given == expected) return {};
  return invalid_argument(std::string(what) + ": " + std::to_string(given) + ", expected " + std::to_string(expected) +
                          ", as many as the program has");
}

/// `may_overwrite`: null, or a byte per input.
Expected<std::vector<std::unique_ptr<Tensor>>> input_tensors(const Program& imported, const strew_tensor* const* inputs,
                                                             const uint8_t* may_overwrite, size_t count) {
  STREW_TRY(check_count("input_count", count, imported.inputs().size()));
  if (count != 0) STREW_TRY(check_not_null(inputs, "inputs"));
  std::vector<std::unique_ptr<Tensor>> tensors(count);
  for (size_t i = 0; i < count; ++i)
    if (inputs[i] != nullptr) {
      STREW_ASSIGN(tensors[i],
                   input_tensor(*inputs[i], imported.input(i).name, may_overwrite != nullptr && may_overwrite[i] != 0));
    }
  return tensors;
}

Status give_outputs(std::vector<Tensor> tensors, DLManagedTensorVersioned** outputs) {
  std::vector<DLManagedTensorVersioned*> made;
  for (Tensor& tensor : tensors) {
    auto owner = std::make_unique<Tensor>(std::move(tensor));
    const TensorView view = owner->view();
    const strew_tensor described{view.data, view.dims, nullptr, view.rank, static_cast<uint8_t>(view.dtype), 0, {}};
    DLManagedTensorVersioned* out = nullptr;
    const strew_status status = strew_tensor_to_dlpack(
        &described, [](void* context) { delete static_cast<Tensor*>(context); }, owner.get(), &out);
    if (status != nullptr) {
      for (DLManagedTensorVersioned* const each : made) dlpack::release(each);
      const Status failure(static_cast<Code>(strew_status_code(status)), strew_status_message(status));
      strew_status_free(status);
      return failure.with_prefix("output " + std::to_string(made.size()));
    }
    static_cast<void>(owner.release());  // its deleter has it
    made.push_back(out);
  }
  std::copy(made.begin(), made.end(), outputs);
  return {};
}

Expected<ImportOptions> import_options(const strew_import_options* options) {
  constexpr strew_import_options kDefaults = STREW_IMPORT_OPTIONS_INIT;
  STREW_ASSIGN(const strew_import_options known, known_fields(options, kDefaults, "options"));
  ImportOptions wanted;
  wanted.check_undefined = known.check_undefined != 0;
  wanted.max_file_bytes = known.max_file_bytes;
  if (known.oob != nullptr) STREW_TRY(set_oob(known.oob, wanted));
  if (known.order != nullptr) STREW_TRY(set_order(known.order, wanted));
  if (known.accumulate != nullptr) STREW_TRY(set_accumulate(known.accumulate, wanted));
  return wanted;
}

}  // namespace
}  // namespace strew::inline v0::c_api

using namespace strew;         // NOLINT(google-build-using-namespace): the definitions below are C's
using namespace strew::c_api;  // NOLINT(google-build-using-namespace)

strew_status strew_program_open(const char* path, const strew_import_options* options, strew_program** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(path, "path"));
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(const ImportOptions wanted, import_options(options));
    STREW_ASSIGN(Program imported, import_file(path, wanted));
    *out = new strew_program{RunnableProgram(std::move(imported))};
    return {};
  });
}

strew_status strew_program_read(const void* bytes, size_t size, const char* name, const strew_import_options* options,
                                strew_program** out) {
  return guarded([&]() -> Status {
    if (size != 0) STREW_TRY(check_not_null(bytes, "bytes"));
    STREW_TRY(check_not_null(name, "name"));
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(const ImportOptions wanted, import_options(options));
    STREW_ASSIGN(Program imported, import_bytes({static_cast<const char*>(bytes), size}, name, wanted));
    *out = new strew_program{RunnableProgram(std::move(imported))};
    return {};
  });
}

void strew_program_free(strew_program* program) { delete program; }

size_t strew_program_kernel_count(const strew_program* program) {
  return program != nullptr ? program->imported().kernels().size() : 0;
}
const char* strew_program_kernel_name(const strew_program* program, size_t number) {
  return number < strew_program_kernel_count(program) ? program->imported().kernel(number).name.c_str() : nullptr;
}
strew_status strew_program_kernel_op(const strew_program* program, size_t number, strew_op** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(program, "program"));
    STREW_TRY(check_not_null(out, "out"));
    STREW_TRY(check_number(number, program->imported().kernels().size()));
    *out = new strew_op(program->imported().kernel(number).op);
    return {};
  });
}

strew_status strew_program_cut(const strew_program* program, size_t number, strew_program** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(program, "program"));
    STREW_TRY(check_not_null(out, "out"));
    STREW_TRY(check_number(number, program->imported().kernels().size()));
    *out = new strew_program{RunnableProgram(cut_kernel(program->imported(), static_cast<int>(number)))};
    return {};
  });
}

size_t strew_program_input_count(const strew_program* program) {
  return program != nullptr ? program->imported().inputs().size() : 0;
}
size_t strew_program_output_count(const strew_program* program) {
  return program != nullptr ? program->imported().outputs().size() : 0;
}
strew_status strew_program_input(const strew_program* program, size_t number, strew_port* out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(program, "program"));
    STREW_TRY(check_number(number, program->imported().inputs().size()));
    const ProgramInput& input = program->imported().input(number);
    return give_struct(out, port_of(input.name, input.type, input.optional), "out");
  });
}
strew_status strew_program_output(const strew_program* program, size_t number, strew_port* out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(program, "program"));
    STREW_TRY(check_number(number, program->imported().outputs().size()));
    return give_struct(out, port_of(program->imported().outputs()[number].name, output_type(program->imported(), number), false),
                       "out");
  });
}

strew_status strew_program_run(const strew_program* program, strew_runtime* runtime, const strew_request* request,
                               const strew_tensor* const* inputs, size_t input_count, DLManagedTensorVersioned** outputs,
                               size_t output_count) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(program, "program"));
    STREW_TRY(check_not_null(runtime, "runtime"));
    const Program& imported = program->imported();
    STREW_ASSIGN(std::vector<std::unique_ptr<Tensor>> tensors, input_tensors(imported, inputs, nullptr, input_count));
    STREW_TRY(check_count("output_count", output_count, imported.outputs().size()));
    if (output_count != 0) STREW_TRY(check_not_null(outputs, "outputs"));
    ProgramOptions options;
    STREW_ASSIGN(options.kernel, kernel_options(request));
    STREW_ASSIGN(std::vector<Tensor> results, program->runnable.run(*runtime->runtime, std::move(tensors), options));
    return give_outputs(std::move(results), outputs);
  });
}

strew_status strew_program_run_into(const strew_program* program, strew_runtime* runtime, const strew_request* request,
                                    const strew_tensor* const* inputs, const uint8_t* may_overwrite, size_t input_count,
                                    const strew_tensor* outputs, size_t output_count) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(program, "program"));
    STREW_TRY(check_not_null(runtime, "runtime"));
    const Program& imported = program->imported();
    STREW_ASSIGN(std::vector<std::unique_ptr<Tensor>> tensors, input_tensors(imported, inputs, may_overwrite, input_count));
    STREW_TRY(check_count("output_count", output_count, imported.outputs().size()));
    if (output_count != 0) STREW_TRY(check_not_null(outputs, "outputs"));
    for (size_t i = 0; i < output_count; ++i)
      if (outputs[i].dtype >= STREW_DTYPE_COUNT)
        return invalid_argument("output '" + imported.outputs()[i].name + "': dtype: number " + std::to_string(outputs[i].dtype) +
                                ", expected a strew_dtype");
    ProgramOptions options;
    STREW_ASSIGN(options.kernel, kernel_options(request));
    return program->runnable.run_into(*runtime->runtime, std::move(tensors), as_views(outputs, output_count), options);
  });
}

strew_status strew_program_run_with(const strew_program* program, strew_runtime* runtime, const strew_request* request,
                                    const strew_tensor* const* inputs, const uint8_t* may_overwrite, size_t input_count,
                                    strew_make_output make_output, void* context) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(program, "program"));
    STREW_TRY(check_not_null(runtime, "runtime"));
    if (make_output == nullptr) return invalid_argument("make_output: null, expected a function");
    STREW_ASSIGN(std::vector<std::unique_ptr<Tensor>> tensors,
                 input_tensors(program->imported(), inputs, may_overwrite, input_count));
    ProgramOptions options;
    STREW_ASSIGN(options.kernel, kernel_options(request));
    const auto maker = [&](size_t output, DType, std::span<const int64_t> dims) -> Expected<void*> {
      return make_output(context, output, dims.data(), static_cast<int32_t>(dims.size()));
    };
    return program->runnable.run_with(*runtime->runtime, std::move(tensors), maker, options);
  });
}

strew_status strew_program_bind(const strew_program* program, strew_runtime* runtime, const strew_request* request,
                                const int32_t* in_place, size_t output_count, strew_bound_program** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(program, "program"));
    STREW_TRY(check_not_null(runtime, "runtime"));
    STREW_TRY(check_not_null(out, "out"));
    STREW_TRY(check_count("output_count", output_count, program->imported().outputs().size()));
    STREW_ASSIGN(const KernelOptions options, kernel_options(request));
    const std::span<const int32_t> lies_in(in_place, in_place != nullptr ? output_count : 0);
    STREW_ASSIGN(BoundProgram bound, BoundProgram::make(program->imported(), *runtime->runtime, options, lies_in));
    *out = new strew_bound_program{std::move(bound)};
    return {};
  });
}

strew_status strew_bound_program_run(const strew_bound_program* program, void* const* data, size_t count) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(program, "program"));
    if (count != 0) STREW_TRY(check_not_null(data, "data"));
    return program->bound.run({data, count});
  });
}

void strew_bound_program_free(strew_bound_program* program) { delete program; }
