// strew::moe_permute and moe_unpermute: tokens in the order of their experts, and the sums of what the experts give. Tested by tests/torch/moe_test.py.
#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/view_as_real.h>
#include <torch/library.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/torch/own/gradient.h"
#include "bindings/torch/own/indices.h"
#include "bindings/torch/own/messages.h"

namespace strew::aten {
namespace {

using Permuted = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

Permuted moe_permute(const at::Tensor& hidden_states, const at::Tensor& topk_ids, c10::SymInt num_experts) {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("strew::moe_permute", "").typed<decltype(moe_permute)>();
  return op.call(hidden_states, topk_ids, std::move(num_experts));
}

void check(const at::Tensor& hidden_states, const at::Tensor& topk_ids, const c10::SymInt& num_experts) {
  check_index("moe_permute", "topk_ids", topk_ids, 2);
  check_device("moe_permute", hidden_states, topk_ids);
  TORCH_CHECK(hidden_states.dim() >= 1 && hidden_states.sym_size(0) == topk_ids.sym_size(0),
              "moe_permute(): expected hidden_states and topk_ids to have one row per token each, but got ",
              hidden_states.sym_sizes(), " and ", topk_ids.sym_sizes());
  TORCH_CHECK(num_experts.is_symbolic() || num_experts >= 0, "moe_permute(): expected num_experts of 0 or more, but got ",
              num_experts);
}

/// The numbers of the rows of tokens, one for each of their experts: 0, 0, 1, 1, ...
at::Tensor tokens_of(const at::Tensor& topk) {
  return at::arange(topk.sym_size(0), topk.options().dtype(c10::ScalarType::Long))
      .unsqueeze(1)
      .expand_symint(topk.sym_sizes())
      .reshape(-1);
}

/// The order of experts, in which each keeps the order of its tokens.
struct Order {
  at::Tensor permuted_idx, inv_permuted_idx, tokens_per_expert;
};
Order order_of(const at::Tensor& topk_ids, int64_t num_experts) {
  const at::Tensor flat = topk_ids.reshape(-1);
  if (const std::optional<int64_t> bad = first_outside(flat, 0, num_experts))
    TORCH_CHECK_INDEX(false, "moe_permute(): index ", flat[*bad].item<int64_t>(), " is out of bounds for ", num_experts,
                      " experts (strew: topk_ids[", *bad / topk_ids.size(1), ", ", *bad % topk_ids.size(1), "])");
  const auto made = [](at::IntArrayRef dims) { return at::Tensor(at::detail::empty_cpu(dims, c10::ScalarType::Long)); };
  Order order{made(flat.sizes()), made(topk_ids.sizes()), made({num_experts})};
  auto* const permuted = order.permuted_idx.mutable_data_ptr<int64_t>();
  auto* const inverse = order.inv_permuted_idx.mutable_data_ptr<int64_t>();
  auto* const counts = order.tokens_per_expert.zero_().mutable_data_ptr<int64_t>();
  each_number(flat, [&](int64_t, int64_t expert) {
    ++counts[expert];
    return false;
  });
  std::vector<int64_t> next(static_cast<size_t>(num_experts), 0);  // the row of the expert's next token
  for (size_t e = 1; e < next.size(); ++e) next[e] = next[e - 1] + counts[e - 1];
  each_number(flat, [&](int64_t place, int64_t expert) {
    const int64_t row = next[static_cast<size_t>(expert)]++;
    permuted[row] = place;
    inverse[place] = row;
    return false;
  });
  return order;
}

Permuted permute_on_cpu(const at::Tensor& hidden_states, const at::Tensor& topk_ids, int64_t num_experts) {
  check(hidden_states, topk_ids, num_experts);
  const Order order = order_of(topk_ids, num_experts);
  const at::Tensor tokens = topk_ids.size(1) == 1 ? order.permuted_idx : order.permuted_idx.div(topk_ids.size(1), "floor");
  return {select_rows(hidden_states, tokens), order.permuted_idx, order.inv_permuted_idx, order.tokens_per_expert};
}

Permuted permute_of_meta(const at::Tensor& hidden_states, const at::Tensor& topk_ids, c10::SymInt num_experts) {
  check(hidden_states, topk_ids, num_experts);
  c10::SymDimVector dims(hidden_states.sym_sizes().begin(), hidden_states.sym_sizes().end());
  dims[0] = topk_ids.sym_numel();
  const auto options = topk_ids.options().dtype(c10::ScalarType::Long);
  return {at::empty_symint(dims, hidden_states.options()), at::empty_symint({topk_ids.sym_numel()}, options),
          at::empty_symint(topk_ids.sym_sizes(), options), at::empty_symint({num_experts}, options)};
}

at::Tensor unpermute(const at::Tensor& permuted, const at::Tensor& inv_permuted_idx,
                     const std::optional<at::Tensor>& topk_weights) {
  check_index("moe_unpermute", "inv_permuted_idx", inv_permuted_idx, 2);
  check_device("moe_unpermute", permuted, inv_permuted_idx);
  TORCH_CHECK(permuted.is_floating_point(), "moe_unpermute(): expected permuted to be floating point, but got ",
              permuted.scalar_type());
  std::optional<at::Tensor> weights;
  if (topk_weights) {
    check_device("moe_unpermute", permuted, *topk_weights);
    TORCH_CHECK(topk_weights->sym_sizes() == inv_permuted_idx.sym_sizes(),
                "moe_unpermute(): expected topk_weights to have one number for each of inv_permuted_idx, ",
                inv_permuted_idx.sym_sizes(), ", but its shape is ", topk_weights->sym_sizes());
    weights = topk_weights->reshape(-1);
  }
  return spmm(tokens_of(inv_permuted_idx), inv_permuted_idx.reshape(-1), permuted, weights, inv_permuted_idx.sym_size(0), "sum");
}

/// A token's gradient is the sum of those of its rows.
struct MoePermuteBackward {
  static constexpr const char* kName = "strew::MoePermuteBackward";
  static Gradients gradients(const Gradients& of_results, const Kept& kept) {
    Gradients result(1);
    const at::Tensor& gradient = of_results[0];
    if (!gradient.defined()) return result;
    // Sums of complex numbers are those of their two parts.
    result[0] = gradient.is_complex()
                    ? at::view_as_complex(unpermute(at::view_as_real(gradient.resolve_conj()), kept.tensors[0], std::nullopt))
                    : unpermute(gradient, kept.tensors[0], std::nullopt);
    return result;
  }
};

Permuted permute_with_gradient(const at::Tensor& hidden_states, const at::Tensor& topk_ids, c10::SymInt num_experts) {
  check(hidden_states, topk_ids, num_experts);
  Permuted result = below_autograd([&] { return moe_permute(hidden_states, topk_ids, num_experts); });
  const at::Tensor& inverse = std::get<2>(result);
  const OwnedNode node =
      node_of<MoePermuteBackward>([&](GradientNode<MoePermuteBackward>& made) { made.keep({inverse}); }, hidden_states);
  if (node) torch::autograd::set_history(std::get<0>(result), node);
  if (const at::Tensor tangent = tangent_of(hidden_states); tangent.defined())
    std::get<0>(result)._set_fw_grad(std::get<0>(moe_permute(tangent, topk_ids, num_experts)), /*level=*/0,
                                     /*is_inplace_op=*/false);
  return result;
}

}  // namespace
}  // namespace strew::aten

