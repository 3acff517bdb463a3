// What the handles of the C interface (strew/strew_rt.h) are, and how its functions turn Status, structs and tensors of C++ into
// those of C. Functions of the interface are wrapped in guarded(), so that no exception leaves them. Tested by tests/c_api.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/call/callable.h"
#include "runtime/call/run_many.h"
#include "strew/call_options.h"
#include "strew/executor.h"
#include "strew/status.h"
#include "strew/strew_rt.h"
#include "strew/tensor_view.h"

struct strew_failure {
  strew::Status status;
};

struct strew_text {
  std::string chars;
};

struct strew_executor {
  std::shared_ptr<strew::Executor> executor;
  const strew_executor_callbacks* callbacks = nullptr;  ///< of the executor, which owns them; null: it is a pool
};

/// A kernel with the number of its owners. Derived structs own what `callable` refers to.
struct strew_kernel_ref {
  strew_kernel_ref(const strew::Callable& made, bool plain) : callable(&made), is_plain(plain) {}
  strew_kernel_ref(const strew_kernel_ref&) = delete;
  strew_kernel_ref& operator=(const strew_kernel_ref&) = delete;
  virtual ~strew_kernel_ref() = default;

  /// Runs a call that the callable alone does not run.
  virtual strew::Status run_otherwise(std::span<const strew::TensorView> tensors, const strew::CallOptions& options) const {
    return callable->run(tensors, options);
  }
  virtual strew::Status run_many_otherwise(std::span<const strew::TensorView> shapes, std::span<void* const> data,
                                           const strew::CallOptions& options) const {
    return strew::run_many(*callable, shapes, data, options);
  }
  /// What calls use at the moment. A kernel that a stand-in answers changes once: to the compiled kernel, which lives as long as the handle.
  struct Current {
    const strew::Callable* callable;
    bool is_plain;
  };
  virtual Current current() const { return {callable, is_plain}; }
  virtual int64_t build_nanoseconds() const { return 0; }
  virtual std::string op_text() const { return current().callable->kernel.identity; }
  virtual strew::Expected<std::string> plan_text() const {
    return strew::unsupported("kernel: it was compiled before, and has no plan; expected one that a runtime compiled");
  }
  virtual bool is_stand_in() const { return false; }

  strew::Status run(std::span<const strew::TensorView> tensors, const strew::CallOptions& options) const {
    return is_plain ? callable->run(tensors, options) : run_otherwise(tensors, options);
  }

  const strew::Callable* const callable;
  const bool is_plain;  ///< the callable alone runs all calls, from the first to the last
  std::atomic<size_t> owners{1};
};

