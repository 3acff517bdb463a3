// Program: runs the kernels of an imported file on real tensors. The command line and the tests' oracles stand on it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "compiler/import/importer.h"
#include "compiler/op/tensor.h"
#include "runtime/kernel.h"

namespace strew {

/// An owned tensor, contiguous and row-major.
struct Tensor {
  DType dtype = DType::f32;
  std::vector<int64_t> dims;
  std::vector<std::byte> data;
  std::vector<std::string> strings;  ///< backs string views
  TensorView view();
};

struct ProgramOptions {
  KernelOptions kernel;
  std::string only;  ///< kernel name: run that one and return its results; its inputs must be graph inputs or constants
};

/// Runs everything the outputs need. `inputs` as in imported.inputs; an absent optional input is an empty pointer. Dims are checked
/// against the imported types. Returns one tensor per output.
Expected<std::vector<Tensor>> run_program(Runtime& runtime, const Imported& imported, std::vector<std::unique_ptr<Tensor>> inputs,
                                          const ProgramOptions& options);

}  // namespace strew
