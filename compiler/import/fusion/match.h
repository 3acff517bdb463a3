// The idioms that fusion recognises, as patterns over Quantities. A pattern matches only if replacing the idiom keeps every bit for all values of
// the index.
#pragma once

#include <optional>
#include <vector>

#include "compiler/import/fusion/reader.h"

namespace strew::inline v0::fusion {

/// Matches `x < 0 ? x + dim : x` and returns x. The sum cannot overflow: x is negative where it is used, `dim` is positive, and both have
/// x's type.
std::optional<Quantity> normalised(const Reader& reader, const Quantity& quantity, int64_t dim);

/// Matches minimum(maximum(x, 0), high) and returns x. `high` must be `most`, or below `most` and not below any value that x can take, so
/// that clipping x to [0, most] means the same.
std::optional<Quantity> clamped(const Reader& reader, const Quantity& quantity, int64_t most);

/// Matches a conversion of x between integer types that keeps every value, and returns x.
std::optional<Quantity> widened(const Reader& reader, const Quantity& quantity);

/// A comparison that a mask requires: `quantity` >= 0, or with `upper` `quantity` <= most.
struct Bound {
  Quantity quantity;
  bool upper = false;
  int64_t most = 0;
};
/// The comparisons whose conjunction is `mask`; nullopt if the mask contains anything else.
std::optional<std::vector<Bound>> bounds_of(const Reader& reader, const Quantity& mask);

}  // namespace strew::inline v0::fusion
