// See random_limits.h. Each limit is 1, a small number that divides no extent, or the library's default. Tested by
// every differential run.
#include "tests/differential/random_limits.h"

#include <algorithm>

#include "strew/abi.h"

namespace strew::test {

ExecutionLimits small_limits(Rng& rng, int threads, int64_t positions) {
  const auto pick = [&](std::vector<int64_t> from) { return rng.pick(from); };
  constexpr int64_t kHuge = int64_t{1} << 40;
  ExecutionLimits limits;
  limits.most_threads = threads;
  limits.shares_all = true;
  limits.strategy = rng.chance(50) ? -1 : static_cast<int>(rng.between(0, STREW_STRATEGY_COUNT - 1));
  limits.chunks_per_thread = static_cast<int>(rng.between(1, 4));
  limits.line_bytes = pick({1, 1, 1, 8, 64});
  limits.init_unit = pick({1, 1, 5, 64});
  limits.last_level_cache_bytes = pick({1, 1, 512, kHuge});
  limits.owner_positions = 1;
  limits.owner_piece_bytes = pick({1, 1, 8, 64, 4096});
  limits.owner_block = pick({1, 3, 8, 17, 2048});
  limits.owner_queue = pick({1, 2, 9, 1024});
  limits.radix_block = pick({1, 3, 16, 16384});
  limits.radix_least_block = pick({1, 1, 4, 256});
  limits.radix_blocks_per_thread = static_cast<int>(rng.between(1, 3));
  limits.radix_least_round = pick({1, 5, 8192, 8192});
  limits.radix_slots = pick({1, 6, 64, 4096});
  limits.radix_sum = pick({1, 1, 9, 32768});
  limits.hot_spots = rng.between(2, 4);
  limits.hot_lines = rng.between(1, 4);
  limits.hot_each = rng.between(1, 3);
  limits.private_elements_per_update = rng.chance(90) ? kHuge : 1;
  limits.merge_block = pick({1, 7, 64, 2048});
  limits.wide_accumulator_bytes = pick({1, 200, 64 << 10});
  limits.wide_block = pick({1, 6, 2048});
  limits.wide_queue = pick({1, 3, 512});
  limits.radix_block = std::max(limits.radix_block, positions / 64);
  limits.radix_least_round = std::max(limits.radix_least_round, positions / 16);
  return limits;
}

}  // namespace strew::test
