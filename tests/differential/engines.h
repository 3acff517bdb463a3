// Engines: every way to run an op: each backend that can build it, for several targets and under several schedules.
//
// The kernels come from a private Runtime whose pool has eight threads whatever the machine has, and whose limits are the test's: it sets
// them before each call, so that a call of a few elements runs on as many threads as the test says.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "runtime/call/executor/limits.h"
#include "runtime/call/executor/trace.h"
#include "strew/op.h"
#include "strew/runtime.h"
#include "tests/differential/coverage.h"
#include "tests/support/rng.h"

namespace strew::test {

struct EngineOptions {
  std::string backend;  ///< only this one; empty: all
  int schedules = 1;    ///< random schedules per compiled backend, next to the heuristic's
};

struct Engine {
  std::string backend, schedule, target;
  Kernel kernel;
};

std::vector<std::string> backend_names(const EngineOptions& options);

class EngineRoom {
 public:
  explicit EngineRoom(EngineOptions options);

  /// Builds the op's kernels; with `wish`, compiled ones of that strategy only, none where it is not legal. Fails when a backend that says
  /// it can build does not, or refuses a promised cell.
  Expected<std::vector<Engine>> build(const Op& op, Rng rng, std::optional<Strategy> wish = {});
  /// May the op be scheduled so?
  bool allows(const Op& op, Strategy strategy) const;
  /// Plan kind of the op, for coverage.
  Expected<Cell> cell(const Op& op) const;
  const std::vector<std::string>& backend_names() const { return names_; }
  Coverage& coverage() { return coverage_; }

  /// What all kernels run under from now on. Its trace is trace().
  void set_limits(const ExecutionLimits& limits);
  PhaseTrace& trace() { return trace_; }

 private:
  /// A random schedule (of strategy `wish`, if given) that the plan and the backend allow; the usual one if none of a few is.
  Schedule legal_schedule(Rng& rng, const std::string& backend, const BuildRequest& usual, std::optional<Strategy> wish) const;
  Expected<Engine> one(const Op& op, const std::string& backend, const KernelOptions& options);

  EngineOptions options_;
  Target target_;
  std::vector<std::string> names_;
  PhaseTrace trace_;
  std::shared_ptr<ExecutionLimits> limits_;
  std::unique_ptr<Runtime> runtime_;
  int64_t built_ = 0;
  Coverage coverage_;
};

}  // namespace strew::test
