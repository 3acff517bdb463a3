// The table of TensorFlow Lite operators, and the importer that translates a file with it.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "compiler/import/node/node.h"
#include "compiler/import/tflite/schema.h"
#include "strew/import.h"
#include "strew/status.h"

namespace strew::inline v0::tflite {

class Node;

/// What an operator does with quantized tensors, whose integers stand for other numbers.
enum class Quantized : uint8_t {
  as_stored,  ///< it reads their integers
  same,       ///< it moves their integers, so all must have the same scales and zero points
  refused,    ///< it computes
};

/// One operator that is supported.
struct Operator {
  schema::BuiltinOperator code;
  OperatorForm form;
  Quantized quantized;
  std::function<Expected<Values>(Node&)> import;
  std::string_view name = schema::EnumNameBuiltinOperator(code);  ///< as the format spells it
};
const std::vector<Operator>& operators();

// The operators that become kernels, and those around the kernels.
std::vector<Operator> indexed_operators();
std::vector<Operator> elementwise_operators();
std::vector<Operator> movement_operators();
std::vector<Operator> shape_operators();

Expected<int> import_stablehlo_gather(Node& node);
Expected<int> import_stablehlo_scatter(Node& node);

/// `owner` keeps the bytes where they are, so that large constants need no copy; null: nobody does.
Expected<Program> import_model(std::string_view bytes, const std::string& path, const ImportOptions& options,
                               const std::shared_ptr<const void>& owner = nullptr);

}  // namespace strew::inline v0::tflite
