// The operators that strew runs, one function for the overloads of each: what it takes, what PyTorch says of a bad index, and the op. Tested by tests/torch.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

#include <optional>

#include "bindings/torch/override.h"
#include "bindings/torch/report.h"

namespace strew::aten {

Reason index_add(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& source,
                 const at::Scalar& alpha);
Reason scatter_add(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& src);
Reason index_put(Target& target, const at::Tensor& self, const c10::List<std::optional<at::Tensor>>& indices,
                 const at::Tensor& values, bool accumulate, bool unsafe);
Reason index_select(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index);

}  // namespace strew::aten
