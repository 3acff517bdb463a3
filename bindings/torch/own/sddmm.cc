// strew::sddmm: dot products of rows along edges, in one pass. Tested by tests/torch/own_operators_test.py.
#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "bindings/torch/call.h"
#include "bindings/torch/own/gradient.h"
#include "bindings/torch/own/indices.h"
#include "bindings/torch/own/messages.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {
namespace {

void check(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& lhs, const at::Tensor& rhs, int64_t head_dims) {
  check_edges("sddmm", dst, src);
  check_device("sddmm", dst, lhs);
  check_device("sddmm", lhs, rhs);
  TORCH_CHECK(lhs.dim() >= 1 && lhs.dim() == rhs.dim() && lhs.sym_sizes().slice(1) == rhs.sym_sizes().slice(1),
              "sddmm(): expected lhs and rhs to have rows of the same shape, but got ", lhs.sym_sizes(), " and ",
              rhs.sym_sizes());
  TORCH_CHECK(lhs.is_floating_point() && lhs.scalar_type() == rhs.scalar_type(),
              "sddmm(): expected lhs and rhs to be floating point of the same dtype, but got ", lhs.scalar_type(), " and ",
              rhs.scalar_type());
  TORCH_CHECK(head_dims >= 0 && head_dims < lhs.dim(), "sddmm(): expected head_dims from 0 to ", lhs.dim() - 1,
              ", the dims of a row, but got ", head_dims);
}

/// The dims of the result: one number per edge and head.
c10::SymDimVector dims_of_dots(const at::Tensor& dst, const at::Tensor& lhs, int64_t head_dims) {
  c10::SymDimVector dims(lhs.sym_sizes().begin(), lhs.sym_sizes().begin() + 1 + head_dims);
  dims[0] = dst.sym_numel();
  return dims;
}

at::Tensor sddmm_in_steps(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& lhs, const at::Tensor& rhs,
                          int64_t head_dims) {
  require_rows(dst, lhs.size(0));
  require_rows(src, rhs.size(0));
  const at::Tensor products = lhs.index_select(0, dst).mul(rhs.index_select(0, src));
  return products.dim() == head_dims + 1 ? products : products.flatten(head_dims + 1).sum(head_dims + 1);
}

/// Whole rows. Undefined: strew has no kernel for it.
at::Tensor dots(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& lhs, const at::Tensor& rhs) {
  if (plain_all(dst, src, lhs, rhs) != Reason::none || !adds_alike(lhs.scalar_type()) ||
      lhs.dim() > static_cast<int64_t>(kMostDims))
    return {};
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
  return run(what, tensors, {raise_runtime_error, of_dims, sizes}) == Reason::none ? result : at::Tensor();
}

template <class Number>
void number(Number* out, const at::Tensor& index, int64_t heads) {
  each_number(index, [&](int64_t, int64_t row) {
    for (int64_t h = 0; h < heads; ++h) *out++ = static_cast<Number>(row * heads + h);
    return false;
  });
}

/// The numbers of the heads of the rows that an index names, where each head is a row.
at::Tensor number_heads(const at::Tensor& index, int64_t rows, int64_t heads) {
  require_rows(index, rows);
  const bool is_small = rows * heads <= std::numeric_limits<int32_t>::max();
  at::Tensor made(at::detail::empty_cpu({index.numel() * heads}, is_small ? c10::ScalarType::Int : c10::ScalarType::Long));
  if (is_small)
    number(made.mutable_data_ptr<int32_t>(), index, heads);
  else
    number(made.mutable_data_ptr<int64_t>(), index, heads);
  return made;
}

at::Tensor dots_of_heads(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& lhs, const at::Tensor& rhs,
                         int64_t head_dims) {
  const int64_t heads = c10::multiply_integers(lhs.sizes().slice(1, static_cast<size_t>(head_dims)));
  const auto rows_of = [&](const at::Tensor& table) { return table.flatten(0, head_dims); };
  return dots(number_heads(dst, lhs.size(0), heads), number_heads(src, rhs.size(0), heads), rows_of(lhs), rows_of(rhs));
}

at::Tensor sddmm_on_cpu(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& lhs, const at::Tensor& rhs,
                        int64_t head_dims) {
  check(dst, src, lhs, rhs, head_dims);
  at::Tensor result;
  if (head_dims == 0)
    result = dots(dst, src, lhs, rhs);
  else if (head_dims + 1 < lhs.dim() && plain_all(dst, src, lhs, rhs) == Reason::none)
    result = dots_of_heads(dst, src, lhs, rhs, head_dims);
  if (!result.defined()) return sddmm_in_steps(dst, src, lhs, rhs, head_dims);
  return result.view_symint(dims_of_dots(dst, lhs, head_dims));
}

at::Tensor sddmm_of_meta(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& lhs, const at::Tensor& rhs,
                         int64_t head_dims) {
  check(dst, src, lhs, rhs, head_dims);
  return at::empty_symint(dims_of_dots(dst, lhs, head_dims), lhs.options());
}

struct SddmmBackward {
  static constexpr const char* kName = "strew::SddmmBackward";

