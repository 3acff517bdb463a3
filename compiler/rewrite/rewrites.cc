// The list, in the order it runs. Adding a rewrite: one pair of files, one line here, one golden in tests/golden.
#include "compiler/rewrite/rewrites.h"

#include "compiler/rewrite/drop_idle_normalise.h"
#include "compiler/rewrite/move_as_bits.h"
#include "compiler/rewrite/one_position_is_unique.h"

namespace strew {

const std::vector<Rewrite>& rewrites() {
  static const std::vector<Rewrite> list = {
      {"move_as_bits", "elements are only moved: typed as unsigned integers of the same width", move_as_bits},
      {"drop_idle_normalise", "negative-index normalisation changes nothing here", drop_idle_normalise},
      {"one_position_is_unique", "no destination can be written twice: unique_indices is set", one_position_is_unique},
  };
  return list;
}

Expected<Canonical> canonicalise(const VerifiedOp& op) {
  Op changed = *op;
  std::vector<const Rewrite*> applied;
  for (const Rewrite& rewrite : rewrites())
    if (rewrite.apply(changed)) applied.push_back(&rewrite);
  Expected<VerifiedOp> verified = VerifiedOp::of(std::move(changed));
  if (!verified.ok()) return internal_error("canonicalise: the rewritten op does not verify: " + verified.status().message());
  return Canonical{std::move(verified).value(), std::move(applied)};
}

}  // namespace strew
