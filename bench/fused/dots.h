// Dot products of rows that are looked up (dots.cc).
#pragma once

namespace strew::bench {

/// The benchmarks dots_*: w[e] = dot(x[to[e]], y[from[e]]) along the edges of a graph, for rows of 64 f32.
void register_dots();

}  // namespace strew::bench
