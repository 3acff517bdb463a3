// The table of TensorFlow Lite operators, and the importer that translates a file with it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/import/tflite/schema.h"
#include "strew/import.h"
#include "strew/status.h"

namespace strew::inline v0::tflite {

class Node;

/// One operator that is supported: its row in the table and one small function.
struct Operator {
  Operator(std::string_view name, schema::BuiltinOperator code, Status (*import)(Node& node), bool indexed = false)
      : name(name), code(static_cast<int32_t>(code)), import(import), indexed(indexed) {}

  std::string_view name;  ///< as the format spells it
  int32_t code;           ///< its BuiltinOperator number
  Status (*import)(Node& node);
  bool indexed;  ///< it becomes a kernel
};
const std::vector<Operator>& operators();

// The operators around the kernels.
const std::vector<Operator>& elementwise_operators();
const std::vector<Operator>& movement_operators();
const std::vector<Operator>& slice_operators();
const std::vector<Operator>& shape_operators();

Status import_dynamic_update_slice(Node& node);
Status import_embedding_lookup(Node& node);
Status import_gather(Node& node);
Status import_gather_nd(Node& node);
Status import_scatter_nd(Node& node);
Status import_segment_sum(Node& node);
Status import_sparse_to_dense(Node& node);
Status import_stablehlo_gather(Node& node);
Status import_stablehlo_scatter(Node& node);
Status import_unsorted_segment(Node& node);

/// `owner` keeps the bytes where they are, so that large constants need no copy; null: nobody does.
Expected<Program> import_model(std::string_view bytes, const std::string& path, const ImportOptions& options,
                                const std::shared_ptr<const void>& owner = nullptr);

}  // namespace strew::inline v0::tflite
