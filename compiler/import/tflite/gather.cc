// GATHER, GATHER_ND and EMBEDDING_LOOKUP. An index out of bounds is an error, and so is a negative index: TensorFlow Lite does not count from the end. All
// element types are accepted (LiteRT has fewer); indices are i16, i32 or i64. A negative axis counts from the rank of the operand, a
// negative batch_dims from the rank of the indices. Tested by tests/unit/compiler/import/tflite/tflite_import_test.cc and
// tests/oracle/litert_models.py.
#include "compiler/import/tflite/graph.h"
#include "compiler/import/tflite/tflite.h"
#include "strew/forms.h"

namespace strew::inline v0::tflite {
namespace {

struct GatherAxes {
  int64_t axis = 0, batch_dims = 0;
};

Expected<GatherAxes> read_axes(const Node& node) {
  if (node.op().builtin_options() == nullptr) return GatherAxes{};
  const schema::GatherOptions* given = node.op().builtin_options_as_GatherOptions();
  if (given == nullptr) {
    return node.error("its options are number " + std::to_string(static_cast<int>(node.op().builtin_options_type())) +
                      ", expected GatherOptions (23)");
  }
  return GatherAxes{given->axis(), given->batch_dims()};
}

Status add(Node& node, const GatherBuilder& builder, int operand, int indices) {
  return node.add_kernel(builder.build(), {.arguments = {operand, indices}});
}

}  // namespace

Status import_gather(Node& node) {
  STREW_TRY(node.check_signature(2, 1));
  STREW_ASSIGN(GatherAxes options, read_axes(node));
  STREW_ASSIGN(const int operand, node.input(0, "params"));
  STREW_ASSIGN(const int indices, node.input(1, "indices"));
  if (options.batch_dims < 0) {
    const int64_t counted = options.batch_dims + node.type(indices).rank();
    if (counted < 0) {
      return node.error("batch_dims is " + std::to_string(options.batch_dims) + ", expected at least " +
                        std::to_string(-node.type(indices).rank()) + ", the rank of indices");
    }
    options.batch_dims = counted;
  }
  return add(node, gather(node.type(operand), node.type(indices), options.axis, options.batch_dims).normalize_negative(false),
             operand, indices);
}

Status import_gather_nd(Node& node) {
  STREW_TRY(node.check_signature(2, 1));
  STREW_ASSIGN(const int operand, node.input(0, "params"));
  STREW_ASSIGN(const int indices, node.input(1, "indices"));
  return add(node, gather_nd(node.type(operand), node.type(indices)).normalize_negative(false), operand, indices);
}

/// Rows of a table. A table that is quantized although its rows are not is refused: LiteRT scales what it reads from it.
Status import_embedding_lookup(Node& node) {
  STREW_TRY(node.check_signature(2, 1));
  STREW_ASSIGN(const int indices, node.input(0, "lookup"));
  STREW_ASSIGN(const int operand, node.input(1, "value"));
  return add(node, gather(node.type(operand), node.type(indices), 0, 0).normalize_negative(false), operand, indices);
}

}  // namespace strew::inline v0::tflite
