// The types of what operators compute that strew does not run, where the file does not declare them.
#pragma once

#include <optional>

#include "compiler/import/onnx/graph.h"

namespace strew::inline v0::onnx {

/// The type of an output, if it follows from the types of the node's inputs. Tested by
/// tests/unit/compiler/import/onnx/onnx_compute_test.cc.
std::optional<TensorType> inferred_type(const Node& node, int output);

}  // namespace strew::inline v0::onnx
