// Engines: every way to run an op, that is, each backend that can build it, for several targets and under several
// schedules.
//
// The kernels come from a Runtime of the test's own. Its pool has eight threads on every machine, and the test sets
// its limits before each call, so that a call of a few elements runs on as many threads as the test wants.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "runtime/call/executor/limits.h"
#include "runtime/call/executor/phases.h"
#include "strew/library.h"
#include "strew/op.h"
#include "strew/runtime.h"
#include "tests/differential/coverage.h"
#include "tests/support/rng.h"

namespace strew::test {

struct EngineOptions {
  std::string backend;               ///< if not empty, the only backend
  int schedules = 1;                 ///< random schedules per compiled backend, in addition to the heuristic's
  std::vector<std::string> targets;  ///< what kernels are built for, instead of target_names(); the heuristic sees the first
  /// Is called, if given, with every compiled kernel that is wanted, instead of building it (tests/cross).
  std::function<void(const Op& op, const KernelOptions& options)> record;
  const strew_library* library = nullptr;  ///< if given, compiled kernels come from this library
};

struct Engine {
  std::string backend, schedule, target;
  Kernel kernel;
};

std::vector<std::string> backend_names(const EngineOptions& options);

class EngineRoom {
 public:
  explicit EngineRoom(EngineOptions options);

  /// Builds the op's kernels. With `wish`: only compiled kernels of that strategy, or none if it is not legal. Fails
  /// if a backend whose can_build() agreed cannot build, or if it refuses an op that it must run (is_promised).
  Expected<std::vector<Engine>> build(const Op& op, Rng rng, std::optional<Strategy> wish = {});
  /// Is the strategy legal for the op?
  bool allows(const Op& op, Strategy strategy) const;
  /// The op's cell in the coverage table.
  Expected<Cell> cell(const Op& op) const;
  bool only_records() const { return options_.record != nullptr; }
  const std::vector<std::string>& backend_names() const { return names_; }
  Coverage& coverage() { return coverage_; }

  /// Sets the limits of all further calls. Their trace is trace().
  void set_limits(const ExecutionLimits& limits);
  PhaseTrace& trace() { return trace_; }

 private:
  /// A random schedule (with strategy `wish`, if given) that is legal for plan and backend; if several draws fail,
  /// the schedule of `usual`.
  Schedule legal_schedule(Rng& rng, const std::string& backend, const BuildRequest& usual, std::optional<Strategy> wish) const;
  const std::vector<std::string>& targets() const { return options_.targets.empty() ? target_names() : options_.targets; }
  /// Appends the kernel, or records it.
  Status add(std::vector<Engine>& engines, const Op& op, const std::string& backend, const KernelOptions& options);
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
