// The gradients of embedding and embedding_bag.
#include <ATen/EmptyTensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>

#include <array>
#include <optional>
#include <tuple>

#include "bindings/torch/call.h"
#include "bindings/torch/operators/operators.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {

Reason embedding_dense_backward(Target& target, const at::Tensor& grad, const at::Tensor& indices, const c10::SymInt& num_weights,
                                const c10::SymInt& padding_idx, bool scale_grad_by_freq) {
  if (const Reason reason = plain_all(grad, indices); reason != Reason::none) return reason;
  if (!grad.is_floating_point() || !adds_alike(grad.scalar_type())) return Reason::dtype;
  if (indices.scalar_type() != c10::ScalarType::Long && indices.scalar_type() != c10::ScalarType::Int) return Reason::index_dtype;
  if (scale_grad_by_freq || num_weights.is_symbolic() || padding_idx.is_symbolic()) return Reason::argument;
  const int64_t features = grad.size(-1), count = indices.numel(), rows = num_weights.expect_int();
  if (rows <= 0 || grad.numel() != count * features || !grad.is_contiguous() || !indices.is_contiguous()) return Reason::shape;
  const std::array<int64_t, 2> table{rows, features}, updates{count, features}, strides{features, 1};
  const at::Tensor& result = target.keep(at::Tensor(at::detail::empty_cpu(table, grad.scalar_type())));
  constexpr int64_t kOne = 1;
  Tensors tensors;
  tensors.add_result(result);
  tensors.add_view(indices, &count, &kOne, 1);
  tensors.add_view(grad, updates.data(), strides.data(), 2);
  const Definition what{Form::scatter_rows, 0, Init::zeros, Combiner::add, false, false, true};
  if (const Reason reason = run(what, tensors, {raise_index_error, 0, rows}); reason != Reason::none) return reason;
  const int64_t padding = padding_idx.expect_int();
  if (padding >= 0 && padding < rows) result.select(0, padding).zero_();
  return Reason::none;
}

namespace {

constexpr int64_t kSum = 0, kMean = 1, kMax = 2;  // modes of embedding_bag

/// PyTorch adds the rows of a bag in the order of its sort, which need not be a stable one. From so many indices on it takes a radix sort, where it has that; then the order is that of the
/// indices, as sums have it here.
constexpr int64_t kLeastRadix = 32768;
bool sorts_many_stably() {
  static const bool is_stable = [] {
    const at::Tensor keys = at::arange(kLeastRadix, c10::ScalarType::Long).remainder_(2);
    return at::equal(std::get<1>(keys.sort()), std::get<1>(keys.sort(/*stable=*/std::optional<bool>(true))));
  }();
  return is_stable;
}

/// 1 / size of the bag of each index, as PyTorch rounds it. A bag that there is not is an error later.
template <class Number, class Share>
void fill_shares(const at::Tensor& bags, const at::Tensor& sizes, const at::Tensor& shares) {
  const auto* const bag = static_cast<const Number*>(bags.const_data_ptr());
  const auto* const size = static_cast<const Number*>(sizes.const_data_ptr());
  auto* const share = static_cast<Share*>(shares.mutable_data_ptr());
  const int64_t count = sizes.numel();
  for (int64_t i = 0; i < bags.numel(); ++i) {
    const bool is_bag = bag[i] >= 0 && bag[i] < count;
    share[i] = static_cast<Share>(is_bag ? 1.0 / static_cast<double>(size[bag[i]]) : 0);
  }
}
template <class Share>
void fill_shares_of(const at::Tensor& bags, const at::Tensor& sizes, const at::Tensor& shares) {
  const bool is_long = bags.scalar_type() == c10::ScalarType::Long;
  is_long ? fill_shares<int64_t, Share>(bags, sizes, shares) : fill_shares<int32_t, Share>(bags, sizes, shares);
}
at::Tensor shares_of(const at::Tensor& bags, const at::Tensor& sizes, c10::ScalarType dtype) {
  const auto fill = dtype == c10::ScalarType::Double     ? fill_shares_of<double>
                    : dtype == c10::ScalarType::Half     ? fill_shares_of<c10::Half>
                    : dtype == c10::ScalarType::BFloat16 ? fill_shares_of<c10::BFloat16>
                                                         : fill_shares_of<float>;
  at::Tensor shares(at::detail::empty_cpu({bags.numel()}, dtype));
  fill(bags, sizes, shares);
  return shares;
}

/// Of maxima: each element goes to the row that it is from, in the order of the bags. Bags without rows have none.
Reason backward_of_maxima(Target& target, const at::Tensor& grad, const at::Tensor& bag_sizes, const at::Tensor& winners,
                          int64_t rows) {
  if (const Reason reason = plain_all(grad, bag_sizes, winners); reason != Reason::none) return reason;
  if (!grad.is_floating_point() || !adds_alike(grad.scalar_type())) return Reason::dtype;
  if (winners.scalar_type() != c10::ScalarType::Long && winners.scalar_type() != c10::ScalarType::Int) return Reason::index_dtype;
  if (rows <= 0 || grad.dim() != 2 || winners.sizes() != grad.sizes() || bag_sizes.dim() != 1 ||
      bag_sizes.numel() != grad.size(0))
    return Reason::shape;
  const at::Tensor full = bag_sizes.nonzero().squeeze(1);
  if (full.numel() == 0) return Reason::empty;
  const bool are_all = full.numel() == bag_sizes.numel();
  const at::Tensor updates = are_all ? grad : grad.index_select(0, full), to = are_all ? winners : winners.index_select(0, full);
  const at::Tensor& result = target.keep(at::Tensor(at::detail::empty_cpu({rows, grad.size(1)}, grad.scalar_type())));
  Tensors tensors;
  tensors.add_result(result);
  tensors.add_input(to);
  tensors.add_input(updates);
  const Definition what{Form::scatter_elements, 0, Init::zeros, Combiner::add, false, false, false};
  return run(what, tensors, {raise_in_self, 0, rows});
}

}  // namespace

