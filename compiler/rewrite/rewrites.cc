// See rewrites.h. A new rewrite needs a function, a line in the list below, and a case in tests/golden/plans. Tested by
// tests/unit/compiler/rewrite/identity_test.cc too.
#include "compiler/rewrite/rewrites.h"

#include <algorithm>
#include <optional>

#include "base/number.h"
#include "compiler/op/access_dims.h"
#include "compiler/op/combiner.h"
#include "compiler/op/ordered.h"

namespace strew::inline v0 {
namespace {

/// Replaces a graph that computes the same as a named combiner by the name (of a gather that only moves the element: by no
/// graph). A combiner region of StableHLO and a named reduction of ONNX then share a kernel. An extra input stays bound even if
/// nothing reads it, so such a graph keeps its form.
bool name_combiner(Op& op) {
  if (auto* g = std::get_if<Gather>(&op)) {
    if (g->expr.empty() || !g->extras.empty() || !is_input(g->expr, g->expr.results[0], ExprOp::current, 0, g->result.dtype))
      return false;
    g->expr = {};
    return true;
  }
  auto& s = std::get<Scatter>(op);
  if (s.combiner != CombinerKind::expr || !s.extras.empty() || !s.row_reductions.empty()) return false;
  set_combiner(s, std::move(s.expr));
  return s.combiner != CombinerKind::expr;
}

/// Brings the nodes of an op's expressions into one order, so that an expression has one text however it was built.
bool order_expression(Op& op) {
  const auto order = [](Expr& expr) {
    Expr made = ordered(expr);
    if (made == expr) return false;
    expr = std::move(made);
    return true;
  };
  bool changed = std::visit([&](auto& o) { return order(o.expr); }, op);
  if (auto* const scatter = std::get_if<Scatter>(&op))
    for (RowReduction& reduction : scatter->row_reductions) changed |= order(reduction.value);
  return changed;
}

/// Clears normalize_negative where it has no effect: for unsigned indices, and under policy wrap, whose floor-mod maps negative
/// indices already.
bool drop_idle_normalise(Op& op) {
  const auto drop = [](auto& o) {
    if (!o.normalize_negative) return false;
    const auto is_unsigned = [](const TensorType* type) { return is_unsigned_integer(type->dtype); };
    if (!std::ranges::all_of(index_tensors(o), is_unsigned) && o.oob != OobPolicy::wrap) return false;
    o.normalize_negative = false;
    return true;
  };
  bool changed = std::visit(drop, op);
  if (auto* const scatter = std::get_if<Scatter>(&op))
    for (Lookup& lookup : scatter->lookups) changed |= drop(lookup.gather);
  return changed;
}

/// Sets the hint unique_indices of a scatter in which no destination can be written twice, because every position dim is a
/// batching dim or has extent 1.
bool one_position_is_unique(Op& op) {
  auto* s = std::get_if<Scatter>(&op);
  if (s == nullptr || s->unique_indices) return false;
  for (const AccessDims::Position& position : AccessDims(*s).positions)
    if (position.operand_dim < 0 && s->indices.dims[position.indices_dim] != 1) return false;
  s->unique_indices = true;
  return true;
}

/// Retypes all tensors of one pair if they have one dtype. Returns whether anything changed.
bool retype(std::initializer_list<TensorType*> types, Scalar* fill) {
  const DType dtype = (*types.begin())->dtype;
  for (const TensorType* type : types)
    if (type->dtype != dtype) return false;
  const std::optional<DType> to = bits_dtype(dtype);
  if (!to || *to == dtype) return false;
  for (TensorType* type : types) type->dtype = *to;
  if (fill != nullptr) fill->dtype = *to;
  return true;
}

/// Replaces the dtype of elements that are only moved (assign or a gather without expression, no conversion) by the unsigned
/// integer of the same width. Generated code then uses no floating-point operations on them, so signalling NaNs keep their
/// bits. Elements of less than a byte and of 16 bytes keep their dtype.
bool move_as_bits(Op& op) {
  if (auto* g = std::get_if<Gather>(&op)) {
    return g->expr.empty() && retype({&g->operand, &g->result}, is_fill(g->oob) ? &g->fill : nullptr);
  }
  auto& s = std::get<Scatter>(op);
  if (s.combiner != CombinerKind::assign) return false;
  bool changed = false;
  for (size_t i = 0; i < s.operands.size(); ++i) {
    if (!retype({&s.results[i], &s.operands[i], &s.updates[i]}, s.init == InitKind::fill ? &s.fill[i] : nullptr)) continue;
    changed = true;
    for (Lookup& lookup : s.lookups)
      if (lookup.of == Role::updates && lookup.index == static_cast<int>(i))
        retype({&lookup.gather.operand, &lookup.gather.result}, is_fill(lookup.gather.oob) ? &lookup.gather.fill : nullptr);
  }
  return changed;
}

constexpr Rewrite kRewrites[] = {
    {"name_combiner", "the expression says what a combiner's name says", name_combiner, true},
    {"order_expression", "the nodes of the expression stand in one order, without repetitions", order_expression, true},
    {"drop_idle_normalise", "negative-index normalisation changes nothing here", drop_idle_normalise, true},
    {"one_position_is_unique", "no destination can be written twice: unique_indices is set", one_position_is_unique, true},
    {"move_as_bits", "elements are only moved: typed as unsigned integers of the same width", move_as_bits, false},
};

/// The op after the rewrites that keep the binding, or after the others. Appends to `applied` those that changed it.
Expected<VerifiedOp> rewritten(const VerifiedOp& op, bool keeps_binding, std::vector<const Rewrite*>& applied) {
  const size_t before = applied.size();
  Op changed = *op;
  for (const Rewrite& rewrite : kRewrites)
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
