// The table of ONNX operators, and the importer that translates a model with it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "strew/import.h"
#include "strew/status.h"

namespace strew::inline v0::onnx {

class Node;

inline constexpr int64_t kEveryLater = std::numeric_limits<int64_t>::max();

/// One operator that is supported: its row in the table and one small file.
struct Operator {
  std::string_view op_type;
  std::string_view domain;  ///< "" is ai.onnx
  int64_t min_opset;        ///< first opset that has the operator
  int64_t max_opset;        ///< last opset that has the operator, or kEveryLater
  Status (*import)(Node& node);
  std::string_view later = {};  ///< the operator that replaces it after max_opset, for messages
  bool indexed = false;         ///< it becomes a kernel
};
const std::vector<Operator>& operators();

// The operators around the kernels.
const std::vector<Operator>& elementwise_operators();
const std::vector<Operator>& movement_operators();
const std::vector<Operator>& shape_operators();

Status import_constant(Node& node);
Status import_gather(Node& node);
Status import_gather_elements(Node& node);
Status import_gather_nd(Node& node);
Status import_scatter_elements(Node& node);
Status import_scatter_nd(Node& node);
Status import_tensor_scatter(Node& node);

/// `owner` keeps the bytes where they are, so that large constants need no copy; null: nobody does.
Expected<Program> import_model(std::string_view bytes, const std::string& path, const ImportOptions& options,
                                const std::shared_ptr<const void>& owner = nullptr);

}  // namespace strew::inline v0::onnx
