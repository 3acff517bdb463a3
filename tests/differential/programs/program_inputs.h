// The tensors of one call of a random program.
#pragma once

#include <vector>

#include "strew/tensor.h"
#include "tests/differential/programs/random_program.h"
#include "tests/support/rng.h"

namespace strew::test {

/// The values of the program's variables at a call; the first has all at their most.
std::vector<int64_t> random_variables(const RandomProgram& drawn, bool first, Rng& rng);

std::vector<Tensor> random_inputs(const RandomProgram& drawn, const std::vector<int64_t>& variables, Rng& rng);

/// Puts one index that must be in bounds outside of them. Returns whether the program has such indices.
bool spoil_index(const RandomProgram& drawn, const std::vector<int64_t>& variables, std::vector<Tensor>& inputs, Rng& rng);

}  // namespace strew::test