Reason embedding_bag_dense_backward(Target& target, const at::Tensor& grad, const at::Tensor& indices, const at::Tensor& bags,
                                    const at::Tensor& bag_sizes, const at::Tensor& winners, const c10::SymInt& num_weights,
                                    bool scale_grad_by_freq, int64_t mode, const std::optional<at::Tensor>& weights,
                                    int64_t padding) {
  if (mode == kMax && !num_weights.is_symbolic())
    return backward_of_maxima(target, grad, bag_sizes, winners, num_weights.expect_int());
  if (const Reason reason = plain_all(grad, indices, bags); reason != Reason::none) return reason;
  const bool is_mean = mode == kMean, is_weighted = weights && weights->defined();
  if ((mode != kSum && !is_mean) || scale_grad_by_freq || num_weights.is_symbolic() || (is_mean && is_weighted))
    return Reason::argument;
  const c10::ScalarType dtype = grad.scalar_type();
  if (!grad.is_floating_point() || !adds_alike(dtype)) return Reason::dtype;
  if (indices.scalar_type() != bags.scalar_type() ||
      (indices.scalar_type() != c10::ScalarType::Long && indices.scalar_type() != c10::ScalarType::Int))
    return Reason::index_dtype;
  const int64_t rows = num_weights.expect_int(), count = indices.numel();
  if (rows <= 0 || grad.dim() != 2 || indices.dim() != 1 || bags.dim() != 1 || bags.numel() != count) return Reason::shape;
  if (is_mean &&
      (plain(bag_sizes) != Reason::none || bag_sizes.scalar_type() != bags.scalar_type() || !bag_sizes.is_contiguous() ||
       !bags.is_contiguous() || bag_sizes.dim() != 1 || bag_sizes.numel() != grad.size(0)))
    return Reason::shape;
  if (is_weighted &&
      (plain(*weights) != Reason::none || weights->scalar_type() != dtype || weights->dim() != 1 || weights->numel() != count))
    return Reason::shape;
  const at::Tensor table = grad.contiguous();
  at::Tensor sorted = indices, sources = bags, ordered = is_weighted ? *weights : at::Tensor();
  if (count < kLeastRadix || !sorts_many_stably()) {
    at::Tensor order;
    std::tie(sorted, order) = indices.sort();
    sources = bags.index_select(0, order);
    if (is_weighted) ordered = weights->index_select(0, order);
  }
  const at::Tensor factors = is_mean ? shares_of(sources, bag_sizes, dtype) : ordered;
  const at::Tensor& result = target.keep(at::Tensor(at::detail::empty_cpu({rows, grad.size(1)}, dtype)));
  Tensors tensors;
  tensors.add_result(result);
  tensors.add_input(sorted);
  tensors.add_input(table);
  if (factors.defined()) tensors.add_input(factors);
  tensors.add_input(sources);
  Definition what;
  what.init = Init::zeros;
  what.combiner = Combiner::add;
  what.looks_up = true;
  what.factor = factors.defined() ? Factor::per_position : Factor::none;
  what.is_fused = factors.defined() && !is_narrow_float(dtype);  // of 16 bits, PyTorch rounds the products
  const std::array<int64_t, 2> of_dims{0, 0}, sizes{rows, grad.size(0)};
  if (const Reason reason = run(what, tensors, {raise_in_self, of_dims, sizes}); reason != Reason::none) return reason;
  if (padding >= 0 && padding < rows) result.select(0, padding).zero_();
  return Reason::none;
}

}  // namespace strew::aten
