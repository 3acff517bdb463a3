// Sites of the C interface. Tested by tests/c_api.
#include "bindings/c/compiler/handles.h"

using namespace strew;         // NOLINT(google-build-using-namespace): the definitions below are C's
using namespace strew::c_api;  // NOLINT(google-build-using-namespace)

strew_status strew_site_create(strew_runtime* runtime, strew_site** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(runtime, "runtime"));
    STREW_TRY(check_not_null(out, "out"));
    *out = new strew_site(*runtime->runtime);
    return {};
  });
}

void strew_site_free(strew_site* site) { delete site; }

strew_status strew_site_run(strew_site* site, const strew_prepared* op, const strew_tensor* tensors, size_t tensor_count,
                            const strew_call_options* options) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(site, "site"));
    STREW_TRY(check_not_null(op, "op"));
    STREW_TRY(check_tensors(tensors, tensor_count));
    if (options == nullptr) return site->site.run(op->op, as_views(tensors, tensor_count));
    return with_call_options(
        options, [&](const CallOptions& how) { return site->site.run(op->op, as_views(tensors, tensor_count), how); });
  });
}

strew_status strew_site_run_tensors(strew_site* site, const strew_tensor* tensors, size_t tensor_count, strew_make_op make_op,
                                    void* context, uint64_t variant, const strew_request* request,
                                    const strew_call_options* options) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(site, "site"));
    STREW_TRY(check_not_null(reinterpret_cast<const void*>(make_op), "make_op"));
    STREW_TRY(check_tensors(tensors, tensor_count));
    KernelOptions wanted;  // that the site reads after it has called `make`, and only then
    const auto make = [&]() -> Expected<Op> {
      if (request != nullptr) {
        STREW_ASSIGN(wanted, kernel_options(request));
      }
      strew_op* made = nullptr;
      const std::unique_ptr<strew_failure, void (*)(strew_status)> status(make_op(context, &made), strew_status_free);
      const std::unique_ptr<strew_op> owned(made);
      if (status != nullptr)
        return Status(static_cast<Code>(strew_status_code(status.get())), strew_status_message(status.get()));
      STREW_TRY(check_not_null(made, "make_op: the op"));
      return *made->op;
    };
    const std::span<const TensorView> views = as_views(tensors, tensor_count);
    if (options == nullptr) return site->site.run(views, make, nullptr, variant, wanted);
    return with_call_options(options, [&](const CallOptions& how) { return site->site.run(views, make, how, variant, wanted); });
  });
}
