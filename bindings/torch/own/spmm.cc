#include "bindings/torch/own/spmm.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <utility>

#include "bindings/torch/call.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {
namespace {

bool is_index(const at::Tensor& index) {
  return index.dim() == 1 && (index.scalar_type() == c10::ScalarType::Long || index.scalar_type() == c10::ScalarType::Int);
}

void check_edges(const char* name, const at::Tensor& dst, const at::Tensor& src) {
  TORCH_CHECK(is_index(dst), name, "(): expected dst to be int32 or int64 of one dim, but got ", dst.scalar_type(), " of ",
              dst.dim(), " dims");
  TORCH_CHECK(is_index(src), name, "(): expected src to be int32 or int64 of one dim, but got ", src.scalar_type(), " of ",
              src.dim(), " dims");
  TORCH_CHECK(dst.sym_numel() == src.sym_numel(), name, "(): dst and src have one number per edge each, but got ",
              dst.sym_numel(), " and ", src.sym_numel());
}

void check_spmm(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& table, const std::optional<at::Tensor>& weight) {
  check_edges("spmm", dst, src);
  TORCH_CHECK(table.dim() >= 1, "spmm(): expected table to have rows, but it has no dims");
  TORCH_CHECK(table.is_floating_point(), "spmm(): expected table to be floating point, but got ", table.scalar_type());
  if (!weight) return;
  TORCH_CHECK(weight->dim() == 1 && weight->sym_numel() == dst.sym_numel(),
              "spmm(): expected weight to have one number per edge, ", dst.sym_numel(), ", but its shape is ",
              weight->sym_sizes());
  TORCH_CHECK(weight->scalar_type() == table.scalar_type(), "spmm(): weight and table expected to have the same dtype, but got ",
              weight->scalar_type(), " and ", table.scalar_type());
}

c10::SymDimVector dims_of_spmm(const at::Tensor& table, const c10::SymInt& num_rows) {
  c10::SymDimVector dims(table.sym_sizes().begin(), table.sym_sizes().end());
  dims[0] = num_rows;
  return dims;
}

/// The same in two steps, for what strew has no kernel for. index_add_ rounds sums of 16 bits once if its index is int64.
at::Tensor spmm_in_steps(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& table,
                         const std::optional<at::Tensor>& weight, at::IntArrayRef dims) {
  at::Tensor messages = table.index_select(0, src);
  if (weight) {
    at::DimVector column(static_cast<size_t>(table.dim()), 1);
    column[0] = weight->numel();
    messages = messages.mul(weight->view(column));
  }
  return at::zeros(dims, table.options()).index_add_(0, dst.to(c10::ScalarType::Long), messages);
}

at::Tensor spmm_on_cpu(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& table,
                       const std::optional<at::Tensor>& weight, int64_t num_rows) {
  check_spmm(dst, src, table, weight);
  TORCH_CHECK(num_rows >= 0, "spmm(): expected num_rows of 0 or more, but got ", num_rows);
  at::DimVector dims(table.sizes().begin(), table.sizes().end());
  dims[0] = num_rows;
  const bool is_narrow = is_narrow_float(table.scalar_type());
  Reason reason = plain_all(dst, src, table);
  if (reason == Reason::none && weight) reason = is_narrow ? Reason::dtype : plain(*weight);
  if (reason == Reason::none &&
      (!adds_alike(table.scalar_type()) || table.dim() > static_cast<int64_t>(kMostDims) || num_rows == 0))
    reason = Reason::shape;
  if (reason != Reason::none) return spmm_in_steps(dst, src, table, weight, dims);
  at::Tensor result(at::detail::empty_cpu(dims, table.scalar_type()));
  Tensors tensors;
  tensors.add_result(result);
  tensors.add_input(dst);
  tensors.add_input(table);
  if (weight) tensors.add_input(*weight);
  tensors.add_input(src);
  // As index_add has it: of rows, sums of 16 bits are rounded once.
  const Definition what{Form::scatter_rows, 0, Init::zeros, Combiner::add, is_narrow && table.dim() > 1, false, false, true,
                        weight.has_value()};
  const std::array<int64_t, 2> of_dims{0, 0}, sizes{num_rows, table.size(0)};
  return run(what, tensors, {raise_runtime_error, of_dims, sizes}) == Reason::none ? result
                                                                                   : spmm_in_steps(dst, src, table, weight, dims);
}

at::Tensor spmm_of_meta(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& table,
                        const std::optional<at::Tensor>& weight, c10::SymInt num_rows) {
  check_spmm(dst, src, table, weight);
  return at::empty_symint(dims_of_spmm(table, num_rows), table.options());
}

void check_sddmm(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& lhs, const at::Tensor& rhs) {
  check_edges("sddmm", dst, src);
  TORCH_CHECK(lhs.dim() >= 1 && lhs.dim() == rhs.dim() && lhs.sym_sizes().slice(1) == rhs.sym_sizes().slice(1),
              "sddmm(): expected lhs and rhs to have rows of the same shape, but got ", lhs.sym_sizes(), " and ",
              rhs.sym_sizes());
  TORCH_CHECK(lhs.is_floating_point() && lhs.scalar_type() == rhs.scalar_type(),
              "sddmm(): expected lhs and rhs to be floating point of the same dtype, but got ", lhs.scalar_type(), " and ",
              rhs.scalar_type());
}

at::Tensor sddmm_in_steps(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& lhs, const at::Tensor& rhs) {
  const at::Tensor products = lhs.index_select(0, dst).mul(rhs.index_select(0, src));
  return products.dim() == 1 ? products : products.flatten(1).sum(1);
}

at::Tensor sddmm_on_cpu(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& lhs, const at::Tensor& rhs) {
  check_sddmm(dst, src, lhs, rhs);
  const bool is_wide = lhs.scalar_type() == c10::ScalarType::Float || lhs.scalar_type() == c10::ScalarType::Double;
  if (plain_all(dst, src, lhs, rhs) != Reason::none || !is_wide || lhs.dim() > static_cast<int64_t>(kMostDims))
    return sddmm_in_steps(dst, src, lhs, rhs);
  at::Tensor result(at::detail::empty_cpu({dst.numel()}, lhs.scalar_type()));
  std::array<int64_t, kMostDims> dims, strides{1};
  std::copy(lhs.sizes().begin(), lhs.sizes().end(), dims.begin());
  dims[0] = dst.numel();
  const std::array<int64_t, 2> no_index{dst.numel(), 0}, of_dims{0, 0}, sizes{lhs.size(0), rhs.size(0)};
  Tensors tensors;
  tensors.add_result_view(result, dims.data(), strides.data(), lhs.dim());
  tensors.add_no_index(result, no_index.data());
  tensors.add_input(lhs);
  tensors.add_input(rhs);
  tensors.add_input(dst);
  tensors.add_input(src);
  Definition what;
  what.form = Form::sddmm;
  return run(what, tensors, {raise_runtime_error, of_dims, sizes}) == Reason::none ? result : sddmm_in_steps(dst, src, lhs, rhs);
}

at::Tensor sddmm_of_meta(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& lhs, const at::Tensor& rhs) {
  check_sddmm(dst, src, lhs, rhs);
  return at::empty_symint({dst.sym_numel()}, lhs.options());
}

using Saved = torch::autograd::variable_list;

/// Calls the operator below autograd.
template <class Call>
at::Tensor below_autograd(const Call& call) {
  at::AutoDispatchBelowADInplaceOrView guard;
  return call();
}

struct SpmmWithGradient : torch::autograd::Function<SpmmWithGradient> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& dst, const at::Tensor& src,
                            const at::Tensor& table, const std::optional<at::Tensor>& weight, const c10::SymInt& num_rows) {
    context->save_for_backward({dst, src, weight ? table : at::Tensor(), weight ? *weight : at::Tensor()});
    context->saved_data["rows"] = table.sym_size(0);
    return below_autograd([&] { return spmm(dst, src, table, weight, num_rows); });
  }
  /// The transpose: every edge carries the gradient of its row back.
  static Saved backward(torch::autograd::AutogradContext* context, const Saved& gradients) {
    const Saved saved = context->get_saved_variables();
    const at::Tensor &dst = saved[0], &src = saved[1], &table = saved[2], &weight = saved[3], &gradient = gradients[0];
    Saved result(5);
    if (!gradient.defined()) return result;
    const std::optional<at::Tensor> factors = weight.defined() ? std::optional(weight) : std::nullopt;
    if (context->needs_input_grad(2)) result[2] = spmm(src, dst, gradient, factors, context->saved_data["rows"].toSymInt());
    if (weight.defined() && context->needs_input_grad(3)) result[3] = sddmm(dst, src, gradient, table);
    return result;
  }
};

