// ExplainedCosts: what a plan's schedules are predicted to cost, for people who ask why one was chosen. `strew explain` prints it.
// Tested by tests/error/cli_test.cc.
#pragma once

#include <string>
#include <vector>

#include "compiler/plan/plan.h"
#include "schedules/costs/predict.h"
#include "schedules/schedule.h"
#include "strew/status.h"
#include "strew/target.h"

namespace strew::inline v0 {

struct ExplainedCosts {
  /// The cheapest candidate of a strategy.
  struct Candidate {
    Schedule schedule;
    Prediction predicted;
    bool is_carried =
        false;  ///< kernels of the chosen schedule can run it, and calls take the one that suits their shapes and threads
  };
  /// The chosen schedule with another value of one knob.
  struct Value {
    std::string knob, value, why;
    bool is_chosen = false;
    Status legal;
    Prediction predicted;  ///< if it is legal
  };
  std::string source;  ///< where the machine's numbers come from; empty for an NPU target, whose programs have no schedule
  int threads = 1;     ///< of the calls that are predicted
  std::vector<Candidate> strategies;
  std::vector<Value> values;
};

/// `schedule` is the plan's, for calls of at most `max_threads` threads (0: as many as the target has cores).
ExplainedCosts explain_costs(const Plan& plan, const Schedule& schedule, const Target& target, int max_threads);

}  // namespace strew::inline v0
