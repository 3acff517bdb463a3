// Runs an imported file on real tensors: evaluates everything around its kernels, and calls the caller's function for each kernel.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "strew/import.h"
#include "strew/tensor.h"

namespace strew::inline v0 {

/// Runs one kernel on tensors in the order of tensor_slots(kernel.op). An error ends the program.
using KernelRunner = std::function<Status(const ImportedKernel&, std::span<const TensorView>)>;

/// Runs everything that the outputs need. `inputs` are those of imported.inputs; an input that is left out (because it is optional or not
/// needed) is a null pointer. Dims are checked against the imported types. `only`, unless empty, is the name of the only kernel to run,
/// whose inputs must be graph inputs or constants. Returns one tensor per output (with `only`: per result of that kernel). The views of a
/// string tensor point into strings that the tensor owns.
Expected<std::vector<Tensor>> run_imported(const Imported& imported, std::vector<std::unique_ptr<Tensor>> inputs,
                                           const std::string& only, const KernelRunner& run);

}  // namespace strew::inline v0
