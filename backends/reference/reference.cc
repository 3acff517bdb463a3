// See reference.h. Runs the scatter or the gather, and turns a fault into a Status with a message.
#include "backends/reference/reference.h"

#include <optional>

#include "backends/reference/gather.h"
#include "backends/reference/scatter.h"
#include "compiler/op/fault.h"

namespace strew::inline v0 {

Status run_reference(const VerifiedOp& op, std::span<const TensorView> tensors, BadIndex* bad_index) {
  const auto* as_scatter = std::get_if<Scatter>(&*op);
  const std::optional<strew_fault> found =
      as_scatter != nullptr ? reference::scatter(*as_scatter, tensors) : reference::gather(std::get<Gather>(*op), tensors);
  if (!found) return {};
  const std::vector<TensorSlot> slots = tensor_slots(op);
  size_t indices = 0;
  while (slots[indices].role != Role::indices) ++indices;
  if (bad_index != nullptr) *bad_index = bad_index_of(*found, static_cast<uint32_t>(indices));
  const TensorView& target = tensors[as_scatter != nullptr ? 0 : 1];
  const TensorView& index = tensors[indices];
  return fault_status(op, *found, {index.dims, static_cast<size_t>(index.rank)}, {target.dims, static_cast<size_t>(target.rank)});
}

}  // namespace strew::inline v0
