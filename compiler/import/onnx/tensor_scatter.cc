// TensorScatter (opset 24): writes `update` into a copy of `past_cache` along one axis, each batch sample at its own index.
//
//   past_cache [B, ..., M at axis, ...]   update [B, ..., S at axis, ...], S <= M   write_indices [B], missing: zeros
//
// A sample has one index, so it is one index position, whose window is the whole update of the sample: dim 0 is a
// batching dim of operand and indices, and every other dim of `update` is a window dim. Mode linear is policy error.
// Mode circular is policy wrap, which wraps the coordinate along the axis only, as the operator's text says. (ONNX's
// pseudocode once wrapped batch and head, too; that was corrected.) A negative write index is an error in both modes,
// as in ONNX Runtime. Policy wrap would accept it, so circular adds the requirement `non_negative`.
//
// Tested by tests/unit/compiler/import/onnx/onnx_import_test.cc and tests/oracle/onnx_tensor_scatter.py (ONNX's own node tests and a
// generated matrix).
#include "compiler/import/onnx/graph.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/onnx/shapes.h"
#include "compiler/import/onnx/tensor_proto.h"
#include "strew/forms.h"

namespace strew::inline v0::onnx {
namespace {

/// The operator's type list (IR version 12) has the types of these numbers.
constexpr int32_t kMostElementType = 24;

Expected<int64_t> find_axis(const Node& node, int rank) {
  const int64_t given = node.integer("axis", -2), axis = given < 0 ? given + rank : given;
  if (axis < 1 || axis >= rank)
    return node.error("axis is {}{}, expected 1 to {} or -{} to -1 for a past_cache of rank {}", given,
                      axis == 0 ? " (dim 0 is the batch)" : "", rank - 1, rank - 1, rank);
  return axis;
}

/// Requires that all dims but the axis agree, and that there is one index per sample. A dim that one tensor leaves
/// open gets its extent from another.
Status unify_all(const Node& node, Operand& cache, Operand& update, Operand& indices, int64_t axis,
                 std::vector<EqualExtents>& ties) {
  for (int64_t d = 0; d < cache.type.rank(); ++d) {
    if (d != axis) STREW_TRY(unify_extents(node, update, d, cache, d, ties));
  }
  const size_t before = ties.size();
  STREW_TRY(unify_extents(node, indices, 0, cache, 0, ties));
  if (node[2] < 0) ties.resize(before);  // the zeros are one per sample by construction
  update.type.dims[0] = cache.type.dims[0];
  return check_smaller(node, update, cache, -1);
}

Expected<bool> is_circular(const Node& node) {
  const std::string mode = node.text("mode", "linear");
  if (mode != "linear" && mode != "circular") return node.error("mode is '{}', expected linear or circular", mode);
  return mode == "circular";
}

/// The third input; if the node has none, zeros, one per sample. If the file has it as a graph input, the caller may
/// leave it out.
int indices_value(Node& node, int cache) {
  if (node[2] < 0) return node.builder().zeros({DType::i64, {node.type(cache).dims[0]}, {}}, cache, 0);
  Program& program = node.graph().program();
  if (program.value(node[2]).kind == ValueKind::input) program.edit_value(node[2])->like = cache;
  return node[2];
}

}  // namespace

Expected<int> import_tensor_scatter(Node& node) {
  STREW_ASSIGN(const bool circular, is_circular(node));
  Operand past = read_operand(node, 0, "past_cache"), update = read_operand(node, 1, "update");
  const TensorType& cache = past.type;
  if (cache.rank() < 2) return node.error("past_cache has rank {}, expected at least 2", cache.rank());
  if (element_number(cache.dtype) > kMostElementType)
    return node.error("past_cache has dtype {}, expected one of TensorScatter-24's 24 types", name(cache.dtype));
  STREW_ASSIGN(const int64_t axis, find_axis(node, cache.rank()));
  STREW_TRY(check_same_dtype(node, update, past));
  STREW_TRY(check_rank(node, update, cache.rank(), "past_cache's"));
  const int indices_number = indices_value(node, past.value);
  Operand indices{indices_number, node.type(indices_number), "write_indices"};
  STREW_TRY(check_indices(node, indices, /*i32=*/false, 1));
  STREW_TRY(check_rank(node, indices, 1, "one index per batch sample"));
  std::vector<EqualExtents> ties;
  STREW_TRY(unify_all(node, past, update, indices, axis, ties));

  std::vector<std::string> notes = {"in place if the caller binds past_cache and present_cache to one buffer"};
  if (node[2] < 0) notes.push_back("write_indices is missing: zeros");
  if (circular) notes.push_back("circular: wraps the sequence coordinate only");
  return node.kernel(tensor_scatter(cache, indices.type, update.type, axis, circular).build(),
                     {.arguments = {past.value, indices.value, update.value},
                      .notes = std::move(notes),
                      .non_negative = circular ? std::vector<int>{indices_number} : std::vector<int>{},
                      .equal_extents = std::move(ties)});
}

}  // namespace strew::inline v0::onnx
