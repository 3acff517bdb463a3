// DType: the element types of semantics.md section 5, and the one table of their traits.
//
// Everything that depends on a dtype (storage, names, which arithmetic is meaningful, the layout of a narrow float) reads this
// table. Adding a dtype is a row here and in dtype.cc, plus its cases in the reference and the code generators.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "strew/export.h"

namespace strew::inline v0 {
// clang-format off
enum class DType : uint8_t {
  boolean,
  i2, u2, i4, u4, i8, u8, i16, u16, i32, u32, i64, u64,
  f4e2m1, f6e2m3, f6e3m2,
  f8e3m4, f8e4m3, f8e4m3fn, f8e4m3fnuz, f8e4m3b11fnuz, f8e5m2, f8e5m2fnuz, f8e8m0, hif8,
  f16, bf16, f32, f64,
  complex64, complex128,
  string,
};  // clang-format on
inline constexpr int kDTypeCount = static_cast<int>(DType::string) + 1;

enum class DTypeKind : uint8_t { boolean, signed_integer, unsigned_integer, floating, complex, string };

/// How a binary float spends its top codes.
enum class FloatCodes : uint8_t {
  none,    ///< not a float
  ieee,    ///< infinities and NaNs, as in IEEE 754
  fn,      ///< no infinity; the all-ones code is NaN (both signs)
  fnuz,    ///< no infinity, no -0; the code of -0 is the only NaN
  finite,  ///< no infinity, no NaN: f4, f6
  e8m0,    ///< exponent only, unsigned, 0xff is NaN
  opaque,  ///< not binary floating point as above (hif8): movement only
};

struct DTypeInfo {
  DType dtype;
  std::string_view name;  ///< as written in canonical text and on the command line
  DTypeKind kind;
  int bits;         ///< storage of one element; < 8 means packed, low bits first
  bool arithmetic;  ///< combiners other than assign are meaningful
  FloatCodes codes;
  int exponent_bits, mantissa_bits, bias;  ///< floats only
};

/// The row of the traits table. Never fails for a DType that exists.
STREW_API const DTypeInfo& info(DType dtype);

inline std::string_view name(DType dtype) { return info(dtype).name; }
inline int bits(DType dtype) { return info(dtype).bits; }
inline bool is_integer(DType d) {
  return info(d).kind == DTypeKind::signed_integer || info(d).kind == DTypeKind::unsigned_integer;
}
inline bool is_signed_integer(DType d) { return info(d).kind == DTypeKind::signed_integer; }
inline bool is_unsigned_integer(DType d) { return info(d).kind == DTypeKind::unsigned_integer; }
inline bool is_float(DType d) { return info(d).kind == DTypeKind::floating; }
inline bool is_complex(DType d) { return info(d).kind == DTypeKind::complex; }

/// Bytes that hold `count` consecutive elements starting on a byte boundary. `count` >= 0 and the product must fit (callers check).
inline int64_t storage_bytes(DType dtype, int64_t count) { return (count * bits(dtype) + 7) / 8; }

/// The dtype spelled `name` in canonical text ("f32", "bool", "f8e4m3fn"), or nothing.
STREW_API std::optional<DType> dtype_from_name(std::string_view name);

}  // namespace strew::inline v0
