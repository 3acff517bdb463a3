// Index values with a purpose: each pattern aims at one way of going wrong.
#pragma once

#include <string_view>
#include <vector>

#include "tests/differential/geometry.h"
#include "tests/support/rng.h"

namespace strew::test {

enum class Pattern : uint8_t {
  random,      ///< in range
  duplicated,  ///< in range, from a third as many places as positions: well over 30 % duplicates
  sorted,
  reversed,
  same,      ///< one place
  unique,    ///< no two windows touch
  borders,   ///< in range, first and last only
  low,       ///< some below zero
  high,      ///< some beyond the end
  edges,     ///< just in, just out, around -dim
  clipped,   ///< windows that hang over one end
  extremes,  ///< the ends of the index dtype, and values whose low 32 bits look innocent
  one_bad,   ///< all in range but one position
  chaos,     ///< everything mixed
};
inline constexpr int kPatternCount = static_cast<int>(Pattern::chaos) + 1;
std::string_view name(Pattern pattern);

/// May the pattern leave the legal range?
inline bool is_in_range(Pattern pattern) { return pattern <= Pattern::borders; }

/// Values representable in the geometry's index dtype. `sorted_hint`: every component is nondecreasing over the positions, and values
/// stay non-negative, so that any reading of "sorted" holds.
IndexValues random_indices(Rng& rng, const Geometry& geometry, Pattern pattern, bool sorted_hint);

}  // namespace strew::test
