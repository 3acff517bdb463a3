// XLA's element types as strew's, in one table. Tested by tests/jax/handler_test.py.
#pragma once

#include "strew/strew_rt.h"
#include "xla/ffi/api/c_api.h"

namespace strew::jax {

// ROW(XLA's, strew's). Types of less than a byte are left out: XLA:CPU keeps their elements in bytes of their own, strew packs them.
#define STREW_JAX_DTYPES(ROW)       \
  ROW(PRED, BOOL)                   \
  ROW(S8, I8)                       \
  ROW(U8, U8)                       \
  ROW(S16, I16)                     \
  ROW(U16, U16)                     \
  ROW(S32, I32)                     \
  ROW(U32, U32)                     \
  ROW(S64, I64)                     \
  ROW(U64, U64)                     \
  ROW(F8E3M4, F8E3M4)               \
  ROW(F8E4M3, F8E4M3)               \
  ROW(F8E4M3FN, F8E4M3FN)           \
  ROW(F8E4M3FNUZ, F8E4M3FNUZ)       \
  ROW(F8E4M3B11FNUZ, F8E4M3B11FNUZ) \
  ROW(F8E5M2, F8E5M2)               \
  ROW(F8E5M2FNUZ, F8E5M2FNUZ)       \
  ROW(F8E8M0FNU, F8E8M0)            \
  ROW(F16, F16)                     \
  ROW(BF16, BF16)                   \
  ROW(F32, F32)                     \
  ROW(F64, F64)                     \
  ROW(C64, COMPLEX64)               \
  ROW(C128, COMPLEX128)

/// XLA_FFI_DataType_INVALID: XLA passes no such tensors.
constexpr XLA_FFI_DataType xla_dtype(uint8_t dtype) {
#define STREW_JAX_ROW(xla, strew) \
  if (dtype == STREW_##strew) return XLA_FFI_DataType_##xla;
  STREW_JAX_DTYPES(STREW_JAX_ROW)
#undef STREW_JAX_ROW
  return XLA_FFI_DataType_INVALID;
}

/// XLA's name for messages; "unknown": strew takes no such tensors.
constexpr const char* xla_name(XLA_FFI_DataType dtype) {
#define STREW_JAX_ROW(xla, strew) \
  if (dtype == XLA_FFI_DataType_##xla) return #xla;
  STREW_JAX_DTYPES(STREW_JAX_ROW)
#undef STREW_JAX_ROW
  return "unknown";
}

}  // namespace strew::jax
