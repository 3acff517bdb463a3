// Scalar: one element of any dtype as its storage bits, such as a fill value or a literal of an expression graph.
//
// It holds bits instead of a double so that every value survives a round trip through canonical text: a signalling NaN,
// a 64-bit integer, a complex128.
#pragma once

#include <array>
#include <compare>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "strew/dtype.h"
#include "strew/export.h"

namespace strew::inline v0 {

/// The dtype whose elements are C++ objects of type T: bool, an integer, float, double or std::complex of these.
template <class T>
constexpr DType dtype_of() {
  constexpr DType kSigned[] = {DType::i8, DType::i16, DType::i32, DType::i64};
  constexpr DType kUnsigned[] = {DType::u8, DType::u16, DType::u32, DType::u64};
  constexpr int kLog2Bytes = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  if constexpr (std::is_same_v<T, bool>) {
    return DType::boolean;
  } else if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> ? kSigned[kLog2Bytes] : kUnsigned[kLog2Bytes];
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    return sizeof(T) == 8 ? DType::complex64 : DType::complex128;
  } else {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "no dtype has elements of this type");
    return sizeof(T) == 4 ? DType::f32 : DType::f64;
  }
}

struct Scalar {
  /// A default-constructed scalar holds no value: its dtype is kNone. Ops that need a value refuse it.
  static constexpr DType kNone = static_cast<DType>(0xff);
  DType dtype = kNone;
  /// Storage bits, low word first; bits beyond the dtype's width are zero. A complex number has its real part in the low half.
  std::array<uint64_t, 2> bits{0, 0};

  bool has_value() const { return dtype != kNone; }
  /// A C++ value as an element of its dtype, bit for bit: of(1.5f) is f32, of(int64_t{3}) is i64. Other dtypes:
  /// of(dtype, number).
  template <class T>
  static Scalar of(T value) {
    Scalar scalar{dtype_of<T>()};
    std::memcpy(scalar.bits.data(), &value, sizeof value);  // little-endian, as everything here
    return scalar;
  }
  /// `number` converted to `dtype` as docs/semantics.md section 4 says. Of a complex dtype, `number` is the real part
  /// and 0 the imaginary part.
  STREW_API static Scalar of(DType dtype, double number);

  friend auto operator<=>(const Scalar&, const Scalar&) = default;
};

}  // namespace strew::inline v0
