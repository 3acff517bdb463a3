// Executors of the C interface: a host's callbacks as an Executor. Tested by tests/c_api.
#include "bindings/c/runtime/handles.h"

namespace strew::inline v0::c_api {
namespace {

/// The callbacks, which are released with the executor.
struct OwnedCallbacks {
  explicit OwnedCallbacks(const strew_executor_callbacks& given) : callbacks(given) {}
  OwnedCallbacks(const OwnedCallbacks&) = delete;
  OwnedCallbacks& operator=(const OwnedCallbacks&) = delete;
  ~OwnedCallbacks() {
    if (callbacks.release != nullptr) callbacks.release(callbacks.context);
  }
  const strew_executor_callbacks callbacks;
};
struct HostExecutor final : OwnedCallbacks, CallbackExecutor {
  explicit HostExecutor(const strew_executor_callbacks& given)
      : OwnedCallbacks(given), CallbackExecutor(OwnedCallbacks::callbacks, given.context) {}
};

}  // namespace
}  // namespace strew::inline v0::c_api

using namespace strew;         // NOLINT(google-build-using-namespace): the definitions below are C's
using namespace strew::c_api;  // NOLINT(google-build-using-namespace)

strew_status strew_executor_create(const strew_executor_callbacks* callbacks, strew_executor** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(callbacks, "callbacks"));
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(const strew_executor_callbacks known, known_fields(callbacks, {}, "callbacks"));
    STREW_TRY(check_not_null(reinterpret_cast<const void*>(known.threads), "callbacks.threads"));
    STREW_TRY(check_not_null(reinterpret_cast<const void*>(known.parallel_for), "callbacks.parallel_for"));
    auto handle = std::make_unique<strew_executor>();
    auto executor = std::make_shared<HostExecutor>(known);
    handle->callbacks = &executor->callbacks;
    handle->executor = std::move(executor);
    *out = handle.release();
    return {};
  });
}

strew_status strew_executor_create_pool(int32_t threads, int32_t pins, strew_executor** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(out, "out"));
    auto handle = std::make_unique<strew_executor>();
    STREW_ASSIGN(handle->executor, make_executor(threads, pins != 0));
    *out = handle.release();
    return {};
  });
}

void strew_executor_free(strew_executor* executor) { delete executor; }
