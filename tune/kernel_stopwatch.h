// KernelStopwatch: the stopwatch that builds kernels and runs them on the data of a workload. A kernel is timed only after its results
// have been compared with the reference's, bit for bit; with those of the default kernel where the op leaves the order of updates
// open. Tested by tests/unit/tune/tuner_test.cc.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "strew/runtime.h"
#include "tune/stopwatch.h"
#include "tune/turns.h"
#include "tune/usage.h"
#include "tune/workload_data.h"

namespace strew::inline v0 {

class KernelStopwatch final : public Stopwatch {
 public:
  struct Settings {
    uint64_t seed = 1;
    int64_t max_bytes = 0;  ///< of the workload's data
    bool isolate = false;   ///< runs the first kernel of each backend and strategy in a child process first
    /// The reference computes the expected results only if that takes no longer; else the sequential kernel does.
    double reference_seconds = 1;
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  };
  /// Makes the data and the expected results. `standard`: the default, which is built as a request without knobs is.
  static Expected<std::unique_ptr<KernelStopwatch>> make(const VerifiedOp& op, const Usage& usage, const Variant& standard,
                                                         const Settings& settings);

  Status prepare(const Variant& variant) override;
  double sample(const Variant& variant) override;
  Status relocate() override;
  void drop(const Variant& variant) override;
  double seconds() override;
  double waited_seconds() override;
  CallFacts facts() override { return {data_.bytes(), data_.bytes_moved(), memcpy_nanoseconds()}; }

 private:
  /// Of a copy of half as many bytes as a call moves; cold if the workload is.
  double memcpy_nanoseconds() const;
  struct Ready {
    Variant variant;
    Kernel kernel;
    Way way;
    int64_t calls = 1;
  };
  KernelStopwatch(VerifiedOp op, Usage usage, const Variant& standard, Settings settings, WorkloadData data);
  KernelOptions options_for(const Variant& variant) const;
  Status expect(const Variant& standard);
  Expected<Kernel> built_and_checked(const Variant& variant);
  Status check(const Kernel& kernel);
  Ready* find(const Variant& variant);

  VerifiedOp op_;
  Usage usage_;
  Variant standard_;
  Settings settings_;
  WorkloadData data_;
  Turn turn_;
  Runtime runtime_;
  std::vector<std::byte> expected_;
  std::vector<std::unique_ptr<Ready>> ready_;
  std::set<std::pair<BackendChoice, Strategy>> isolated_;  ///< kinds that have run in a child
};

}  // namespace strew::inline v0
