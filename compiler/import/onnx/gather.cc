// Gather (opset 1): numpy.take. A negative index counts from the end in every opset, although the operator's text says so only since opset
// 11.
//
//   data [D0, ..., Dr-1]   indices of any rank q, 0 too   output [D0, .., Daxis-1, I0, .., Iq-1, Daxis+1, ..]
//
// A gather of a shape by constants, as exporters write "the second dim of x", is shape arithmetic and no kernel.
//
// Tested by tests/unit/compiler/import/onnx/onnx_ops_test.cc, tests/oracle/onnx_nodes.py and tests/oracle/onnxruntime_models.py.
#include "compiler/import/onnx/graph.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/onnx/shapes.h"
#include "strew/forms.h"

namespace strew::inline v0::onnx {

Status import_gather(Node& node) {
  STREW_TRY(node.check_signature(2, 2, 1, {"axis"}));
  STREW_ASSIGN(const Operand data, read_operand(node, 0, "data"));
  STREW_ASSIGN(const Operand indices, read_operand(node, 1, "indices"));
  STREW_TRY(check_data(node, data));
  STREW_TRY(check_indices(node, indices, /*i32=*/true, 0));
  STREW_ASSIGN(const int64_t axis, read_axis(node, data, 0));
  Expected<std::optional<int>> taken = node.builder().taken(data.value, indices.value);
  if (!taken.ok()) return taken.status().with_prefix(node.location());
  if (taken->has_value()) return node.give(**taken);
  const Expected<Gather> op = gather(data.type, indices.type, axis).build();
  if (!op.ok()) return node.error(op.status().message());
  return node.add_kernel(*op, {data.value, indices.value}, {}, {"a negative index counts from the end"});
}

}  // namespace strew::inline v0::onnx
