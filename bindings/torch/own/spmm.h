// Operators of strew's own, in PyTorch's namespace `strew`: messages along edges, and their gradients. Tested by tests/torch.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace strew::aten {

/// result[dst[e], ...] += table[src[e], ...] * weight[e], in the order of e, from zeros. `dst`, `src`: i32 or i64 [E]; `table`: [R, ...]; `weight`: [E] of the
/// table's dtype, or none. The result has [num_rows, ...]. An index that is out of bounds raises RuntimeError.
at::Tensor spmm(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& table, const std::optional<at::Tensor>& weight,
                c10::SymInt num_rows);
/// result[e] = the sum over the features of lhs[dst[e], ...] * rhs[src[e], ...].
at::Tensor sddmm(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& lhs, const at::Tensor& rhs);

}  // namespace strew::aten
