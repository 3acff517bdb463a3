// The names that NumPy (with ml_dtypes) and PyTorch have for strew's dtypes. Tested by tests/python/arrays_test.py.
#pragma once

#include <string_view>

#include "strew/strew_rt.h"

namespace strew::python {

struct DTypeNames {
  strew_dtype dtype;
  const char* numpy;  ///< dtype.name; null: NumPy has none
  const char* torch;  ///< attribute of module torch; null: PyTorch has none
};
/// Each dtype that Python's arrays hold one element per byte or more of, as strew does. The kinds of 4 and 2 bits are not among them: NumPy
/// keeps one of these per byte, and strew packs them.
inline constexpr DTypeNames kDTypeNames[] = {
    {STREW_BOOL, "bool", "bool"},
    {STREW_I8, "int8", "int8"},
    {STREW_U8, "uint8", "uint8"},
    {STREW_I16, "int16", "int16"},
    {STREW_U16, "uint16", "uint16"},
    {STREW_I32, "int32", "int32"},
    {STREW_U32, "uint32", "uint32"},
    {STREW_I64, "int64", "int64"},
    {STREW_U64, "uint64", "uint64"},
    {STREW_F6E2M3, "float6_e2m3fn", nullptr},
    {STREW_F6E3M2, "float6_e3m2fn", nullptr},
    {STREW_F8E3M4, "float8_e3m4", nullptr},
    {STREW_F8E4M3, "float8_e4m3", nullptr},
    {STREW_F8E4M3FN, "float8_e4m3fn", "float8_e4m3fn"},
    {STREW_F8E4M3FNUZ, "float8_e4m3fnuz", "float8_e4m3fnuz"},
    {STREW_F8E4M3B11FNUZ, "float8_e4m3b11fnuz", nullptr},
    {STREW_F8E5M2, "float8_e5m2", "float8_e5m2"},
    {STREW_F8E5M2FNUZ, "float8_e5m2fnuz", "float8_e5m2fnuz"},
    {STREW_F8E8M0, "float8_e8m0fnu", "float8_e8m0fnu"},
    {STREW_F16, "float16", "float16"},
    {STREW_BF16, "bfloat16", "bfloat16"},
    {STREW_F32, "float32", "float32"},
    {STREW_F64, "float64", "float64"},
    {STREW_COMPLEX64, "complex64", "complex64"},
    {STREW_COMPLEX128, "complex128", "complex128"},
};

/// Null if the list has no such dtype.
inline const DTypeNames* names_of(int dtype) {
  for (const DTypeNames& each : kDTypeNames)
    if (each.dtype == dtype) return &each;
  return nullptr;
}
/// Null if the list has no such name.
inline const DTypeNames* dtype_named(std::string_view numpy_name) {
  for (const DTypeNames& each : kDTypeNames)
    if (each.numpy != nullptr && numpy_name == each.numpy) return &each;
  return nullptr;
}

}  // namespace strew::python