at::Tensor spmm_with_gradient(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& table,
                              const std::optional<at::Tensor>& weight, c10::SymInt num_rows) {
  check_spmm(dst, src, table, weight);
  return SpmmWithGradient::apply(dst, src, table, weight, num_rows);
}

struct SddmmWithGradient : torch::autograd::Function<SddmmWithGradient> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& dst, const at::Tensor& src,
                            const at::Tensor& lhs, const at::Tensor& rhs) {
    context->save_for_backward({dst, src, lhs, rhs});
    return below_autograd([&] { return sddmm(dst, src, lhs, rhs); });
  }
  static Saved backward(torch::autograd::AutogradContext* context, const Saved& gradients) {
    const Saved saved = context->get_saved_variables();
    const at::Tensor &dst = saved[0], &src = saved[1], &lhs = saved[2], &rhs = saved[3], &gradient = gradients[0];
    Saved result(4);
    if (!gradient.defined()) return result;
    if (context->needs_input_grad(2)) result[2] = spmm(dst, src, rhs, gradient, lhs.sym_size(0));
    if (context->needs_input_grad(3)) result[3] = spmm(src, dst, lhs, gradient, rhs.sym_size(0));
    return result;
  }
};

at::Tensor sddmm_with_gradient(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& lhs, const at::Tensor& rhs) {
  check_sddmm(dst, src, lhs, rhs);
  return SddmmWithGradient::apply(dst, src, lhs, rhs);
}

}  // namespace

