// GatherElements (opset 11): output[i0, .., in] = data[i0, .., indices[i], .., in], with the index in dim `axis`. It reads what
// ScatterElements writes.
//
// The dims other than axis are batching dims of data and indices; indices may be smaller than data there, as in scatter_elements.cc.
//
// Tested by tests/unit/compiler/import/onnx/onnx_ops_test.cc, tests/oracle/onnx_nodes.py and tests/oracle/onnxruntime_models.py.
#include "compiler/import/onnx/graph.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/onnx/shapes.h"
#include "strew/forms.h"

namespace strew::inline v0::onnx {

Status import_gather_elements(Node& node) {
  STREW_TRY(node.check_signature(2, 2, 1, {"axis"}));
  STREW_ASSIGN(const Operand data, read_operand(node, 0, "data"));
  STREW_ASSIGN(const Operand indices, read_operand(node, 1, "indices"));
  STREW_TRY(check_data(node, data));
  STREW_TRY(check_indices(node, indices, /*i32=*/true, 1));
  STREW_TRY(check_rank(node, indices, data.type.rank(), "data's"));
  STREW_ASSIGN(const int64_t axis, read_axis(node, data, 0));
  STREW_TRY(check_smaller(node, indices, data, axis));
  const Expected<Gather> op = gather_elements(data.type, indices.type, axis).build();
  if (!op.ok()) return node.error(op.status().message());
  return node.add_kernel(*op, {data.value, indices.value}, {}, {"a negative index counts from the end"});
}

}  // namespace strew::inline v0::onnx
