// Policies are each form's own: scatters drop what does not fit, gathers clamp, ONNX's TensorScatter (the kv cases) refuses. Where a case's
// destinations are distinct the op says so, as its users know (and as the peers are told, where they can be).
#include "bench/cases/ops.h"

#include "strew/forms.h"

namespace strew::bench {
namespace {

/// Two index components: StableHLO's spelling of row (i, j), without ONNX's negative indices and refusals.
ScatterBuilder scatter_pairs(const TensorType& table, const TensorType& indices, const TensorType& updates) {
  return scatter_nd(table, indices, updates).oob(OobPolicy::skip_window).normalize_negative(false);
}

Expected<Op> scatter_op(const Case& c) {
  using types::tensor;
  const TensorType table = tensor(c.dtype, c.table), source = tensor(c.dtype, c.source);
  ScatterBuilder b;
  switch (c.action) {
    case Action::kv:
      b = tensor_scatter(table, types::i64({c.updates}), source, -2, c.circular);
      break;
    case Action::block:
      b = dynamic_update_slice(table, types::i32({c.updates}), source);
      break;
    case Action::along_add:
      b = scatter_elements(table, tensor(DType::i32, c.source), source, 1);
      b.oob(OobPolicy::skip_window).normalize_negative(false);
      break;
    case Action::nd_set:
    case Action::nd_add:
      b = scatter_pairs(table, types::i32({c.updates, 2}), source);
      break;
    case Action::batched_add:
      b.operand(table).indices(types::i32({c.table[0], c.updates})).updates(source);
      b.batching_dims({0}, {0})
          .inserted_window_dims({1})
          .scatter_dims_to_operand_dims({1})
          .update_window_dims({2})
          .index_vector_dim(2);
      break;
    default:
      b = scatter_rows(table, types::i32({c.updates}), source);
  }
  if (c.reads_table()) b.combine(c.action == Action::max ? CombinerKind::max : CombinerKind::add);
  if (c.mode != Mode::copied) b.in_place();
  if (c.spread == Spread::unique && (c.action == Action::set || c.action == Action::nd_set)) b.unique_indices();
  if (c.spread == Spread::sorted) b.indices_are_sorted();
  if (c.mode == Mode::relaxed) b.relaxed();
  if (c.mode == Mode::wide) b.accumulate(Accumulate::wide);
  Expected<Scatter> op = b.build();
  if (!op.ok()) return op.status();
  return Op(std::move(*op));
}

}  // namespace

Expected<Op> suite_op(const Case& c) {
  if (!c.gathers()) return scatter_op(c);
  const TensorType table = types::tensor(c.dtype, c.table);
  GatherBuilder b;
  if (c.action == Action::get)
    b = gather_rows(table, types::i32({c.updates})).indices_are_sorted(c.spread == Spread::sorted);
  else if (c.action == Action::along_get)
    b = gather_elements(table, types::tensor(DType::i32, c.source), 1).oob(OobPolicy::clamp).normalize_negative(false);
  else
    b = gather_nd(table, types::i32({c.updates, 2})).oob(OobPolicy::clamp).normalize_negative(false);
  Expected<Gather> op = b.build();
  if (!op.ok()) return op.status();
  return Op(std::move(*op));
}

Calls::Calls(const Op& op, const Data& data, char* result) {
  const Case& c = data.c;
  const bool wide = indices_of(op).dtype == DType::i64;
  if (wide) wide_.assign(data.indices.begin(), data.indices.end());
  for (int64_t j = 0; j < c.sets; ++j)
    indices_.push_back(const_cast<void*>(wide ? static_cast<const void*>(wide_.data() + j * c.index_numbers()) : data.set(j)));
  for (const TensorSlot& slot : tensor_slots(op)) {
    char* at = data.source.data();
    if (slot.role == Role::result) at = result;
    if (slot.role == Role::operand) at = data.table.data();
    if (slot.role == Role::indices) indices_at_ = views_.size();
    views_.push_back({at, slot.type->dtype, slot.type->rank(), slot.type->dims.data(), nullptr});
  }
}

}  // namespace strew::bench
