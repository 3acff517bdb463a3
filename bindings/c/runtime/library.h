// The kernels of an opened kernel library, for the files that call them. Tested by tests/library.
#pragma once

#include <cstdint>

#include "bindings/c/runtime/handles.h"
#include "strew/library.h"

namespace strew::inline v0::c_api {

/// The kernel of that number, which its first call opens. The context owns it. Fails if there is no such kernel, if this machine can run none of its
/// variants, or if `context` is null.
Expected<strew_kernel_ref*> kernel_in(const strew_context* context, uint32_t number);

}  // namespace strew::inline v0::c_api
