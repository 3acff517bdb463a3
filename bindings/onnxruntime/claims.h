// Which nodes of a graph strew takes, and why it leaves the others to ONNX Runtime. Tested by tests/onnxruntime.
#pragma once

#include <map>
#include <mutex>

#include "bindings/onnxruntime/graph.h"

namespace strew::ort {

/// What became of a node that has an indexed operator, or that is in a group with one.
struct Claim {
  NodeText node;
  bool is_taken = false;
  std::string reason;
};

/// The claims of a session, which strew.ort.report() reads while sessions come and go.
class Report {
 public:
  void add(Claim claim);
  /// JSON: [{"node": "scatter_1", "operator": "ScatterND", "runs": "strew", "why": "..."}, ...]
  std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Claim> claims_;
};

/// Should strew run the node by itself? Empty: yes; else why not.
abi::Status* why_not(const abi::Node* node, const Operator& op, std::string* out);

}  // namespace strew::ort
