// Calls of a kernel library by TVM-FFI's convention (strew/library.h). The library's own functions, which backends/llvm/module.cc emits, pass
// their arguments on to strew_tvm_ffi_call().
//
// Neither the library nor strew needs TVM-FFI. The structs that calls pass are declared here; they and the numbers of types are those of
// apache-tvm-ffi 0.1.15 (https://github.com/apache/tvm-ffi, include/tvm/ffi/c_api.h). The function that raises an error is looked for when there
// is an error.
//
// Tested by tests/library.
#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdlib>

#include "bindings/c/runtime/dlpack.h"
#include "bindings/c/runtime/handles.h"
#include "bindings/c/runtime/library.h"
#include "strew/library.h"

namespace strew::inline v0::c_api {
namespace {

namespace tvm_ffi {

enum TypeIndex : int32_t { kNone = 0, kDLTensorPtr = 7, kTensor = 70 };

/// TVMFFIAny: a value of a type.
struct Any {
  int32_t type_index;
  uint32_t zero_padding;
  union {
    int64_t number;
    const void* pointer;
  };
};
static_assert(sizeof(Any) == 16 && offsetof(Any, pointer) == 8);

/// The header of every object, TVMFFIObject.
struct Object {
  uint64_t reference_counts;
  int32_t type_index;
  uint32_t padding;
  union {
    void (*deleter)(void* self, int flags);
    int64_t alignment;
  };
};
/// An object of type kTensor: the header and a DLTensor.
struct TensorObject {
  Object header;
  dlpack::Tensor tensor;
};
static_assert(sizeof(Object) == 24 && offsetof(TensorObject, tensor) == 24);

/// Makes this the calling thread's raised error. TVM-FFI's Python package loads its library so that the whole process sees its functions
/// (RTLD_GLOBAL). A library that a program loaded for itself alone is found by its name. A weak reference would do neither when strew was loaded
/// before TVM-FFI. Without TVM-FFI in the process nobody could take the error.
void raise_error(const char* kind, const char* message) {
  constexpr const char* kFunction = "TVMFFIErrorSetRaisedFromCStr";
  void* function = dlsym(RTLD_DEFAULT, kFunction);
  void* const library = function == nullptr ? dlopen("libtvm_ffi.so", RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (library != nullptr) function = dlsym(library, kFunction);
  if (function != nullptr) reinterpret_cast<void (*)(const char* kind, const char* message)>(function)(kind, message);
  if (library != nullptr) dlclose(library);
}

/// The error for a failure: the name of an exception of Python.
const char* kind_of(strew_code code) {
  switch (code) {
    case STREW_CODE_OUT_OF_BOUNDS:
      return "IndexError";
    case STREW_CODE_INVALID_ARGUMENT:
      return "ValueError";
    case STREW_CODE_RESOURCE_EXHAUSTED:
      return "MemoryError";
    case STREW_CODE_OK:
    case STREW_CODE_UNSUPPORTED:
    case STREW_CODE_IO:
    case STREW_CODE_INTERNAL:
    case STREW_CODE_CANCELLED:
    case STREW_CODE_DEADLINE_EXCEEDED:
      break;
  }
  return "RuntimeError";
}

bool is_tensor(const Any& argument) { return argument.type_index == kDLTensorPtr || argument.type_index == kTensor; }

Status view_of(const Any& argument, strew_tensor& out) {
  if (argument.pointer == nullptr) return check_not_null(argument.pointer, "pointer");
  return view_of_dltensor(argument.type_index == kTensor ? static_cast<const TensorObject*>(argument.pointer)->tensor
                                                         : *static_cast<const dlpack::Tensor*>(argument.pointer),
                          out);
}

}  // namespace tvm_ffi

/// exit() has begun.
std::atomic<bool> exits{false};

/// The library's context, which the first call opens. If several threads do so at once, one of them wins.
Expected<strew_context*> open_once(strew_context** place, const strew_library* library) {
  STREW_TRY(check_not_null(place, "context"));
  const std::atomic_ref<strew_context*> context(*place);
  if (strew_context* const opened = context.load(std::memory_order_acquire)) return opened;
  static const bool is_watched = std::atexit([] { exits = true; }) == 0;
  if (!is_watched) return resource_exhausted("atexit() refused a function");
  strew_context *made = nullptr, *opened = nullptr;
  if (const strew_status failed = strew_context_open(library, nullptr, &made)) {
    Status status(static_cast<Code>(strew_status_code(failed)), strew_status_message(failed));
    strew_status_free(failed);
    return status;
  }
  if (context.compare_exchange_strong(opened, made, std::memory_order_acq_rel)) return made;
  strew_context_free(made);
  return opened;
}

/// Runs the kernel. `kind`: is set if the error is not the one of the failure's code.
Status call_by_tvm_ffi(strew_context** place, const strew_library* library, uint32_t number, const tvm_ffi::Any* args,
                       int32_t count, const char*& kind) {
  STREW_ASSIGN(strew_context* const context, open_once(place, library));
  STREW_ASSIGN(const strew_kernel_ref* const opened, kernel_in(context, number));
  const Callable& callable = *opened->callable;
  const std::span<const strew_tensor_rule> rules(callable.kernel.tensors, callable.kernel.tensor_count);
  if (count < 0 || static_cast<size_t>(count) != rules.size()) {
    std::string names;
    for (const strew_tensor_rule& rule : rules) names += (names.empty() ? "" : ", ") + std::string(rule.name);
    kind = "TypeError";
    return invalid_argument("args: there are " + std::to_string(count) + ", expected " + std::to_string(rules.size()) + ": " +
                            names);
  }
  STREW_TRY(check_not_null(args, "args"));
  std::array<strew_tensor, 8> few;
  std::vector<strew_tensor> many;
  if (rules.size() > few.size()) many.resize(rules.size());
  const std::span<strew_tensor> tensors = many.empty() ? std::span(few).first(rules.size()) : std::span(many);
  for (size_t i = 0; i < rules.size(); ++i) {
    const auto place_of = [&] { return "args[" + std::to_string(i) + "], " + rules[i].name; };
    if (!tvm_ffi::is_tensor(args[i])) {
      kind = "TypeError";
      return invalid_argument(place_of() + ": its type index is " + std::to_string(args[i].type_index) +
                              ", expected a tensor (7, DLTensor*, or 70, an object)");
    }
    if (const Status status = tvm_ffi::view_of(args[i], tensors[i]); !status.ok())
      return invalid_argument(place_of() + ": " + std::string(status.message()));
  }
  return callable.run(as_views(tensors.data(), tensors.size()));
}

}  // namespace
}  // namespace strew::inline v0::c_api

using namespace strew;         // NOLINT(google-build-using-namespace): the definitions below are C's
using namespace strew::c_api;  // NOLINT(google-build-using-namespace)

int strew_tvm_ffi_call(strew_context** context, const strew_library* library, uint32_t kernel, const void* args, int32_t count,
                       void* result) {
  const char* kind = nullptr;
  const strew_status failed = guarded([&]() -> Status {
    STREW_TRY(check_not_null(result, "result"));
    return call_by_tvm_ffi(context, library, kernel, static_cast<const tvm_ffi::Any*>(args), count, kind);
  });
  if (failed == nullptr) {
    *static_cast<tvm_ffi::Any*>(result) = {tvm_ffi::kNone, 0, {0}};
    return 0;
  }
  tvm_ffi::raise_error(kind != nullptr ? kind : tvm_ffi::kind_of(strew_status_code(failed)), strew_status_message(failed));
  strew_status_free(failed);
  return -1;
}

void strew_tvm_ffi_close(strew_context** context) {
  if (context == nullptr || exits) return;
  strew_context_free(std::atomic_ref<strew_context*>(*context).exchange(nullptr));
}
