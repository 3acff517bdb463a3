// NumPy's .npy files as tensors. Types NumPy lacks are stored as raw items and take their type from the caller.
#pragma once

#include <string>
#include <string_view>

#include "runtime/status.h"
#include "runtime/tensor.h"

namespace strew {

/// The tensor in `bytes`, whose items must be how npy stores `dtype`. `what` starts every message.
Expected<Tensor> parse_npy(std::string_view bytes, DType dtype, const std::string& what);

/// Format 1 (2 where the header is too long), C order.
Expected<std::string> format_npy(const Tensor& tensor);

}  // namespace strew
