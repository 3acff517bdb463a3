// The table of TensorFlow Lite operators, and the importer that translates the main graph with it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "strew/import.h"
#include "strew/status.h"

namespace strew::inline v0::tflite {

class Node;

/// One operator that is supported: its row in the table and one small function.
struct Operator {
  std::string_view name;  ///< as the format spells it
  int32_t code;           ///< its BuiltinOperator number
  Status (*import)(Node& node);
};
const std::vector<Operator>& operators();

Status import_dynamic_update_slice(Node& node);
Status import_gather(Node& node);
Status import_gather_nd(Node& node);
Status import_scatter_nd(Node& node);
Status import_stablehlo_gather(Node& node);
Status import_stablehlo_scatter(Node& node);

Expected<Imported> import_model(std::string_view bytes, const std::string& path, const ImportOptions& options);

}  // namespace strew::inline v0::tflite
