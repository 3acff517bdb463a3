// Groups of nodes that run as one kernel: an indexed operator with the index arithmetic, the elementwise work and the other indexed operators that strew folds
// into it. Tested by tests/onnxruntime.
#pragma once

#include <memory>
#include <set>

#include "bindings/onnxruntime/context.h"
#include "bindings/onnxruntime/expansions.h"
#include "bindings/onnxruntime/kernels.h"

namespace strew::ort {

using OwnedProgram = std::shared_ptr<strew_program>;

struct Group {
  std::vector<const abi::Node*> nodes;  ///< valid during the call that got the graph
  std::vector<std::string> outputs;     ///< the names of what others read
  std::vector<Expansion> expansions;    ///< whose results it reads
  OwnedProgram program;
  std::string model;  ///< the bytes that the program was read from
};
/// `ops`: the provider option of that name. The groups of a graph for which one kernel does more than one node, and the expansions that only they read. `why`: why there are none, or fewer, if strew
/// refuses the graph.
abi::Status* find_groups(const abi::Graph* graph, const std::string& ops, std::vector<Group>* out,
                         std::vector<Expansion>* expansions, std::string* why);

/// The names of all that the nodes make: by them a group is found again.
abi::Status* results_of(const std::vector<const abi::Node*>& nodes, std::set<std::string>* out);

/// The group as the node `fused`, and its program. `graph` has the group's nodes and nothing else.
abi::Status* describe(const abi::Graph* graph, const Group& group, const abi::Node* fused, GroupContext* out,
                      OwnedProgram* program);

/// What runs a group as the node `fused`. `program`: null if it is still to be read from the context. Fails unless the context fits the node.
abi::Status* make_compute(Session* session, const GroupContext& group, OwnedProgram program, const abi::Node* fused,
                          abi::NodeComputeInfo** out);

}  // namespace strew::ort
