// Program: what surrounds the kernels of an imported file, evaluated on real tensors; the kernels themselves are the caller's.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/import/importer.h"
#include "compiler/program/tensor.h"

namespace strew {

/// Runs one kernel on tensors in the order of tensor_slots(kernel.op). A failure ends the program.
using KernelRunner = std::function<Status(const ImportedKernel&, std::span<const TensorView>)>;

/// Runs everything the outputs need. `inputs` as in imported.inputs; an absent input (optional, or not needed) is an empty pointer.
/// Dims are checked against the imported types. `only`, unless empty: the kernel of that name alone, whose inputs must be graph inputs or
/// constants. Returns one tensor per output (with `only`, per result of that kernel), whose string views point into strings the tensor owns.
Expected<std::vector<Tensor>> run_imported(const Imported& imported, std::vector<std::unique_ptr<Tensor>> inputs,
                                           const std::string& only, const KernelRunner& run);

}  // namespace strew
