// random_indices: index values in patterns, each of which provokes one kind of mistake. Tested by
// tests/unit/differential/differential_test.cc.
#pragma once

#include <string_view>
#include <vector>

#include "tests/differential/geometry.h"
#include "tests/support/rng.h"

namespace strew::test {

enum class Pattern : uint8_t {
  random,      ///< in bounds
  duplicated,  ///< in bounds, on a third as many places as positions: well over 30 % duplicates
  sorted,
  reversed,
  same,      ///< all at one place
  unique,    ///< no two windows touch
  borders,   ///< first and last place only
  low,       ///< some below zero
  high,      ///< some above the bound
  edges,     ///< just in bounds, just out of bounds, around -dim
  clipped,   ///< windows that hang over an end
  extremes,  ///< the ends of the index dtype, and values whose low 32 bits are in bounds
  one_bad,   ///< all in bounds but one position
  chaos,     ///< all of these mixed
};
inline constexpr int kPatternCount = static_cast<int>(Pattern::chaos) + 1;
std::string_view name(Pattern pattern);

/// Are all indices of the pattern in bounds?
inline bool is_in_range(Pattern pattern) { return pattern <= Pattern::borders; }

/// Values that the op's index dtype can represent. `sorted_hint`: every component is nondecreasing over the
/// positions, and no value is negative, so that the hint "sorted" holds before and after normalisation.
IndexValues random_indices(Rng& rng, const Geometry& geometry, Pattern pattern, bool sorted_hint);

}  // namespace strew::test
