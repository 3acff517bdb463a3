// ScatterND (opset 11, reductions since 16 and 18): writes slices of `updates` into data at the index vectors.
//
//   data [D0, ..., Dr-1]   indices [I0, ..., Iq-2, k], k <= r   updates [I0, ..., Iq-2, Dk, ..., Dr-1]
//
// The k components index the first k dims of data, which are inserted. The remaining dims are the window, which in ONNX is always whole.
// Our op would accept a smaller one, so equality of the last dims of updates with those of data is checked here, or at the call if a dim is
// open. If the file leaves k open, k follows from the rank of updates, which is q - 1 + r - k.
//
// Tested by tests/unit/compiler/import/onnx/onnx_ops_test.cc, tests/oracle/onnx_nodes.py and tests/oracle/onnxruntime_models.py.
#include "compiler/import/onnx/graph.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/onnx/shapes.h"
#include "strew/forms.h"

namespace strew::inline v0::onnx {

Status import_scatter_nd(Node& node) {
  STREW_TRY(node.check_signature(3, 3, 1, {"reduction"}));
  STREW_ASSIGN(Operand data, read_operand(node, 0, "data"));
  STREW_ASSIGN(Operand indices, read_operand(node, 1, "indices"));
  STREW_ASSIGN(Operand updates, read_operand(node, 2, "updates"));
  STREW_TRY(check_data(node, data));
  STREW_TRY(check_indices(node, indices, /*i32=*/false, 1));
  STREW_TRY(check_same_dtype(node, updates, data));
  STREW_ASSIGN(const CombinerKind kind, read_reduction(node, data));
  const int64_t r = data.type.rank(), positions = indices.type.rank() - 1;
  STREW_ASSIGN(const int64_t k, index_components(node, indices, r, positions + r - updates.type.rank()));
  STREW_TRY(check_rank(node, updates, positions + r - k,
                       "the rank of indices " + dims_text(indices.type.dims) + " - 1 + the rank of data " +
                           dims_text(data.type.dims) + " - " + std::to_string(k)));
  std::vector<EqualExtents> ties;
  for (int64_t d = 0; d < positions; ++d) STREW_TRY(unify_extents(node, updates, d, indices, d, ties));
  for (int64_t d = k; d < r; ++d) STREW_TRY(unify_extents(node, updates, positions + d - k, data, d, ties));

  const Expected<Scatter> op = scatter_nd(data.type, indices.type, updates.type).combine(kind).build();
  if (!op.ok()) return node.error(op.status().message());
  return node.add_kernel(*op, {data.value, indices.value, updates.value}, {}, scatter_notes(node, data, kind), std::move(ties));
}

}  // namespace strew::inline v0::onnx
