// ScatterElements (opset 11, reductions since 16 and 18) and Scatter (opset 9 and 10), its former name.
//
//   data [D0, ..., Dn]   indices, updates [I0, ..., In], Id <= Dd in every dim but axis
//   output = data; output[i0, .., indices[i], .., in] (index in dim axis) = reduction(current element, updates[i])
//
// Every element of `indices` is an index position with one component, for dim axis. The other dims are batching dims of data and indices:
// element i of `indices` acts on the same coordinates of data. ONNX lets indices be smaller than data there, which is the batching
// relaxation of semantics.md section 1. There is no window, since axis is inserted. So the same dimension numbers cover any rank, axis and
// smaller shape:
//
//   inserted_window_dims [axis], input_batching_dims = scatter_indices_batching_dims = every dim but axis,
//   scatter_dims_to_operand_dims [axis], index_vector_dim = rank
//
// Tested by tests/unit/compiler/import/onnx/onnx_ops_test.cc, tests/oracle/onnx_nodes.py and tests/oracle/onnxruntime_models.py.
#include "compiler/import/onnx/graph.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/onnx/shapes.h"
#include "strew/forms.h"

namespace strew::inline v0::onnx {
Status import_scatter_elements(Node& node) {
  STREW_TRY(node.check_signature(3, 3, 1, {"axis", "reduction"}));
  STREW_ASSIGN(Operand data, read_operand(node, 0, "data"));
  STREW_ASSIGN(Operand indices, read_operand(node, 1, "indices"));
  STREW_ASSIGN(Operand updates, read_operand(node, 2, "updates"));
  STREW_TRY(check_data(node, data));
  STREW_TRY(check_indices(node, indices, /*i32=*/true, 1));
  STREW_TRY(check_same_dtype(node, updates, data));
  STREW_TRY(check_rank(node, indices, data.type.rank(), "data's"));
  STREW_TRY(check_rank(node, updates, data.type.rank(), "data's"));
  STREW_ASSIGN(const int64_t axis, read_axis(node, data, 0));
  STREW_ASSIGN(const CombinerKind kind, read_reduction(node, data));
  std::vector<EqualExtents> ties;
  STREW_TRY(unify_shapes(node, updates, indices, ties));
  STREW_TRY(check_smaller(node, indices, data, axis));

  const Expected<Scatter> op = scatter_elements(data.type, indices.type, updates.type, axis).combine(kind).build();
  if (!op.ok()) return node.error(op.status().message());
  return node.add_kernel(*op, {data.value, indices.value, updates.value}, {}, scatter_notes(node, data, kind), std::move(ties));
}

}  // namespace strew::inline v0::onnx
