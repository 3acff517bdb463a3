// Groups of nodes that run as one kernel: an indexed operator with the index arithmetic, the elementwise work and the other indexed operators that strew folds
// into it. Tested by tests/onnxruntime.
#pragma once

#include <memory>

#include "bindings/onnxruntime/kernels.h"
#include "bindings/onnxruntime/model.h"

namespace strew::ort {

using OwnedProgram = std::shared_ptr<strew_program>;

struct Group {
  std::vector<const abi::Node*> nodes;  ///< valid during the call that got the graph
  OwnedProgram program;
};
/// The groups of a graph for which one kernel does more than one node. `why`: why there are none, if the graph could not be read.
abi::Status* find_groups(const abi::Graph* graph, std::vector<Group>* out, std::string* why);

/// The names of a program's inputs and outputs.
std::vector<std::string> input_names(const strew_program* program);
std::vector<std::string> output_names(const strew_program* program);

/// What runs a group, as a node with these inputs and outputs.
abi::Status* make_compute(Session* session, OwnedProgram program, const abi::Node* fused, abi::NodeComputeInfo** out);
void release_compute(abi::NodeComputeInfo* info);

}  // namespace strew::ort
