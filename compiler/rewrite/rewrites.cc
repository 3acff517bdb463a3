// See rewrites.h. A new rewrite needs a pair of files, a line in the list below, and a case in tests/golden/plan_test.cc.
#include "compiler/rewrite/rewrites.h"

#include "compiler/rewrite/drop_idle_normalise.h"
#include "compiler/rewrite/move_as_bits.h"
#include "compiler/rewrite/name_combiner.h"
#include "compiler/rewrite/one_position_is_unique.h"
#include "compiler/rewrite/order_expression.h"

namespace strew::inline v0 {

const std::vector<Rewrite>& rewrites() {
  static const auto& list = *new const std::vector<Rewrite>{
      {"order_expression", "the nodes of the expression stand in one order, without repetitions", order_expression, true},
      {"name_combiner", "the expression says what a combiner's name says", name_combiner, true},
      {"drop_idle_normalise", "negative-index normalisation changes nothing here", drop_idle_normalise, true},
      {"one_position_is_unique", "no destination can be written twice: unique_indices is set", one_position_is_unique, true},
      {"move_as_bits", "elements are only moved: typed as unsigned integers of the same width", move_as_bits, false},
  };
  return list;
}

namespace {

/// The op after the rewrites that keep the binding, or after the others. Appends to `applied` those that changed it.
Expected<VerifiedOp> rewritten(const VerifiedOp& op, bool keeps_binding, std::vector<const Rewrite*>& applied) {
  const size_t before = applied.size();
  Op changed = *op;
  for (const Rewrite& rewrite : rewrites())
    if (rewrite.keeps_binding == keeps_binding && rewrite.apply(changed)) applied.push_back(&rewrite);
  if (applied.size() == before) return op;
  Expected<VerifiedOp> verified = VerifiedOp::of(std::move(changed));
  if (!verified.ok()) return internal_error("canonicalise: the rewritten op does not verify: " + verified.status().message());
  return verified;
}

}  // namespace

Expected<Canonical> canonicalise(const VerifiedOp& op) {
  std::vector<const Rewrite*> applied;
  STREW_ASSIGN(VerifiedOp identity, rewritten(op, true, applied));
  STREW_ASSIGN(VerifiedOp planned, rewritten(identity, false, applied));
  return Canonical{std::move(identity), std::move(planned), std::move(applied)};
}

}  // namespace strew::inline v0
