// Lowering rules of the operators of expression graphs, by families of dtypes (docs/semantics.md section 4). An operator that verify() does not
// admit for a family gives a value without node.
#pragma once

#include "backends/lower/builder.h"

namespace strew::inline v0::lowered {

/// An integer of a graph. Of a dtype of less than 8 bits, `code` is the element, as in memory, and `value` its extension to 8 bits. Of a wider one both
/// are the same.
struct Integer {
  DType dtype;
  Value value, code;
};
/// What an operator gives: of a dtype of less than 8 bits only the bits of the dtype count.
Value integer_unary(Builder& e, ExprOp op, const Integer& a);  // integers.cc
Value integer_binary(Builder& e, ExprOp op, const Integer& a, const Integer& b);
Value integer_compare(Builder& e, ExprOp op, const Integer& a, const Integer& b);
Value boolean_unary(Builder& e, ExprOp op, Value a);  ///< of i1
Value boolean_binary(Builder& e, ExprOp op, Value a, Value b);
Value boolean_compare(Builder& e, ExprOp op, Value a, Value b);

/// On f32, in which all dtypes of at most 32 bits are computed, and f64.
Value float_unary(Builder& e, ExprOp op, Value a);  // floats.cc
Value float_binary(Builder& e, ExprOp op, Value a, Value b);
Value float_compare(Builder& e, ExprOp op, Value a, Value b);

/// Conversions between machine types. Those to a float round once to f64 or, if that is asked for, to f32; else to an f32 from which rounding to
/// 16 bits or less gives what one rounding of the exact value would.
Value float_to_float(Builder& e, DType to, Value a);
Value integer_to_float(Builder& e, const Integer& a, DType to);
Value float_to_integer(Builder& e, DType to, Value a);

Value decode_small(Builder& e, DType dtype, Value code);  ///< of a float of at most 16 bits, to f32  // small_floats.cc
Value encode_small(Builder& e, DType dtype, Value a);     ///< of an f32, rounded once
Value encode_bf16(Builder& e, Value a);

struct Complex {
  Value re, im;
};
Complex complex_unary(Builder& e, ExprOp op, const Complex& a);  // complex.cc
Complex complex_binary(Builder& e, ExprOp op, const Complex& a, const Complex& b);
Value complex_compare(Builder& e, ExprOp op, const Complex& a, const Complex& b);

}  // namespace strew::inline v0::lowered
