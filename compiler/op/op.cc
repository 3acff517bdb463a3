// Op: the order in which tensors are bound.
//
// Only tensor_slots() knows the binding order; the runtime, the backends and the command line ask it. Tested by
// tests/unit/compiler/op/op_test.cc.
#include "strew/op.h"

#include <algorithm>

namespace strew::inline v0 {
namespace {

void append(std::vector<TensorSlot>& slots, Role role, const std::vector<TensorType>& types) {
  for (size_t i = 0; i < types.size(); ++i) slots.push_back({role, static_cast<int>(i), &types[i]});
}

void append(std::vector<TensorSlot>& slots, const std::vector<Extra>& extras) {
  for (size_t i = 0; i < extras.size(); ++i) slots.push_back({Role::extra, static_cast<int>(i), &extras[i].type});
}

/// Puts the tables of look-ups in their places.
void place_tables(std::vector<TensorSlot>& slots, const std::vector<Lookup>& lookups) {
  for (const Lookup& lookup : lookups)
    for (TensorSlot& slot : slots)
      if (slot.role == lookup.of && slot.index == lookup.index) slot.type = &lookup.gather.operand;
}

/// The index tensors after the first one.
void append_indices(std::vector<TensorSlot>& slots, const Op& op) {
  int number = 0;
  const auto add = [&](const TensorType& type) { slots.push_back({Role::indices, ++number, &type}); };
  std::visit([&](const auto& each) { std::ranges::for_each(each.more_indices, add); }, op);
  for (const Lookup& lookup : lookups_of(op))
    for (const TensorType* const type : index_tensors(lookup.gather)) add(*type);
}

}  // namespace

std::vector<TensorSlot> tensor_slots(const Op& op) {
  std::vector<TensorSlot> slots;
  if (const Scatter* scatter = std::get_if<Scatter>(&op)) {
    append(slots, Role::result, scatter->results);
    if (scatter->init == InitKind::copy) append(slots, Role::operand, scatter->operands);
    slots.push_back({Role::indices, 0, &scatter->indices});
    append(slots, Role::updates, scatter->updates);
    append(slots, scatter->extras);
    place_tables(slots, scatter->lookups);
  } else {
    const Gather& gather = std::get<Gather>(op);
    slots.push_back({Role::result, 0, &gather.result});
    slots.push_back({Role::operand, 0, &gather.operand});
    slots.push_back({Role::indices, 0, &gather.indices});
    append(slots, gather.extras);
  }
  append_indices(slots, op);
  return slots;
}

}  // namespace strew::inline v0
