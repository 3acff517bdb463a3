// Canonicalisation: the ordered list of small named rewrites that every op passes through before planning.
//
// Each rewrite is one pair of files, takes a verified op and returns whether it changed it; the meaning never changes. The list
// is run in order, once. `strew explain` prints the names of those that applied.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/op/verified.h"

namespace strew {

struct Rewrite {
  std::string_view name;
  std::string_view what;  ///< one sentence for `strew explain`
  bool (*apply)(Op& op);
};
const std::vector<Rewrite>& rewrites();

struct Canonical {
  VerifiedOp op;
  std::vector<const Rewrite*> applied;  ///< those that changed it
};
/// Applies them all. Fails (Code::internal) only if a rewrite left an op that does not verify.
Expected<Canonical> canonicalise(const VerifiedOp& op);

}  // namespace strew
