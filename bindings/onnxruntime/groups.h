// Groups of nodes that run as one kernel: an indexed operator with the index arithmetic, the elementwise work and the other indexed operators that strew folds
// into it. Tested by tests/onnxruntime.
#pragma once

#include <memory>
#include <set>

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

/// The names of all that the nodes make, in order: by them a group is found again.
abi::Status* results_of(const std::vector<const abi::Node*>& nodes, std::set<std::string>* out);
/// The program of a graph that has a group's nodes and nothing else. `found`: what find_groups() made of them, which may make other values than the graph's outputs.
abi::Status* program_of(const abi::Graph* graph, const OwnedProgram& found, OwnedProgram* out);

/// What runs a group, as a node with these inputs and outputs.
abi::Status* make_compute(Session* session, OwnedProgram program, const abi::Node* fused, abi::NodeComputeInfo** out);
void release_compute(abi::NodeComputeInfo* info);

}  // namespace strew::ort
