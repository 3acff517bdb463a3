// What strategy private has to know of a plan's combiners. compiler/op/combiner.h has the properties of single operators.
#pragma once

#include "compiler/op/combiner.h"
#include "compiler/plan/plan.h"
#include "strew/export.h"

namespace strew::inline v0 {

/// Does every grouping of the updates give the same bits? It does for integers, bool, and float min and max. Otherwise
/// the number of tables decides the bits, so it must not depend on the number of threads.
bool combines_exactly(const Plan& plan);

/// Does a sum in any order (`relaxed`), of which the number of tables decides the bits, use private tables? The answer depends on op and
/// shapes alone: three and more updates per element of a table that a private cache holds.
bool relaxed_sum_uses_tables(const Plan& plan);

/// The combiner of result i, for plans for which strategy private is legal.
ExprOp combiner_of(const Plan& plan, int i);

/// The expression for one element of result i when a private table is merged into it: input `current` is the result's element, `update` the
/// table's. An element of a float table that still holds the bits of the combiner's identity was not updated, so
/// the result's element is kept: combining it would turn a signalling NaN there into a quiet one. Integers need no such care.
Expr merge_graph(const Plan& plan, int i);

}  // namespace strew::inline v0
