// What strew's own operators do above the CPU's key: a node of autograd that keeps tensors, and calls of the operator below it. Nodes are like those of PyTorch's own operators, because
// torch.func accepts no torch::autograd::Function. Tested by tests/torch.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

namespace strew::aten {

using Gradients = torch::autograd::variable_list;

/// The gradient of one operator. `apply` of those that derive from it is given the gradients of the results, and returns those of the tensors that with_gradient names.
struct GradientNode : torch::autograd::Node {
  void keep(std::initializer_list<at::Tensor> tensors) {
    for (const at::Tensor& each : tensors) kept_.emplace_back(each, /*is_output=*/false);
  }
  at::Tensor kept(size_t number) const { return kept_[number].unpack(); }
  void release_variables() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (torch::autograd::SavedVariable& each : kept_) each.reset_data();
  }

 private:
  std::vector<torch::autograd::SavedVariable> kept_;
};

/// Versions of PyTorch differ in how nodes are owned.
using OwnedNode = decltype(torch::autograd::Edge::function);
template <class Node>
OwnedNode own(Node* node) {
  if constexpr (std::is_same_v<OwnedNode, std::shared_ptr<torch::autograd::Node>>)
    return OwnedNode(node, [](auto* last) { deleteNode(last); });
  else
    return OwnedNode(std::unique_ptr<torch::autograd::Node>(node));
}

/// Calls an operator below autograd.
template <class Call>
auto below_autograd(const Call& call) {
  const at::AutoDispatchBelowADInplaceOrView guard;
  return call();
}

/// Calls an operator below autocast.
template <class Call>
auto below_autocast(const Call& call) {
  const c10::impl::ExcludeDispatchKeyGuard guard(c10::DispatchKey::AutocastCPU);
  return call();
}

/// The node of an operator whose results depend on these tensors, or none where no gradient will be asked for. `keep` gives it what it needs.
template <class Node, class Keep, class... Tensors>
OwnedNode node_of(const Keep& keep, const Tensors&... inputs) {
  if (!torch::autograd::compute_requires_grad(inputs...)) return nullptr;
  auto* const node = new Node();
  OwnedNode owned = own(node);
  owned->set_next_edges(torch::autograd::collect_next_edges(inputs...));
  keep(*node);
  return owned;
}

/// The derivative in the direction that a tensor is given in forward mode, undefined where there is none, and the tensor without it.
inline at::Tensor tangent_of(const at::Tensor& tensor) { return tensor.defined() ? tensor._fw_grad(0) : at::Tensor(); }
inline at::Tensor primal_of(const at::Tensor& tensor) {
  return torch::autograd::isFwGradDefined(tensor) ? tensor._fw_primal(0) : tensor;
}
/// Of two derivatives, the first of which may be undefined.
inline at::Tensor sum_of(const at::Tensor& first, const at::Tensor& second) {
  return first.defined() ? first.add(second) : second;
}

}  // namespace strew::aten
