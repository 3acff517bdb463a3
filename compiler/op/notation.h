// What an op does, as one assignment in NumPy's notation: "table[ids[i], :] += grads[i, :]". It is for people: it does not parse, and the
// policy for indices that are out of bounds is not in it. Tested by tests/unit/compiler/op/notation_test.cc.
#pragma once

#include <span>
#include <string>

#include "strew/op.h"

namespace strew::inline v0 {

/// `names`: of the tensors, in the order of tensor_slots(op); an empty one, or none, stands for the tensor's role. The positions of the index
/// tensor are i, j, k, …; of several results that an op computes alike, the first is written. An expression that is too long is `f(…)`.
std::string notation(const Op& op, std::span<const std::string> names = {});

}  // namespace strew::inline v0
