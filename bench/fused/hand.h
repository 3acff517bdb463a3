// The hand-written limits of bench/fused: rows of kWidth f32, result[to[e]] += table[from[e]] * weight[e] over the edges e, on one thread.
#pragma once

#include <cstdint>

namespace strew::bench::hand {

inline constexpr int64_t kWidth = 64;

struct Edges {
  int64_t count = 0;
  const int32_t *to = nullptr, *from = nullptr;
  const float* weight = nullptr;
};

/// In one pass, with prefetches of both rows.
void one_pass(float* result, const float* table, const Edges& edges);
/// The same of edges whose destinations are sorted: a row is summed in registers.
void one_pass_sorted(float* result, const float* table, const Edges& edges);
/// In two, with a tensor of a row per edge between.
void two_passes(float* result, const float* table, const Edges& edges, float* between);

/// The dot product of the rows of each edge, with prefetches of both rows.
void dots(float* result, const float* left, const float* right, const Edges& edges);

/// Pooled look-ups: the sums of `length` rows of the table for each of `count` bags.
struct Bags {
  int64_t count = 0, length = 0;
  const int32_t* rows = nullptr;  ///< [count * length]
};
inline constexpr int64_t kBagLanes = 16, kWidestBag = 512;  ///< rows are a multiple of so many elements wide, and at most that

/// Sums are formed in f32 registers and rounded once; `width`: elements of a row.
void bags(float* result, const float* table, const Bags& bags, int64_t width);
/// The same of bf16, as bits.
void bags(uint16_t* result, const uint16_t* table, const Bags& bags, int64_t width);
/// The same of f16. Does nothing where the machine has no instructions for it.
struct Half {
  uint16_t bits = 0;
};
extern const bool kHasHalf;
void bags(Half* result, const Half* table, const Bags& bags, int64_t width);
/// counts[n]: how often n is in `numbers`.
void counts(int64_t* counts, int64_t size, const int64_t* numbers, int64_t count);

}  // namespace strew::bench::hand
