// What was imported as text; runs of imported programs on random inputs, and whether two give the same bits.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/program/steps/steps.h"
#include "strew/import.h"
#include "strew/runtime.h"
#include "strew/tensor.h"
#include "tests/support/rng.h"

namespace strew::test {

/// The kernels with their notes, and what became of every other operation, by its place in the file.
std::string summary(const Program& imported);

/// Integers around 0 and small extents, every fourth near an end of its type; small multiples of 1/4 for floats.
Tensor random_tensor(const TensorType& type, Rng& rng);
std::vector<Tensor> random_inputs(const Program& imported, Rng& rng);

/// The outputs; inputs are copied.
Expected<std::vector<Tensor>> run_copy(const Program& imported, const std::vector<Tensor>& inputs, const std::string& backend);

/// Where the two differ (any two NaNs are equal), "" if nowhere. Failures are differences.
std::string difference(const Expected<std::vector<Tensor>>& got, const Expected<std::vector<Tensor>>& want);

/// Have both the same outputs, byte for byte, or the same error?
bool is_same_bytes(const Expected<std::vector<Tensor>>& a, const Expected<std::vector<Tensor>>& b);

/// The extents that these inputs have where the program leaves them open, for steps_of().
std::map<std::string, int64_t> extents_of(const Program& imported, const std::vector<Tensor>& inputs);
/// Runs the steps as a kernel library does: from the constant that it has of them, with kernels of the runtime. `tensors`: views of the caller's.
Status run_steps(Runtime& runtime, const ProgramSteps& steps, std::span<const TensorView> tensors, const KernelOptions& kernel,
                 const CallOptions& call);

}  // namespace strew::test
