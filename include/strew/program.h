// Program: runs the kernels of an imported file on real tensors. The command line and the tests' oracles stand on it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "strew/export.h"
#include "strew/import.h"
#include "strew/runtime.h"
#include "strew/tensor.h"

namespace strew::inline v0 {

struct ProgramOptions {
  KernelOptions kernel;
  std::string only;  ///< kernel name: run that one and return its results; its inputs must be graph inputs or constants
  /// Called after each kernel has run, with what it was bound to, in the order of tensor_slots (`strew run --time`, `--verify`).
  /// A failure ends the run.
  std::function<Status(const ImportedKernel&, const Kernel&, std::span<const TensorView>)> after_kernel;
};

/// Runs everything the outputs need. `inputs` as in imported.inputs; an absent input (optional, or not needed) is an empty pointer.
/// Dims are checked against the imported types. Returns one tensor per output (with `only`, per result of that kernel), whose string
/// views point into strings the tensor owns.
STREW_API Expected<std::vector<Tensor>> run_program(Runtime& runtime, const Imported& imported,
                                                    std::vector<std::unique_ptr<Tensor>> inputs, const ProgramOptions& options);

}  // namespace strew::inline v0
