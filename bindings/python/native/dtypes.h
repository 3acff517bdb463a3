// The names that NumPy (with ml_dtypes) and PyTorch have for strew's dtypes. Tested by tests/python/arrays_test.py.
#pragma once

#include <string_view>

#include "strew/dtype.h"
#include "strew/strew_rt.h"

namespace strew::python {

struct DTypeNames {
  strew_dtype dtype;
  const char* numpy;  ///< dtype.name; null: NumPy has none
  const char* torch;  ///< attribute of module torch; null: PyTorch has none
};
/// By the number of the dtype. The kinds of 4 and 2 bits have no names: NumPy keeps one of these per byte, and strew packs them.
inline constexpr DTypeNames kDTypeNames[] = {
#define STREW_PYTHON_NAMES(dtype, dlpack, onnx, tflite, mlir, numpy, torch) \
  {static_cast<strew_dtype>(DType::dtype), (numpy)[0] == 0 ? nullptr : (numpy), (torch) ? (numpy) : nullptr},
    STREW_DTYPE_FORMATS(STREW_PYTHON_NAMES)
#undef STREW_PYTHON_NAMES
};

/// Null if the number is no dtype's or the dtype has no names.
inline const DTypeNames* names_of(int dtype) {
  if (dtype < 0 || dtype >= kDTypeCount || kDTypeNames[dtype].numpy == nullptr) return nullptr;
  return &kDTypeNames[dtype];
}
/// Null if no dtype has the name.
inline const DTypeNames* dtype_named(std::string_view numpy_name) {
  for (const DTypeNames& each : kDTypeNames)
    if (each.numpy != nullptr && numpy_name == each.numpy) return &each;
  return nullptr;
}

}  // namespace strew::python
