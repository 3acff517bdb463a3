// Op: the order in which tensors are bound, and the names of its enums as canonical text writes them.
//
// Only tensor_slots() knows the binding order; the runtime, the backends and the command line ask it. Tested by
// tests/unit/op_test.cc.
#include "strew/op.h"

#include <array>

namespace strew::inline v0 {
namespace {

/// The name of enumerator `value` in `names`, which is in enum order.
template <class Enum, size_t N>
std::string_view at(const std::array<std::string_view, N>& names, Enum value) {
  const auto i = static_cast<size_t>(value);
  return i < N ? names[i] : std::string_view("invalid");
}

void append(std::vector<TensorSlot>& slots, Role role, const std::vector<TensorType>& types) {
  for (size_t i = 0; i < types.size(); ++i) slots.push_back({role, static_cast<int>(i), &types[i]});
}

void append(std::vector<TensorSlot>& slots, const std::vector<Extra>& extras) {
  for (size_t i = 0; i < extras.size(); ++i) slots.push_back({Role::extra, static_cast<int>(i), &extras[i].type});
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
  } else {
    const Gather& gather = std::get<Gather>(op);
    slots.push_back({Role::result, 0, &gather.result});
    slots.push_back({Role::operand, 0, &gather.operand});
    slots.push_back({Role::indices, 0, &gather.indices});
    append(slots, gather.extras);
  }
  return slots;
}

std::string_view name(Role role) {
  static constexpr std::array<std::string_view, 5> kNames{"result", "operand", "indices", "updates", "extra"};
  return at(kNames, role);
}

std::string_view name(CombinerKind kind) {
  static constexpr std::array<std::string_view, 11> kNames{"assign", "add", "sub", "mul", "div", "min",
                                                           "max",    "and", "or",  "xor", "expr"};
  return at(kNames, kind);
}

std::string_view name(OobPolicy policy) {
  static constexpr std::array<std::string_view, 8> kNames{"undefined", "skip_element", "skip_window",  "clamp",
                                                          "wrap",      "error",        "fill_element", "fill_window"};
  return at(kNames, policy);
}

std::string_view name(InitKind init) {
  static constexpr std::array<std::string_view, 3> kNames{"copy", "in_place", "fill"};
  return at(kNames, init);
}

std::string_view name(Order order) {
  static constexpr std::array<std::string_view, 2> kNames{"in_order", "relaxed"};
  return at(kNames, order);
}

std::string_view name(Accumulate accumulate) {
  static constexpr std::array<std::string_view, 3> kNames{"native", "wide", "wide_f64"};
  return at(kNames, accumulate);
}

std::string_view name(ExtraKind kind) {
  static constexpr std::array<std::string_view, 4> kNames{"per_element", "per_position", "per_window", "scalar"};
  return at(kNames, kind);
}

}  // namespace strew::inline v0
