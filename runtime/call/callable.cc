// See callable.h. run() binds the tensors, then runs the phases of the executor, or, for small calls, the entries
// directly. Tested by tests/unit/kernel_test.cc and tests/runtime_only.
#include "runtime/call/callable.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "base/fp_environment.h"
#include "runtime/call/executor/phases.h"

namespace strew::inline v0 {
namespace {

// The two steps of a small call, as functions that run() takes in: a call costs as little as 20 ns.

inline bool goes_straight(const Callable& callable, const Call& call) {
  if (call.init != 0 && !call.result_is_operand) return false;
  if (callable.check_at_once != nullptr && call.positions > callable.checked_alone) return false;
  if (callable.is_sequential) return true;
  const FpEnvironment environment(callable.may_be_alone, true);  // costs are floats, even of kernels that compute none
  return callable.may_be_alone && apply_nanoseconds(callable, call) < callable.alone_nanoseconds;
}

inline Status run_straight(const Callable& callable, std::span<const TensorView> tensors, const Call& call, strew_fault* fault) {
  const int64_t positions = call.positions;
  if (positions == 0) return {};
  const FpEnvironment environment(callable.computes_floats);
  const strew_args args = arguments_of(call, callable.program);
  strew_fault found;
  if (callable.check_at_once != nullptr && callable.check_at_once(&args, 0, positions, &found) != STREW_OK)
    return bad_index_error(callable.kernel, tensors, found, fault);
  if (call.moves_nothing()) return {};
  callable.range(&args, 0, positions, &found);
  return {};
}

}  // namespace

bool Callable::is_direct(const Call& call) const { return goes_straight(*this, call); }
Status Callable::run_at_once(std::span<const TensorView> tensors, const Call& call, strew_fault* fault) const {
  return run_straight(*this, tensors, call, fault);
}

Status Callable::run(std::span<const TensorView> tensors, strew_fault* fault) const {
  try {
    Call call;
    STREW_TRY(binder.bind(tensors, call));
    if (goes_straight(*this, call)) return run_straight(*this, tensors, call, fault);
    use(call, {});
    return run_phases(*this, tensors, call, fault);
  } catch (const std::bad_alloc&) {
    return resource_exhausted("call: out of memory; what the results hold is not specified");
  }
}

Status Callable::run(std::span<const TensorView> tensors, const CallOptions& options) const {
  STREW_TRY(check_threads(options.threads));
  try {
    Call call;
    STREW_TRY(binder.bind(tensors, call));
    if (goes_straight(*this, call)) return run_straight(*this, tensors, call, options.fault);
    use(call, options);
    return run_phases(*this, tensors, call, options.fault);
  } catch (const std::bad_alloc&) {
    return resource_exhausted("call: out of memory; what the results hold is not specified");
  }
}

bool Callable::run_if_it_fits(std::span<const TensorView> tensors, strew_fault* fault, Status& status) const {
  try {
    Call call;
    if (!binder.binds_plainly(tensors, call)) return false;
    if (goes_straight(*this, call)) {
      if (Status failure = run_straight(*this, tensors, call, fault); !failure.ok()) status = std::move(failure);
    } else {
      use(call, {});
      status = run_phases(*this, tensors, call, fault);
    }
  } catch (const std::bad_alloc&) {
    status = resource_exhausted("call: out of memory; what the results hold is not specified");
  }
  return true;
}

bool Callable::run_addresses(void* const* data, const int64_t* dyn) const {
  if (!takes_addresses) return false;
  Call call;
  if (!binder.bind_addresses(data, dyn, call) || !goes_straight(*this, call)) return false;
  if (call.positions == 0) return true;
  const FpEnvironment environment(computes_floats);
  const strew_args args = arguments_of(call, program);
  strew_fault found;
  if (check_at_once != nullptr && check_at_once(&args, 0, call.positions, &found) != STREW_OK) return false;
  if (call.moves_nothing()) return true;
  range(&args, 0, call.positions, &found);
  return true;
}

}  // namespace strew::inline v0