at::Tensor spmm(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& table, const std::optional<at::Tensor>& weight,
                c10::SymInt num_rows) {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("strew::spmm", "").typed<decltype(spmm)>();
  return op.call(dst, src, table, weight, std::move(num_rows));
}
at::Tensor sddmm(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& lhs, const at::Tensor& rhs) {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("strew::sddmm", "").typed<decltype(sddmm)>();
  return op.call(dst, src, lhs, rhs);
}

}  // namespace strew::aten

TORCH_LIBRARY(strew, library) {
  library.def("spmm(Tensor dst, Tensor src, Tensor table, Tensor? weight, SymInt num_rows) -> Tensor",
              {at::Tag::pt2_compliant_tag});
  library.def("sddmm(Tensor dst, Tensor src, Tensor lhs, Tensor rhs) -> Tensor", {at::Tag::pt2_compliant_tag});
}
TORCH_LIBRARY_IMPL(strew, CPU, library) {
  library.impl("spmm", TORCH_FN(strew::aten::spmm_on_cpu));
  library.impl("sddmm", TORCH_FN(strew::aten::sddmm_on_cpu));
}
TORCH_LIBRARY_IMPL(strew, Meta, library) {
  library.impl("spmm", TORCH_FN(strew::aten::spmm_of_meta));
  library.impl("sddmm", TORCH_FN(strew::aten::sddmm_of_meta));
}
TORCH_LIBRARY_IMPL(strew, Autograd, library) {
  library.impl("spmm", TORCH_FN(strew::aten::spmm_with_gradient));
  library.impl("sddmm", TORCH_FN(strew::aten::sddmm_with_gradient));
}