  static Gradients gradients(const Gradients& of_results, const Kept& kept) {
    Gradients result(2);
    const at::Tensor& gradient = of_results[0];
    if (!gradient.defined()) return result;
    const at::Tensor dst = kept.tensors[0], src = kept.tensors[1], lhs = kept.tensors[2], rhs = kept.tensors[3];
    if (kept.needed[0]) result[0] = spmm(dst, src, rhs, gradient, kept.sizes[0], "sum");
    if (kept.needed[1]) result[1] = spmm(src, dst, lhs, gradient, kept.sizes[1], "sum");
    return result;
  }
};

at::Tensor sddmm_with_gradient(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& lhs, const at::Tensor& rhs,
                               int64_t head_dims) {
  check(dst, src, lhs, rhs, head_dims);
  const OwnedNode node = node_of<SddmmBackward>(
      [&](GradientNode<SddmmBackward>& made) {
        made.sizes = {lhs.sym_size(0), rhs.sym_size(0)};
        made.keep({dst, src, lhs, rhs});
      },
      lhs, rhs);
  at::Tensor result = below_autograd([&] { return sddmm(dst, src, lhs, rhs, head_dims); });
  if (node) torch::autograd::set_history(result, node);
  const at::Tensor of_lhs = tangent_of(lhs), of_rhs = tangent_of(rhs);
  at::Tensor tangent;
  if (of_lhs.defined()) tangent = sddmm(dst, src, of_lhs, primal_of(rhs), head_dims);
  if (of_rhs.defined()) tangent = sum_of(tangent, sddmm(dst, src, primal_of(lhs), of_rhs, head_dims));
  if (tangent.defined()) result._set_fw_grad(tangent, /*level=*/0, /*is_inplace_op=*/false);
  return result;
}

at::Tensor sddmm_in_autocast(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& lhs, const at::Tensor& rhs,
                             int64_t head_dims) {
  return below_autocast([&] {
    const c10::ScalarType wider = c10::promoteTypes(lhs.scalar_type(), rhs.scalar_type());
    return sddmm(dst, src, lhs.to(wider), rhs.to(wider), head_dims);
  });
}

}  // namespace

at::Tensor sddmm(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& lhs, const at::Tensor& rhs, int64_t head_dims) {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("strew::sddmm", "").typed<decltype(sddmm)>();
  return op.call(dst, src, lhs, rhs, head_dims);
}

}  // namespace strew::aten

TORCH_LIBRARY_FRAGMENT(strew, library) {
  library.def("sddmm(Tensor dst, Tensor src, Tensor lhs, Tensor rhs, int head_dims=0) -> Tensor", {at::Tag::pt2_compliant_tag});
}
TORCH_LIBRARY_IMPL(strew, CPU, library) { library.impl("sddmm", TORCH_FN(strew::aten::sddmm_on_cpu)); }
TORCH_LIBRARY_IMPL(strew, Meta, library) { library.impl("sddmm", TORCH_FN(strew::aten::sddmm_of_meta)); }
TORCH_LIBRARY_IMPL(strew, AutocastCPU, library) { library.impl("sddmm", TORCH_FN(strew::aten::sddmm_in_autocast)); }
TORCH_LIBRARY_IMPL(strew, Autograd, library) { library.impl("sddmm", TORCH_FN(strew::aten::sddmm_with_gradient)); }
