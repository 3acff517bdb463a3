// See reference.h. Runs the scatter or the gather, and turns a fault into a Status with a message.
#include "backends/reference/reference.h"

#include <optional>

#include "backends/reference/geometry.h"
#include "backends/reference/run.h"
#include "compiler/op/fault.h"

namespace strew::inline v0 {

Status run_reference(const VerifiedOp& op, std::span<const TensorView> tensors, BadIndex* bad_index) {
  const std::optional<strew_fault> found = std::visit([&](const auto& access) { return reference::run(access, tensors); }, *op);
  if (!found) return {};
  const size_t indices = reference::indices_slot(op);
  if (bad_index != nullptr) *bad_index = bad_index_of(*found, static_cast<uint32_t>(indices));
  const TensorView& target = tensors[is_scatter(op) ? 0 : 1];
  const TensorView& index = tensors[indices];
  return fault_status(op, *found, {index.dims, static_cast<size_t>(index.rank)}, {target.dims, static_cast<size_t>(target.rank)});
}

}  // namespace strew::inline v0
