// See reference.h. Runs the scatter or the gather, and turns a fault into a Status with a message.
#include "backends/reference/reference.h"

#include <optional>

#include "backends/reference/geometry.h"
#include "backends/reference/run.h"
#include "compiler/op/component_tensor.h"
#include "compiler/op/fault.h"

namespace strew::inline v0 {

Status run_reference(const VerifiedOp& op, std::span<const TensorView> tensors, BadIndex* bad_index) {
  const std::optional<strew_fault> found = std::visit([&](const auto& access) { return reference::run(access, tensors); }, *op);
  if (!found) return {};
  const std::vector<TensorSlot> slots = tensor_slots(op);
  const auto slot_of = [&](Role role, int64_t index) {
    size_t at = 0;
    while (slots[at].role != role || slots[at].index != index) ++at;
    return at;
  };
  const auto source = static_cast<size_t>(found->source);
  const auto number_of = [&](const auto& access) { return tensor_of_component(access, static_cast<size_t>(found->component)); };
  const size_t tensor = source == 0 ? std::visit(number_of, *op) : number_of(lookups_of(op)[source - 1].gather);
  const size_t indices = slot_of(Role::indices, first_indices(op, source) + static_cast<int64_t>(tensor));
  if (bad_index != nullptr) *bad_index = bad_index_of(*found, static_cast<uint32_t>(indices));
  size_t indexed = is_scatter(op) ? 0 : 1;
  if (found->source > 0) {
    const Lookup& lookup = lookups_of(op)[source - 1];
    indexed = slot_of(lookup.of, lookup.index);
  }
  const auto dims = [&](size_t tensor) { return std::span(tensors[tensor].dims, static_cast<size_t>(tensors[tensor].rank)); };
  return fault_status(op, *found, dims(indices), dims(indexed));
}

}  // namespace strew::inline v0
