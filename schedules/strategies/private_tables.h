// What strategy private asks of a plan's combiners. What it asks of an operator is in the table of compiler/op/combiner.h.
#pragma once

#include "compiler/op/combiner.h"
#include "compiler/plan/plan.h"

namespace strew {

/// Does any grouping of the updates give the same bits? (Integers, bool, and float min and max.) Otherwise the number of tables decides
/// them, so it must not depend on the number of threads.
bool combines_exactly(const Plan& plan);

/// The combiner of result i, for plans that private_legal admits.
ExprOp combiner_of(const Plan& plan, int i);

}  // namespace strew
