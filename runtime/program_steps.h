// StepCache: the steps of a small program (compiler/program/steps), ready to run with the kernels of a runtime. What a run of a small program takes is mostly
// the work of finding out what to call; steps have done that. Threads may use a cache at the same time. Tested by
// tests/unit/compiler/program/steps_test.cc and strew_program_differential.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "compiler/program/buffers.h"
#include "compiler/program/outputs.h"
#include "compiler/program/steps/steps.h"
#include "strew/run_program.h"
#include "strew/tensor.h"

namespace strew::inline v0 {

class ReadySteps;

class StepCache {
 public:
  StepCache();
  ~StepCache();
  StepCache(const StepCache&) = delete;
  StepCache& operator=(const StepCache&) = delete;

  static constexpr int64_t kNobody = -1;
  /// Runs the program, if it is small, runs with inputs of these dims have taken long enough, and steps can do it: `outputs` as in run_program_into();
  /// null: in memory of `buffers`. Nothing: the caller has to run it otherwise, and the inputs are as they were; outputs may have been written. Then
  /// `waits` is what spent() wants to be told of, or kNobody.
  std::optional<std::vector<Tensor>> run(Runtime& runtime, const Program& program,
                                         std::span<const std::unique_ptr<Tensor>> inputs, const ProgramOptions& options,
                                         ProgramOutputs* outputs, BufferPool& buffers, int64_t& waits);
  /// A run of the caller's took so long.
  void spent(int64_t waits, int64_t nanoseconds);

 private:
  struct Entry;
  /// Null: there are none, or none yet.
  std::shared_ptr<const ReadySteps> find(const Program& program, std::span<const std::unique_ptr<Tensor>> inputs,
                                         const ProgramOptions& options, int64_t& waits);
  /// Never gives the steps again: a kernel of theirs cannot be had.
  void refuse(const ReadySteps* steps);

  std::mutex mutex_;
  std::vector<Entry> entries_;
  int64_t made_ = 0;  ///< entries so far
};

}  // namespace strew::inline v0
