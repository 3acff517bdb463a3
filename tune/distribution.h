// Distribution: how the index vectors of a workload are spread over the rows of the indexed tensor. A row is a window's place: the
// index vectors that are in bounds, counted in row-major order.
//
//   uniform       every row as likely as any other
//   zipf(s)       the row of rank k as likely as k^-s, ranks scattered over the table; s > 0
//   sorted        uniform, in ascending order
//   runs(n)       each row about n times in a row, n >= 1
//   hot(p)        row 0 with probability p, 0..1, else uniform
//   permutation   no row twice; legal if there are at most as many index vectors as rows
//   FILE.npy      the index tensor of that file
//
// Tested by tests/unit/tune/distribution_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strew/status.h"

namespace strew::inline v0 {

struct Distribution {
  enum class Kind : uint8_t { uniform, zipf, sorted, runs, hot, permutation, file };
  Kind kind = Kind::uniform;
  double parameter = 0;  ///< of zipf, runs and hot
  std::string file;
  friend bool operator==(const Distribution&, const Distribution&) = default;
};

/// Reads "zipf(1.1)". The message names the text and lists what is expected.
Expected<Distribution> parse_distribution(std::string_view text);
/// parse_distribution() reads it.
std::string print(const Distribution& distribution);

/// `count` row numbers in [0, rows), which depend on the arguments alone. `kind` must not be `file`. Fails if a
/// permutation has too few rows.
Expected<std::vector<int64_t>> draw_rows(const Distribution& distribution, int64_t count, int64_t rows, uint64_t seed);

}  // namespace strew::inline v0
