// Combiners: what is known of the operators that fold an update into a destination, in one table, and the graph that a combiner is.
//
// A combiner is an expression graph over current values, updates and extras (expr.h); the empty graph is assign. Some operators have a name of
// their own in builders and canonical text (CombinerKind): it stands for `operator(current, update)` on every pair, the update converted to the
// result's dtype. spelled() writes that graph and combiner_kind() recognises it, node by node. Everything else asks the graph's
// operators: planning and strategies whether updates may be regrouped and with what an empty fold starts, imports whether operands may
// change places, verification which dtypes an operator is for.
//
// Adding a named combiner is a row of the table and a CombinerKind. Tested by tests/unit/combiner_test.cc, which proves every row by trying
// all values of small dtypes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "strew/export.h"
#include "strew/op.h"

namespace strew::inline v0 {

/// The dtypes an operator folds, all of them with arithmetic.
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
  bool commutes;    ///< a op b and b op a are the same number
  bool order_free;  ///< floats, too: any order and grouping of the updates gives the same number
  ExprOp
      merges_by;  ///< combines what two folds that began with the identity give; the operator itself unless updates are taken away
};

/// The table.
STREW_API std::span<const CombinerTraits> combiner_traits();
/// The row of an operator or of a name; null: it has none (assign and expr have no row).
STREW_API const CombinerTraits* find_combiner(ExprOp op);
STREW_API const CombinerTraits* find_combiner(CombinerKind kind);

/// Whether the operator's domain has the dtype.
bool takes(const CombinerTraits& row, DType dtype);
/// Does any order and any grouping of the updates give the same bits? Integers and bool where the operator can be merged at all; float min
/// and max.
bool regroups_exactly(ExprOp op, DType dtype);
/// Bits of the value e for which `e op x` merged into any y is `y op x`: the start of an empty fold; -0 for float sums. None for operators
/// that cannot be folded apart, and for complex dtypes, which do not fit.
STREW_API std::optional<uint64_t> identity_bits(ExprOp op, DType dtype);
/// What combines two partial results of it.
STREW_API ExprOp merge_of(ExprOp op);

/// The graph that the name stands for on the op's dtypes; empty for assign. `kind` is not expr. The op need not be verified.
Expr spelled(const Scatter& op, CombinerKind kind);
/// The name whose graph on the op's dtypes is the op's combiner, node by node; else expr. The op need not be verified.
STREW_API CombinerKind combiner_kind(const Scatter& op);

/// The combiner of any op as an expression graph with every convert written out, assign too, so that code generators know one form.
Expr combine_graph(const Op& op);
/// The operator by which the graph makes result `pair` of that pair's current value and update (perhaps converted to the result's dtype),
/// either way round where it commutes; ExprOp::update: it is the update. None: any other graph.
std::optional<ExprOp> operator_of(const Expr& graph, int32_t pair);
/// Where the graph is one operator on every pair as operator_of() sees it: the graph that the operator's name stands for, empty for the
/// update. Else the graph itself.
STREW_API Expr named_combiner(Expr graph);

}  // namespace strew::inline v0
