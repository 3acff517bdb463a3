// The table of ONNX operators, and the importer that translates a model with it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/node/node.h"
#include "strew/import.h"
#include "strew/status.h"

namespace strew::inline v0::onnx {

class Node;

inline constexpr int64_t kEveryLater = std::numeric_limits<int64_t>::max();

/// One operator that is supported.
struct Operator {
  std::string_view name;
  OperatorForm form;
  int64_t min_opset;  ///< first opset that has the operator
  std::vector<std::string_view> attributes;
  std::function<Expected<Values>(Node&)> import;
  int64_t max_opset = kEveryLater;  ///< last opset that has the operator
  std::string_view later = {};      ///< the operator that replaces it after max_opset, for messages
};
const std::vector<Operator>& operators();
bool is_default_domain(std::string_view domain);

// The operators that become kernels, and those around the kernels.
const std::vector<Operator>& indexed_operators();
const std::vector<Operator>& elementwise_operators();
const std::vector<Operator>& movement_operators();
const std::vector<Operator>& shape_operators();

Expected<int> import_constant(Node& node);
Expected<int> import_tensor_scatter(Node& node);

/// `owner` keeps the bytes where they are, so that large constants need no copy; null: nobody does.
Expected<Program> import_model(std::string_view bytes, const std::string& path, const ImportOptions& options,
                               const std::shared_ptr<const void>& owner = nullptr);

}  // namespace strew::inline v0::onnx
