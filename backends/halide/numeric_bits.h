// numeric_bits: small functions on the bits of Halide expressions, shared by the files of HalideNumeric (numeric.h).
// Tested by tests/differential.
#pragma once

#include "backends/halide/numeric.h"

namespace strew::inline v0::halide_bits {

/// The width in bits of the expression that holds an integer of this dtype: at least a byte.
inline int container(DType dtype) { return bits(dtype) < 8 ? 8 : bits(dtype); }

inline HExpr as_unsigned(const HExpr& e) { return Halide::reinterpret(Halide::UInt(e.type().bits()), e); }
inline HExpr as_signed(const HExpr& e) { return Halide::reinterpret(Halide::Int(e.type().bits()), e); }
inline HExpr as_float(const HExpr& e) { return Halide::reinterpret(Halide::Float(e.type().bits()), e); }

inline HExpr constant(const HExpr& like, uint64_t value) {
  const int bits = like.type().bits();
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  return Halide::Internal::make_const(Halide::UInt(bits), value & mask);
}

inline uint64_t sign_bit(const HExpr& e) { return uint64_t{1} << (e.type().bits() - 1); }
/// The bits of a float with the sign bit cleared.
inline HExpr magnitude(const HExpr& x) {
  const HExpr bits = as_unsigned(x);
  return bits & constant(bits, sign_bit(bits) - 1);
}
inline uint64_t infinity_bits(const HExpr& x) { return x.type().bits() == 32 ? 0x7f800000u : uint64_t{0x7ff} << 52; }
inline HExpr nan_bits(const HExpr& x) {
  const HExpr m = magnitude(x);
  return as_signed(m) > as_signed(constant(m, infinity_bits(x)));  // x86 has vector comparisons of signed integers only
}

/// The lowest bits(dtype) bits of a container, sign- or zero-extended as the dtype says.
inline HExpr extended(DType dtype, const HExpr& e) {
  if (bits(dtype) >= 8) return e;
  const HExpr spare = constant(e, static_cast<uint64_t>(8 - bits(dtype)));
  return is_signed_integer(dtype) ? as_unsigned(as_signed(e << spare) >> spare) : (e << spare) >> spare;
}

}  // namespace strew::inline v0::halide_bits
