// Tested by tests/unit/runtime/call/named_tensors_test.cc.
#include "runtime/call/named_tensors.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace strew::inline v0 {
namespace {

std::string names_of(const strew_kernel& kernel) {
  std::string names;
  for (uint32_t i = 0; i < kernel.tensor_count; ++i) names += (i != 0 ? ", " : "") + std::string(kernel.tensors[i].name);
  return names;
}

bool is_alone_in_its_role(const strew_kernel& kernel, uint32_t tensor) {
  const auto* const end = kernel.tensors + kernel.tensor_count;
  return std::count_if(kernel.tensors, end,
                       [&](const strew_tensor_rule& rule) { return rule.role == kernel.tensors[tensor].role; }) == 1;
}

/// "updates 0" is "updates 0", and "updates" where there is no other.
bool is_named(const strew_kernel& kernel, uint32_t tensor, std::string_view name) {
  const std::string_view full = kernel.tensors[tensor].name;
  return name == full || (name == full.substr(0, full.find(' ')) && is_alone_in_its_role(kernel, tensor));
}

}  // namespace

Expected<std::vector<TensorView>> in_binding_order(const strew_kernel& kernel, std::span<const NamedTensor> tensors) {
  std::vector<TensorView> views(kernel.tensor_count);
  std::vector<bool> given(kernel.tensor_count);
  for (const NamedTensor& tensor : tensors) {
    uint32_t slot = 0;
    while (slot < kernel.tensor_count && !is_named(kernel, slot, tensor.name)) ++slot;
    if (slot == kernel.tensor_count)
      return invalid_argument("tensors: \"" + std::string(tensor.name) + "\" is no tensor of this kernel, expected one of " +
                              names_of(kernel));
    if (given[slot])
      return invalid_argument("tensors: " + std::string(kernel.tensors[slot].name) + " is given twice, expected once");
    given[slot] = true;
    views[slot] = tensor.view;
  }
  if (const auto missing = std::find(given.begin(), given.end(), false); missing != given.end())
    return invalid_argument("tensors: " + std::string(kernel.tensors[missing - given.begin()].name) +
                            " is missing, expected all of " + names_of(kernel));
  return views;
}

}  // namespace strew::inline v0
