// Numbers: what the bits of every dtype mean, and the conversions between dtypes (docs/semantics.md section 4).
//
// The conversions are exact and simple rather than fast: each rounds once, from the exact value. Parsers,
// verification, the reference and the tests use them. Generated code has its own conversions, which are compared with
// these. Tested by tests/unit/base/number_test.cc and tests/oracle/narrow_floats.
#pragma once

#include <cstdint>
#include <optional>

#include "strew/dtype.h"
#include "strew/export.h"
#include "strew/scalar.h"

namespace strew::inline v0 {

// --- codes of one real number; `dtype` is bool, an integer or a float (not complex, string, hif8)

/// The value of a code. It is exact for every float dtype; NaN codes give a NaN. For bool and integers it is rounded
/// once beyond 2^53.
STREW_API double decode(DType dtype, uint64_t bits);

/// The code nearest to `value`; ties go to even, and the dtype's overflow and NaN rules apply. For integers, `value`
/// is truncated and saturated, and NaN gives 0; for bool, the code is value != 0.
STREW_API uint64_t encode(DType dtype, double value);

/// The code nearest to an integer, rounded once. Integer dtypes wrap; for bool, the code is value != 0.
STREW_API uint64_t encode_i64(DType dtype, int64_t value);
uint64_t encode_u64(DType dtype, uint64_t value);

/// The value of an integer or bool code. For u64 codes above the largest int64, it is the negative number with the
/// same bits.
STREW_API int64_t decode_i64(DType dtype, uint64_t bits);

/// The unsigned integers that are as wide as elements of 8 to 64 bits.
inline std::optional<DType> bits_dtype(DType dtype) {
  for (const DType each : {DType::u8, DType::u16, DType::u32, DType::u64})
    if (bits(each) == bits(dtype)) return each;
  return std::nullopt;
}

// --- scalars

/// The real dtype of a complex number's parts; any other dtype is returned unchanged.
DType part_dtype(DType dtype);
uint64_t real_bits(const Scalar& value);       ///< the code of the real part; all bits of a real number
uint64_t imaginary_bits(const Scalar& value);  ///< 0 for real numbers
Scalar make_complex(DType dtype, uint64_t real, uint64_t imaginary);

/// `value` converted to `dtype`, if that has a meaning. Complex to real drops the imaginary part, complex to bool is
/// != 0. Equal dtypes keep all bits, those of signalling NaNs included. string and hif8 convert to themselves only;
/// every other conversion of theirs gives zero bits.
STREW_API Scalar convert(const Scalar& value, DType dtype);

bool is_nan(DType dtype, uint64_t bits);  ///< false for dtypes without NaN
/// How results are compared (docs/semantics.md section 2): equal bit for bit, or both NaN. Complex numbers are
/// compared by parts.
STREW_API bool same_value(const Scalar& a, const Scalar& b);

// --- elements in memory

/// The element `index`, which may be negative. `base` is the byte that holds element 0 in its low bits. Elements of
/// packed dtypes (less than 8 bits) start at the low bits of a byte; storing one keeps the other elements of its
/// byte. No alignment is needed.
STREW_API Scalar load_element(DType dtype, const void* base, int64_t index);
STREW_API void store_element(DType dtype, void* base, int64_t index, const Scalar& value);

}  // namespace strew::inline v0
