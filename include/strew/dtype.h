// DType: the element types (docs/semantics.md section 5), and one table of their traits.
//
// Whatever depends on a dtype (storage, name, legal arithmetic, layout of a narrow float) reads that table.
// CONTRIBUTING.md has the recipe for a new dtype. All functions are thread-safe. Tested by
// tests/unit/base/dtype_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "strew/dtypes.def"
#include "strew/export.h"

namespace strew::inline v0 {
/// The element types; dtypes.def has a row for each.
enum class DType : uint8_t {
#define STREW_DTYPE_ENUMERATOR(dtype, ...) dtype,
  STREW_DTYPES(STREW_DTYPE_ENUMERATOR)
#undef STREW_DTYPE_ENUMERATOR
};
#define STREW_DTYPE_COUNT_ONE(...) +1
inline constexpr int kDTypeCount = STREW_DTYPES(STREW_DTYPE_COUNT_ONE);
#undef STREW_DTYPE_COUNT_ONE

enum class DTypeKind : uint8_t { boolean, signed_integer, unsigned_integer, floating, complex, string };

/// Which bit patterns of a binary float are infinities and NaNs.
enum class FloatCodes : uint8_t {
  none,    ///< not a float
  ieee,    ///< infinities and NaNs, as in IEEE 754
  fn,      ///< no infinity; exponent and mantissa of all ones are NaN (either sign)
  fnuz,    ///< no infinity, no -0; the bit pattern of -0 is the only NaN
  finite,  ///< no infinity, no NaN: f4, f6
  e8m0,    ///< exponent only, unsigned, 0xff is NaN
  opaque,  ///< another encoding (hif8), whose elements are only moved
};

struct DTypeInfo {
  DType dtype;
  std::string_view name;  ///< as written in canonical text and on the command line
  DTypeKind kind;
  int bits;         ///< storage of one element; less than 8: several per byte, the first in the low bits
  bool arithmetic;  ///< combiners other than assign are legal
  FloatCodes codes;
  int exponent_bits, mantissa_bits, bias;  ///< floats only
  int used_bits;                           ///< the low bits of the storage that tell elements apart: 1 of a bool, 6 of an f6
};

/// The dtype's row of the traits table.
STREW_API const DTypeInfo& info(DType dtype);

inline std::string_view name(DType dtype) { return info(dtype).name; }
inline int bits(DType dtype) { return info(dtype).bits; }
/// Is every bit pattern of the storage a value of its own? Not of bool and of floats of 6 bits, which have a byte for themselves.
inline bool uses_all_bits(DType dtype) { return info(dtype).used_bits == info(dtype).bits; }
inline bool is_integer(DType d) {
  return info(d).kind == DTypeKind::signed_integer || info(d).kind == DTypeKind::unsigned_integer;
}
inline bool is_signed_integer(DType d) { return info(d).kind == DTypeKind::signed_integer; }
inline bool is_unsigned_integer(DType d) { return info(d).kind == DTypeKind::unsigned_integer; }
inline bool is_float(DType d) { return info(d).kind == DTypeKind::floating; }
inline bool is_complex(DType d) { return info(d).kind == DTypeKind::complex; }

/// Bytes of `count` consecutive elements that start on a byte boundary. The caller makes sure that `count` >= 0 and
/// count * bits fits int64_t.
inline int64_t storage_bytes(DType dtype, int64_t count) { return (count * bits(dtype) + 7) / 8; }

/// The dtype spelled `name` in canonical text ("f32", "bool", "f8e4m3fn"), or nothing.
STREW_API std::optional<DType> dtype_from_name(std::string_view name);

}  // namespace strew::inline v0
