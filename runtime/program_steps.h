// StepCache: the steps of a small program (compiler/program/steps), ready to run with the kernels of a runtime. What a run of a small program takes is mostly
// the work of finding out what to call; steps have done that. Threads may use a cache at the same time. Tested by
// tests/unit/compiler/program/steps_test.cc and strew_program_differential.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "compiler/program/buffers.h"
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

  /// Runs the program, if it is small, its inputs have had these dims often enough, and steps can do it: `outputs` as in run_program_into(); null: in memory
  /// of `buffers`. Nothing: the caller has to run it otherwise, and the inputs are as they were; outputs may have been written.
  std::optional<std::vector<Tensor>> run(Runtime& runtime, const Program& program,
                                         std::span<const std::unique_ptr<Tensor>> inputs, const ProgramOptions& options,
                                         const std::vector<Tensor>* outputs, BufferPool& buffers);

 private:
  struct Entry;
  /// Null: there are none, or none yet.
  std::shared_ptr<const ReadySteps> find(const Program& program, std::span<const std::unique_ptr<Tensor>> inputs,
                                         const ProgramOptions& options);
  /// Never gives the steps again: a kernel of theirs cannot be had.
  void refuse(const ReadySteps* steps);

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace strew::inline v0
