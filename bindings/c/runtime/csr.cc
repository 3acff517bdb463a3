// Sorting of the C interface. Tested by tests/c_api.
#include "strew/csr.h"

#include "bindings/c/runtime/handles.h"

using namespace strew;         // NOLINT(google-build-using-namespace): the definition below is C's
using namespace strew::c_api;  // NOLINT(google-build-using-namespace)

strew_status strew_csr(const strew_tensor* indices, const strew_tensor* offsets, const strew_tensor* permutation,
                       const strew_call_options* options) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(indices, "indices"));
    STREW_TRY(check_not_null(offsets, "offsets"));
    STREW_TRY(check_not_null(permutation, "permutation"));
    return with_call_options(options, [&](const CallOptions& how) {
      return csr(as_views(indices, 1)[0], as_views(offsets, 1)[0], as_views(permutation, 1)[0], how);
    });
  });
}
