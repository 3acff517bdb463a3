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

/// The types of attributes that are read, with the numbers of AttributeProto.
enum class AttributeType : uint8_t { number = 1, integer = 2, text = 3, tensor = 4, list = 7, any };

/// An attribute of a row.
struct Attribute {
  // NOLINTNEXTLINE(google-explicit-constructor): most attributes are integers that all opsets have, of which a row holds the names
  Attribute(const char* its_name, AttributeType its_type = AttributeType::integer, int64_t first_opset = 1)
      : name(its_name), type(its_type), opset(first_opset) {}
  std::string_view name;
  AttributeType type;
  int64_t opset;  ///< that it came with
};

/// One operator that is supported.
struct Operator {
  std::string_view name;
  OperatorForm form;
  int64_t min_opset;  ///< first opset that has the operator
  std::vector<Attribute> attributes;
  std::function<Expected<Values>(Node&)> import;
  int64_t max_opset = kEveryLater;  ///< last opset that has the operator
  std::string_view later = {};      ///< the operator that replaces it after max_opset, for messages
};
const std::vector<Operator>& operators();
bool is_default_domain(std::string_view domain);

// The operators that become kernels, and those around the kernels.
std::vector<Operator> indexed_operators();
std::vector<Operator> elementwise_operators();
std::vector<Operator> movement_operators();

/// `owner` keeps the bytes where they are, so that large constants need no copy; null: nobody does.
Expected<Program> import_model(std::string_view bytes, const std::string& path, const ImportOptions& options,
                               const std::shared_ptr<const void>& owner = nullptr);

}  // namespace strew::inline v0::onnx
