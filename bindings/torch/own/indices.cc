#include "bindings/torch/own/indices.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/Layout.h>
#include <c10/util/Exception.h>

#include <optional>
#include <string>

#include "bindings/torch/call.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {
void check_index(const char* name, const char* argument, const at::Tensor& index, int64_t dims) {
  const bool is_integer = index.scalar_type() == c10::ScalarType::Long || index.scalar_type() == c10::ScalarType::Int;
  TORCH_CHECK(is_integer && index.dim() == dims, name, "(): expected ", argument, " to be int32 or int64 of ",
              dims == 1 ? "one dim" : "two dims", ", but got ", index.scalar_type(), " of ", index.dim(), " dims");
}

void check_strided(const char* name, const at::Tensor& tensor) {
  const auto refuse = [&](const auto& what) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        false, "strew::", name,
        "(): expected tensors in the CPU's memory that are neither sparse, quantised nor nested, but got ", what);
  };
  if (tensor.is_nested()) refuse("a nested one");
  if (tensor.is_quantized()) refuse("a quantised one");
  if (tensor.layout() != c10::kStrided) refuse(c10::str("one with layout ", tensor.layout()));
  if (!tensor.device().is_cpu() && !tensor.device().is_meta()) refuse(c10::str("one on ", tensor.device()));
}

void check_device(const char* name, const at::Tensor& one, const at::Tensor& other) {
  check_strided(name, one);
  check_strided(name, other);
  TORCH_CHECK(one.device() == other.device(), name, "(): Expected all tensors to be on the same device, but got ", one.device(),
              " and ", other.device());
}

std::optional<int64_t> first_outside(const at::Tensor& index, int64_t least, int64_t end) {
  return each_number(index, [=](int64_t, int64_t number) { return number < least || number >= end; });
}

void require_rows(const at::Tensor& index, int64_t rows) {
  if (const std::optional<int64_t> bad = first_outside(index, 0, rows))
    raise_runtime_error(index[*bad].item<int64_t>(), 0, rows, " (strew: edge " + std::to_string(*bad) + "; nothing was written)");
}

bool is_sorted(const at::Tensor& index) {
  int64_t before = 0;
  const auto falls = [&](int64_t place, int64_t number) {
    const bool is_less = place > 0 && number < before;
    before = number;
    return is_less;
  };
  return !each_number(index, falls);
}

at::Tensor select_rows(const at::Tensor& table, const at::Tensor& numbers) {
  if (plain_all(table, numbers) != Reason::none || table.dim() > static_cast<int64_t>(kMostDims))
    return table.index_select(0, numbers);
  at::DimVector dims(table.sizes().begin(), table.sizes().end());
  dims[0] = numbers.numel();
  at::Tensor rows(at::detail::empty_cpu(dims, table.scalar_type()));
  Tensors tensors;
  tensors.add_result(rows);
  tensors.add_input(table);
  tensors.add_input(numbers);
  Definition what;
  what.form = Form::gather;
  return run(what, tensors, {raise_index_error, 0, table.size(0)}) == Reason::none ? rows : table.index_select(0, numbers);
}

}  // namespace strew::aten
