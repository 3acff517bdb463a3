// A graph of ONNX Runtime's as the bytes of an ONNX model, in memory: what strew's importer reads. Operators that strew does not compute with the same bits as
// ONNX Runtime are written as operators that nobody knows, so that they stay where they are. Tested by tests/onnxruntime.
#pragma once

#include "bindings/onnxruntime/expansions.h"
#include "bindings/onnxruntime/graph.h"

namespace strew::ort {

struct Model {
  std::string bytes;
  /// The nodes in the order of the model's; null: one that the graph does not have, which makes a constant.
  std::vector<const abi::Node*> nodes;
  bool has_operators = false;  ///< indexed ones, that the importer may know
};
/// `ops`: the provider option of that name.
abi::Status* write_model(const abi::Graph* graph, const std::string& ops, Model* out);
/// Of some nodes alone, in their order: what they read of the others are inputs. `outputs`: the names of what the others read. What `expansions` make is made anew of
/// what they hand over and of a shape, which are inputs with the names that they have.
abi::Status* write_part(const abi::Graph* graph, const std::vector<const abi::Node*>& nodes,
                        const std::vector<std::string>& outputs, const std::vector<Expansion>& expansions, const std::string& ops,
                        Model* out);

}  // namespace strew::ort
