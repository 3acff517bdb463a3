// GATHER, GATHER_ND and EMBEDDING_LOOKUP. An index out of bounds is an error, and so is a negative index: TensorFlow Lite does not count from the end. All
// element types are accepted (LiteRT has fewer); indices are i16, i32 or i64. A negative axis counts from the rank of the operand, a
// negative batch_dims from the rank of the indices. Tested by tests/unit/compiler/import/tflite/tflite_import_test.cc and
// tests/oracle/litert_models.py.
#include "compiler/import/tflite/graph.h"
#include "compiler/import/tflite/tflite.h"
#include "strew/forms.h"

namespace strew::inline v0::tflite {
Expected<int> import_gather(Node& node) {
  int64_t axis = 0, batch_dims = 0;
  if (node.op().builtin_options() != nullptr) {
    const schema::GatherOptions* given = node.op().builtin_options_as_GatherOptions();
    if (given == nullptr)
      return node.error("its options are number {}, expected GatherOptions (23)",
                        static_cast<int>(node.op().builtin_options_type()));
    axis = given->axis();
    batch_dims = given->batch_dims();
  }
  const TensorType operand = node.type(node[0]), indices = node.type(node[1]);
  if (batch_dims < -indices.rank())
    return node.error("batch_dims is {}, expected at least {}, the rank of indices", batch_dims, -indices.rank());
  if (batch_dims < 0) batch_dims += indices.rank();
  return node.kernel(gather(operand, indices, axis, batch_dims).normalize_negative(false).build(), node.arguments());
}

Expected<int> import_gather_nd(Node& node) {
  const TensorType operand = node.type(node[0]), indices = node.type(node[1]);
  return node.kernel(gather_nd(operand, indices).normalize_negative(false).build(), node.arguments());
}

/// Rows of a table. A table that is quantized although its rows are not is refused: LiteRT scales what it reads from it.
Expected<int> import_embedding_lookup(Node& node) {
  const TensorType indices = node.type(node[0]), operand = node.type(node[1]);
  return node.kernel(gather(operand, indices, 0, 0).normalize_negative(false).build(), {node[1], node[0]});
}

}  // namespace strew::inline v0::tflite
