// Lowering rules of the operators of expression graphs, by families of dtypes (docs/semantics.md section 4).
#pragma once

#include "backends/lower/builder.h"

namespace strew::inline v0::lowered {

/// What a node of an expression graph is in a lowered one: one value, or the parts of a complex number, or of an element of 128 bits.
struct Parts {
  Parts(Value first = {}, Value second = {}) : a(first), b(second) {}  // NOLINT(google-explicit-constructor): a value is one part
  bool known() const { return a.node >= 0; }
  Value a, b;
};

/// An integer. Of a dtype of less than 8 bits, `code` is the element, as in memory, and `value` its extension to 8 bits; of a wider one both are
/// the same. Of what an operator gives for the former, only the bits of the dtype count.
struct Integer {
  DType dtype;
  Value value, code;
};

/// An operator on as many arguments of a family as have a node, that verify() admits for it; others give nothing. Floats are f32, in which all dtypes of at
/// most 32 bits are computed, or f64. Complex numbers are their parts.
Parts lower_boolean(Builder& e, ExprOp op, Value a, Value b);  // integers.cc
Parts lower_integer(Builder& e, ExprOp op, const Integer& a, const Integer* b);
Parts lower_float(Builder& e, ExprOp op, Value a, Value b, Value c = {});    // floats.cc
Parts lower_complex(Builder& e, ExprOp op, const Parts& a, const Parts& b);  // complex.cc

/// Conversions between machine types. Those to a float round once to f64 or, if that is asked for, to f32; else to an f32 from which rounding to
/// 16 bits or less gives what one rounding of the exact value would.
Value float_to_float(Builder& e, DType to, Value a);  // floats.cc
Value integer_to_float(Builder& e, const Integer& a, DType to);
Value float_to_integer(Builder& e, DType to, Value a);

Value decode_small(Builder& e, DType dtype, Value code);  ///< of a float of at most 16 bits, to f32  // small_floats.cc
Value encode_small(Builder& e, DType dtype, Value a);     ///< of an f32, rounded once
Value encode_bf16(Builder& e, Value a);

/// Comparisons, by the family's eq and lt.
template <class Family, class Number>
struct Order {
  static Value ne(Builder& e, const Number& a, const Number& b) { return e.negate(Family::eq(e, a, b)); }
  static Value gt(Builder& e, const Number& a, const Number& b) { return Family::lt(e, b, a); }
  static Value le(Builder& e, const Number& a, const Number& b) { return e.negate(Family::lt(e, b, a)); }
  static Value ge(Builder& e, const Number& a, const Number& b) { return e.negate(Family::lt(e, a, b)); }
};

/// The operator's function of Family. The compiler asks for one of each operator that takes the family's dtypes, whose result is of the arguments'
/// dtype or bool, and that has so many arguments.
template <class Family, class... Numbers>
Parts apply(Builder& e, ExprOp op, const Numbers&... numbers) {
  switch (op) {
#define STREW_LOWER(row, name, arity, arguments, result, ...)                                            \
  case ExprOp::row:                                                                                      \
    if constexpr (arity == sizeof...(numbers) && (expr_dtypes::arguments & Family::kTakes) != 0 &&       \
                  (ExprResult::result == ExprResult::same || ExprResult::result == ExprResult::boolean)) \
      return Family::row(e, numbers...);                                                                 \
    else                                                                                                 \
      return {};
    STREW_EXPR_OPS(STREW_LOWER)
#undef STREW_LOWER
  }
  return {};
}

}  // namespace strew::inline v0::lowered