TORCH_LIBRARY_FRAGMENT(strew, library) {
  library.def(
      "moe_permute(Tensor hidden_states, Tensor topk_ids, SymInt num_experts) -> (Tensor permuted, Tensor permuted_idx, "
      "Tensor inv_permuted_idx, Tensor tokens_per_expert)",
      {at::Tag::pt2_compliant_tag});
  // spmm, in the order of the experts of each token.
  library.def("moe_unpermute(Tensor permuted, Tensor inv_permuted_idx, Tensor? topk_weights=None) -> Tensor",
              {at::Tag::pt2_compliant_tag});
  library.impl("moe_unpermute", torch::dispatch(c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(strew::aten::unpermute)));
}
TORCH_LIBRARY_IMPL(strew, CPU, library) { library.impl("moe_permute", TORCH_FN(strew::aten::permute_on_cpu)); }
TORCH_LIBRARY_IMPL(strew, Meta, library) { library.impl("moe_permute", TORCH_FN(strew::aten::permute_of_meta)); }
TORCH_LIBRARY_IMPL(strew, Autograd, library) { library.impl("moe_permute", TORCH_FN(strew::aten::permute_with_gradient)); }
// vmap, too, has a rule for spmm.
TORCH_LIBRARY_IMPL(strew, FuncTorchBatched, library) { library.impl("moe_unpermute", TORCH_FN(strew::aten::unpermute)); }
