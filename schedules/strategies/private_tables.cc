// See private_tables.h. Tested by tests/unit/schedules/schedule_test.cc and tests/unit/runtime/call/strategies/private_test.cc.
#include "schedules/strategies/private_tables.h"

#include "schedules/costs/workload.h"
#include "strew/expr_builder.h"

namespace strew::inline v0 {

ExprOp combiner_of(const Plan& plan, int i) {
  return plan.combine.nodes[static_cast<size_t>(plan.combine.results[static_cast<size_t>(i)])].op;
}

Expr merge_graph(const Plan& plan, int i) {
  const ExprOp op = combiner_of(plan, i);
  const DType dtype = plan.tensors[static_cast<size_t>(plan.result(i))].dtype;
  ExprBuilder e;
  const int32_t current = e.current(0, dtype), table = e.update(0, dtype);
  const int32_t merged = e.apply(merge_of(op), {current, table});
  if (!is_float(dtype)) return e.returns({merged});
  const DType code = bits(dtype) == 16 ? DType::u16 : bits(dtype) == 32 ? DType::u32 : DType::u64;
  const int32_t table_code = e.bitcast(table, code), identity = e.literal(Scalar{code, {*identity_bits(op, dtype), 0}});
  const int32_t untouched = e.apply(ExprOp::eq, {table_code, identity});
  return e.returns({e.apply(ExprOp::select, {untouched, current, merged})});
}

bool combines_exactly(const Plan& plan) {
  for (int i = 0; i < plan.pairs; ++i)
    if (!regroups_exactly(combiner_of(plan, i), plan.tensors[static_cast<size_t>(plan.result(i))].dtype)) return false;
  return true;
}

/// These numbers are part of what a relaxed sum is (docs/semantics.md), so they are not a machine's.
bool relaxed_sum_uses_tables(const Plan& plan) {
  // A table that a private cache holds, and enough updates to repay filling and merging it.
  constexpr double kLeastPositions = 2048, kMostTableBytes = 512 << 10, kUpdatesPerElement = 3;
  const Workload w = workload_of(plan);
  return !w.is_open && w.positions >= kLeastPositions && w.table_bytes <= kMostTableBytes &&
         w.moved_bytes >= kUpdatesPerElement * w.table_bytes;
}

}  // namespace strew::inline v0
