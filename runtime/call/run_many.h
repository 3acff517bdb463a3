// Many calls in one: of one kernel on many sets of buffers of the same shapes, and of different kernels. All calls are
// checked before anything is written, and small calls are spread over threads as one job.
//
// The memory that one call of a batch writes must not be read or written by another call of the batch: calls may run at
// the same time. A batch in which calls overlap is refused. Tested by tests/unit/runtime/call/run_many_test.cc.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/call/callable.h"
#include "strew/call_options.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

/// Call c of data.size() / shapes.size() calls has the tensors `shapes`, with the addresses data[c * shapes.size() + i]; the
/// addresses in `shapes` are not used. A message about one call begins with its number: "call 3: …".
Status run_many(const Callable& callable, std::span<const TensorView> shapes, std::span<void* const> data,
                const CallOptions& options);

struct BatchCall {
  const Callable* callable;
  std::span<const TensorView> tensors;
};
Status run_batch(std::span<const BatchCall> calls, const CallOptions& options);
/// What run_batch() checks: that the tensors of each call fit, that indices are in bounds (not of wide accumulation, nor of
/// kernels without code), and that no call writes what another one reads or writes.
Status check_batch(std::span<const BatchCall> calls, const CallOptions& options);

/// For batches with kernels whose calls need more than their callables: checks the batch, then calls run(c) for each call.
template <class Run>
Status run_one_by_one(std::span<const BatchCall> calls, const CallOptions& options, Run&& run) {
  STREW_TRY(check_batch(calls, options));
  for (size_t c = 0; c < calls.size(); ++c) STREW_TRY(run(c).with_prefix("call " + std::to_string(c)));
  return {};
}
/// The calls of run_many() as run_batch() takes them; their tensors are put in `views`. shapes.size() must be the number of the kernel's tensors.
std::vector<BatchCall> batch_of(const Callable& callable, std::span<const TensorView> shapes, std::span<void* const> data,
                                std::vector<TensorView>& views);

}  // namespace strew::inline v0
