// shrink: finds a smaller op that still fails.
#pragma once

#include <functional>

#include "tests/differential/blueprint.h"

namespace strew::test {

/// Tries simplifications (static, contiguous, smaller extents, fewer pairs, no hints) and keeps those with which
/// `still_fails` returns true. The number of tries is bounded.
Blueprint shrink(Blueprint blueprint, const std::function<bool(const Blueprint&)>& still_fails);

}  // namespace strew::test
