// Matches the forms that JAX lowers to, with the operands of commutative operations in either order. Comments beside a pattern give the
// proof that it keeps bits. Tested by tests/unit/compiler/import/fusion/fusion_test.cc, which runs every form with and without folding on the
// extremes of its index type.
#include "compiler/import/fusion/match.h"

#include <algorithm>
#include <limits>

namespace strew::inline v0::fusion {
namespace {

constexpr size_t kMaxBounds = 256;

/// `quantity` is a commutative operation: if one of its arguments is `known`, returns the other argument.
std::optional<Quantity> other(const Reader& reader, const Quantity& quantity, const Quantity& known) {
  const Quantity a = reader.argument(quantity, 0), b = reader.argument(quantity, 1);
  if (reader.same(a, known)) return b;
  if (reader.same(b, known)) return a;
  return std::nullopt;
}

/// minimum or maximum of a quantity and a constant.
struct Limited {
  Quantity quantity;
  int64_t limit;
};
std::optional<Limited> limited(const Reader& reader, const Quantity& quantity, ExprOp op) {
  if (!reader.is(quantity, op)) return std::nullopt;
  const Quantity a = reader.argument(quantity, 0), b = reader.argument(quantity, 1);
  if (const auto limit = reader.integer(b)) return Limited{a, *limit};
  if (const auto limit = reader.integer(a)) return Limited{b, *limit};
  return std::nullopt;
}

std::optional<Bound> bound_of(const Reader& reader, const Quantity& mask) {
  const ExprNode* node = reader.node(mask);
  if (node == nullptr || !is_comparison(node->op)) return std::nullopt;
  ExprOp op = node->op;
  Quantity x = reader.argument(mask, 0), limit = reader.argument(mask, 1);
  if (!reader.integer(limit)) {
    std::swap(x, limit);
    op = op == ExprOp::lt   ? ExprOp::gt
         : op == ExprOp::le ? ExprOp::ge
         : op == ExprOp::gt ? ExprOp::lt
         : op == ExprOp::ge ? ExprOp::le
                            : op;
  }
  const auto value = reader.integer(limit);
  if (!value || !is_integer(reader.dtype(x))) return std::nullopt;
  if ((op == ExprOp::ge && *value == 0) || (op == ExprOp::gt && *value == -1)) return Bound{x, false, 0};
  if (op == ExprOp::le) return Bound{x, true, *value};
  if (op == ExprOp::lt && *value > std::numeric_limits<int64_t>::min()) return Bound{x, true, *value - 1};
  return std::nullopt;
}

}  // namespace

std::optional<Quantity> normalised(const Reader& reader, const Quantity& quantity, int64_t dim) {
  if (!reader.is(quantity, ExprOp::select) || dim == kDynamic) return std::nullopt;
  const Quantity test = reader.argument(quantity, 0), sum = reader.argument(quantity, 1), x = reader.argument(quantity, 2);
  if (!is_signed_integer(reader.dtype(x)) || !reader.is(test, ExprOp::lt) || !reader.is(sum, ExprOp::add)) return std::nullopt;
  if (!reader.same(reader.argument(test, 0), x) || reader.integer(reader.argument(test, 1)) != 0) return std::nullopt;
  const auto added = other(reader, sum, x);
  if (!added || reader.integer(*added) != dim) return std::nullopt;
  return x;
}

std::optional<Quantity> clamped(const Reader& reader, const Quantity& quantity, int64_t most) {
  const auto below = limited(reader, quantity, ExprOp::min);
  if (!below || !is_integer(reader.dtype(quantity))) return std::nullopt;
  const auto above = limited(reader, below->quantity, ExprOp::max);
  if (!above || above->limit != 0 || below->limit < 0 || most < 0) return std::nullopt;
  // If `high` is below `most` but x cannot exceed it, `high` limits nothing, so `most`, being larger, limits nothing either.
  const bool unreached = below->limit < most && reader.range(above->quantity).high <= below->limit;
  if (below->limit != most && !unreached) return std::nullopt;
  return above->quantity;
}

std::optional<Quantity> widened(const Reader& reader, const Quantity& quantity) {
  if (!reader.is(quantity, ExprOp::convert)) return std::nullopt;
  const Quantity x = reader.argument(quantity, 0);
  const DType from = reader.dtype(x), to = reader.dtype(quantity);
  if (!is_integer(from) || !is_integer(to)) return std::nullopt;
  const bool same_kind = is_signed_integer(from) == is_signed_integer(to);
  const bool keeps = same_kind ? bits(from) <= bits(to) : is_signed_integer(to) && bits(from) < bits(to);
  if (!keeps) return std::nullopt;
  return x;
}

std::optional<std::vector<Bound>> bounds_of(const Reader& reader, const Quantity& mask) {
  std::vector<Bound> out;
  std::vector<Quantity> open{mask};
  for (size_t steps = 0; !open.empty(); ++steps) {
    if (steps > kMaxBounds) return std::nullopt;
    const Quantity quantity = open.back();
    open.pop_back();
    const auto constant = reader.constant(quantity);
    if (constant && constant->bits[0] != 0) continue;
    if (reader.is(quantity, ExprOp::bit_and)) {
      open.push_back(reader.argument(quantity, 0));
      open.push_back(reader.argument(quantity, 1));
    } else if (const auto all = reader.conjuncts(quantity)) {
      open.insert(open.end(), all->begin(), all->end());
    } else if (const auto bound = bound_of(reader, quantity)) {
      out.push_back(*bound);
    } else {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace strew::inline v0::fusion
