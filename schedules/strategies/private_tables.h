// What strategy private asks of a combiner: its identity, and whether updates may be grouped.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/plan/plan.h"

namespace strew {

/// Does any grouping of the updates give the same bits? (Integers, bool, and float min and max.) Otherwise the number of tables decides
/// them, so it must not depend on the number of threads.
bool combines_exactly(const Plan& plan);

/// The combiner of result i, for plans that private_legal admits.
ExprOp combiner_of(const Plan& plan, int i);
/// What combines two partial results of it.
inline ExprOp merge_of(ExprOp op) { return op == ExprOp::sub ? ExprOp::add : op; }
/// Bits of the value that combines with any x to x; -0 for float sums.
std::optional<uint64_t> identity_bits(ExprOp op, DType dtype);

}  // namespace strew
