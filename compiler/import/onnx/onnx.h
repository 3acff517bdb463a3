// ONNX models: the table of operators, and the importer that walks a graph with it.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/import/importer.h"
#include "runtime/status.h"

namespace strew::onnx {

class Node;

/// One operator: a row here and one small file.
struct Operator {
  std::string_view op_type;
  std::string_view domain;  ///< "" is ai.onnx
  int64_t min_opset;        ///< first opset whose rules the importer follows
  Status (*import)(Node& node);
};
const std::vector<Operator>& operators();

Status import_constant(Node& node);
Status import_tensor_scatter(Node& node);

Expected<Imported> import_model(std::string_view bytes, const std::string& path, const ImportOptions& options);

}  // namespace strew::onnx