namespace strew::inline v0::c_api {

/// The number of an enumerator that a caller gave. In C it may be any number; C++ may not even read one that the enumeration does not have.
template <class Enum>
unsigned number_of(const Enum& given) {
  return std::bit_cast<unsigned>(given);
}

/// The failure of a function that had no memory for its own.
strew_status out_of_memory();

/// Prepares calls of a kernel, which may be linked into the program and then needs no owner. The executor must not be null.
Expected<strew_kernel_ref*> make_opened_kernel(std::shared_ptr<const strew_kernel> kernel, int threads,
                                               std::shared_ptr<Executor> executor);

/// `out` must not be null.
Status give_text(std::string text, strew_text** out);
strew_slot make_slot(std::string_view name, uint8_t role, uint8_t dtype, int32_t rank, const int64_t* dims,
                     const int64_t* strides);
/// Is there an element of that number?
Status check_number(size_t number, size_t count);

inline strew_status give(Status status) { return status.ok() ? nullptr : new strew_failure{std::move(status)}; }

/// Calls function(), which returns a Status, and passes its failures and exceptions on.
template <class Function>
strew_status guarded(Function&& function) noexcept {
  try {
    try {
      return give(function());
    } catch (const std::bad_alloc&) {
      return out_of_memory();
    } catch (const std::exception& failure) {
      return give(internal_error(std::string("C interface: ") + failure.what()));
    }
  } catch (...) {  // no memory for the message
    return out_of_memory();
  }
}

inline Status check_not_null(const void* pointer, const char* argument) {
  return pointer != nullptr ? Status() : invalid_argument(std::string(argument) + ": null, expected a pointer");
}

/// Has the caller set the size of a struct?
template <class T>
Status check_size(const T& given, const char* argument) {
  if (given.size >= sizeof given.size) return {};
  return invalid_argument(std::string(argument) + ".size: " + std::to_string(given.size) +
                          ", expected the size of the struct (its _INIT macro sets it)");
}

/// The struct that a caller passed, with the defaults for fields that its version lacks. `given` null: the defaults.
template <class T>
Expected<T> known_fields(const T* given, const T& defaults, const char* argument) {
  T out = defaults;
  if (given == nullptr) return out;
  STREW_TRY(check_size(*given, argument));
  std::memcpy(static_cast<void*>(&out), given, std::min<size_t>(given->size, sizeof out));
  out.size = sizeof out;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  for (size_t i = sizeof out; i < given->size; ++i)
    if (bytes[i] != 0)
      return unsupported(std::string(argument) + ".size: " + std::to_string(given->size) + ", and byte " + std::to_string(i) +
                         " is set: this library knows the first " + std::to_string(sizeof out) + " bytes");
  return out;
}

/// Fills in the caller's struct: the fields that its version has. Those of a later version, which this library does not know, become 0.
template <class T>
Status give_struct(T* out, T filled, const char* argument) {
  STREW_TRY(check_not_null(out, argument));
  STREW_TRY(check_size(*out, argument));
  const uint32_t size = out->size;
  filled.size = size;
  std::memcpy(static_cast<void*>(out), &filled, std::min<size_t>(size, sizeof filled));
  if (size > sizeof filled) std::memset(reinterpret_cast<unsigned char*>(out) + sizeof filled, 0, size - sizeof filled);
  return {};
}

// The two structs have their members in the same places, so that callers' tensors are views without being copied.
static_assert(sizeof(TensorView) == sizeof(strew_tensor) && offsetof(TensorView, data) == offsetof(strew_tensor, data) &&
              offsetof(TensorView, dims) == offsetof(strew_tensor, dims) &&
              offsetof(TensorView, strides) == offsetof(strew_tensor, strides) &&
              offsetof(TensorView, rank) == offsetof(strew_tensor, rank) &&
              offsetof(TensorView, dtype) == offsetof(strew_tensor, dtype) &&
              offsetof(TensorView, read_only) == offsetof(strew_tensor, read_only));
inline std::span<const TensorView> as_views(const strew_tensor* tensors, size_t count) {
  return {reinterpret_cast<const TensorView*>(tensors), count};
}
inline Status check_tensors(const void* tensors, size_t count) {
  return count == 0 ? Status() : check_not_null(tensors, "tensors");
}

/// A host's pool, by its callbacks, to which `context` is passed.
class CallbackExecutor : public Executor {
 public:
  CallbackExecutor(const strew_executor_callbacks& callbacks, void* context) : callbacks_(callbacks), context_(context) {}
  int threads() const noexcept override { return callbacks_.threads(context_); }
  void parallel_for(int count, Task task, void* context) override { callbacks_.parallel_for(context_, count, task, context); }
  int64_t dispatch_ns() const noexcept override { return callbacks_.dispatch_ns; }

 private:
  const strew_executor_callbacks& callbacks_;
  void* const context_;
};

/// Calls run(options) on an executor of this call alone, if the caller's struct has a context for its callbacks.
template <class Run>
Status with_executor_context(const strew_call_options& options, CallOptions how, const Run& run) {
  if (options.executor_context == nullptr) return run(how);
  if (options.executor == nullptr || options.executor->callbacks == nullptr)
    return invalid_argument(
        "options.executor_context: a pointer, expected null for a call whose options.executor was not made by "
        "strew_executor_create()");
  CallbackExecutor of_call(*options.executor->callbacks, options.executor_context);
  how.executor = &of_call;
  return run(how);
}

/// Calls run(options) with the CallOptions of the caller's struct, which may be null.
template <class Run>
Status with_call_options(const strew_call_options* given, const Run& run) {
  if (given == nullptr) return run(CallOptions());
  constexpr strew_call_options kDefaults = STREW_CALL_OPTIONS_INIT;
  STREW_ASSIGN(const strew_call_options options, known_fields(given, kDefaults, "options"));
  CallOptions how{options.threads, options.executor != nullptr ? options.executor->executor.get() : nullptr};
  if (options.bad_index == nullptr) return with_executor_context(options, how, run);
  STREW_TRY(check_size(*options.bad_index, "options.bad_index"));
  BadIndex found;
  how.bad_index = &found;
  Status status = with_executor_context(options, how, run);
  if (status.code() == Code::out_of_bounds) {
    const strew_bad_index filled{sizeof filled, found.source, found.position, found.component, found.value, found.bound};
    STREW_TRY(give_struct(options.bad_index, filled, "options.bad_index"));
  }
  return status;
}

/// A runtime's, a library's or a kernel's executor: null stands for strew's own.
inline std::shared_ptr<Executor> executor_of(const strew_executor* executor) {
  return executor != nullptr ? executor->executor : process_executor();
}

}  // namespace strew::inline v0::c_api
