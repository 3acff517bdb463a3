// combine_graph: the combiner of any op as an expression graph with every convert written out, so that code generators know one
// form.
#pragma once

#include "compiler/op/op.h"

namespace strew {

Expr combine_graph(const Op& op);

/// True if every result is just its update (gather: the gathered element) in the same dtype: bytes move, nothing is computed.
bool is_pure_move(const Expr& graph, int pairs, bool gather);

}  // namespace strew
