// Kernels of the C interface: opening the descriptor of an object, and calls. Tested by tests/c_api.
#include "bindings/c/runtime/handles.h"
#include "runtime/call/bind.h"
#include "runtime/call/run_many.h"

namespace strew::inline v0::c_api {
namespace {

/// A kernel with its descriptor.
struct OpenedKernel final : strew_kernel_ref {
  OpenedKernel(std::shared_ptr<const strew_kernel> kernel, std::unique_ptr<const Callable> made)
      : strew_kernel_ref(*made, true), descriptor(std::move(kernel)), owned(std::move(made)) {}
  std::shared_ptr<const strew_kernel> descriptor;
  std::unique_ptr<const Callable> owned;
};

}  // namespace

Expected<strew_kernel_ref*> make_opened_kernel(std::shared_ptr<const strew_kernel> kernel, int threads,
                                               std::shared_ptr<Executor> executor) {
  STREW_ASSIGN(std::unique_ptr<const Callable> callable, Callable::make(*kernel, std::move(executor), threads));
  return new OpenedKernel(std::move(kernel), std::move(callable));
}

}  // namespace strew::inline v0::c_api

using namespace strew;         // NOLINT(google-build-using-namespace): the definitions below are C's
using namespace strew::c_api;  // NOLINT(google-build-using-namespace)

strew_status strew_kernel_open(const strew_kernel* kernel, int32_t threads, const strew_executor* executor,
                               strew_kernel_ref** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(kernel, "kernel"));
    STREW_TRY(check_not_null(out, "out"));
    const std::shared_ptr<const strew_kernel> linked(kernel, [](const strew_kernel*) {});
    STREW_ASSIGN(*out, make_opened_kernel(linked, threads, executor_of(executor)));
    return {};
  });
}

strew_kernel_ref* strew_kernel_retain(strew_kernel_ref* kernel) {
  if (kernel != nullptr) kernel->owners.fetch_add(1, std::memory_order_relaxed);
  return kernel;
}
void strew_kernel_release(strew_kernel_ref* kernel) {
  if (kernel != nullptr && kernel->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete kernel;
}

const strew_kernel* strew_kernel_descriptor(const strew_kernel_ref* kernel) {
  return kernel != nullptr ? &kernel->current().callable->kernel : nullptr;
}
int32_t strew_kernel_threads(const strew_kernel_ref* kernel) { return kernel != nullptr ? kernel->callable->threads : 0; }

strew_status strew_kernel_run(const strew_kernel_ref* kernel, const strew_tensor* tensors, size_t tensor_count,
                              const strew_call_options* options) {
  return guarded([&]() -> Status {
    if (kernel != nullptr && kernel->is_plain && tensors != nullptr && options == nullptr)
      return kernel->callable->run(as_views(tensors, tensor_count));
    STREW_TRY(check_not_null(kernel, "kernel"));
    STREW_TRY(check_tensors(tensors, tensor_count));
    return with_call_options(options, [&](const CallOptions& how) { return kernel->run(as_views(tensors, tensor_count), how); });
  });
}

strew_status strew_kernel_run_named(const strew_kernel_ref* kernel, const strew_named_tensor* tensors, size_t tensor_count,
                                    const strew_call_options* options) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(kernel, "kernel"));
    STREW_TRY(check_tensors(tensors, tensor_count));
    std::vector<NamedTensor> named;
    for (size_t i = 0; i < tensor_count; ++i) {
      STREW_TRY(check_not_null(tensors[i].name, ("tensors[" + std::to_string(i) + "].name").c_str()));
      named.push_back({tensors[i].name, as_views(&tensors[i].tensor, 1)[0]});
    }
    STREW_ASSIGN(const std::vector<TensorView> views, in_binding_order(kernel->callable->kernel, named));
    return with_call_options(options, [&](const CallOptions& how) { return kernel->run(views, how); });
  });
}

strew_status strew_kernel_run_many(const strew_kernel_ref* kernel, const strew_tensor* shapes, size_t tensor_count,
                                   void* const* data, size_t call_count, const strew_call_options* options) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(kernel, "kernel"));
    STREW_TRY(check_tensors(shapes, tensor_count));
    if (call_count != 0) STREW_TRY(check_not_null(data, "data"));
    const std::span<const TensorView> views = as_views(shapes, tensor_count);
    const std::span<void* const> addresses(data, tensor_count * call_count);
    return with_call_options(options, [&](const CallOptions& how) {
      return kernel->is_plain ? run_many(*kernel->callable, views, addresses, how)
                              : kernel->run_many_otherwise(views, addresses, how);
    });
  });
}

strew_status strew_run_batch(const strew_kernel_call* calls, size_t call_count, const strew_call_options* options) {
  return guarded([&]() -> Status {
    if (call_count != 0) STREW_TRY(check_not_null(calls, "calls"));
    std::vector<BatchCall> batch;
    bool is_plain = true;
    for (size_t c = 0; c < call_count; ++c) {
      const auto in_call = [c](const Status& status) { return status.with_prefix("call " + std::to_string(c)); };
      STREW_TRY(in_call(check_not_null(calls[c].kernel, "kernel")));
      STREW_TRY(in_call(check_tensors(calls[c].tensors, calls[c].tensor_count)));
      const strew_kernel_ref::Current now = calls[c].kernel->current();
      batch.push_back({now.callable, as_views(calls[c].tensors, calls[c].tensor_count)});
      is_plain = is_plain && now.is_plain;
    }
    return with_call_options(options, [&](const CallOptions& how) {
      if (is_plain) return run_batch(batch, how);
      return run_one_by_one(batch, how, [&](size_t c) { return calls[c].kernel->run(batch[c].tensors, how); });
    });
  });
}
