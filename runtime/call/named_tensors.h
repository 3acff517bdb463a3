// Binding by name: puts tensors that are given with the names of their slots into the order in which a kernel takes them.
#pragma once

#include <span>
#include <vector>

#include "strew/abi.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

/// The views in the order of kernel.tensors. A tensor that is the only one of its role may be named by the role alone ("updates" for
/// "updates 0"). Fails if a name is unknown, missing or given twice; the message lists the names that the kernel takes.
Expected<std::vector<TensorView>> in_binding_order(const strew_kernel& kernel, std::span<const NamedTensor> tensors);

}  // namespace strew::inline v0
