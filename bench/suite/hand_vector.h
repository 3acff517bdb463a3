// Vectors for the hand-written kernels, in GCC's spelling so that they build for any machine; streaming stores where it has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __AVX__
#include <immintrin.h>
#endif

namespace strew::bench {

#ifdef __AVX512F__
inline constexpr int kVector = 64;
#else
inline constexpr int kVector = 32;
#endif
typedef char Bytes __attribute__((vector_size(kVector), aligned(1), may_alias));
typedef float Floats __attribute__((vector_size(kVector), aligned(4), may_alias));
typedef int32_t Ints __attribute__((vector_size(kVector), aligned(4), may_alias));
typedef uint32_t Words __attribute__((vector_size(kVector)));
typedef uint16_t Halves __attribute__((vector_size(kVector / 2), aligned(2), may_alias));

inline constexpr bool kStreams =
#ifdef __AVX__
    true;
#else
    false;
#endif

inline void store_streaming(char* to, const char* from) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
#elif defined(__AVX__)
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#else
  std::memcpy(to, from, kVector);
#endif
}
inline void fence() {
#ifdef __AVX__
  _mm_sfence();
#endif
}

inline Floats widen(const char* bf16) {
  return reinterpret_cast<Floats>(__builtin_convertvector(*reinterpret_cast<const Halves*>(bf16), Words) << 16);
}
/// Round to nearest, ties to even; NaNs are not looked after.
inline void narrow(char* bf16, Floats value) {
  Words x = reinterpret_cast<Words>(value);
  x = (x + 0x7fff + (x >> 16 & 1)) >> 16;
#if defined(__AVX2__) && !defined(__AVX512F__)
  const __m256i packed = _mm256_packus_epi32(reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(x));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(bf16), _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08)));
#else
  *reinterpret_cast<Halves*>(bf16) = __builtin_convertvector(x, Halves);
#endif
}

/// Inline by force: to GCC a function that only prefetches does nothing, and it may remove the call.
[[gnu::always_inline]] inline void prefetch(const char* p, int64_t bytes, bool write) {
  for (int64_t k = 0; k < bytes; k += 64) write ? __builtin_prefetch(p + k, 1, 3) : __builtin_prefetch(p + k, 0, 3);
}

/// `bytes` that are whole vectors; a tail goes element by element.
template <bool kStreaming = false>
inline void copy_vectors(char* __restrict to, const char* __restrict from, int64_t bytes) {
  int64_t k = 0;
  if (kStreaming && kStreams && reinterpret_cast<uintptr_t>(to) % kVector == 0) {
    for (; k + kVector <= bytes; k += kVector) store_streaming(to + k, from + k);
  } else {
    for (; k + kVector <= bytes; k += kVector) *reinterpret_cast<Bytes*>(to + k) = *reinterpret_cast<const Bytes*>(from + k);
  }
  for (; k + 4 <= bytes; k += 4) std::memcpy(to + k, from + k, 4);
}

}  // namespace strew::bench
