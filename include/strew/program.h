// Program: runs an imported file, its kernels and the operations around them, on tensors. Tested by tests/unit/program_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "strew/export.h"
#include "strew/import.h"
#include "strew/runtime.h"
#include "strew/tensor.h"

namespace strew::inline v0 {

/// Where the time of a run goes, in nanoseconds.
struct ProgramTimes {
  int64_t kernel_nanoseconds = 0;  ///< in calls of kernels; not in looking them up or compiling them
  /// Each operation around the kernels that was evaluated, in the order of evaluation.
  std::vector<std::pair<const Compute*, int64_t>> interpreted;
};

struct ProgramOptions {
  KernelOptions kernel;
  /// Called after each kernel with the tensors that it ran on, in the order of tensor_slots (`strew run --time`,
  /// `--verify`). The views are valid during the call. A failure that it returns ends the run.
  std::function<Status(const ImportedKernel&, const Kernel&, std::span<const TensorView>)> after_kernel;
  ProgramTimes* times = nullptr;  ///< receives the times of the run, which are added to it; null: they are not measured
};

/// Runs whatever the outputs need and returns one tensor per output. Fails if they need an operation that strew does not run (Opaque);
/// then cut_kernel() makes a program of one kernel. `inputs`: one per imported.inputs, in that order; null for an optional input that is left out and for an input that is not
/// needed. Fails if dtype, rank or a static dim of an input differs from its imported type. The results own their
/// elements and, of string tensors, the strings.
STREW_API Expected<std::vector<Tensor>> run_program(Runtime& runtime, const Imported& imported,
                                                    std::vector<std::unique_ptr<Tensor>> inputs, const ProgramOptions& options);

}  // namespace strew::inline v0
