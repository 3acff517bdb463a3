// Pooled look-ups (embedding bags), part of bench/fused: `one`, `two` and `hand` as of fused_bench.cc, for 1,024 bags of 32 rows of a table of 50,000.
#pragma once

namespace strew::bench {

void register_bags();

}  // namespace strew::bench
