// What strew's own operators do above the CPU's key: a node of autograd that keeps tensors, and calls of the operator below it. Nodes are like those of
// PyTorch's own operators, because torch.func accepts no torch::autograd::Function. Tested by tests/torch.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/dynamo/compiled_autograd.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace strew::aten {

using Gradients = torch::autograd::variable_list;

/// What a gradient is computed from, beside the gradients of the results.
struct Kept {
  std::vector<at::Tensor> tensors;
  std::vector<c10::SymInt> sizes;
  std::optional<int64_t> constant;
  std::vector<bool> needed;  ///< which of the tensors that node_of names ask for a gradient
};

/// The gradient of one operator. `Formula` has a kName, and a function `gradients(const Gradients&, const Kept&)` from those of the results to those of the
/// tensors that node_of names.
template <class Formula>
struct GradientNode final : torch::autograd::Node {
  std::vector<c10::SymInt> sizes;
  std::optional<int64_t> constant;

  void keep(std::initializer_list<at::Tensor> tensors) {
    for (const at::Tensor& each : tensors) saved_.emplace_back(each, /*is_output=*/false);
  }

  std::string name() const override { return Formula::kName; }
  Gradients apply(Gradients&& gradients) override { return Formula::gradients(gradients, kept()); }
  void release_variables() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (torch::autograd::SavedVariable& each : saved_) each.reset_data();
  }

  /// Compiled autograd calls the formula later, from the graph that it makes.
  void compiled_args(torch::dynamo::autograd::CompiledNodeArgs& all) const override {
    all.collect(saved_, /*is_output=*/false);
    all.collect(sizes);
    all.collect(constant);
  }
  Gradients apply_with_saved(const Gradients& gradients, torch::dynamo::autograd::SwapSavedVariables& traced) override {
    using torch::dynamo::autograd::PackedArgs;
    traced.before(saved_);
    traced.before(sizes);
    const Kept given = kept();
    PackedArgs packed;
    packed.pack(given.tensors);
    packed.pack(given.sizes);
    packed.pack(given.constant);
    packed.pack(given.needed);
    std::vector<at::TypePtr> types;
    for (const at::IValue& each : packed.vec()) types.push_back(each.type());
    const auto call = [](const Gradients& later, const std::vector<c10::IValue>& values) {
      PackedArgs all(values);
      Kept unpacked;
      unpacked.tensors = all.unpack<std::vector<at::Tensor>>();
      unpacked.sizes = all.unpack<std::vector<c10::SymInt>>();
      unpacked.constant = all.unpack<std::optional<int64_t>>();
      unpacked.needed = all.unpack<std::vector<bool>>();
      return Formula::gradients(later, unpacked);
    };
    const auto& compiler = torch::dynamo::autograd::getPyCompilerInterface();
    const std::string bound = compiler->bind_function(traced.get_py_compiler(), name(), call, types, /*is_custom_function=*/true,
                                                      /*is_traceable=*/true);
    using Metadata = std::vector<std::optional<torch::autograd::InputMetadata>>;
    Gradients result = compiler->call_function(
        traced.get_py_compiler(), "apply_functional", bound, gradients, packed.vec(),
        torch::dynamo::autograd::IValuePacker<Metadata>::pack(torch::dynamo::autograd::get_input_metadata(next_edges())));
    traced.after(saved_);
    traced.after(sizes);
    return result;
  }

 private:
  Kept kept() {
    Kept given{{}, sizes, constant, {}};
    const std::lock_guard<std::mutex> lock(mutex_);  // other threads may release them
    for (const torch::autograd::SavedVariable& each : saved_) given.tensors.push_back(each.unpack());
    for (size_t i = 0; i < next_edges().size(); ++i) given.needed.push_back(task_should_compute_output(i));
    return given;
  }

  std::vector<torch::autograd::SavedVariable> saved_;
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
template <class Formula, class Keep, class... Tensors>
OwnedNode node_of(const Keep& keep, const Tensors&... inputs) {
  if (!torch::autograd::compute_requires_grad(inputs...)) return nullptr;
  auto* const node = new GradientNode<Formula>();
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
