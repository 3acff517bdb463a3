// Which nodes of a graph strew takes as kernels of their own, and why it leaves the others to ONNX Runtime. Tested by tests/onnxruntime.
#pragma once

#include "bindings/onnxruntime/graph.h"

namespace strew::ort {

/// A gather of less than this is done by ONNX Runtime in the time that a call of a kernel of ours takes.
inline constexpr int64_t kLeastGatheredBytes = 4096;

/// Should strew run the node by itself? Empty: yes; else why not.
abi::Status* why_not(const abi::Node* node, const Operator& op, std::string* out);

}  // namespace strew::ort
