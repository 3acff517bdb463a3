// The idioms, as patterns over Terms. Each holds bit for bit or does not match.
#pragma once

#include <optional>
#include <vector>

#include "compiler/import/fold/reader.h"

namespace strew::fold {

/// x of `x < 0 ? x + dim : x`, whose sum cannot overflow: it is negative plus positive, and `dim` fits the type as it is a constant of it.
std::optional<Term> normalised(const Reader& reader, const Term& term, int64_t dim);

/// x of minimum(maximum(x, 0), high), where no value of x's type above `high` is at most `most`: high is `most`, or x has none above high.
std::optional<Term> clamped(const Reader& reader, const Term& term, int64_t most);

/// x of a conversion between integers that keeps every value.
std::optional<Term> widened(const Reader& reader, const Term& term);

/// One comparison that must hold: `term` >= 0, or `term` <= most.
struct Bound {
  Term term;
  bool upper = false;
  int64_t most = 0;
};
/// What `mask` is the conjunction of; nothing if there is anything else in it.
std::optional<std::vector<Bound>> bounds_of(const Reader& reader, const Term& mask);

}  // namespace strew::fold
