// Tensors from and to the files of --input and --output.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strew/import.h"
#include "strew/tensor.h"

namespace strew::cli {

/// `.npy`, or for ONNX `.pb` (TensorProto), as an element of `input`'s dtype. `max_bytes` limits the file; 0: the format's own limit.
Expected<std::unique_ptr<Tensor>> read_tensor(const std::string& path, const ImportedInput& input, int64_t max_bytes);

/// All or none: every file is written beside its place before the first is renamed into it.
Status write_tensors(const std::vector<Tensor>& tensors, const std::vector<std::string>& paths);

/// The same elements. What is mapped from a file is shared, since nobody can write it.
std::unique_ptr<Tensor> clone(const Tensor& tensor);

/// The first difference between two tensors of equal dtype and dims, bit for bit except that any NaN equals any other (semantics.md
/// section 2), or an empty string. `strict`: NaNs too, for pure movement.
std::string first_difference(const Tensor& a, const Tensor& b, bool strict);

}  // namespace strew::cli
