// strew::spmm_extremum: maxima and minima of messages along edges in one pass, and the edges that they are from. Tested by tests/torch/own_operators_test.py.
#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "bindings/torch/call.h"
#include "bindings/torch/own/gradient.h"
#include "bindings/torch/own/indices.h"
#include "bindings/torch/own/messages.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {
namespace {

using Pair = std::tuple<at::Tensor, at::Tensor>;

Pair spmm_extremum(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& table, const std::optional<at::Tensor>& weight,
                   c10::SymInt num_rows, std::string_view reduce) {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("strew::spmm_extremum", "").typed<decltype(spmm_extremum)>();
  return op.call(dst, src, table, weight, std::move(num_rows), reduce);
}

void check(const Messages& given, std::string_view reduce) {
  TORCH_CHECK(reduce == "amax" || reduce == "amin", "spmm_extremum(): expected reduce of \"amax\" or \"amin\", but got \"",
              reduce, "\"");
  check_messages(given);
}

/// By PyTorch's own operators, for what strew has no kernel for: the first edge whose message is the extremum.
Pair extremum_in_steps(const Messages& given, at::IntArrayRef dims, bool is_max) {
  require_rows(given.dst, dims[0]);
  require_rows(given.src, given.table.size(0));
  const at::Tensor messages = messages_of(given).detach(), dst = given.dst.to(c10::ScalarType::Long);
  const double least = is_max ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  at::DimVector column(static_cast<size_t>(messages.dim()), 1);
  column[0] = dst.numel();
  const at::Tensor index = dst.view(column).expand_as(messages);
  const at::Tensor result =
      at::full(dims, least, messages.options()).scatter_reduce_(0, index, messages, is_max ? "amax" : "amin");
  const at::Tensor own = result.index_select(0, dst);
  const at::Tensor wins = messages.eq(own).logical_or(messages.ne(messages));
  const int64_t none = dst.numel();
  const at::Tensor edges = at::arange(none, dst.options()).view(column).expand_as(messages).masked_fill(wins.logical_not(), none);
  at::Tensor arg = at::full(dims, none, dst.options()).scatter_reduce_(0, index, edges, "amin");
  const at::Tensor is_empty = arg.eq(none);
  return {result.masked_fill_(is_empty, 0).to(given.table.scalar_type()), arg.masked_fill_(is_empty, -1)};
}

Pair extremum_on_cpu(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& table,
                     const std::optional<at::Tensor>& weight, c10::SymInt num_rows, std::string_view reduce) {
  const Messages given{"spmm_extremum", dst, src, table, weight, num_rows};
  check(given, reduce);
  const bool is_max = reduce == "amax";
  at::DimVector dims(table.sizes().begin(), table.sizes().end());
  dims[0] = num_rows.expect_int();
  if (const std::optional<FewDims> few = few_dims(given)) {
    const auto [values, arg] = extremum_on_cpu(dst, src, few->table, few->weight, num_rows, reduce);
    return {values.view(dims), arg.view(dims)};
  }
  if (dims[0] == 0) return extremum_in_steps(given, dims, is_max);
  const at::Tensor result(at::detail::empty_cpu(dims, combined_dtype(given)));
  const at::Tensor arg(at::detail::empty_cpu(dims, c10::ScalarType::Long));
  if (combine(given, is_max ? Combiner::max : Combiner::min, result, &arg) != Reason::none)
    return extremum_in_steps(given, dims, is_max);
  return {result.masked_fill_(arg.lt(0), 0).to(table.scalar_type()), arg};
}

Pair extremum_of_meta(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& table,
                      const std::optional<at::Tensor>& weight, c10::SymInt num_rows, std::string_view reduce) {
  const Messages given{"spmm_extremum", dst, src, table, weight, num_rows};
  check(given, reduce);
  const at::Tensor values = at::empty_symint(dims_of_result(given), table.options());
  return {values, at::empty_symint(dims_of_result(given), table.options().dtype(c10::ScalarType::Long))};
}

/// Of each element of the result: the row of the table that it is from, and which of the weights.
struct Winners {
  Winners(const at::Tensor& src, const at::Tensor& weight, const at::Tensor& arg) : is_any(arg.ge(0)), edge(arg.clamp_min(0)) {
    row = src.to(c10::ScalarType::Long).index_select(0, edge.flatten()).view_symint(edge.sym_sizes());
    if (!weight.defined()) return;
    const c10::SymInt heads = c10::multiply_integers(weight.sym_sizes().slice(1));
    c10::SymDimVector dims(edge.sym_sizes().begin(), edge.sym_sizes().end());
    for (size_t d = static_cast<size_t>(weight.dim()); d < dims.size(); ++d) dims[d] = 1;
    dims[0] = 1;
    factor = edge.mul(heads).add(at::arange(heads, edge.options()).view_symint(dims)).flatten();
  }
  at::Tensor is_any, edge, row, factor;
};

/// Each element's gradient goes to the first message that has its value. By PyTorch's operators, which have derivatives of their own.
struct SpmmExtremumBackward {
  static constexpr const char* kName = "strew::SpmmExtremumBackward";

