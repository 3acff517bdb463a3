// Sums of rows with sorted indices, part of bench/fused: `registers` is the op with the hint indices_are_sorted, `plain` the same op without it. x_gain is
// the time of `plain` over that of `registers`.
#pragma once

namespace strew::bench {

void register_sorted_rows();

}  // namespace strew::bench
