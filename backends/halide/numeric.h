// Lowered expression graphs (backends/lower) as Halide expressions.
//
// Where an operation of Halide means something else than docs/semantics.md says, or is undefined, it is replaced by operations that have one
// meaning. Integers are unsigned throughout, because Halide may assume that signed 32-bit integers do not overflow. NaNs are read from the bits of
// floats. Transcendental functions call the math table (base/math). Tested by tests/differential.
#pragma once

#include <Halide.h>

#include <functional>
#include <vector>

#include "backends/lower/graph.h"

namespace strew::inline v0 {

using HExpr = Halide::Expr;  ///< named so because strew::Expr is another type, the expression graph

/// An element as in memory: an unsigned integer, or the low and the high half of an element of 16 bytes.
struct Parts {
  HExpr a, b;
};

HExpr unsigned_constant(int bits, uint64_t value);

/// Returns the elements of the results of `expr`. `load` gives the element of an input. has_f16: does Halide's cast to f16 become the target's
/// instruction?
std::vector<Parts> evaluate(const Expr& expr, bool has_f16, const std::function<Parts(const lowered::Graph::Input&)>& load);

}  // namespace strew::inline v0