  static Gradients gradients(const Gradients& of_results, const Kept& kept) {
    Gradients result(2);
    if (!of_results[0].defined()) return result;
    const at::Tensor src = kept.tensors[0], table = kept.tensors[1], weight = kept.tensors[2];
    if (src.sym_numel() == 0) {  // nobody won
      c10::SymDimVector dims(of_results[0].sym_sizes().begin(), of_results[0].sym_sizes().end());
      dims[0] = kept.sizes[0];
      if (kept.needed[0]) result[0] = at::zeros_symint(dims, of_results[0].options());
      if (kept.needed[1]) result[1] = at::zeros_like(weight);
      return result;
    }
    const Winners winners(src, weight, kept.tensors[3]);
    const at::Tensor gradient = of_results[0].masked_fill(winners.is_any.logical_not(), 0);
    if (kept.needed[0]) {
      c10::SymDimVector dims(gradient.sym_sizes().begin(), gradient.sym_sizes().end());
      dims[0] = kept.sizes[0];
      at::Tensor weighted = gradient;
      if (weight.defined()) {
        const at::Tensor factors = weight.flatten().index_select(0, winners.factor).view_symint(gradient.sym_sizes());
        weighted = gradient.to(weight.scalar_type()).mul(factors).to(gradient.scalar_type());
      }
      result[0] = at::zeros_symint(dims, gradient.options()).scatter_add(0, winners.row, weighted);
    }
    if (kept.needed[1]) {
      const c10::ScalarType dtype = weight.scalar_type();
      const at::Tensor products = gradient.to(dtype).mul(table.gather(0, winners.row).to(dtype)).flatten();
      const at::Tensor zeros = at::zeros_symint({weight.sym_numel()}, products.options());
      result[1] = zeros.index_add(0, winners.factor, products).view_symint(weight.sym_sizes());
    }
    return result;
  }
};

Pair extremum_with_gradient(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& table,
                            const std::optional<at::Tensor>& weight, c10::SymInt num_rows, std::string_view reduce) {
  check({"spmm_extremum", dst, src, table, weight, num_rows}, reduce);
  TORCH_CHECK_NOT_IMPLEMENTED(!torch::autograd::isFwGradDefined(table) && !torch::autograd::isFwGradDefined(weight),
                              "Trying to use forward AD with strew::spmm_extremum that does not support it");
  Pair result = below_autograd([&] { return spmm_extremum(dst, src, table, weight, num_rows, reduce); });
  const at::Tensor none;
  const OwnedNode node = node_of<SpmmExtremumBackward>(
      [&](GradientNode<SpmmExtremumBackward>& made) {
        made.sizes = {table.sym_size(0)};
        made.keep({src, weight && weight->requires_grad() ? table : none, weight ? *weight : none, std::get<1>(result)});
      },
      table, weight);
  if (node) torch::autograd::set_history(std::get<0>(result), node);
  return result;
}

Pair extremum_in_autocast(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& table,
                          const std::optional<at::Tensor>& weight, c10::SymInt num_rows, std::string_view reduce) {
  return below_autocast([&] {
    const Promoted given = promote(table, weight);
    return spmm_extremum(dst, src, given.table, given.weight, num_rows, reduce);
  });
}

}  // namespace
}  // namespace strew::aten

TORCH_LIBRARY_FRAGMENT(strew, library) {
  library.def(
      "spmm_extremum(Tensor dst, Tensor src, Tensor table, Tensor? weight, SymInt num_rows, str reduce) -> (Tensor, Tensor)",
      {at::Tag::pt2_compliant_tag});
}
TORCH_LIBRARY_IMPL(strew, CPU, library) { library.impl("spmm_extremum", TORCH_FN(strew::aten::extremum_on_cpu)); }
TORCH_LIBRARY_IMPL(strew, Meta, library) { library.impl("spmm_extremum", TORCH_FN(strew::aten::extremum_of_meta)); }
TORCH_LIBRARY_IMPL(strew, AutocastCPU, library) { library.impl("spmm_extremum", TORCH_FN(strew::aten::extremum_in_autocast)); }
TORCH_LIBRARY_IMPL(strew, Autograd, library) { library.impl("spmm_extremum", TORCH_FN(strew::aten::extremum_with_gradient)); }
