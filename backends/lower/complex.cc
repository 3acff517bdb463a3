// See families.h: complex numbers by the formulas of docs/semantics.md section 4. Every operation on a part rounds on its own. Tested by
// tests/unit/backends/lower.
#include "backends/lower/families.h"

namespace strew::inline v0::lowered {
namespace {
using P = Primitive;

struct Complexes {
  using N = const Parts&;
  static constexpr unsigned kTakes = expr_dtypes::complexes;

  static Parts add(Builder& e, N x, N y) { return {e(P::add, x.a, y.a), e(P::add, x.b, y.b)}; }
  static Parts sub(Builder& e, N x, N y) { return {e(P::sub, x.a, y.a), e(P::sub, x.b, y.b)}; }
  static Parts mul(Builder& e, N x, N y) {
    return {e(P::sub, e(P::mul, x.a, y.a), e(P::mul, x.b, y.b)), e(P::add, e(P::mul, x.a, y.b), e(P::mul, x.b, y.a))};
  }
  /// Smith's method: both arms of its branch are computed, and the right one is selected.
  static Parts div(Builder& e, N x, N y) {
    const Value r1 = e(P::fdiv, y.b, y.a), d1 = e(P::add, y.a, e(P::mul, y.b, r1));
    const Value r2 = e(P::fdiv, y.a, y.b), d2 = e(P::add, e(P::mul, y.a, r2), y.b);
    const Value re1 = e(P::fdiv, e(P::add, x.a, e(P::mul, x.b, r1)), d1),
                im1 = e(P::fdiv, e(P::sub, x.b, e(P::mul, x.a, r1)), d1);
    const Value re2 = e(P::fdiv, e(P::add, e(P::mul, x.a, r2), x.b), d2),
                im2 = e(P::fdiv, e(P::sub, e(P::mul, x.b, r2), x.a), d2);
    const Value real_is_larger = lower_float(e, ExprOp::ge, e(P::fabs, y.a), e(P::fabs, y.b)).a;
    return {e(P::select, real_is_larger, re1, re2), e(P::select, real_is_larger, im1, im2)};
  }
  static Parts neg(Builder& e, N x) { return {e(P::fneg, x.a), e(P::fneg, x.b)}; }
  static Value eq(Builder& e, N x, N y) { return e(P::bit_and, e(P::eq, x.a, y.a), e(P::eq, x.b, y.b)); }
  static Value ne(Builder& e, N x, N y) { return e.negate(eq(e, x, y)); }
};

}  // namespace

Parts lower_complex(Builder& e, ExprOp op, const Parts& a, const Parts& b) {
  return b.known() ? apply<Complexes>(e, op, a, b) : apply<Complexes>(e, op, a);
}

}  // namespace strew::inline v0::lowered
