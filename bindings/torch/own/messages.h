// Messages along edges, in strew's own operators of PyTorch: rows of a table that are looked up, perhaps weighted, and combined in the rows of a result. Tested by
// tests/torch/own_operators_test.py.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "bindings/torch/call.h"
#include "bindings/torch/report.h"

namespace strew::aten {

/// result[dst[e], ...] = result[dst[e], ...] combined with table[src[e], ...] * weight[e], in the order of e. `dst`, `src`: i32 or i64 [E]; `table`: [R, ...]; `weight`: [E], or
/// [E, H, ...] with the first dims of a row, of the table's dtype or, if that has 16 bits, float32; or none. An index that is out of bounds raises RuntimeError.
struct Messages {
  const char* name;  ///< of the operator
  const at::Tensor& dst;
  const at::Tensor& src;
  const at::Tensor& table;
  const std::optional<at::Tensor>& weight;
  const c10::SymInt& num_rows;
};

void check_edges(const char* name, const at::Tensor& dst, const at::Tensor& src);
void check_messages(const Messages& given);
c10::SymDimVector dims_of_result(const Messages& given);

/// The dtype that messages are combined in: 16 bits with weights are float32.
c10::ScalarType combined_dtype(const Messages& given);
/// Combines messages in `result`, of combined_dtype or, where each sum of 16 bits is rounded once, of the table's. `arg`: null, or receives the numbers of the
/// edges that a maximum or minimum is from, -1 for none. Whatever is not Reason::none left both as they were.
Reason combine(const Messages& given, Combiner combiner, const at::Tensor& result, const at::Tensor* arg);
/// Messages of rows that have more dims than an op may have, with at most three: those that the weights have, and the others.
struct FewDims {
  at::Tensor table;
  std::optional<at::Tensor> weight;
};
std::optional<FewDims> few_dims(const Messages& given);
/// The messages themselves, by PyTorch's own operators. With gradients of the table and the weights.
at::Tensor messages_of(const Messages& given);
/// Under autocast: both in the wider of their dtypes, unless the operators take them as they are. No dtype is lowered.
struct Promoted {
  at::Tensor table;
  std::optional<at::Tensor> weight;
};
Promoted promote(const at::Tensor& table, const std::optional<at::Tensor>& weight);
/// The weights as a tensor that is broadcast to the messages.
at::Tensor weights_of_messages(const at::Tensor& weight, int64_t rank);

/// result[dst[e], ...] += table[src[e], ...] * weight[e], from zeros; `reduce`: "sum", or "mean".
at::Tensor spmm(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& table, const std::optional<at::Tensor>& weight,
                c10::SymInt num_rows, std::string_view reduce);
/// result[e, h...] = the sum over the other features of lhs[dst[e], h..., ...] * rhs[src[e], h..., ...], where h are the first `head_dims` dims of a row.
at::Tensor sddmm(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& lhs, const at::Tensor& rhs, int64_t head_dims);

}  // namespace strew::aten
