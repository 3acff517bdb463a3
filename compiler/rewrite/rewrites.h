// Canonicalisation: the ordered list of small named rewrites that every op passes through before planning.
//
// Each rewrite is one pair of files, takes a verified op and returns whether it changed it; the meaning never changes. The list
// is run in order, once. `strew explain` prints the names of those that applied.
//
// The rewrites that stand first change only how an op is spelled: the tensors that a call binds, the constraints between them and every
// message stay what they were. What they lead to is the op's identity, and ops of one identity share kernel, symbol and cache entry. The
// others change what is bound (dtypes), so they are for plans only.
#pragma once

#include <string_view>
#include <vector>

#include "strew/verified.h"

namespace strew::inline v0 {

struct Rewrite {
  std::string_view name;
  std::string_view what;  ///< one sentence for `strew explain`
  bool (*apply)(Op& op);
  bool keeps_binding;  ///< see above; those that do come first
};
const std::vector<Rewrite>& rewrites();

struct Canonical {
  VerifiedOp identity;                  ///< after the rewrites that keep the binding
  VerifiedOp op;                        ///< after all of them
  std::vector<const Rewrite*> applied;  ///< those that changed it
};
/// Applies them all. Fails (Code::internal) only if a rewrite left an op that does not verify.
Expected<Canonical> canonicalise(const VerifiedOp& op);

}  // namespace strew::inline v0
