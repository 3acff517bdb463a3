// Shrink: a smaller op that still fails.
#pragma once

#include <functional>

#include "tests/differential/blueprint.h"

namespace strew::test {

/// Tries simplifications (static, contiguous, smaller extents, fewer pairs, no hints) as long as `still_fails` says so; bounded.
Blueprint shrink(Blueprint blueprint, const std::function<bool(const Blueprint&)>& still_fails);

}  // namespace strew::test
