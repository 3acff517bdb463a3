// Reads the tensors of --input, writes those of --output, and compares tensors. Tested by tests/error/cli_test.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strew/import.h"
#include "strew/tensor.h"

namespace strew::cli {

/// Reads a `.npy` file, or for ONNX a `.pb` file (TensorProto), as a tensor of `input`'s dtype. `max_bytes`: the
/// largest file that is read; 0: the format's own limit.
Expected<std::unique_ptr<Tensor>> read_tensor(const std::string& path, const ProgramInput& input, int64_t max_bytes);

/// Writes all tensors or none: every tensor is written to a temporary file before the first file is renamed.
Status write_tensors(const std::vector<Tensor>& tensors, const std::vector<std::string>& paths);

/// A copy of the tensor. A buffer that is mapped from a file is shared, because it is read-only.
std::unique_ptr<Tensor> clone(const Tensor& tensor);

/// Describes the first difference between two tensors of equal dtype and dims; empty if there is none. Bits are
/// compared, but any NaN equals any other (docs/semantics.md, section 2). `strict`: the bits of NaNs are compared, too;
/// for ops that only move elements.
std::string first_difference(const Tensor& a, const Tensor& b, bool strict);

}  // namespace strew::cli
