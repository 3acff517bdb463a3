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

}  // namespace strew::bench::hand
