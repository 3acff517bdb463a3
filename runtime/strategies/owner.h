// Strategy owner: each thread owns a part of the destinations and applies, in order, the positions that go there.
#pragma once

#include <cstdint>

#include "compiler/plan/plan.h"
#include "runtime/abi.h"
#include "runtime/executor/executor.h"
#include "runtime/status.h"

namespace strew {

/// Ok, or unsupported with the reason.
Status owner_legal(const Plan& plan);

struct OwnerCall {
  strew_entry keys, list;
  const strew_args* args;
  int64_t positions;
  int element_bytes;  ///< of result 0
  int threads;        ///< >= 2
  int64_t nanoseconds;
};
void run_owner(Executor& executor, const OwnerCall& call);

}  // namespace strew
