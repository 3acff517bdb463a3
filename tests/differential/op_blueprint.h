// blueprint_of: the blueprint of an op that is given as text: one that failed once, or a user's.
#pragma once

#include "tests/differential/blueprint.h"

namespace strew::test {

/// `op` must verify. Extents that it leaves open get small values; strides that it leaves open are larger than the
/// span of those that it gives.
Blueprint blueprint_of(const Op& op);

}  // namespace strew::test
