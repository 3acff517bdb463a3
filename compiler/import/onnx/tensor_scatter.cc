// TensorScatter (opset 24): writes `update` into a copy of `past_cache` along one axis, each batch sample at its own index.
//
//   past_cache [B, ..., M at axis, ...]   update [B, ..., S at axis, ...], S <= M   write_indices [B], missing: zeros
//
// One index per sample means one index position per sample with the whole of its update as window: dim 0 is a batching dim of
// operand and indices, every other update dim is a window dim. linear: policy error. circular: policy wrap, which folds the sequence
// coordinate only (the operator's prose; its published pseudocode folded batch and head too, upstream fixed that). A negative write
// index is an error in both modes, as in ONNX Runtime: `wrap` would fold it, so circular adds the demand `non_negative`.
//
// Tested by tests/unit/onnx_import_test.cc and tests/oracle/onnx_tensor_scatter.py (ONNX's own node tests and a generated matrix).
#include <algorithm>

#include "compiler/import/onnx/graph.h"
#include "compiler/import/onnx/onnx.h"

namespace strew::onnx {
namespace {

struct Inputs {
  int cache, update, indices;
  int64_t axis;
  bool circular;
};

// The operator's type list (IR version 12) has every ONNX type but these.
constexpr DType kNotAllowed[] = {DType::i2, DType::u2, DType::f6e2m3, DType::f6e3m2};

Expected<int64_t> find_axis(const Node& node, int rank) {
  STREW_ASSIGN(const int64_t given, node.attribute("axis", -2));
  const int64_t axis = given < 0 ? given + rank : given;
  if (axis < 1 || axis >= rank) {
    const std::string note = axis == 0 ? " (dim 0 is the batch)" : "";
    return node.error("axis is " + std::to_string(given) + note + ", expected 1 to " + std::to_string(rank - 1) + " or -" +
                      std::to_string(rank - 1) + " to -1 for a past_cache of rank " + std::to_string(rank));
  }
  return axis;
}

/// Same rank and dtype; every dim but the axis equal. Dims known on one side only become known on both.
Status unify_shapes(const Node& node, TensorType& cache, TensorType& update, int64_t axis) {
  if (update.dtype != cache.dtype) {
    return node.error("update has dtype " + std::string(name(update.dtype)) + ", expected past_cache's " +
                      std::string(name(cache.dtype)));
  }
  if (update.rank() != cache.rank()) {
    return node.error("update has rank " + std::to_string(update.rank()) + ", expected past_cache's " +
                      std::to_string(cache.rank()));
  }
  const std::string shapes = "update is " + dims_text(update.dims) + " and past_cache " + dims_text(cache.dims);
  for (int64_t d = 0; d < cache.rank(); ++d) {
    if (d == axis) {
      if (update.dims[d] != kDynamic && cache.dims[d] != kDynamic && update.dims[d] > cache.dims[d]) {
        return node.error("update's dim " + std::to_string(d) + " (the axis) is " + std::to_string(update.dims[d]) +
                          ", expected at most " + std::to_string(cache.dims[d]) + ": " + shapes);
      }
    } else if (!unify(update.dims[d], cache.dims[d]) || !unify(cache.dims[d], update.dims[d])) {
      return node.error("update's dim " + std::to_string(d) + " is " + std::to_string(update.dims[d]) +
                        ", expected past_cache's " + std::to_string(cache.dims[d]) + ": " + shapes);
    }
  }
  return {};
}

Status check_indices(const Node& node, TensorType& indices, TensorType& cache, TensorType& update) {
  if (indices.dtype != DType::i64)
    return node.error("write_indices has dtype " + std::string(name(indices.dtype)) + ", expected i64");
  if (indices.rank() != 1) return node.error("write_indices has rank " + std::to_string(indices.rank()) + ", expected 1");
  if (!unify(indices.dims[0], cache.dims[0]) || !unify(cache.dims[0], indices.dims[0])) {
    return node.error("write_indices is " + dims_text(indices.dims) + ", expected [" + std::to_string(cache.dims[0]) +
                      "], one index per batch sample");
  }
  update.dims[0] = cache.dims[0];
  return {};
}

Expected<bool> is_circular(const Node& node) {
  STREW_ASSIGN(const std::string mode, node.attribute("mode", "linear"));
  if (mode != "linear" && mode != "circular") return node.error("mode is '" + mode + "', expected linear or circular");
  return mode == "circular";
}

/// The third input: given, given but optional for the caller, or zeros of one per sample.
Expected<int> indices_value(Node& node, int cache) {
  Graph& graph = node.graph();
  if (!node.has_input(2)) {
    Value zeros;
    zeros.kind = ValueKind::zeros;
    zeros.type = {DType::i64, {node.type(cache).dims[0]}, {}};
    zeros.like = cache;
    return graph.add(std::move(zeros));
  }
  STREW_ASSIGN(const int given, node.input(2, "write_indices", /*optional=*/true));
  Value& value = graph.imported().values[given];
  if (value.kind == ValueKind::input) value.like = cache;
  return given;
}

}  // namespace

Status import_tensor_scatter(Node& node) {
  STREW_TRY(node.check_signature(2, 3, 1, {"axis", "mode"}));
  STREW_ASSIGN(const bool circular, is_circular(node));
  STREW_ASSIGN(const int cache_value, node.input(0, "past_cache"));
  STREW_ASSIGN(const int update_value, node.input(1, "update"));
  TensorType cache = node.type(cache_value), update = node.type(update_value);
  if (cache.rank() < 2) return node.error("past_cache has rank " + std::to_string(cache.rank()) + ", expected at least 2");
  if (std::find(std::begin(kNotAllowed), std::end(kNotAllowed), cache.dtype) != std::end(kNotAllowed)) {
    return node.error("past_cache has dtype " + std::string(name(cache.dtype)) + ", expected one of TensorScatter-24's 24 types");
  }
  STREW_ASSIGN(const int64_t axis, find_axis(node, cache.rank()));
  STREW_TRY(unify_shapes(node, cache, update, axis));
  STREW_ASSIGN(const int indices_number, indices_value(node, cache_value));
  TensorType indices = node.type(indices_number);
  STREW_TRY(check_indices(node, indices, cache, update));

  Scatter op;
  op.operands = {cache};
  op.indices = indices;
  op.updates = {update};
  op.results = {cache};
  for (int64_t d = 1; d < cache.rank(); ++d) op.dims.update_window_dims.push_back(d);
  op.dims.input_batching_dims = {0};
  op.dims.scatter_indices_batching_dims = {0};
  op.dims.scatter_dims_to_operand_dims = {axis};
  op.dims.index_vector_dim = 1;
  op.combiner.kind = CombinerKind::assign;
  op.init = InitKind::copy;
  op.oob = circular ? OobPolicy::wrap : OobPolicy::error;

  std::vector<std::string> notes = {"in place if the caller binds past_cache and present_cache to one buffer"};
  if (!node.has_input(2)) notes.push_back("write_indices is missing: zeros");
  if (circular) notes.push_back("circular: wraps the sequence coordinate only");
  return node.add_kernel(std::move(op), {cache_value, indices_number, update_value},
                         circular ? std::vector<int>{indices_number} : std::vector<int>{}, std::move(notes));
}

}  // namespace strew::onnx
