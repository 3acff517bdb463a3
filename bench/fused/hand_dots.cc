// The hand-written limits of dots.cc. Eight products are added side by side, and the eight sums in pairs of neighbours, as row reductions of eight lanes are.
#include <cstddef>
#include <cstdint>

#include "bench/fused/hand.h"

namespace strew::bench::hand {
namespace {

typedef float Vector __attribute__((vector_size(32), aligned(4)));
constexpr int64_t kLanes = 8, kVectors = kWidth / kLanes, kAhead = 16, kLine = 16;

const Vector* vectors(const float* row) { return reinterpret_cast<const Vector*>(row); }
void prefetch(const float* row) {
  for (int64_t k = 0; k < kWidth; k += kLine) __builtin_prefetch(row + k);
}
float in_pairs(const Vector& sums) {
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace

void dots(float* result, const float* left, const float* right, const Edges& edges) {
  for (int64_t e = 0; e < edges.count; ++e) {
    if (e + kAhead < edges.count) {
      prefetch(left + edges.to[e + kAhead] * kWidth);
      prefetch(right + edges.from[e + kAhead] * kWidth);
    }
    const Vector* const a = vectors(left + edges.to[e] * kWidth);
    const Vector* const b = vectors(right + edges.from[e] * kWidth);
    Vector sums = a[0] * b[0];
    for (int64_t k = 1; k < kVectors; ++k) sums += a[k] * b[k];
    result[e] = in_pairs(sums);
  }
}

}  // namespace strew::bench::hand
