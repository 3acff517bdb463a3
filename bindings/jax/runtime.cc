#include "bindings/jax/runtime.h"

#include <memory>
#include <mutex>
#include <string>

#include "bindings/jax/call.h"

namespace strew::jax {
namespace {

strew_status make_runtime(strew_runtime** out) {
  strew_executor* made = nullptr;
  if (const strew_status status = make_executor(&made)) return status;
  const std::unique_ptr<strew_executor, void (*)(strew_executor*)> executor(made, strew_executor_free);
  strew_options options = strew_options_from_environment();
  // XLA:CPU flushes subnormals, and calls handlers in the environment that does so.
  const std::string target = std::string(options.target) + "+host_fp";
  options.target = target.c_str();
  return strew_runtime_create(&options, made, out);
}

}  // namespace

strew_status find_runtime(strew_runtime** out) {
  static std::mutex mutex;
  static strew_runtime* runtime = nullptr;
  const std::lock_guard lock(mutex);
  if (runtime == nullptr)
    if (const strew_status status = make_runtime(&runtime)) return status;
  *out = runtime;
  return nullptr;
}

}  // namespace strew::jax
