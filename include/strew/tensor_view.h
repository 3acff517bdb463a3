// TensorView: a caller's buffer, described the way DLPack describes one. Nothing is owned.
#pragma once

#include <cstdint>

#include "strew/dtype.h"

namespace strew {

struct TensorView {
  void* data = nullptr;  ///< element [0, ..., 0]; inputs are never written
  DType dtype = DType::f32;
  int32_t rank = 0;
  const int64_t* dims = nullptr;     ///< rank extents, in elements
  const int64_t* strides = nullptr;  ///< rank strides in elements, or null for contiguous row-major
};

}  // namespace strew
