// Builder: appends nodes to a lowered graph. What lowering rules are written with.
#pragma once

#include "backends/lower/graph.h"

namespace strew::inline v0::lowered {

/// A node and its type.
struct Value {
  int32_t node = -1;
  Machine type = Machine::i1;
};

class Builder {
 public:
  explicit Builder(Natives natives) : natives_(natives) {}

  Value input(int32_t number, int32_t part, Machine type);
  Value constant(Machine type, uint64_t bits);
  Value same(Value like, uint64_t bits) { return constant(like.type, bits); }  ///< a constant of that type
  Value number(Machine type, double value);                                    ///< of a float type

  /// An operation whose row says its type, or select. A compound that the target lacks becomes what its rule says.
  Value operator()(Primitive op, Value a, Value b = {}, Value c = {});
  /// An operation to a type: bitcast to fptoui, fptosi_sat to float_to_half.
  Value to(Machine type, Primitive op, Value a);
  /// A float of at most 16 bits to f32, and an f32 to one, rounded once.
  Value decode(DType dtype, Value code);
  Value encode(DType dtype, Value number);
  Value call(ExprOp function, Value a, Value b = {}, Value c = {});

  Value negate(Value truth) { return (*this)(Primitive::bit_xor, truth, same(truth, 1)); }
  Value bits_of(Value a) { return is_float(a.type) ? to(integer_of(width(a.type)), Primitive::bitcast, a) : a; }
  Value float_of(Value a) { return to(width(a.type) == 32 ? Machine::f32 : Machine::f64, Primitive::bitcast, a); }
  /// An integer of another width, with or without sign; a narrower one keeps the low bits.
  Value resize(Machine type, Value a, bool is_signed);

  Graph graph;

 private:
  Value append(Node node);
  Value expand(Primitive op, Machine type, Value a, Value b, Value c);  // compounds.cc

  Natives natives_;
};

}  // namespace strew::inline v0::lowered
