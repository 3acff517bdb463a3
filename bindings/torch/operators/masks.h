// Masks: where they are true, as an index. Tested by tests/torch.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace strew::aten {

/// The places of the elements of a bool tensor that are true, in the order of its dims, as int64 of one dim: without elements if none is.
at::Tensor places_of(const at::Tensor& mask);

/// The same memory with `count` dims, from `first` on, as one. Nothing if no strides say that.
std::optional<at::Tensor> merge_dims(const at::Tensor& tensor, int64_t first, int64_t count);

}  // namespace strew::aten
