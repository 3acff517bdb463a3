// Floats of at most 16 bits: their codes to f32 and back, exactly as backends/lower/small_floats.cc does it, with the constants of SmallFloat.
// Decoding shifts the bits into the fields of an f32 and multiplies by a power of two. Encoding rounds normal results in integers, and subnormal
// ones by an addition whose last place is theirs. bf16 has shorter code, and f16 the machine's instructions where there are any.
// Tested by tests/differential and tests/unit/backends/portable/portable_test.cc.
#pragma once

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "backends/portable/loops/level.h"

namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL {
namespace {

[[gnu::always_inline]] inline float decode_small(const SmallFloat& f, uint32_t word) {
  constexpr uint32_t kInfinity = 0x7f800000, kNan = 0x7fc00000;
  const uint32_t code = word & ((1U << f.width) - 1);
  const uint32_t magnitude = code << (23 - f.mantissa);
  uint32_t value = bits_as<uint32_t>(bits_as<float>(magnitude) * f.rescale);
  value = code >= f.infinite_from ? magnitude | kInfinity : value;
  value = code == f.nan_code ? kNan : value;
  value |= word >> f.width << 31;
  value = word == f.nan_word ? kNan : value;
  return bits_as<float>(value);
}

[[gnu::always_inline]] inline uint32_t encode_small(const SmallFloat& f, float number) {
  constexpr uint32_t kInfinity = 0x7f800000;
  const uint32_t dropped = 23 - f.mantissa;
  const uint32_t bits = bits_as<uint32_t>(number), magnitude = bits & 0x7fffffff;
  const uint32_t rounded = magnitude + (magnitude >> dropped & 1) + f.half;
  const uint32_t normal = (rounded >> dropped) - f.bias_shift;
  const uint32_t subnormal = bits_as<uint32_t>(bits_as<float>(magnitude) + bits_as<float>(f.aligner)) - f.aligner;
  const uint32_t code = magnitude < f.subnormal_below ? subnormal : normal;
  uint32_t sign = bits >> 31 << f.width;
  sign = f.no_negative_zero != 0 && code == 0 ? 0 : sign;
  const bool too_big = static_cast<int32_t>(code) > f.largest || magnitude >= kInfinity;
  const uint32_t result = (too_big ? f.beyond : code) | sign;
  return magnitude > kInfinity ? f.nan : result;
}

[[gnu::always_inline]] inline float decode_bf16(uint16_t word) { return bits_as<float>(static_cast<uint32_t>(word) << 16); }
[[gnu::always_inline]] inline uint16_t encode_bf16(float number) {
  const uint32_t bits = bits_as<uint32_t>(number);
  const uint32_t rounded = bits + (bits >> 16 & 1) + 0x7fff;
  return static_cast<uint16_t>((number != number ? bits | 0x400000 : rounded) >> 16);
}

[[gnu::always_inline]] inline float decode_f16(const SmallFloat& f, uint16_t word) {
#if defined(__F16C__)
  static_cast<void>(f);
  return _cvtsh_ss(word);
#else
  return decode_small(f, word);
#endif
}
[[gnu::always_inline]] inline uint16_t encode_f16(const SmallFloat& f, float number) {
#if defined(__F16C__)
  static_cast<void>(f);
  return _cvtss_sh(number, _MM_FROUND_TO_NEAREST_INT);
#else
  return static_cast<uint16_t>(encode_small(f, number));
#endif
}

inline constexpr int64_t kHalves = 8;
[[gnu::always_inline]] inline void decode_halves(const SmallFloat& f, Loose<float>::type* to, int64_t from) {
#if defined(__F16C__)
  static_cast<void>(f);
  _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#else
  for (int64_t i = 0; i < kHalves; ++i) to[i] = decode_small(f, load<uint16_t>(from + 2 * i));
#endif
}
[[gnu::always_inline]] inline void encode_halves(const SmallFloat& f, int64_t to, const Loose<float>::type* from) {
#if defined(__F16C__)
  static_cast<void>(f);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
#else
  for (int64_t i = 0; i < kHalves; ++i) store<uint16_t>(to + 2 * i, static_cast<uint16_t>(encode_small(f, from[i])));
#endif
}

}  // namespace
}  // namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL
