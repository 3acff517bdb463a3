// Combiners: one table of the operators that combine an update with a destination's value, and functions on combiner graphs.
//
// A scatter names its combiner, or holds an expression graph over current values, updates and extras (expr.h). A name stands for the
// graph that computes `operator(current, update)` on every pair, with the update converted to the result's dtype;
// combine_graph() writes it, and kind_of() finds the name of a graph, for imports and for a rewrite. All other code asks for
// the properties of the graph's operators: planning and strategies, whether updates may be regrouped and what the identity
// element is; imports, whether arguments may be swapped.
//
// A new named combiner needs a row of the table and a CombinerKind. Tested by tests/unit/compiler/op/combiner_test.cc, which checks
// every row on all values of small dtypes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "strew/export.h"
#include "strew/op.h"

namespace strew::inline v0 {

struct CombinerTraits {
  ExprOp op;
  CombinerKind kind;
  bool commutes;    ///< a op b == b op a
  bool order_free;  ///< any order and grouping of the updates gives the same number, of floats too
  /// The operator that merges two partial results, each of which started from the identity element. It is `op` itself,
  /// except that partial results of sub, whose identity is 0, are merged by add.
  ExprOp merges_by;
};

/// The table.
STREW_API std::span<const CombinerTraits> combiner_traits();
/// The row of an operator or of a name; null if there is none (the names assign and expr have no row).
const CombinerTraits* find_combiner(ExprOp op);
const CombinerTraits* find_combiner(CombinerKind kind);

/// Is the dtype one of those that the operator takes, as expr_ops.def says?
bool takes(ExprOp op, DType dtype);
/// Does any order and any grouping of the updates give the same bits? True of integers and bool for every operator
/// whose partial results can be merged, and of float min and max.
bool regroups_exactly(ExprOp op, DType dtype);
/// Bits of the identity element e, from which a partial result starts: merging `e op x` into any y gives `y op x`. It
/// is -0 for float sums. None for operators whose partial results cannot be merged, and for complex dtypes, whose
/// elements do not fit 64 bits.
std::optional<uint64_t> identity_bits(ExprOp op, DType dtype);
/// The operator that merges two partial results of `op` (CombinerTraits::merges_by).
ExprOp merge_of(ExprOp op);

/// The combiner of a scatter or the expression of a gather as a graph that is never empty: names and a plain gather are written
/// out with their converts, so that code generators see one form. Per result: the update, its convert where dtypes differ, the
/// current value, the operator. The op need not be verified.
Expr combine_graph(const Op& op);
/// Is the node input number `index` of the kind `input` (current, update), possibly converted to `dtype`?
bool is_input(const Expr& graph, int32_t node, ExprOp input, int32_t index, DType dtype);
/// The name of a combiner that computes what the graph does: the same operator for every pair, of current value and update, in
/// either order if the operator commutes (the bits of a NaN that an operator computes are unspecified: docs/semantics.md). `expr`
/// if there is none.
CombinerKind kind_of(const Expr& graph);
/// Makes the graph the op's combiner, by its name if it has one.
STREW_API void set_combiner(Scatter& op, Expr graph);

/// Do the bits of results depend on the order of updates? So it is for sums and products of floats and complex numbers.
bool sums_floats(const Scatter& scatter);

}  // namespace strew::inline v0
