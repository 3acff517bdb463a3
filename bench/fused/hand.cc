// See hand.h. Rows that lie kAhead edges ahead are prefetched; products and sums are rounded one by one, as strew's are.
#include "bench/fused/hand.h"

#include <array>
#include <cstddef>

namespace strew::bench::hand {
namespace {

typedef float Vector __attribute__((vector_size(64), aligned(4)));
constexpr int64_t kLanes = 16, kVectors = kWidth / kLanes, kAhead = 16;

const Vector* vectors(const float* row) { return reinterpret_cast<const Vector*>(row); }
Vector* vectors(float* row) { return reinterpret_cast<Vector*>(row); }

void prefetch(const float* row) {
  for (int64_t k = 0; k < kVectors; ++k) __builtin_prefetch(row + k * kLanes);
}
void prefetch_to_write(const float* row) {
  for (int64_t k = 0; k < kVectors; ++k) __builtin_prefetch(row + k * kLanes, 1);
}

}  // namespace

void one_pass(float* result, const float* table, const Edges& edges) {
  for (int64_t e = 0; e < edges.count; ++e) {
    if (e + kAhead < edges.count) {
      prefetch_to_write(result + edges.to[e + kAhead] * kWidth);
      prefetch(table + edges.from[e + kAhead] * kWidth);
    }
    Vector* const to = vectors(result + edges.to[e] * kWidth);
    const Vector* const from = vectors(table + edges.from[e] * kWidth);
    for (int64_t k = 0; k < kVectors; ++k) to[k] += from[k] * edges.weight[e];
  }
}

void one_pass_sorted(float* result, const float* table, const Edges& edges) {
  for (int64_t e = 0; e < edges.count;) {
    const int32_t to = edges.to[e];
    Vector* const row = vectors(result + to * kWidth);
    std::array<Vector, kVectors> sum;
    for (int64_t k = 0; k < kVectors; ++k) sum[static_cast<size_t>(k)] = row[k];
    for (; e < edges.count && edges.to[e] == to; ++e) {
      if (e + kAhead < edges.count) prefetch(table + edges.from[e + kAhead] * kWidth);
      const Vector* const from = vectors(table + edges.from[e] * kWidth);
      for (int64_t k = 0; k < kVectors; ++k) sum[static_cast<size_t>(k)] += from[k] * edges.weight[e];
    }
    for (int64_t k = 0; k < kVectors; ++k) row[k] = sum[static_cast<size_t>(k)];
  }
}

void two_passes(float* result, const float* table, const Edges& edges, float* between) {
  for (int64_t e = 0; e < edges.count; ++e) {
    if (e + kAhead < edges.count) prefetch(table + edges.from[e + kAhead] * kWidth);
    Vector* const to = vectors(between + e * kWidth);
    const Vector* const from = vectors(table + edges.from[e] * kWidth);
    for (int64_t k = 0; k < kVectors; ++k) to[k] = from[k] * edges.weight[e];
  }
  for (int64_t e = 0; e < edges.count; ++e) {
    if (e + kAhead < edges.count) prefetch_to_write(result + edges.to[e + kAhead] * kWidth);
    Vector* const to = vectors(result + edges.to[e] * kWidth);
    const Vector* const from = vectors(between + e * kWidth);
    for (int64_t k = 0; k < kVectors; ++k) to[k] += from[k];
  }
}

void counts(int64_t* counts, int64_t size, const int64_t* numbers, int64_t count) {
  for (int64_t n = 0; n < size; ++n) counts[n] = 0;
  for (int64_t i = 0; i < count; ++i) ++counts[numbers[i]];
}

}  // namespace strew::bench::hand
