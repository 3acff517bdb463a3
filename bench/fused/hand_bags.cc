// The hand-written limit of pooled look-ups, see hand.h. A row is summed in as many registers as its width needs, at most kMost at a time; the rows that
// lie kAhead look-ups ahead are prefetched.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "bench/fused/hand.h"
#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace strew::bench::hand {
namespace {

typedef float Floats __attribute__((vector_size(64), aligned(4)));
typedef uint32_t Words __attribute__((vector_size(64), aligned(4)));
typedef uint16_t Halves __attribute__((vector_size(32), aligned(2)));
constexpr int64_t kMost = 16, kAhead = 16;

Floats load(const float* from) { return *reinterpret_cast<const Floats*>(from); }
Floats load(const uint16_t* from) {
  const Words words = __builtin_convertvector(*reinterpret_cast<const Halves*>(from), Words) << 16;
  return __builtin_bit_cast(Floats, words);
}
void store(float* to, const Floats& sum) { *reinterpret_cast<Floats*>(to) = sum; }
/// Rounds to nearest even; the sums are finite.
void store(uint16_t* to, const Floats& sum) {
  const Words words = __builtin_bit_cast(Words, sum);
  *reinterpret_cast<Halves*>(to) = __builtin_convertvector((words + 0x7fff + (words >> 16 & 1)) >> 16, Halves);
}

#ifdef __AVX512F__
const bool kCanHalf = true;
Floats load(const Half* from) {
  return __builtin_bit_cast(Floats, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
}
void store(Half* to, const Floats& sum) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm512_cvtps_ph(__builtin_bit_cast(__m512, sum), _MM_FROUND_TO_NEAREST_INT));
}
#else
const bool kCanHalf = false;
Floats load(const Half* /*from*/) { return {}; }
void store(Half* /*to*/, const Floats& /*sum*/) {}
#endif

/// The sums of kVectors vectors of each row, from element `first` on.
template <int64_t kVectors, class T>
void block(T* result, const T* table, const Bags& bags, int64_t width, int64_t first) {
  const int64_t all = bags.count * bags.length;
  for (int64_t b = 0; b < bags.count; ++b) {
    Floats sum[kVectors] = {};
    for (int64_t n = b * bags.length; n < (b + 1) * bags.length; ++n) {
      if (n + kAhead < all) {
        const char* const ahead = reinterpret_cast<const char*>(table + bags.rows[n + kAhead] * width + first);
        for (int64_t line = 0; line < kVectors * kBagLanes * int64_t{sizeof(T)}; line += 64) __builtin_prefetch(ahead + line);
      }
      const T* const row = table + bags.rows[n] * width + first;
      for (int64_t k = 0; k < kVectors; ++k) sum[k] += load(row + k * kBagLanes);
    }
    for (int64_t k = 0; k < kVectors; ++k) store(result + b * width + first + k * kBagLanes, sum[k]);
  }
}

template <class T>
void sums(T* result, const T* table, const Bags& bags, int64_t width) {
  for (int64_t first = 0; first < width;) {
    const int64_t vectors = std::min(kMost, (width - first) / kBagLanes);
    if (vectors >= 16)
      block<16>(result, table, bags, width, first), first += 16 * kBagLanes;
    else if (vectors >= 8)
      block<8>(result, table, bags, width, first), first += 8 * kBagLanes;
    else if (vectors >= 4)
      block<4>(result, table, bags, width, first), first += 4 * kBagLanes;
    else if (vectors >= 2)
      block<2>(result, table, bags, width, first), first += 2 * kBagLanes;
    else
      block<1>(result, table, bags, width, first), first += kBagLanes;
  }
}

}  // namespace

void bags(float* result, const float* table, const Bags& bags, int64_t width) { sums(result, table, bags, width); }
void bags(uint16_t* result, const uint16_t* table, const Bags& bags, int64_t width) { sums(result, table, bags, width); }
const bool kHasHalf = kCanHalf;
void bags(Half* result, const Half* table, const Bags& bags, int64_t width) { sums(result, table, bags, width); }

}  // namespace strew::bench::hand
