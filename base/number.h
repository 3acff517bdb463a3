// Numbers: what the bits of every dtype mean, and the conversions between them (semantics.md section 4).
//
// Exact and obvious rather than fast: each conversion rounds once from the exact value. Text, verify, the reference and the tests
// all use these; generated code has conversions of its own and is compared with them.
#pragma once

#include <cstdint>

#include "strew/dtype.h"
#include "strew/export.h"
#include "strew/scalar.h"

namespace strew::inline v0 {

// --- codes of one real number; `dtype` is bool, an integer or a float (not complex, string, hif8)
// -----------------------------------

/// The value of a float code; exact for every float dtype. NaN codes give a NaN. bool and integers: the value, rounded once
/// beyond 2^53.
STREW_API double decode(DType dtype, uint64_t bits);

/// The code nearest to `value`, ties to even, with the dtype's own overflow and NaN rules. Integers truncate and saturate, NaN
/// gives 0; bool is value != 0.
STREW_API uint64_t encode(DType dtype, double value);

/// The code nearest to an integer, rounded once. Integer dtypes wrap; bool is value != 0.
STREW_API uint64_t encode_i64(DType dtype, int64_t value);
uint64_t encode_u64(DType dtype, uint64_t value);

/// The value of an integer or bool code. u64 codes above the maximum of int64 come back as the negative number with the same
/// bits.
STREW_API int64_t decode_i64(DType dtype, uint64_t bits);

// --- scalars
// ------------------------------------------------------------------------------------------------------------------------

/// The real dtype of a complex number's parts; other dtypes are their own.
DType part_dtype(DType dtype);
uint64_t real_bits(const Scalar& value);       ///< the code of the real part; of a real number, all of it
uint64_t imaginary_bits(const Scalar& value);  ///< 0 for real numbers
Scalar make_complex(DType dtype, uint64_t real, uint64_t imaginary);

/// `value` as `dtype` for every pair where that has a meaning; complex to real drops the imaginary part, complex to bool is != 0.
/// Equal dtypes keep all bits, signalling NaNs included. string and hif8 convert to themselves only; other pairs give zero bits.
STREW_API Scalar convert(const Scalar& value, DType dtype);

bool is_nan(DType dtype, uint64_t bits);  ///< false for what has no NaN
/// The comparison of results (semantics.md section 2): equal bit for bit, or both NaN. Complex numbers compare by parts.
STREW_API bool same_value(const Scalar& a, const Scalar& b);

// --- elements in memory
// ---------------------------------------------------------------------------------------------------------------

/// Element `index` counted from `base`, which is the byte that holds element 0 in its low bits. `index` may be negative. Packed
/// dtypes (below 8 bits) lie low bits first; storing one keeps its neighbours in the byte. No alignment is needed.
STREW_API Scalar load_element(DType dtype, const void* base, int64_t index);
void store_element(DType dtype, void* base, int64_t index, const Scalar& value);

}  // namespace strew::inline v0
