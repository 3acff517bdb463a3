// Strategy private: every chunk of positions has its own copy of the results, started at the combiner's identity; the copies are then
// combined into the results, in chunk order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"
#include "compiler/plan/plan.h"
#include "runtime/call/executor/executor.h"
#include "runtime/call/executor/limits.h"
#include "runtime/call/scratch.h"
#include "strew/abi.h"

namespace strew {

/// Ok, or unsupported with the reason.
Status private_legal(const Plan& plan);
/// Does any grouping of the updates give the same bits? (Integers, bool, and float min and max.) Otherwise the number of tables decides
/// them, so it must not depend on the number of threads.
bool combines_exactly(const Plan& plan);

/// The combiner of result i, for plans that private_legal admits.
ExprOp combiner_of(const Plan& plan, int i);
/// What combines two partial results of it.
inline ExprOp merge_of(ExprOp op) { return op == ExprOp::sub ? ExprOp::add : op; }
/// Bits of the value that combines with any x to x; -0 for float sums.
std::optional<uint64_t> identity_bits(ExprOp op, DType dtype);

struct PrivateCall {
  const Plan& plan;
  strew_entry range, merge;
  const strew_args* args;
  int64_t positions;
  int64_t elements;  ///< of each result; they are contiguous
  int tables, threads;
  const ExecutionLimits& limits = kDefaultLimits;
};
/// Bytes of that many tables. A call borrows one per thread, and one less than `tables` at most: the result is the first.
int64_t private_bytes(const Plan& plan, int64_t elements, int tables);
/// False: no memory, nothing was done.
bool run_private(Executor::Team& team, Scratch& scratch, const PrivateCall& call);

}  // namespace strew
