// Canonicalisation: an ordered list of small named rewrites that every op passes through before planning.
//
// A rewrite takes a verified op and returns whether it changed the op; it never changes what the op means. The list is run in
// order, once. `strew explain` prints the names of the rewrites that applied.
//
// The first rewrites change only the spelling of an op: the tensors that a call binds, the constraints between them and
// all messages stay the same. Their outcome is the op's identity; ops with one identity share kernel, symbol and cache
// entry. The other rewrites change the dtypes of tensors, so only plans are made from their outcome. Tested by
// tests/golden/plan_test.cc and tests/unit/compiler/rewrite/identity_test.cc.
#pragma once

#include <string_view>
#include <vector>

#include "strew/verified.h"

namespace strew::inline v0 {

struct Rewrite {
  std::string_view name;
  std::string_view what;  ///< one sentence for `strew explain`
  bool (*apply)(Op& op);
  bool keeps_binding;  ///< changes only the spelling; such rewrites come first in the list
};

struct Canonical {
  VerifiedOp identity;                  ///< after the rewrites that keep the binding
  VerifiedOp op;                        ///< after all rewrites
  std::vector<const Rewrite*> applied;  ///< the rewrites that changed the op
};
/// Applies all rewrites. Fails (Code::internal) only if a rewrite made an op that does not verify.
Expected<Canonical> canonicalise(const VerifiedOp& op);

}  // namespace strew::inline v0
