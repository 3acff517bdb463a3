// Which of PyTorch's tensors strew's kernels may be given. Whatever is not proven here goes to PyTorch's own kernel. Tested by tests/torch.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "bindings/torch/report.h"
#include "strew/strew_rt.h"

namespace strew::aten {

/// Null for what strew has no dtype for.
std::optional<strew_dtype> dtype_of(c10::ScalarType dtype);

/// Whether the elements lie in the CPU's memory as sizes and strides say, nobody above the CPU's key has a say in them, and there is at least one. `may_be_scalar`: a
/// tensor without dims is one, too.
Reason plain(const at::Tensor& tensor, bool may_be_scalar = false);
/// The first reason against these.
template <class... Rest>
Reason plain_all(const at::Tensor& first, const Rest&... rest) {
  Reason reason = plain(first);
  ((reason = reason == Reason::none ? plain(rest) : reason), ...);
  return reason;
}

/// Whether the tensor is sparse (COO), in the CPU's memory, and nobody above its key has a say in it.
bool is_plain_sparse(const at::Tensor& tensor);

/// Whether PyTorch moves elements of this dtype by all of its indexed operators.
bool moves_alike(c10::ScalarType dtype);
/// Whether sums of this dtype have PyTorch's bits: not those of bool, nor of what PyTorch does not add.
bool adds_alike(c10::ScalarType dtype);
/// Whether PyTorch's scatter_add and others add it in float32, and round once.
bool is_narrow_float(c10::ScalarType dtype);

/// Whether no two elements share memory.
bool elements_apart(const at::Tensor& tensor);
/// Whether no element of one lies in the memory between the first and the last element of the other.
bool apart(const at::Tensor& one, const at::Tensor& other);

/// Whether they are the same elements in the same order.
bool same_view(const at::Tensor& one, const at::Tensor& other);

/// A tensor without dims that holds the value.
at::Tensor value_of(c10::ScalarType dtype, const c10::Scalar& value);
/// Whether the dtype, a float of 16 bits, has the value or one near it. PyTorch's kernels raise where it has not.
bool fits_narrow(c10::ScalarType dtype, const c10::Scalar& value);

/// The dim as counted from 0, or nothing if there is none of this number.
std::optional<int64_t> dim_of(const at::Tensor& tensor, int64_t dim);

}  // namespace strew::aten
