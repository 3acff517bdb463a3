// strew::spmm: sums and means of messages along edges, in one pass. Tested by tests/torch/own_operators_test.py.
#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bindings/torch/call.h"
#include "bindings/torch/own/gradient.h"
#include "bindings/torch/own/indices.h"
#include "bindings/torch/own/messages.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {
namespace {

void check(const Messages& given, std::string_view reduce) {
  TORCH_CHECK(reduce == "sum" || reduce == "mean", "spmm(): expected reduce of \"sum\" or \"mean\", but got \"", reduce, "\"");
  check_messages(given);
}

/// The number of edges of each row, at least 1, in the shape that divides the rows.
at::Tensor divisors(const at::Tensor& dst, const c10::SymInt& num_rows, const at::Tensor& rows) {
  const at::Tensor one = at::ones({}, dst.options().dtype(c10::ScalarType::Long)).expand_symint(dst.sym_sizes());
  const at::Tensor counts = at::zeros_symint({num_rows}, one.options()).index_add(0, dst, one).clamp_min(1);
  return weights_of_messages(counts.to(rows.scalar_type()), rows.dim());
}

/// The same in two steps, for what strew has no kernel for. index_add_ rounds sums of 16 bits once if its index is int64.
at::Tensor sums_in_steps(const Messages& given, at::IntArrayRef dims) {
  require_rows(given.dst, dims[0]);
  require_rows(given.src, given.table.size(0));
  const at::Tensor messages = messages_of(given);
  const at::Tensor sums = at::zeros(dims, messages.options()).index_add_(0, given.dst.to(c10::ScalarType::Long), messages);
  return sums.to(given.table.scalar_type());
}

at::Tensor sums(const Messages& given, at::IntArrayRef dims) {
  const at::Tensor& table = given.table;
  // In one dim, PyTorch rounds each sum of 16 bits.
  const bool rounds_each = given.weight && table.dim() == 1 && given.weight->scalar_type() == table.scalar_type();
  if (dims[0] == 0 || (rounds_each && is_narrow_float(table.scalar_type()))) return sums_in_steps(given, dims);
  const at::Tensor result(at::detail::empty_cpu(dims, combined_dtype(given)));
  if (combine(given, Combiner::add, result, nullptr) != Reason::none) return sums_in_steps(given, dims);
  return result.to(table.scalar_type());
}

at::Tensor spmm_on_cpu(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& table,
                       const std::optional<at::Tensor>& weight, c10::SymInt num_rows, std::string_view reduce) {
  const Messages given{"spmm", dst, src, table, weight, num_rows};
  check(given, reduce);
  at::DimVector dims(table.sizes().begin(), table.sizes().end());
  dims[0] = num_rows.expect_int();
  if (const std::optional<FewDims> few = few_dims(given))
    return spmm_on_cpu(dst, src, few->table, few->weight, num_rows, reduce).view(dims);
  at::Tensor result = sums(given, dims);
  return reduce == "mean" ? result.div_(divisors(dst, num_rows, result)) : result;
}

at::Tensor spmm_of_meta(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& table,
                        const std::optional<at::Tensor>& weight, c10::SymInt num_rows, std::string_view reduce) {
  const Messages given{"spmm", dst, src, table, weight, num_rows};
  check(given, reduce);
  return at::empty_symint(dims_of_result(given), table.options());
}

/// The transpose: every edge carries the gradient of its row back.
struct SpmmBackward {
  static constexpr int64_t kMean = 1;
  static constexpr const char* kName = "strew::SpmmBackward";

  static Gradients gradients(const Gradients& of_results, const Kept& kept) {
    Gradients result(2);
    if (!of_results[0].defined()) return result;
    const at::Tensor dst = kept.tensors[0], src = kept.tensors[1], table = kept.tensors[2], weight = kept.tensors[3];
    const at::Tensor gradient =
        kept.constant == kMean ? of_results[0].div(divisors(dst, kept.sizes[1], of_results[0])) : of_results[0];
    if (kept.needed[0]) {
      const std::optional<at::Tensor> factors = weight.defined() ? std::optional(weight) : std::nullopt;
      result[0] = spmm(src, dst, gradient, factors, kept.sizes[0], "sum");
    }
    if (kept.needed[1]) {
      const c10::ScalarType dtype = weight.scalar_type();
      result[1] = sddmm(dst, src, gradient.to(dtype), table.to(dtype), weight.dim() - 1);
    }
    return result;
  }
};

at::Tensor spmm_with_gradient(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& table,
                              const std::optional<at::Tensor>& weight, c10::SymInt num_rows, std::string_view reduce) {
  check({"spmm", dst, src, table, weight, num_rows}, reduce);
  const at::Tensor none;
  const OwnedNode node = node_of<SpmmBackward>(
      [&](GradientNode<SpmmBackward>& made) {
        made.sizes = {table.sym_size(0), num_rows};
        if (reduce == "mean") made.constant = SpmmBackward::kMean;
        made.keep({dst, src, weight && weight->requires_grad() ? table : none, weight ? *weight : none});
      },
      table, weight);
  at::Tensor result = below_autograd([&] { return spmm(dst, src, table, weight, num_rows, reduce); });
  if (node) torch::autograd::set_history(result, node);
  const at::Tensor of_table = tangent_of(table), of_weight = weight ? tangent_of(*weight) : none;
  at::Tensor tangent;
  if (of_table.defined()) {
    const std::optional<at::Tensor> factors = weight ? std::optional(primal_of(*weight)) : std::nullopt;
    tangent = spmm(dst, src, of_table, factors, num_rows, reduce);
  }
  if (of_weight.defined()) tangent = sum_of(tangent, spmm(dst, src, primal_of(table), of_weight, num_rows, reduce));
  if (tangent.defined()) result._set_fw_grad(tangent, /*level=*/0, /*is_inplace_op=*/false);
  return result;
}

at::Tensor spmm_in_autocast(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& table,
                            const std::optional<at::Tensor>& weight, c10::SymInt num_rows, std::string_view reduce) {
  return below_autocast([&] {
    const Promoted given = promote(table, weight);
    return spmm(dst, src, given.table, given.weight, num_rows, reduce);
  });
}

}  // namespace

at::Tensor spmm(const at::Tensor& dst, const at::Tensor& src, const at::Tensor& table, const std::optional<at::Tensor>& weight,
                c10::SymInt num_rows, std::string_view reduce) {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("strew::spmm", "").typed<decltype(spmm)>();
  return op.call(dst, src, table, weight, std::move(num_rows), reduce);
}

}  // namespace strew::aten

TORCH_LIBRARY_FRAGMENT(strew, library) {
  library.def("spmm(Tensor dst, Tensor src, Tensor table, Tensor? weight, SymInt num_rows, str reduce=\"sum\") -> Tensor",
              {at::Tag::pt2_compliant_tag});
}
TORCH_LIBRARY_IMPL(strew, CPU, library) { library.impl("spmm", TORCH_FN(strew::aten::spmm_on_cpu)); }
TORCH_LIBRARY_IMPL(strew, Meta, library) { library.impl("spmm", TORCH_FN(strew::aten::spmm_of_meta)); }
TORCH_LIBRARY_IMPL(strew, AutocastCPU, library) { library.impl("spmm", TORCH_FN(strew::aten::spmm_in_autocast)); }
TORCH_LIBRARY_IMPL(strew, Autograd, library) { library.impl("spmm", TORCH_FN(strew::aten::spmm_with_gradient)); }
