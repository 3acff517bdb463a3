// `strew run --time` of a file that is more than one kernel: where the time of a whole run goes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "strew/run_program.h"
#include "strew/runtime.h"

namespace strew::cli {

struct ProgramTime {
  double nanoseconds = 0;         ///< of a run of the whole program, the median of `samples`
  double kernel_nanoseconds = 0;  ///< of it, in calls of kernels
  /// Of it, in operations around the kernels that were interpreted, by their names in the file, the longest first.
  std::vector<std::pair<std::string, double>> interpreted;
  /// The same of kernels that did operations around the program's kernels, by the name of the last operation of each.
  std::vector<std::pair<std::string, double>> compiled;
  int samples = 0;
};

/// Is there anything to time but one kernel: a second one, or an operation that is interpreted?
bool is_more_than_a_kernel(const Program& program);

/// Runs the program several times on copies of the inputs, which `copy` makes. Kernels are compiled and files read before.
Expected<ProgramTime> time_program(Runtime& runtime, const Program& program, const ProgramOptions& options,
                                   const std::function<std::vector<std::unique_ptr<Tensor>>()>& copy);

}  // namespace strew::cli
