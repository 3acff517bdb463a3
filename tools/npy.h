// NumPy's .npy files as tensors. Types NumPy lacks are stored as raw items and take their type from the caller.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "strew/status.h"
#include "strew/tensor.h"

namespace strew {

/// The tensor in `bytes`, whose items must be how npy stores `dtype`. `what` starts every message.
Expected<Tensor> parse_npy(std::string_view bytes, DType dtype, const std::string& what);
/// The tensor in a regular file of at most `max_bytes`. Large ones of floats are mapped: their buffer is read-only.
Expected<Tensor> read_npy(const std::string& path, DType dtype, int64_t max_bytes);

/// Format 1 (2 where the header is too long), C order, in as many pieces as it takes.
Status write_npy(const Tensor& tensor, const std::function<Status(std::string_view)>& write);
Expected<std::string> format_npy(const Tensor& tensor);

}  // namespace strew
