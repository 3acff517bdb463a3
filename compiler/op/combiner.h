// Combiners: one table of the operators that combine an update with a destination's value, and functions on combiner graphs.
//
// A combiner is an expression graph over current values, updates and extras (expr.h); the empty graph is assign. A
// CombinerKind is a name, in builders and canonical text, for the graph that computes `operator(current, update)` on
// every pair, with the update converted to the result's dtype. spelled() writes that graph, and combiner_kind()
// recognises it node by node. All other code asks for the properties of the graph's operators: planning and strategies,
// whether updates may be regrouped and what the identity element is; imports, whether arguments may be swapped;
// verification, which dtypes an operator takes.
//
// A new named combiner needs a row of the table and a CombinerKind. Tested by tests/unit/combiner_test.cc, which checks
// every row on all values of small dtypes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "strew/export.h"
#include "strew/op.h"

namespace strew::inline v0 {

/// The dtypes that an operator takes, among those with arithmetic.
enum class CombinerDomain : uint8_t {
  all,
  numbers,  ///< not bool
  ordered,  ///< not complex
  bitwise,  ///< bool and integers
};

struct CombinerTraits {
  ExprOp op;
  CombinerKind kind;
  CombinerDomain domain;
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

/// Is the dtype in the operator's domain?
bool takes(const CombinerTraits& row, DType dtype);
/// Does any order and any grouping of the updates give the same bits? True of integers and bool for every operator
/// whose partial results can be merged, and of float min and max.
bool regroups_exactly(ExprOp op, DType dtype);
/// Bits of the identity element e, from which a partial result starts: merging `e op x` into any y gives `y op x`. It
/// is -0 for float sums. None for operators whose partial results cannot be merged, and for complex dtypes, whose
/// elements do not fit 64 bits.
std::optional<uint64_t> identity_bits(ExprOp op, DType dtype);
/// The operator that merges two partial results of `op` (CombinerTraits::merges_by).
ExprOp merge_of(ExprOp op);

/// The graph that `kind` stands for with the op's dtypes; empty for assign. `kind` must not be expr. The op need not be verified.
Expr spelled(const Scatter& op, CombinerKind kind);
/// The name of the op's combiner: its graph with the op's dtypes equals the combiner node by node. Otherwise expr. The
/// op need not be verified.
CombinerKind combiner_kind(const Scatter& op);

/// The combiner of a scatter or the expression of a gather as a graph that is never empty: assign and a plain gather
/// are written out with their converts, so that code generators see one form.
Expr combine_graph(const Op& op);
/// The operator, if result `pair` of the graph is `operator(current, update)` of that pair, with the update possibly
/// converted to the result's dtype, and with the arguments swapped if the operator commutes. ExprOp::update if the
/// result is the update itself. None of other graphs.
std::optional<ExprOp> operator_of(const Expr& graph, int32_t pair);
/// If operator_of() gives the same operator for every pair, the graph that the operator's name stands for (empty for
/// ExprOp::update); otherwise the graph itself.
STREW_API Expr named_combiner(Expr graph);

/// Do the bits of results depend on the order of updates? So it is for sums and products of floats and complex numbers.
bool sums_floats(const Scatter& scatter);

}  // namespace strew::inline v0
