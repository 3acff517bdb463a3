// Expand nodes whose results only groups read. Exporters write the index of a sum of rows as wide as the rows, and several layers of a graph network read one such index. A group that reads
// what was expanded would read every index as often as a row has elements. So the node hands over the elements as they are before they are expanded: they lie at the
// beginning of the result's memory, whose dims are those of the result all the same, and the groups expand them in their programs, where nothing is written. Tested by
// tests/onnxruntime.
#pragma once

#include <memory>
#include <set>

#include "bindings/onnxruntime/context.h"

namespace strew::ort {

struct Expansion {
  const abi::Node* node = nullptr;  ///< valid during the call that got the graph
  std::string from, shape, to;      ///< the names of its inputs and of its result
  ValueType type;                   ///< of the result
  /// Per dim of the result: along it, all elements are the same. What is handed over has extent 1 there, and that of the result elsewhere.
  std::vector<bool> repeats;

  /// Of inputs of the group's model, which no graph has.
  std::string narrow_name() const { return made_name(to, "narrow"); }
  std::string shape_name() const { return made_name(to, "shape"); }
  ValueType narrow_type() const;
};

/// Those of the graph whose results `readers`, the nodes of groups, read and nobody else.
abi::Status* find_expansions(const abi::Graph* graph, const std::set<const abi::Node*>& readers, std::vector<Expansion>* out);

/// The expansion as the node `fused`.
abi::Status* describe(const Expansion& expansion, const abi::Node* fused, ExpansionContext* out);

/// What runs the node `fused`. Fails unless the context fits it.
abi::Status* make_compute(const ExpansionContext& expansion, const abi::Node* fused, abi::NodeComputeInfo** out);

/// The dims of what is handed over, where those of the result are `dims`. Of a result without elements, nothing is handed over.
void narrow_dims(const std::vector<bool>& repeats, const int64_t* dims, Dims* out);

}  // namespace strew::ort
