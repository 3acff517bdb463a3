// The blueprint of an op given as text: for ops that failed once, and for ops of a user's.
#pragma once

#include "tests/differential/blueprint.h"

namespace strew::test {

/// `op` verifies. Extents it leaves open get small values; strides it leaves open are laid around those it gives.
Blueprint blueprint_of(const Op& op);

}  // namespace strew::test
