// See exact_descriptor.h. The entries read symbols as before; binding takes them from views that it has compared with the op's extents.
// Conditions between extents are left out, as in the descriptor of any op whose extents are known, because verification has checked them.
#include "runtime/exact_descriptor.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/memory_of.h"

namespace strew::inline v0 {
namespace {

struct Exact {
  std::shared_ptr<const strew_kernel> general;
  strew_kernel kernel;
  std::vector<strew_tensor_rule> rules;
  std::vector<std::vector<int64_t>> numbers;  ///< what the rules refer to

  const int64_t* keep(std::vector<int64_t> list) {
    std::replace(list.begin(), list.end(), kDynamic, int64_t{STREW_OPEN});
    numbers.push_back(std::move(list));
    return numbers.back().data();
  }
};

bool has_open(const int64_t* numbers, uint32_t count) {
  return numbers != nullptr && std::find(numbers, numbers + count, STREW_OPEN) != numbers + count;
}

}  // namespace

std::shared_ptr<const strew_kernel> exact_descriptor(std::shared_ptr<const strew_kernel> general, const VerifiedOp& op) {
  auto exact = std::make_shared<Exact>();
  exact->kernel = *general;
  exact->rules.assign(general->tensors, general->tensors + general->tensor_count);
  exact->numbers.reserve(size_t{2} * general->tensor_count);
  exact->general = std::move(general);
  const std::vector<TensorSlot> slots = tensor_slots(op);
  for (size_t t = 0; t < exact->rules.size(); ++t) {
    strew_tensor_rule& rule = exact->rules[t];
    const TensorType& type = *slots[t].type;
    rule.dims = exact->keep(type.dims);
    if (rule.strides != nullptr && !type.strides.empty()) rule.strides = exact->keep(type.strides);
    rule.is_open = has_open(rule.dims, rule.rank) || has_open(rule.strides, rule.rank) ? 1 : 0;
  }
  exact->kernel.tensors = exact->rules.data();
  const bool is_open = std::any_of(exact->rules.begin(), exact->rules.end(), [](const auto& rule) { return rule.is_open != 0; });
  // Of these conditions one is no rule of verification: a scatter into a tensor whose fixed dim is empty applies no update.
  const bool has_empty = std::any_of(
      exact->kernel.constraints, exact->kernel.constraints + exact->kernel.constraint_count,
      [&](const strew_constraint& c) { return c.kind == STREW_NOT_EMPTY && exact->rules[c.tensor].dims[c.dim] == 0; });
  if (!is_open && !has_empty) exact->kernel.constraint_count = 0;
  return {exact, &exact->kernel};
}

int64_t exact_descriptor_bytes(const strew_kernel& exact) {
  const size_t tensors = exact.tensor_count;
  int64_t bytes = shared_bytes<Exact>() + block_bytes(tensors * sizeof(strew_tensor_rule)) +
                  block_bytes(2 * tensors * sizeof(std::vector<int64_t>));
  for (size_t t = 0; t < tensors; ++t) {
    const strew_tensor_rule& rule = exact.tensors[t];
    bytes += block_bytes(rule.rank * sizeof(int64_t)) * (rule.strides != nullptr ? 2 : 1);
  }
  return bytes;
}

}  // namespace strew::inline v0
