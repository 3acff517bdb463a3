// See memory_of.h. Lists are counted by their capacity.
#include "runtime/memory_of.h"

#include <string>
#include <variant>
#include <vector>

namespace strew::inline v0 {
namespace {

template <class T>
int64_t bytes_of(const std::vector<T>& list) {
  return block_bytes(list.capacity() * sizeof(T));
}
int64_t bytes_of(const std::string& text) {
  static const size_t inside = std::string().capacity();
  return text.capacity() <= inside ? 0 : block_bytes(text.capacity() + 1);
}
int64_t bytes_of(const TensorType& type) { return bytes_of(type.dims) + bytes_of(type.strides); }
int64_t bytes_of(const std::vector<TensorType>& types) {
  int64_t bytes = block_bytes(types.capacity() * sizeof(TensorType));
  for (const TensorType& type : types) bytes += bytes_of(type);
  return bytes;
}
int64_t bytes_of(const std::vector<Extra>& extras) {
  int64_t bytes = block_bytes(extras.capacity() * sizeof(Extra));
  for (const Extra& extra : extras) bytes += bytes_of(extra.type);
  return bytes;
}
int64_t bytes_of(const Expr& graph) {
  int64_t bytes = block_bytes(graph.nodes.capacity() * sizeof(ExprNode)) + bytes_of(graph.results);
  for (const ExprNode& node : graph.nodes) bytes += bytes_of(node.args);
  return bytes;
}

}  // namespace

int64_t memory_of(const Op& op) {
  const DimensionNumbers& dims = dims_of(op);
  const int64_t numbers = bytes_of(dims.window_dims) + bytes_of(dims.removed_dims) + bytes_of(dims.operand_batching_dims) +
                          bytes_of(dims.indices_batching_dims) + bytes_of(dims.index_map);
  if (const auto* const gather = std::get_if<Gather>(&op)) {
    return numbers + bytes_of(gather->operand) + bytes_of(gather->indices) + bytes_of(gather->extras) + bytes_of(gather->result) +
           bytes_of(gather->slice_sizes) + bytes_of(gather->expr);
  }
  const auto& scatter = std::get<Scatter>(op);
  return numbers + bytes_of(scatter.operands) + bytes_of(scatter.indices) + bytes_of(scatter.updates) + bytes_of(scatter.extras) +
         bytes_of(scatter.results) + bytes_of(scatter.expr) + bytes_of(scatter.fill);
}

int64_t memory_of(const KernelOptions& options) {
  if (!options.target) return 0;
  int64_t bytes = bytes_of(options.target->arch) + bytes_of(options.target->cpu) +
                  block_bytes(options.target->features.capacity() * sizeof(std::string));
  for (const std::string& feature : options.target->features) bytes += bytes_of(feature);
  return bytes;
}

}  // namespace strew::inline v0
