// Reads and writes tensors as NumPy's .npy files. Dtypes that NumPy lacks are stored as raw items; a reader must name
// the dtype. Tested by tests/unit/tools/npy_test.cc and tests/error/hostile_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "strew/status.h"
#include "strew/tensor.h"

namespace strew {

/// The tensor in `bytes`, the contents of a .npy file. Fails unless its items are stored as npy.cc stores `dtype`.
/// Every message starts with `what`.
Expected<Tensor> parse_npy(std::string_view bytes, DType dtype, const std::string& what);
/// The tensor in a regular file of at most `max_bytes`. A large tensor of floats is mapped, and its buffer is then
/// read-only.
Expected<Tensor> read_npy(const std::string& path, DType dtype, int64_t max_bytes);

/// Writes a tensor in C order and format 1, or in format 2 if the header is too long for format 1. Calls `write` for
/// each piece of the file.
Status write_npy(const Tensor& tensor, const std::function<Status(std::string_view)>& write);
Expected<std::string> format_npy(const Tensor& tensor);

}  // namespace strew
