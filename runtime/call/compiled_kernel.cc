// CompiledKernel is a Callable, which it hides, and the process's executor. Tested by tests/runtime_only and
// tests/unit/runtime/call/compiled_kernel_test.cc.
#include "strew/compiled_kernel.h"

#include <utility>

#include "runtime/call/bind.h"
#include "runtime/call/callable.h"
#include "runtime/call/run_many.h"

namespace strew::inline v0 {

Expected<CompiledKernel> CompiledKernel::make(const strew_kernel& kernel, int threads, std::shared_ptr<Executor> executor) {
  if (executor == nullptr) executor = process_executor();
  STREW_ASSIGN(std::unique_ptr<const Callable> callable, Callable::make(kernel, std::move(executor), threads));
  return CompiledKernel(std::move(callable));
}

Status CompiledKernel::run(std::span<const TensorView> tensors, BadIndex* bad_index) const {
  return callable_->run(tensors, bad_index);
}

Status CompiledKernel::run(std::span<const TensorView> tensors, const CallOptions& options) const {
  return callable_->run(tensors, options);
}

Status CompiledKernel::run_many(std::span<const TensorView> shapes, std::span<void* const> data,
                                const CallOptions& options) const {
  return strew::run_many(*callable_, shapes, data, options);
}

Status CompiledKernel::run_by_name(std::span<const NamedTensor> tensors, BadIndex* bad_index) const {
  STREW_ASSIGN(const std::vector<TensorView> views, in_binding_order(callable_->kernel, tensors));
  return callable_->run(views, bad_index);
}

const strew_kernel& CompiledKernel::descriptor() const { return callable_->kernel; }

}  // namespace strew::inline v0
