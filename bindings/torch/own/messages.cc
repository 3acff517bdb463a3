#include "bindings/torch/own/messages.h"

#include <ATen/ops/arange.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <array>
#include <memory>

#include "bindings/torch/own/edge_order.h"
#include "bindings/torch/own/indices.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {
namespace {

/// Whether weights of the one dtype are for tables of the other one, though they differ.
bool is_wider_weight(c10::ScalarType weight, c10::ScalarType table) {
  return weight == c10::ScalarType::Float && is_narrow_float(table);
}

/// Null if they are summed as they come.
std::shared_ptr<const EdgeOrder> order_of(const Messages& given, int64_t num_rows) {
  const at::Tensor& table = given.table;
  const int64_t row_bytes = table.numel() / table.size(0) * static_cast<int64_t>(table.element_size());
  const int64_t moved = given.weight ? static_cast<int64_t>(given.weight->nbytes()) / given.dst.numel() : 0;
  return known_order({given.dst, given.src}, {num_rows, table.size(0)}, row_bytes, moved);
}

}  // namespace

void check_edges(const char* name, const at::Tensor& dst, const at::Tensor& src) {
  check_index(name, "dst", dst);
  check_index(name, "src", src);
  check_device(name, dst, src);
  TORCH_CHECK(dst.sym_numel() == src.sym_numel(), name, "(): dst and src have one number per edge each, but got ",
              dst.sym_numel(), " and ", src.sym_numel());
}

void check_messages(const Messages& given) {
  const at::Tensor& table = given.table;
  check_edges(given.name, given.dst, given.src);
  check_device(given.name, given.dst, table);
  TORCH_CHECK(table.dim() >= 1, given.name, "(): expected table to have rows, but it has no dims");
  TORCH_CHECK(table.is_floating_point(), given.name, "(): expected table to be floating point, but got ", table.scalar_type());
  TORCH_CHECK(given.num_rows.is_symbolic() || given.num_rows >= 0, given.name, "(): expected num_rows of 0 or more, but got ",
              given.num_rows);
  if (!given.weight) return;
  const at::Tensor& weight = *given.weight;
  check_device(given.name, table, weight);
  const bool fits = weight.dim() >= 1 && weight.dim() <= table.dim() && weight.sym_size(0) == given.dst.sym_numel() &&
                    weight.sym_sizes().slice(1) == table.sym_sizes().slice(1, static_cast<size_t>(weight.dim()) - 1);
  TORCH_CHECK(fits, given.name, "(): expected weight to have one number per edge, ", given.dst.sym_numel(),
              ", or one for each of the first features of a row of ", table.sym_sizes(), ", but its shape is ",
              weight.sym_sizes());
  const bool is_wider = is_wider_weight(weight.scalar_type(), table.scalar_type());
  TORCH_CHECK(weight.scalar_type() == table.scalar_type() || is_wider, given.name,
              "(): weight and table expected to have the same dtype, or weight to be Float and table Half or BFloat16, but got ",
              weight.scalar_type(), " and ", table.scalar_type());
}

c10::SymDimVector dims_of_result(const Messages& given) {
  c10::SymDimVector dims(given.table.sym_sizes().begin(), given.table.sym_sizes().end());
  dims[0] = given.num_rows;
  return dims;
}

c10::ScalarType combined_dtype(const Messages& given) {
  const c10::ScalarType dtype = given.table.scalar_type();
  return given.weight && is_narrow_float(dtype) ? c10::ScalarType::Float : dtype;
}

Reason combine(const Messages& given, Combiner combiner, const at::Tensor& result, const at::Tensor* arg) {
  const at::Tensor& table = given.table;
  Reason reason = plain_all(given.dst, given.src, table, result);
  if (reason == Reason::none && given.weight) reason = plain(*given.weight);
  if (reason != Reason::none) return reason;
  if (!adds_alike(table.scalar_type())) return Reason::dtype;
  if (table.dim() >= static_cast<int64_t>(kMostDims)) return Reason::shape;
  Definition what;
  what.is_sorted = table.dim() > 1 && is_sorted(given.dst);  // of single elements, looking takes as long as what it saves
  const std::shared_ptr<const EdgeOrder> order = what.is_sorted ? nullptr : order_of(given, result.size(0));
  what.is_sorted = what.is_sorted || order != nullptr;
  const at::Tensor dst = order ? order->sorted[0] : given.dst, src = order ? order->sorted[1] : given.src;
  std::array<int64_t, kMostDims> dims, strides{}, strides_of_numbers{1};
  std::copy(table.sizes().begin(), table.sizes().end(), dims.begin());
  dims[0] = dst.numel();
  at::Tensor numbers, weight;
  Tensors tensors;
  tensors.add_result(result);
  if (arg != nullptr) tensors.add_result(*arg);
  tensors.add_input(dst);
  tensors.add_input(table);
  if (arg != nullptr) {
    numbers = order ? order->order : at::arange(dst.numel(), arg->options());
    tensors.add_view(numbers, dims.data(), strides_of_numbers.data(), table.dim());
  }
  if (given.weight) {
    weight = order ? select_rows(*given.weight, order->order) : *given.weight;
    what.factor = weight.dim() == 1 ? Factor::per_position : Factor::per_element;
    std::copy(weight.strides().begin(), weight.strides().end(), strides.begin());
    tensors.add_view(weight, dims.data(), strides.data(), weight.dim() == 1 ? 1 : table.dim());
  }
  tensors.add_input(src);
  what.init = Init::zeros;
  what.combiner = combiner;
  what.looks_up = true;
  what.returns_arg = arg != nullptr;
  // As index_add has it: of rows, sums of 16 bits are rounded once.
  what.accumulates_wide = combiner == Combiner::add && is_narrow_float(result.scalar_type()) && table.dim() > 1;
  const std::array<int64_t, 2> of_dims{0, 0}, sizes{result.size(0), table.size(0)};
  return run(what, tensors, {raise_runtime_error, of_dims, sizes});
}

std::optional<FewDims> few_dims(const Messages& given) {
  const at::Tensor& table = given.table;
  if (table.dim() < static_cast<int64_t>(kMostDims)) return std::nullopt;
  const size_t weighted = given.weight ? static_cast<size_t>(given.weight->dim()) : 1;
  const at::IntArrayRef dims = table.sizes();
  const int64_t heads = c10::multiply_integers(dims.slice(1, weighted - 1));
  const int64_t features = c10::multiply_integers(dims.slice(weighted));
  FewDims few{table.reshape({dims[0], heads, features}), std::nullopt};
  if (given.weight) few.weight = given.weight->reshape({given.weight->size(0), heads});
  return few;
}

Promoted promote(const at::Tensor& table, const std::optional<at::Tensor>& weight) {
  if (!weight || !table.is_floating_point() || !weight->is_floating_point() ||
      is_wider_weight(weight->scalar_type(), table.scalar_type()))
    return {table, weight};
  const c10::ScalarType wider = c10::promoteTypes(table.scalar_type(), weight->scalar_type());
  return {table.to(wider), weight->to(wider)};
}

at::Tensor weights_of_messages(const at::Tensor& weight, int64_t rank) {
  c10::SymDimVector dims(weight.sym_sizes().begin(), weight.sym_sizes().end());
  dims.resize(static_cast<size_t>(rank), 1);
  return weight.view_symint(dims);
}

at::Tensor messages_of(const Messages& given) {
  const at::Tensor rows = given.table.index_select(0, given.src);
  if (!given.weight) return rows;
  return rows.to(given.weight->scalar_type()).mul(weights_of_messages(*given.weight, rows.dim()));
}

}  // namespace strew::aten
