// TunedKernel: a kernel that looks for a faster schedule while it serves. Now and then a call is run by another candidate; one that proves
// faster takes its place. Trials cost at most a given part of the time of all calls (1 % by default); when all candidates were tried,
// the kernel settles, and calls cost what those of the best candidate cost. All candidates give the same bits.
//
//   auto kernel = strew::TunedKernel::make(runtime, op);
//   kernel->run(tensors);                                 // as Kernel::run
//
// Copies share one search. The runtime must outlive them. All member functions are thread-safe. Tested by
// tests/unit/runtime/tuned_kernel_test.cc; docs/tuning.md, "Online".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "strew/export.h"
#include "strew/kernel.h"
#include "strew/kernel_options.h"
#include "strew/op.h"
#include "strew/runtime.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

struct OnlineTuning {
  double regret = 0.01;     ///< the part of all calls' time that trials may cost, 0..1
  int candidates = 16;      ///< the most to try, 0..1000
  std::string wisdom_file;  ///< append the outcome to this file when the search is over; empty: do not
};

class TunedKernel {
 public:
  /// The default kernel of the op, as Runtime::get compiles it; candidates are compiled by the runtime's own threads while it serves.
  /// `options` must name neither a schedule nor a backend. Fails if get() does, or if a field of `tuning` is out of range.
  STREW_API static Expected<TunedKernel> make(Runtime& runtime, const Op& op, const KernelOptions& options = {},
                                              const OnlineTuning& tuning = {});
  /// As Kernel::run.
  STREW_API Status run(std::span<const TensorView> tensors, BadIndex* bad_index = nullptr) const;

  struct Stats {
    const Kernel* in_use = nullptr;  ///< the default or the fastest candidate so far; lives as long as the TunedKernel
    bool is_settled = false;
    uint64_t trials = 0;
    double total_ns = 0;   ///< of all calls so far
    double regret_ns = 0;  ///< that trials took longer than the kernel in use
    double ratio = 1;      ///< the kernel in use over the default
  };
  STREW_API Stats stats() const;

 private:
  struct State;
  explicit TunedKernel(std::shared_ptr<State> state) : state_(std::move(state)) {}
  Status run_and_learn(std::span<const TensorView> tensors, BadIndex* bad_index) const;
  std::shared_ptr<State> state_;
};

}  // namespace strew::inline v0
