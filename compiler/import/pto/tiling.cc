// A tile covers [offset, offset + size). If a loop moves the tile by exactly its size, all iterations together cover an interval, which
// takes the tile's place; this repeats until no loop moves it any more. A partial last tile has size min(total - offset, step). Tested by
// tests/unit/compiler/import/pto/pto_import_test.cc.
#include "compiler/import/pto/tiling.h"

#include <algorithm>

#include "base/checked.h"
#include "compiler/op/message.h"

namespace strew::inline v0::pto {
namespace {

/// If `poly` is min(one, other): returns other.
std::optional<Poly> other_of_minimum(const Scalars& scalars, const Poly& poly, const Poly& one) {
  const std::optional<SymbolId> id = poly.alone();
  if (!id || scalars[*id].kind != SymbolKind::minimum || (scalars[*id].a != one && scalars[*id].b != one)) return std::nullopt;
  return scalars[*id].a == one ? scalars[*id].b : scalars[*id].a;
}

/// Do pieces of size `piece`, one per core from 0 on, cover `total`? They do if piece = step * ceil(total / (step * cores)), written in
/// either of two ways.
bool pieces_reach(Scalars& scalars, const Poly& piece, int64_t step, const Poly& total) {
  const Poly cores = Poly::symbol(scalars.block_num());
  const Poly once = scalars.ceil_quotient(total, scalars.multiply(cores, step));
  const Poly twice = scalars.ceil_quotient(scalars.ceil_quotient(total, step), cores);
  return piece == scalars.multiply(once, step) || piece == scalars.multiply(twice, step);
}

/// Extends `span` by `loop`, which moves the tile by `factor` per unit of its variable. Returns false if the loop does not move the tile by
/// its size.
bool absorb(Scalars& scalars, const Loop& loop, const Poly& factor, Span& span) {
  const Poly shift = scalars.multiply(factor, loop.step);
  if (shift == span.extent) {
    const std::optional<int64_t> limit = loop.limit.constant();
    if (limit) {
      span.extent = scalars.multiply(shift, checked::ceil_div(*limit, loop.step));
      return *limit >= 0;
    }
    if (loop.step > 1 && !loop.limit.divided_by(loop.step)) span.multiples.push_back({loop.limit, loop.step});
    const std::optional<SymbolId> counted = loop.limit.alone();
    const SymbolKind kind = counted ? scalars[*counted].kind : SymbolKind::unknown;
    if ((kind == SymbolKind::quotient || kind == SymbolKind::ceil_quotient) && scalars[*counted].b == factor &&
        factor.constant()) {
      // The loop counts the tiles of a total, and all tiles are whole, so the total must be a multiple of their size.
      span.extent = scalars[*counted].a;
      span.multiples.push_back({span.extent, *factor.constant()});
      return true;
    }
    span.extent = scalars.multiply(factor, loop.limit);
    return true;
  }
  const std::optional<Poly> left = other_of_minimum(scalars, span.extent, shift);
  if (!left) return false;
  const Poly total = scalars.add(*left, scalars.multiply(factor, Poly::symbol(loop.variable)));
  if (total.has(loop.variable)) return false;
  // The loop must end with the tile that contains the end of the total.
  const bool same = factor.is(1) && loop.limit == total;
  const bool counted = loop.step == 1 && loop.limit == scalars.ceil_quotient(total, factor);
  if (!same && !counted) return false;
  span.extent = total;
  return true;
}

}  // namespace

Expected<Loop> recognise_loop(Scalars& scalars, SymbolId variable, const Poly& lower, const Poly& upper, const Poly& step,
                              Position at) {
  Loop loop{variable, 1, upper, false, at};
  const std::optional<int64_t> fixed = step.constant();
  if (fixed && *fixed <= 0) return invalid_argument("its step is {}, expected 1 or more", *fixed);
  if (fixed && lower.is(0)) {
    loop.step = *fixed;
    return loop;
  }
  loop.over_cores = true;
  Poly rest;
  if (!fixed && scalars.uses_cores()) {
    const std::optional<Poly> stride = step.factor_of(scalars.block_num(), rest);
    if (stride && rest.is(0) && stride->constant() && *stride->constant() > 0) {
      loop.step = *stride->constant();
      if (lower == scalars.multiply(Poly::symbol(scalars.block_idx()), loop.step)) return loop;
    }
  }
  if (fixed && scalars.uses_cores()) {
    const std::optional<Poly> piece = lower.factor_of(scalars.block_idx(), rest);
    const std::optional<Poly> total = piece ? other_of_minimum(scalars, upper, scalars.add(lower, *piece)) : std::nullopt;
    if (total && rest.is(0) && pieces_reach(scalars, *piece, *fixed, *total)) {
      loop.step = *fixed;
      loop.limit = *total;
      return loop;
    }
  }
  return unsupported(
      "it runs from {} to {} by {}, expected 0 to N by T, or get_block_idx * T to N by get_block_num * T, or a piece per core",
      scalars.text(lower), scalars.text(upper), scalars.text(step));
}

Expected<Span> cover(Scalars& scalars, const Slot& slot, const std::vector<Loop>& loops) {
  Span span{slot.offset, slot.size, {}, {}};
  std::vector<std::pair<size_t, Poly>> open;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (!span.begin.has(loops[i].variable)) continue;
    Poly rest;
    const std::optional<Poly> factor = span.begin.factor_of(loops[i].variable, rest);
    if (!factor) return unsupported("its offset " + scalars.text(slot.offset) + " is no multiple of the loop's variable");
    open.emplace_back(i, *factor);
    span.begin = rest;
  }
  while (!open.empty()) {
    const auto next = std::find_if(open.begin(), open.end(),
                                   [&](const auto& each) { return absorb(scalars, loops[each.first], each.second, span); });
    if (next == open.end()) {
      const Loop& loop = loops[open.front().first];
      return unsupported("the loop in line {} moves it by {} and its size is {}, expected tiles that lie side by side",
                         loop.at.line, scalars.text(scalars.multiply(open.front().second, loop.step)), scalars.text(span.extent));
    }
    span.loops.push_back(next->first);
    open.erase(next);
  }
  for (const Loop& loop : loops)
    if (span.extent.has(loop.variable)) return unsupported("its size " + scalars.text(slot.size) + " changes from tile to tile");
  return span;
}

}  // namespace strew::inline v0::pto
