// GatherND (opset 11, batch_dims since 12): copies the slices of data that start at the index vectors.
//
//   data [B..., D0, ...]   indices [B..., I..., k]   output [B..., I..., Dk, ...], b = batch_dims leading dims B shared by both
//
// ONNX requires equal batch extents, whereas our op accepts smaller ones in indices. So equality is checked here, or at the call if a dim
// is open. If the file leaves k open, k follows from the rank that the file declares for the output, if it declares one.
//
// Tested by tests/unit/compiler/import/onnx/onnx_ops_test.cc, tests/oracle/onnx_nodes.py and tests/oracle/onnxruntime_models.py.
#include <algorithm>

#include "compiler/import/onnx/graph.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/onnx/shapes.h"
#include "strew/forms.h"

namespace strew::inline v0::onnx {

Status import_gather_nd(Node& node) {
  STREW_TRY(node.check_signature(2, 2, 1, {"batch_dims"}));
  STREW_ASSIGN(Operand data, read_operand(node, 0, "data"));
  STREW_ASSIGN(Operand indices, read_operand(node, 1, "indices"));
  STREW_TRY(check_data(node, data));
  STREW_TRY(check_indices(node, indices, /*i32=*/false, 1));
  if (node.opset() < 12 && node.has_attribute("batch_dims")) {
    return node.error("attribute 'batch_dims' came with opset 12, the model's is " + std::to_string(node.opset()));
  }
  STREW_ASSIGN(const int64_t batch, node.attribute("batch_dims", 0));
  const int64_t r = data.type.rank(), q = indices.type.rank();
  if (batch < 0 || batch >= std::min(r, q)) {
    return node.error("batch_dims is " + std::to_string(batch) + ", expected 0 to " + std::to_string(std::min(r, q) - 1) +
                      ", less than the ranks of data " + dims_text(data.type.dims) + " and indices " +
                      dims_text(indices.type.dims));
  }
  std::vector<EqualExtents> ties;
  for (int64_t d = 0; d < batch; ++d) STREW_TRY(unify_extents(node, indices, d, data, d, ties));
  const std::optional<TensorType> declared = node.graph().declared_type(node.proto().output(0));
  STREW_TRY(index_components(node, indices, r - batch, declared ? q - 1 + r - batch - declared->rank() : -1).status());
  const Expected<Gather> op = gather_nd(data.type, indices.type, batch).build();
  if (!op.ok()) return node.error(op.status().message());
  return node.add_kernel(*op, {data.value, indices.value}, {}, {"a negative index counts from the end"}, std::move(ties));
}

}  // namespace strew::inline v0::onnx
